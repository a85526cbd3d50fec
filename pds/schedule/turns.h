// Filling a batch: answers, and resends before new packets; deficit round robin over the PDCs. [PDS
// 6, PDS-060, PDS-061, PDS-062, PDS-244]
#pragma once

#include "pds/connectionless/connectionless.h"
#include "pds/resources.h"
#include "pds/schedule/answer_turns.h"
#include "pds/schedule/flows.h"
#include "pds/schedule/initiators.h"
#include "pds/schedule/schedule.h"
#include "pds/tx/outbox.h"

namespace uet::pds {

class Turns {
 public:
  Turns(Resources& res, Connectionless& connectionless, Schedule& schedule, Outbox& outbox,
        Flows& flows, Initiators& initiators, AnswerTurns& answers)
      : res_(res),
        connectionless_(connectionless),
        schedule_(schedule),
        outbox_(outbox),
        flows_(flows),
        initiators_(initiators),
        answers_(answers) {}

  // See Pds::transmit.
  uint32_t transmit(TxBatch& batch, Instant now, Lead lead);

 private:
  void send_data(TxBatch& batch, Instant now);
  void assign_next(Instant now);
  void assign(Flow& flow, Instant now);
  void serve(Pdc& pdc, TxBatch& batch, Instant now);
  void serve_contexts(TxBatch& batch, Instant now);
  void serve_context(Context& context, TxBatch& batch, Instant now);

  Resources& res_;
  Connectionless& connectionless_;
  Schedule& schedule_;
  Outbox& outbox_;
  Flows& flows_;
  Initiators& initiators_;
  AnswerTurns& answers_;
  uint32_t led_bytes_ = 0;  // payload that has led since answers last left
};

}  // namespace uet::pds
