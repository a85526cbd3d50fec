// Owns the multi-packet messages that are being received: which ones may begin, which packets of
// each have arrived, and how long each is remembered. No peer gets more of the places than its
// share.
//
// message \ packet | more data  | last octet    | wrong packet, MSG_ERROR | idle     | PDC gone
// unknown          | tracked    | (single) done | errored                 | -        | -
// tracked          | tracked    | done          | errored                 | given up | gone
// errored          | same error | gone          | same error, or gone     | given up | gone
// given up         | same error | gone          | same error, or gone     | -        | gone
//
// A tracked message that is given up, or whose PDC ends, fails its receive.
#pragma once

#include "ses/incoming/next_packet.h"
#include "ses/incoming/request.h"
#include "ses/incoming/rx_message.h"
#include "ses/resources.h"

#include "pds/pdc/peer_table.h"

#include "base/hash_map.h"
#include "base/prefetch.h"
#include "base/slab.h"

#include <cstdint>

namespace uet::ses {

class ArrivingMessages {
 public:
  explicit ArrivingMessages(Resources& res) : res_(res) {}
  Result<void> create(Rng& rng);

  // The message that this is a later packet of, or null.
  RxMessage* find(const Request& q);
  // The same, however it began.
  RxMessage* find_any(const Request& q) {
    RxMessage** const found = by_key_.find({q.token.pdc, q.id});
    return found == nullptr ? nullptr : *found;
  }
  // The later packet that needs no look-up.
  NextPacket& next() { return next_; }
  // Begins a message. Null: its peer has used its share of the places, or no place is free.
  RxMessage* track(const Request& q);
  void forget(RxMessage& m);
  // The rest is no longer awaited; late packets are answered with the error.
  void give_up(RxMessage& m);
  // Every later packet of the message is answered with that code.
  void set_error(RxMessage& m, wire::ReturnCode code);

  // `bytes` octets of the message have arrived. 0 only restarts its time-out.
  void count(RxMessage& m, uint32_t bytes);
  // The same, and forgets a message that is complete.
  void count_last(RxMessage& m, uint32_t bytes) {
    count(m, bytes);
    if (m.arrived >= m.end) forget(m);
  }
  // Copies from an accepted packet the fields that the message needs.
  void note(RxMessage& m, const Request& q);
  // A packet of no octets says that nothing comes from `offset` on.
  void end_at(RxMessage& m, uint32_t offset) {
    m.msg_error_seen = true;
    m.end = offset;
    if (m.arrived >= m.end) forget(m);
  }

  // A message begins with that packet, and all packets before it have arrived.
  void note_reached(pds::RxToken first);
  // A packet of the PDC was refused because it must wait for our application, or for a place for
  // its response.
  void note_held_up(pds::PdcHandle pdc);
  // One more kept message of the PDC waits for its answer; one was answered.
  void note_owed(pds::PdcHandle pdc);
  void note_answered(pds::PdcHandle pdc);

  bool has_open(pds::PdcHandle pdc) const {
    const PdcMessages* const of_pdc = by_pdc_.find(pdc.value());
    return of_pdc != nullptr && of_pdc->open != 0;
  }
  // The PDC is gone: forgets its messages. Calls fn for each that was not given up before, in the
  // order in which they began. Cost: its own messages.
  template <class Fn>
  void close_pdc(pds::PdcHandle pdc, Fn&& fn) {
    if (owed_by_pdc_.find(pdc.value()) != nullptr) owed_by_pdc_.erase(pdc.value());
    while (const PdcMessages* const of_pdc = by_pdc_.find(pdc.value())) {
      RxMessage& m = *of_pdc->first;
      if (!m.is_given_up) fn(m);
      forget(m);
    }
  }
  // Calls fn for each message that is not given up, the longest idle first. fn may free it.
  template <class Fn>
  void for_each(Fn&& fn) {
    for (RxMessage& m : partial_) fn(m);
  }
  // The next one that was idle for too long, or null. [SES-108]
  RxMessage* next_expired();
  // The earliest time at which one may expire.
  Instant next_deadline() const;
  bool idle() const { return partial_.empty(); }
  void prefetch_oldest() const {
    by_key_.prefetch();
    prefetch(partial_.front(), sizeof(RxMessage));
  }

 private:
  // The messages of a PDC that are known, and how many of these are still to be completed: PDS
  // looks for a PDC to give up under pressure, when a walk over all messages is the wrong answer.
  struct PdcMessages {
    RxMessage* first = nullptr;  // while there are any
    RxMessage* last = nullptr;
    uint32_t known = 0;
    uint32_t open = 0;
    // When one of its packets was last refused because it must wait for our application or for a
    // place. Packets behind that one cannot come before.
    Instant held_up = Instant::zero();
    // The highest PSN that began a message after all before it had arrived.
    Psn reached;
  };

  bool may_track(const pds::Peer& peer, const Request& q) const;
  RxMessage* make(const Request& q);
  void enter(RxMessage& m, const Request& q);
  void release_share(const RxMessage& m);
  bool is_held_up(const RxMessage& m) const;

  Resources& res_;
  NextPacket next_;
  Slab<RxMessage> messages_;
  HashMap<RxKey, RxMessage*> by_key_;
  HashMap<uint32_t, PdcMessages> by_pdc_;          // by PdcHandle
  HashMap<uint32_t, uint32_t> owed_by_pdc_;        // kept messages whose answer waits for a receive
  IntrusiveList<RxMessage, PartialTag> partial_;   // longest idle first
  IntrusiveList<RxMessage, PartialTag> given_up_;  // count to no share
  uint32_t given_up_count_ = 0;
};

}  // namespace uet::ses
