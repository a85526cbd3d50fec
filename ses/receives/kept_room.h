// Room for messages that found no receive: their records, and pages for their received octets. A
// message is charged for its record and for the pages that its octets fill, never for a length that
// its header claims; no peer gets all of the room. [SES-126, SES-189]
#pragma once

#include "ses/config.h"
#include "ses/receives/matcher.h"
#include "ses/receives/unexpected_pool.h"
#include "ses/resources.h"

#include "pds/pdc/peer_table.h"

#include "base/slab.h"

#include <cstdint>
#include <span>

namespace uet::ses {

class KeptRoom {
 public:
  // The source whose message needs room: an unproven source may be forged, and leaves a quarter of
  // everything to proven ones.
  struct Sender {
    PeerId peer;
    bool is_confirmed = true;
  };

  Result<void> create(Arena& arena, const Config& config, pds::PeerTable& peers);

  // From now on PDS learns how much of the room is used. [CMS-116]
  void report_to(Resources& res) { res_ = &res; }

  // A record for a message of `bytes` octets. Null: no room for all of it now.
  UnexpectedMessage* admit(const Sender& sender, uint32_t bytes);
  void drop(UnexpectedMessage& u);
  // Keeps received octets of it. False: no room for them now, and nothing has changed.
  bool store(UnexpectedMessage& u, uint32_t offset, std::span<const std::byte> payload,
             bool is_confirmed);

  template <class Fn>
  void read(const UnexpectedMessage& u, uint64_t offset, uint64_t length, Fn&& fn) const {
    pool_.read(u.pages, offset, length, std::forward<Fn>(fn));
  }
  template <class Fn>
  void for_each(Fn&& fn) {
    records_.for_each(std::forward<Fn>(fn));
  }
  UnexpectedMessage* get(uint32_t claim) {
    return records_.get(Handle<UnexpectedMessage>::from_word(claim));
  }
  uint32_t claim_of(const UnexpectedMessage& u) const { return records_.handle(&u).word(); }
  const UnexpectedPool& pool() const { return pool_; }
  // Grows with every drop(); a disabled index looks here whether to come back. [SES-133]
  uint64_t released_total() const { return released_total_; }

 private:
  void report();
  bool has_record(const Sender& sender) const;
  bool has_pages(const Sender& sender, uint64_t pages) const;

  pds::PeerTable* peers_ = nullptr;
  Resources* res_ = nullptr;
  Slab<UnexpectedMessage> records_;
  UnexpectedPool pool_;
  uint64_t released_total_ = 0;
};

}  // namespace uet::ses
