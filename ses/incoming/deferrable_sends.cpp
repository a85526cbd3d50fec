// Deferrable sends, as they arrive: deferred, or placed when they come again. [ses.md 4.5]
#include "ses/incoming/sends.h"

namespace uet::ses {

using wire::ReturnCode;

namespace {

pds::Verdict must_wait(const Request& q) {
  return response_ok({.id = q.id,
                      .job = q.common.job_id,
                      .ri_generation = q.common.ri_generation,
                      .list = wire::ListCode::overflow,
                      .modified_length = 0});  // [SES-095, SES-147]
}

}  // namespace

// The record of this message. If its initiator sends another message under the token, the record of
// the old one is void.
DeferredMessage* Sends::known_deferred(const Endpoint& ep, const Request& q) {
  DeferredMessage* d = deferred_.find(ep, q);
  if (d != nullptr && !DeferredMessages::is_same(*d, q)) {
    delivery_.give_up(*d, Completion::Status::undeliverable);
    d = nullptr;
  }
  const uint32_t given = d == nullptr ? 0 : d->target_token;
  const uint32_t shown = q.tokens().target;
  if (shown != 0 && shown != given) res_.counters.add(Counter::rx_restart_stray);
  return d;
}

// A message that found no receive, or that comes again while it still waits. [SES-095, SES-127]
pds::Verdict Sends::defer(Endpoint& ep, const Request& q, const Envelope& envelope,
                          DeferredMessage* d) {
  if (q.mode != pds::Mode::rud) return no_match(ep, q);  // [SES-100]
  RxMessage* m = nullptr;
  if (!q.is_single()) {
    m = arriving_.track(q);
    if (m == nullptr) return refusals_.no_message_slot();
  }
  if (d == nullptr) d = deferred_.remember(ep, q, envelope);
  if (d == nullptr) {
    if (m != nullptr) arriving_.forget(*m);
    return no_match(ep, q);  // [SES-096]
  }
  res_.counters.add(Counter::rx_deferred);
  deferred_.note_heard(*d);
  if (m == nullptr) {
    DeferredMessages::note_data(*d, q);
    return must_wait(q);
  }
  m->to = RxMessage::To::deferred;
  m->endpoint = ep.id;
  return continue_deferred(*m, ep, q);
}

// Packets in flight of a deferred message are each answered "deferred", because any answer may
// arrive first.
pds::Verdict Sends::continue_deferred(RxMessage& m, const Endpoint& ep, const Request& q) {
  if (DeferredMessage* const d = deferred_.find(ep, q)) DeferredMessages::note_data(*d, q);
  arriving_.note(m, q);
  if (m.arrived >= m.end) arriving_.forget(m);
  return must_wait(q);
}

pds::Verdict Sends::on_deferral_end(RxMessage& m, const Request& q) {
  if (m.msg_error_seen || q.common.opcode != m.opcode || q.offset > m.pushed) {
    res_.counters.add(Counter::rx_msg_error_misused);
    if (m.error == ReturnCode::null) {
      delivery_.fail(m, Completion::Status::refused, ReturnCode::op_violation);
    }
    return response(q, ReturnCode::op_violation, q.common.ri_generation);
  }
  const pds::Verdict verdict = m.error == ReturnCode::null ? must_wait(q) : Refusals::stored(m, q);
  arriving_.end_at(m, q.offset);
  return verdict;
}

// It comes again and its place is ready. [SES-099]
pds::Verdict Sends::begin_restarted(Endpoint& ep, DeferredMessage& d, const Request& q) {
  PostedReceive* const r = d.receive;
  if (r != nullptr && ep.options.reject_truncated && q.request_length > d.room) {
    delivery_.give_up(d, Completion::Status::undeliverable);
    return refusals_.refuse(q, ReturnCode::too_long, Counter::rx_too_long);  // [SES-138]
  }
  RxMessage* m = nullptr;
  if (!q.is_single()) {
    m = arriving_.track(q);
    if (m == nullptr) return refusals_.no_message_slot();
    m->endpoint = ep.id;
  }
  res_.counters.add(Counter::rx_restarted);
  const uint64_t room = d.room;
  deferred_.forget(d);
  if (r != nullptr) return place(ep, *r, q, m, nullptr, {.begin = 0, .room = room});
  if (m == nullptr) return pds::Verdict::accepted();  // discarded
  m->to = RxMessage::To::nowhere;
  return proceed(*m, ep, q);
}

}  // namespace uet::ses
