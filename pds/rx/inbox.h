// What arrives on a PDC and carries a PSN, or asks about one: its class, delivery to the client,
// the order of ROD, the responses. [PDS 7.1 V9-V13, 7.2, 7.3, 9, 13]
#pragma once

#include "pds/door/proofs.h"
#include "pds/pdc/close_steps.h"
#include "pds/pdc/closing.h"
#include "pds/resources.h"
#include "pds/rx/ack_writer.h"
#include "pds/rx/destination.h"
#include "pds/rx/duplicate_limits.h"
#include "pds/rx/inbound.h"
#include "pds/rx/last_request.h"
#include "pds/rx/reorder_buffer.h"
#include "pds/rx/response_store.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

// What became of a packet. Its caller sends the NACK.
struct Admission {
  wire::NackCode nack{};  // none: it is not refused
  bool is_taken = false;  // it came for the first time, and its PSN is received now
  uint32_t payload = 0;   // of the NACK

  bool is_refused() const { return nack != wire::NackCode::none; }
};

// What became of an answer that was given later.
struct LateAnswer {
  bool is_known = false;    // it was waited for
  bool is_refusal = false;  // it is a NACK, which its caller sends,
  AckTrigger trigger{};     // of that packet
};

class Inbox {
 public:
  Inbox(Resources& res, Schedule& schedule, Proofs& proofs, Closing& closing, ResponseStore& store,
        ReorderBuffer& reorder, Destination& destination, AckWriter& acks, CloseSteps& steps)
      : res_(res),
        schedule_(schedule),
        proofs_(proofs),
        closing_(closing),
        store_(store),
        reorder_(reorder),
        destination_(destination),
        acks_(acks),
        steps_(steps) {}

  Result<void> create(Arena& arena) { return duplicates_.create(arena); }

  // Where requests are read.
  LastRequest& last() { return last_; }
  // The verdict on a request of the PDC that was delivered before. See Pds::respond.
  LateAnswer respond(Pdc& pdc, Psn psn, const Verdict& verdict, Instant now);
  // A packet of a PDC whose state allows it.
  Admission admit(Pdc& pdc, const Inbound& in, Instant now);
  // A trimmed packet whose PSN was received before. [PDS-131]
  Admission on_trimmed_duplicate(Pdc& pdc, const Inbound& in, Arrival how, Instant now);
  // Answers a PSN that was received, as far as its answer is known.
  Admission answer_again(Pdc& pdc, const AckTrigger& trigger, Count cause, Instant now);
  // Delivers what waits in order, as far as the client takes it.
  void drain_reorder(Pdc& pdc, Instant now);

 private:
  static Admission refuse(const Pdc& pdc, wire::NackCode code);
  Admission drop(Count why) {
    res_.counters.add(why);
    return {};
  }
  Admission judge(Pdc& pdc, const Inbound& in, Instant now);
  void tell_again(Pdc& pdc, const Inbound& in);
  void note_heard(const Pdc& pdc, Instant now);
  bool take_demand(Pdc& pdc, const Inbound& in, Arrival how, Instant now);
  Admission on_duplicate(Pdc& pdc, const Inbound& in, Arrival how, Instant now);
  Admission on_fresh(Pdc& pdc, const Inbound& in, Instant now);
  Admission deliver(Pdc& pdc, const Inbound& in, bool buffered, Instant now);
  void note_taken(Pdc& pdc, const Inbound& in, const Verdict& verdict, bool buffered);
  void record(Pdc& pdc, const Inbound& in, bool held, Answer answer);
  Admission on_rod(Pdc& pdc, const Inbound& in, Instant now);
  Admission nack_gap(Pdc& pdc, Instant now) const;
  Admission hold_back(Pdc& pdc, const Inbound& in, Instant now);
  Admission on_control_psn(Pdc& pdc, const Inbound& in);
  Admission on_control_plain(Pdc& pdc, const Inbound& in, Instant now);
  Admission on_wrong_way(const Pdc& pdc, const Inbound& in);
  Admission on_unknown_control(Pdc& pdc, const Inbound& in, Instant now);
  Admission on_ack_request(Pdc& pdc, const Inbound& in, Instant now);

  Resources& res_;
  Schedule& schedule_;
  Proofs& proofs_;
  Closing& closing_;
  ResponseStore& store_;
  ReorderBuffer& reorder_;
  Destination& destination_;
  AckWriter& acks_;
  CloseSteps& steps_;
  DuplicateLimits duplicates_;
  LastRequest last_;
};

}  // namespace uet::pds
