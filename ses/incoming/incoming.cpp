// Actions after a request was judged.
#include "ses/incoming/incoming.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;
using wire::SesOpcode;

Result<void> Incoming::create(uint64_t seed) {
  Rng rng(seed, 5);
  checks_.create();
  UET_CHECK(receives_.create());
  UET_CHECK(kept_.create());
  UET_CHECK(pulls_.create(rng));
  UET_CHECK(deferred_.create(rng));
  return arriving_.create(rng);
}

pds::Verdict Incoming::on_request(const pds::RxRequest& rx) {
  if (delivery_.is_stalled()) delivery_.drain_where_room();
  if (const Request* const q = arriving_.next().take(rx)) return go_on(*q);
  auto parsed = parse_request(rx, res_.config.payload_mtu);
  if (!parsed.ok()) {
    res_.counters.add(parsed.error() == wire::ParseError::truncated ? Counter::rx_truncated
                                                                    : Counter::rx_malformed);
    return malformed(rx);
  }
  const Request& q = *parsed;
  if (const auto refused = judge_domain(q)) return *refused;
  if (q.common.som && q.in_order && q.has_pdc() && !arriving_.idle()) {
    arriving_.note_reached(q.token);
  }
  pds::Verdict verdict;
  RxMessage* const known = q.is_single() || !q.has_pdc() ? nullptr : arriving_.find(q);
  if (q.common.ver != 0) {
    res_.counters.add(Counter::rx_bad_version);
    verdict = response(q, ReturnCode::uncor, q.common.ri_generation);  // [SES-109]
  } else if (known != nullptr) {
    verdict = resume(*known, q, rx);  // [SES-113]
  } else {
    verdict = begin(q);
  }
  // Every RUDI packet has a separate response. [SES-077, SES-141]
  if (rx.mode == pds::Mode::rudi && verdict.kind == pds::Verdict::Kind::accept) {
    verdict = default_response(q);
  }
  // A UUD packet gets no answer. [SES-104]
  if (rx.mode == pds::Mode::uud) verdict.kind = pds::Verdict::Kind::drop;
  return verdict;
}

// The packet that was expected. [SES-113]
pds::Verdict Incoming::go_on(const Request& q) {
  if (res_.jobs != nullptr) {
    if (const auto refused = judge_domain(q)) return *refused;
  }
  RxMessage& m = arriving_.next().message();
  return proceed(m, checks_.endpoint_of(m), q);
}

// Checks every packet, not only the first one of a message. A peer that sealed it in a domain of
// this end may learn that the job belongs to another domain; a peer that did not gets no answer.
// [TSS-075, TSS-077, TSS-093, T-19]
std::optional<pds::Verdict> Incoming::judge_domain(const Request& q) {
  if (res_.jobs == nullptr) return std::nullopt;
  const tss::Verdict judged = res_.jobs->judge_arrival(q.common.job_id, q.sdi);
  if (judged == tss::Verdict::take) return std::nullopt;
  const bool is_clear = judged == tss::Verdict::bypass;
  res_.counters.add(is_clear ? Counter::rx_not_secured : Counter::rx_other_domain);
  pds::Verdict verdict = response(q, ReturnCode::bad_job_id, q.common.ri_generation);
  if (is_clear || q.mode == pds::Mode::uud) verdict.kind = pds::Verdict::Kind::drop;  // [SES-104]
  return verdict;
}

// It is sent again, as malformed as before, until it is answered; only its PSN is known. [SES-171,
// PDS-076]
pds::Verdict Incoming::malformed(const pds::RxRequest& rx) {
  Request nameless;
  nameless.token = rx.token;
  pds::Verdict verdict = response(nameless, ReturnCode::op_violation, 0);
  if (rx.mode == pds::Mode::uud) verdict.kind = pds::Verdict::Kind::drop;  // [SES-104]
  return verdict;
}

// A message that is not known yet.
pds::Verdict Incoming::begin(const Request& q) {
  const Decision d = checks_.judge(q);
  switch (d.kind) {
    case Decision::Kind::refuse:
      if (d.code != ReturnCode::bad_generation) return refusals_.refuse(q, d.code, d.why);
      return refusals_.refuse(q, d.code, d.why, d.generation);
    case Decision::Kind::no_slot:
      return refusals_.no_message_slot();
    case Decision::Kind::restart:
      return on_restart(q);
    case Decision::Kind::deferral_end:
      res_.counters.add(Counter::rx_length_violation);
      return response(q, ReturnCode::op_violation, q.common.ri_generation);
    case Decision::Kind::msg_error:
      return on_msg_error(q);
    case Decision::Kind::no_op:
      return on_no_op(q);
    case Decision::Kind::write:
      return rma_.begin_write(*d.endpoint, q);
    case Decision::Kind::read:
      return rma_.begin_read(*d.endpoint, q);
    case Decision::Kind::atomic:
      return atomics_.begin(*d.endpoint, q);
    case Decision::Kind::send_atomic:
      return atomics_.begin_send(*d.endpoint, q);
    case Decision::Kind::send:
      return sends_.begin(*d.endpoint, q);
  }
  UET_ASSERT(false);
  return {};
}

// A later packet of a known message. [SES-113, SES-021]
pds::Verdict Incoming::resume(RxMessage& m, const Request& q, const pds::RxRequest& rx) {
  if (q.common.opcode == SesOpcode::msg_error) return on_msg_error(m, q);
  const bool may_end = m.to == RxMessage::To::deferred || m.error != ReturnCode::null;
  if (may_end && Checks::is_deferral_end(q)) return sends_.on_deferral_end(m, q);
  if (m.error != ReturnCode::null) return refusals_.repeat(m, q);

  const Continuation c = checks_.judge_later(m, q);
  if (c.code != ReturnCode::ok) {
    res_.counters.add(c.why);
    delivery_.fail(m, Completion::Status::refused, c.code);
    arriving_.count_last(m, q.length);
    return response(q, c.code, q.common.ri_generation);
  }
  if (m.packets.is_too_far(q.offset, q.length, q.common.eom)) return refusals_.no_message_slot();
  arriving_.next().follow(m, q, rx.ses);
  return proceed(m, *c.endpoint, q);
}

pds::Verdict Incoming::proceed(RxMessage& m, Endpoint& ep, const Request& q) {
  if (m.opcode == SesOpcode::write) return rma_.continue_write(m, ep, q);
  if (m.opcode == SesOpcode::read) return rma_.continue_read(m, ep, q);
  return sends_.proceed(m, ep, q);
}

namespace {

bool is_legal_msg_error(const Request& q) {
  return !q.common.som && q.common.eom && q.length == 0 && q.payload.empty();
}

}  // namespace

// A packet of an unknown message. Its data may still be under way; then the message ends with its
// last packet. [SES-105, SES-106]
pds::Verdict Incoming::on_msg_error(const Request& q) {
  const pds::Verdict verdict =
      refusals_.refuse(q, ReturnCode::op_violation, Counter::rx_msg_error_misused);
  RxMessage* const made = q.has_pdc() ? arriving_.find_any(q) : nullptr;
  if (made == nullptr) return verdict;
  if (is_legal_msg_error(q)) {
    arriving_.end_at(*made, q.offset);
  } else {
    arriving_.forget(*made);
  }
  return verdict;
}

pds::Verdict Incoming::on_msg_error(RxMessage& m, const Request& q) {
  if (!is_legal_msg_error(q) || m.msg_error_seen || q.offset > m.pushed) {
    res_.counters.add(Counter::rx_msg_error_misused);
    if (m.error == ReturnCode::null) {
      delivery_.fail(m, Completion::Status::refused, ReturnCode::op_violation);
    }
    return response(q, ReturnCode::op_violation, q.common.ri_generation);
  }
  if (m.error == ReturnCode::null) {
    res_.counters.add(Counter::rx_initiator_error);
    delivery_.fail(m, Completion::Status::refused, ReturnCode::initiator_err);
  }
  const pds::Verdict verdict = Refusals::stored(m, q);
  arriving_.end_at(m, q.offset);
  return verdict;
}

// Answered like any request. One that asks for an unknown message gets an error, because its
// initiator waits for reads that will not come. [SES-051, SES-091]
pds::Verdict Incoming::on_no_op(const Request& q) {
  if (!MemoryRegions::is_provider_key(q.match_bits) || pulls_.is_known(q.peer, q.match_bits)) {
    return pds::Verdict::accepted();
  }
  return refusals_.refuse(q, ReturnCode::bad_mkey, Counter::rx_bad_key);
}

// A ready-to-restart: the peer asks for a deferred send again. Its process and index are not
// checked: the token identifies the send. [SES-098, SES-099, SES-102]
pds::Verdict Incoming::on_restart(const Request& q) {
  if (q.common.ie) {
    return refusals_.refuse(q, ReturnCode::initiator_err, Counter::rx_initiator_error);
  }
  const bool is_legal = q.is_single() && q.payload.empty() && q.has_pdc();
  const Restart order{.peer = q.peer,
                      .job = q.common.job_id,
                      .initiator = q.initiator,
                      .tokens = wire::RestartTokens::unpack(q.match_bits)};
  if (is_legal && outgoing_.restart(order)) return pds::Verdict::accepted();
  res_.counters.add(Counter::rx_restart_refused);
  return response(q, ReturnCode::op_violation, q.common.ri_generation);
}

void Incoming::on_end(const InternalEnd& done) {
  if (done.pull != 0) return pulls_.on_end(done);
  if (DeferredMessage* const refused = deferred_.on_end(done)) {
    delivery_.give_up(*refused, Completion::Status::undeliverable);
  }
  if (done.status != Completion::Status::aborted) deferred_.send_calls();
}

void Incoming::on_pdc_closed(pds::PdcHandle pdc) {
  arriving_.close_pdc(pdc, [&](RxMessage& m) {
    res_.counters.add(Counter::rx_partial_closed);
    delivery_.fail(m, Completion::Status::undeliverable, ReturnCode::undeliverable);
  });
}

void Incoming::advance() {
  while (RxMessage* const m = arriving_.next_expired()) {
    if (m->error == ReturnCode::null) {
      res_.counters.add(Counter::rx_partial_expired);  // [SES-108]
      delivery_.fail(*m, Completion::Status::undeliverable, ReturnCode::undeliverable);
    }
    arriving_.give_up(*m);
  }
  pulls_.retry();
  while (DeferredMessage* const d = deferred_.next_expired()) {
    delivery_.give_up(*d, Completion::Status::undeliverable);
  }
  deferred_.retry();
  delivery_.drain();
}

Instant Incoming::next_deadline() const {
  const Instant next =
      std::min({arriving_.next_deadline(), pulls_.next_deadline(), deferred_.next_deadline()});
  // The completion queue has no way to say that it has room again.
  if (!delivery_.is_stalled()) return next;
  return std::min(next, res_.now + Duration::milliseconds(1));
}

void Incoming::snapshot(Snapshot& out, Instant now) {
  arriving_.for_each([&](const RxMessage& m) { add_arriving(out, m, *res_.peers, now); });
  const UnexpectedPool& pool = kept_.room().pool();
  out.kept_pages_max = pool.pages();
  out.kept_pages = pool.pages() - pool.free_pages();
}

}  // namespace uet::ses
