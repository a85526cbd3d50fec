// Owns the multi-packet messages that are being received: which ones may begin, what has arrived of
// each, and how long they are remembered. No peer gets more of the places than its share.
//
// message \ packet | more data  | last octet    | wrong packet, MSG_ERROR | idle     | PDC gone
// unknown          | tracked    | (single) done | errored                 | -        | -
// tracked          | tracked    | done          | errored                 | given up | gone
// errored          | same error | gone          | same error, or gone     | given up | gone
// given up         | same error | gone          | same error, or gone     | -        | gone
//
// One that was tracked and is given up, or goes with its PDC, fails its receive.
#pragma once

#include "ses/incoming/request.h"
#include "ses/incoming/rx_message.h"
#include "ses/resources.h"

#include "pds/pdc/peer_table.h"

#include "base/hash_map.h"
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
  // Begins a message. Null: its peer has its share of the places, or there is none.
  RxMessage* track(const Request& q);
  void forget(RxMessage& m);
  // The rest is not waited for any more; what comes late is told the error.
  void give_up(RxMessage& m);
  // Every later packet of it is told that code.
  void set_error(RxMessage& m, wire::ReturnCode code);

  // So many octets of it have arrived. With 0 it only gets its whole time again.
  void count(RxMessage& m, uint32_t bytes);
  // The same, and forgets a message of which nothing more comes.
  void count_last(RxMessage& m, uint32_t bytes) {
    count(m, bytes);
    if (m.arrived >= m.end) forget(m);
  }
  // Takes from an accepted packet what the message must know.
  void note(RxMessage& m, const Request& q);
  // A packet of no octets says that nothing comes from `offset` on.
  void end_at(RxMessage& m, uint32_t offset) {
    m.msg_error_seen = true;
    m.end = offset;
    if (m.arrived >= m.end) forget(m);
  }

  // A packet of the PDC was told to wait for our application.
  void note_held_up(pds::PdcHandle pdc);
  // One more kept message of the PDC waits for its answer; one was answered.
  void note_owed(pds::PdcHandle pdc);
  void note_answered(pds::PdcHandle pdc);

  bool has_open(pds::PdcHandle pdc) const {
    const PdcMessages* const of_pdc = by_pdc_.find(pdc.value());
    return of_pdc != nullptr && of_pdc->open != 0;
  }
  // The PDC is gone: nothing is owed to it, and its messages are forgotten. Calls fn for each that
  // was not given up before, the one that began first first. Cost: its own messages.
  template <class Fn>
  void close_pdc(pds::PdcHandle pdc, Fn&& fn) {
    if (owed_by_pdc_.find(pdc.value()) != nullptr) owed_by_pdc_.erase(pdc.value());
    while (const PdcMessages* const of_pdc = by_pdc_.find(pdc.value())) {
      RxMessage& m = *of_pdc->first;
      if (!m.is_given_up) fn(m);
      forget(m);
    }
  }
  // Calls fn for each that is not given up, the one that is idle for longest first. fn may free it.
  template <class Fn>
  void for_each(Fn&& fn) {
    for (RxMessage& m : partial_) fn(m);
  }
  // The next one that was idle for too long, or null. [SES-108]
  RxMessage* next_expired();
  // When there may be one.
  Instant next_deadline() const;
  bool idle() const { return partial_.empty(); }

 private:
  // The messages of a PDC that are known, and how many of these are still to be completed: PDS
  // looks for a PDC to give up under pressure, when a walk over all messages is the wrong answer.
  struct PdcMessages {
    RxMessage* first = nullptr;  // while there are any
    RxMessage* last = nullptr;
    uint32_t known = 0;
    uint32_t open = 0;
    // When a packet of it was last told to wait for our application: what is behind that one may
    // not come before.
    Instant held_up = Instant::zero();
  };

  bool may_track(const pds::Peer& peer, const Request& q) const;
  RxMessage* make(const RxKey& key);
  void enter(RxMessage& m, const Request& q);
  void release_share(const RxMessage& m);
  bool is_held_up(const RxMessage& m) const;

  Resources& res_;
  Slab<RxMessage> messages_;
  HashMap<RxKey, RxMessage*> by_key_;
  HashMap<uint32_t, PdcMessages> by_pdc_;          // by PdcHandle
  HashMap<uint32_t, uint32_t> owed_by_pdc_;        // kept messages whose answer waits for a receive
  IntrusiveList<RxMessage, PartialTag> partial_;   // longest idle first
  IntrusiveList<RxMessage, PartialTag> given_up_;  // count to no share
  uint32_t given_up_count_ = 0;
};

}  // namespace uet::ses
