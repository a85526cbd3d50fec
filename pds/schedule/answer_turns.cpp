// The order of answers in a batch, and which PDC sends the next one. [PDS 6]
#include "pds/schedule/answer_turns.h"

namespace uet::pds {

void AnswerTurns::send(TxBatch& batch, Instant now) {
  replies_.send_replies(batch);
  acks_.send_probe_answers(batch, now);
  acks_.send_responses(batch, now);
  acks_.send_answers(batch, now);
  send_grants(batch, now);
  send_control(batch, now);
}

// Credit that sources asked for, in a control packet each. [CMS-132]
void AnswerTurns::send_grants(TxBatch& batch, Instant now) {
  while (!batch.full()) {
    const DueGrant due = destination_.next_grant(now);
    if (due.pdc == nullptr) break;
    Pdc& pdc = *due.pdc;
    const Entropy ev = pdc.context->ev.next(now, batch.free_planes());
    destination_.note_sent(due, outbox_.emit_control(pdc, due.header, ev, batch));
  }
  destination_.note_due(now);
}

void AnswerTurns::send_control(TxBatch& batch, Instant now) {
  while (!batch.full()) {
    Pdc* const pdc = schedule_.next_control();
    if (pdc == nullptr) return;
    if (!acks_.flush_acks(*pdc, batch, now) || !outbox_.flush_control(*pdc, batch, now) ||
        !outbox_.flush_ack_requests(*pdc, batch, now) || !probes_.flush_probe(*pdc, batch, now)) {
      schedule_.keep_control(*pdc);  // the batch is full
      return;
    }
    steps_.progress_close(*pdc, batch, now);  // may free the PDC
  }
}

}  // namespace uet::pds
