// What arrives on a PDC and carries a PSN, or asks about one: its class, delivery to the client,
// the order of ROD, the responses. [PDS 7.1 V9-V13, 7.2, 7.3, 9, 13]
#pragma once

#include "pds/door/proofs.h"
#include "pds/door/replies.h"
#include "pds/pdc/close_steps.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/pdc_table.h"
#include "pds/resources.h"
#include "pds/rx/ack_writer.h"
#include "pds/rx/destination.h"
#include "pds/rx/duplicate_limits.h"
#include "pds/rx/inbound.h"
#include "pds/rx/reorder_buffer.h"
#include "pds/rx/response_store.h"
#include "pds/schedule/paths.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

class Inbox {
 public:
  Inbox(Resources& res, PdcTable& table, Schedule& schedule, Paths& paths, Proofs& proofs,
        Replies& replies, Closing& closing, ResponseStore& store, ReorderBuffer& reorder,
        Destination& destination, AckWriter& acks, CloseSteps& steps)
      : res_(res),
        table_(table),
        schedule_(schedule),
        paths_(paths),
        proofs_(proofs),
        replies_(replies),
        closing_(closing),
        store_(store),
        reorder_(reorder),
        destination_(destination),
        acks_(acks),
        steps_(steps) {}

  Result<void> create(Arena& arena) { return duplicates_.create(arena); }

  // See Pds::respond.
  bool respond(RxToken token, const Verdict& verdict, Instant now);
  // A packet of a PDC whose state allows it. The PDC may be gone afterwards.
  void admit(Pdc& pdc, const Inbound& in, Instant now);
  // A PSN that was received before. [PDS-075]
  void on_duplicate(Pdc& pdc, const Inbound& in, Arrival how, Instant now);
  // The same for a trimmed packet.
  void on_trimmed_duplicate(Pdc& pdc, const Inbound& in, Arrival how, Instant now);
  // Answers a PSN that was received, as far as its answer is known.
  void answer_again(Pdc& pdc, const AckTrigger& trigger, Count cause, Instant now);
  // Delivers what waits in order, as far as the client takes it.
  void drain_reorder(Pdc& pdc, Instant now);

 private:
  bool take_demand(Pdc& pdc, const Inbound& in, Arrival how, Instant now);
  void on_fresh(Pdc& pdc, const Inbound& in, Instant now);
  bool deliver(Pdc& pdc, const Inbound& in, bool buffered, Instant now);
  void settle(Pdc& pdc, const Inbound& in, const Verdict& verdict, bool buffered);
  void record(Pdc& pdc, const Inbound& in, bool held, Answer answer);
  void on_rod(Pdc& pdc, const Inbound& in, Instant now);
  void nack_gap(Pdc& pdc, const AckTrigger& trigger, Instant now);
  void hold_back(Pdc& pdc, const Inbound& in, Instant now);
  bool on_control_psn(Pdc& pdc, const Inbound& in, Instant now);
  void on_control_plain(Pdc& pdc, const Inbound& in, Instant now);
  void on_unknown_control(Pdc& pdc, const Inbound& in, Instant now);
  void on_ack_request(Pdc& pdc, const Inbound& in, Instant now);

  Resources& res_;
  PdcTable& table_;
  Schedule& schedule_;
  Paths& paths_;
  Proofs& proofs_;
  Replies& replies_;
  Closing& closing_;
  ResponseStore& store_;
  ReorderBuffer& reorder_;
  Destination& destination_;
  AckWriter& acks_;
  CloseSteps& steps_;
  DuplicateLimits duplicates_;
};

}  // namespace uet::pds
