// Filling a batch: answers, and resends before new packets; deficit round robin over the PDCs. [PDS
// 6, PDS-060, PDS-061, PDS-062, PDS-244]
#pragma once

#include "pds/connectionless/connectionless.h"
#include "pds/door/replies.h"
#include "pds/pdc/close_steps.h"
#include "pds/resources.h"
#include "pds/rx/ack_writer.h"
#include "pds/rx/destination.h"
#include "pds/schedule/flows.h"
#include "pds/schedule/schedule.h"
#include "pds/tx/outbox.h"
#include "pds/tx/tail_probes.h"

namespace uet::pds {

class Turns {
 public:
  Turns(Resources& res, Connectionless& connectionless, Schedule& schedule, Replies& replies,
        Outbox& outbox, TailProbes& probes, Destination& destination, AckWriter& acks,
        CloseSteps& steps, Flows& flow_desk)
      : res_(res),
        connectionless_(connectionless),
        schedule_(schedule),
        replies_(replies),
        outbox_(outbox),
        probes_(probes),
        destination_(destination),
        acks_(acks),
        steps_(steps),
        flow_desk_(flow_desk) {}

  // See Pds::transmit.
  uint32_t transmit(TxBatch& batch, Instant now, Lead lead);

 private:
  void send_answers(TxBatch& batch, Instant now);
  void send_grants(TxBatch& batch, Instant now);
  void send_data(TxBatch& batch, Instant now);
  void send_control(TxBatch& batch, Instant now);
  void assign_next(Instant now);
  void assign(Flow& flow, Instant now);
  void serve(Pdc& pdc, TxBatch& batch, Instant now);
  void serve_contexts(TxBatch& batch, Instant now);
  void serve_context(Context& context, TxBatch& batch, Instant now);

  Resources& res_;
  Connectionless& connectionless_;
  Schedule& schedule_;
  Replies& replies_;
  Outbox& outbox_;
  TailProbes& probes_;
  Destination& destination_;
  AckWriter& acks_;
  CloseSteps& steps_;
  Flows& flow_desk_;
  uint32_t led_bytes_ = 0;  // payload that has led since answers last left
};

}  // namespace uet::pds
