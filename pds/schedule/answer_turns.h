// The turns of answers in a batch: NACKs, responses, ACKs, grants of credit, and control packets.
// [PDS 6, PDS-060]
#pragma once

#include "pds/door/replies.h"
#include "pds/pdc/close_steps.h"
#include "pds/rx/ack_writer.h"
#include "pds/rx/destination.h"
#include "pds/schedule/schedule.h"
#include "pds/tx/outbox.h"
#include "pds/tx/tail_probes.h"

namespace uet::pds {

class AnswerTurns {
 public:
  AnswerTurns(Schedule& schedule, Replies& replies, Outbox& outbox, TailProbes& probes,
              Destination& destination, AckWriter& acks, CloseSteps& steps)
      : schedule_(schedule),
        replies_(replies),
        outbox_(outbox),
        probes_(probes),
        destination_(destination),
        acks_(acks),
        steps_(steps) {}

  // All that the batch has room for, control packets last.
  void send(TxBatch& batch, Instant now);
  // Control packets alone, with the ACKs of their PDCs; also steps of a close, which may free a
  // PDC.
  void send_control(TxBatch& batch, Instant now);

 private:
  void send_grants(TxBatch& batch, Instant now);

  Schedule& schedule_;
  Replies& replies_;
  Outbox& outbox_;
  TailProbes& probes_;
  Destination& destination_;
  AckWriter& acks_;
  CloseSteps& steps_;
};

}  // namespace uet::pds
