// Responses that a requester may not have seen: kept until cleared. [PDS 9]
//
// Clears are cumulative, so responses above a gap stay until the gap is filled: they must leave
// room for the packet that fills it, here and in every other PDC, or all of them would wait for
// each other without end. So a response takes a place in the store, one above a gap takes two, and
// the one that fills the gap below it takes none. A packet that fills a gap may need more than a
// place, for example a record of SES that another message holds until its own packets find places.
// So each host gets one place beyond its share, for a packet without a gap below it. [PDS-101,
// PDS-102, PDS-109]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"

#include <span>

namespace uet::pds {

class ResponseStore {
 public:
  ResponseStore(Resources& res, PdcTable& table, Schedule& schedule)
      : res_(res), table_(table), schedule_(schedule) {}

  Result<void> create(Arena& arena);
  uint32_t size() const { return responses_.size(); }
  bool has_due() const { return !due_.empty(); }
  StoredResponse* next_due() { return due_.pop_front(); }
  // Its requester has asked again, with that packet.
  void send_again(StoredResponse& entry, const AckTrigger& trigger) {
    entry.trigger = trigger;
    ListNode<DueResponseTag>& node = entry;
    if (!node.is_linked()) due_.push_back(entry);
  }
  // Room for the response of a packet that was not received yet; `in_order`: all below it were.
  // [PDS-101, PDS-109, PDS-255]
  bool may_store(const Pdc& pdc, Psn psn, bool in_order) const;
  // Keeps a response. Requires may_store().
  void store(Pdc& pdc, const AckTrigger& trigger, const Verdict& verdict);
  // Keeps a place for a response that comes later. False: an initiator found none.
  bool await(Pdc& pdc, const AckTrigger& trigger);
  // The client has given it.
  void fill(Pdc& pdc, StoredResponse& entry, const Verdict& verdict);
  // The one for that PSN, given or not; null: none. Cost: the same however many there are.
  StoredResponse* find(const Pdc& pdc, Psn psn);
  // Null: none is kept, or the client has not given it yet.
  StoredResponse* stored_for(Pdc& pdc, Psn psn);
  void free_stored(Pdc& pdc, StoredResponse& entry);
  // The requester has seen all up to there. [PDS-102]
  void clear_up_to(Pdc& pdc, Psn clear_psn);

 private:
  uint32_t free_places() const { return res_.config.gd_entries - taken_; }
  bool has_room(const Pdc& pdc, uint32_t places) const;
  // Whether the host of the peer may have the place beyond its share. [PDS-109]
  bool may_have_extra(const Pdc& pdc) const;
  uint32_t& bucket_of(PdcHandle pdc, Psn psn);
  void enter(StoredResponse& entry);
  bool add_buckets();
  void link(StoredResponse& entry);
  void forget(const StoredResponse& entry);
  static uint8_t places_of(const Pdc& pdc, Psn psn, bool in_order);
  bool is_within_limits(const Pdc& pdc, uint32_t places) const;
  StoredResponse* find_lower(const Pdc& pdc, Psn psn);
  StoredResponse* add_entry(Pdc& pdc, const AckTrigger& trigger);
  void count(const Pdc& pdc, int places);
  void set_extra(const Pdc& pdc, const StoredResponse* entry);
  void move_extra(PeerId peer);

  Resources& res_;
  PdcTable& table_;
  Schedule& schedule_;
  Slab<StoredResponse> responses_;
  Arena* arena_ = nullptr;
  std::span<uint32_t> buckets_;  // by PDC and PSN: 1 + the index of a response; 0: none
  uint64_t seed_ = 0;
  uint32_t taken_ = 0;        // places
  uint32_t extra_taken_ = 0;  // beyond these
  IntrusiveList<StoredResponse, DueResponseTag> due_;
};

}  // namespace uet::pds
