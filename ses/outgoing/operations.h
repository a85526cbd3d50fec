// Owns the records of operations, from the post until the last packet is answered: their memory,
// their message IDs, and the report to the user. Ends of operations that SES itself posted are
// kept until next_end() is asked for them.
#pragma once

#include "ses/deferral/deferrals.h"
#include "ses/endpoints.h"
#include "ses/outgoing/flows.h"
#include "ses/outgoing/payloads.h"
#include "ses/outgoing/send_order.h"
#include "ses/outgoing/tx_message.h"
#include "ses/rendezvous/exposures.h"
#include "ses/resources.h"

#include "base/ring.h"
#include "base/slab.h"

#include <cstdint>
#include <optional>
#include <span>

namespace uet::ses {

// How an operation of SES itself ended.
struct InternalEnd {
  uint32_t pull = 0;     // handle of its Pull, or
  uint32_t restart = 0;  // of its DeferredMessage
  PeerId peer;
  Completion::Status status = Completion::Status::ok;
  wire::ReturnCode code{};

  bool ok() const { return status == Completion::Status::ok; }
};

class Operations {
 public:
  // Unfinished at once, of all endpoints together, whatever the configuration says. [LF-158]
  static constexpr uint32_t kMax = uint32_t{1} << 20;

  Operations(Resources& res, const Endpoints& endpoints, Flows& flows, SendOrder& order,
             Exposures& exposures, Deferrals& deferrals);
  Result<void> create();
  // Operations of SES itself, at once.
  static uint32_t internal_max(const Config& config) {
    return config.rendezvous_reads + config.restarts;
  }

  // A user may post one more.
  bool has_room() const { return messages_.size() < users_max_; }
  // A record for an operation of a user; its memory is taken as Payloads::take says. Errc::again:
  // no slot.
  Result<TxMessage*> make(Endpoint& ep, Remote& to, std::span<const IoSlice> iov, uint32_t flags);
  // The same for one of SES itself, which reads into `iov`.
  Result<TxMessage*> make_internal(Endpoint& ep, Remote& to, std::span<const IoSlice> iov);
  // The operation is posted: it goes behind earlier ones of the endpoint.
  void enrol(Endpoint& ep, TxMessage& m);

  // Prefetches that message; then its remote.
  void prefetch(pds::MessageHandle handle) const {
    messages_.prefetch(Handle<TxMessage>::from_word(handle.value()));
  }
  void prefetch_remote(pds::MessageHandle handle) const {
    const TxMessage* const m = messages_.get(Handle<TxMessage>::from_word(handle.value()));
    if (m != nullptr) uet::prefetch(m->remote, kLineBytes);
  }
  TxMessage* find(pds::MessageHandle handle) {
    return messages_.get(Handle<TxMessage>::from_word(handle.value()));
  }
  template <class Fn>
  void for_each(Fn&& fn) {
    messages_.for_each(std::forward<Fn>(fn));
  }

  // Begins an attempt on that PDC. False: no message ID is free; nothing has changed.
  bool begin_attempt(TxMessage& m, pds::PdcHandle pdc);
  // Ends what belongs to one attempt to send: its ID, its hold on the PDC and its timer.
  void end_attempt(TxMessage& m);
  // The same for a message that will be sent again.
  void forget_attempt(TxMessage& m);
  void give_back_id(TxMessage& m);

  // Reports the end to the user. From then on the user's memory is not touched.
  void report(TxMessage& m, Completion::Status status);
  void free(TxMessage& m);

  // The oldest end of an operation of SES itself that was not asked for yet.
  std::optional<InternalEnd> next_end() {
    if (ends_.empty()) return std::nullopt;
    return ends_.pop_front();
  }

  const CopyTally& copies() const { return payloads_.tally(); }
  bool is_empty() const { return messages_.size() == 0; }

 private:
  void begin(TxMessage& m, const Endpoint& ep, Remote& to);
  void release_memory(TxMessage& m);
  void report_internal(TxMessage& m, Completion::Status status);

  Resources& res_;
  const Endpoints& endpoints_;
  Flows& flows_;
  SendOrder& order_;
  Exposures& exposures_;
  Deferrals& deferrals_;
  const uint32_t users_max_;  // the rest is reserved for SES itself
  Slab<TxMessage> messages_;
  Payloads payloads_;
  Ring<InternalEnd> ends_;
};

// A datagram has no target state, hence no ID, and the short headers no place for one. [SES-033]
inline bool Operations::begin_attempt(TxMessage& m, pds::PdcHandle pdc) {
  if (m.opcode != wire::SesOpcode::datagram_send && m.header == wire::NextHeader::standard) {
    m.id = res_.ids.take(m.handle);
    if (m.id.value() == 0) return false;
  }
  m.pdc = pdc;
  m.ri_generation = m.remote->generations[m.is_tagged() ? 1 : 0];
  m.owes_message_done = m.returns_data() && m.flow->mode != pds::Mode::rudi;  // [SES-075]
  return true;
}

}  // namespace uet::ses
