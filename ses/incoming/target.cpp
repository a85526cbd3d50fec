// The order in which a request is judged, and the life of multi-packet messages. [ses.md 5]
//
// message \ packet | more data  | last octet    | wrong packet, MSG_ERROR | idle     | PDC gone
// unknown          | tracked    | (single) done | errored                 | -        | -
// tracked          | tracked    | done          | errored                 | given up | gone
// errored          | same error | gone          | same error, or gone     | given up | gone
// given up         | same error | gone          | same error, or gone     | -        | gone
//
// One that was tracked and is given up, or goes with its PDC, fails its receive.
#include "ses/incoming/target.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;
using wire::SesOpcode;

namespace {

bool is_served(SesOpcode opcode, uint8_t profiles) {
  if (support(profiles, feature_of(opcode)) == Support::absent) return false;
  switch (opcode) {
    case SesOpcode::no_op:
    case SesOpcode::write:
    case SesOpcode::read:
    case SesOpcode::send:
    case SesOpcode::datagram_send:
    case SesOpcode::deferrable_send:
    case SesOpcode::tagged_send:
    case SesOpcode::deferrable_tsend:
    case SesOpcode::deferrable_rtr:
    case SesOpcode::atomic:
    case SesOpcode::fetching_atomic:
    case SesOpcode::tsend_atomic:
    case SesOpcode::tsend_fetch_atomic:
    case SesOpcode::rendezvous_send:
    case SesOpcode::rendezvous_tsend:
    case SesOpcode::msg_error:
      return true;
    case SesOpcode::extended:
      return false;
  }
  return false;  // reserved and vendor codes [SES-067, SES-068]
}

}  // namespace

Result<void> Target::create(uint64_t seed) {
  const Config& config = core_.config;
  Rng rng(seed, 5);
  for (uint32_t code = 0; code < 64; ++code) {
    if (is_served(static_cast<SesOpcode>(code), config.profiles)) served_ |= uint64_t{1} << code;
  }
  UET_CHECK(receives_.create(*core_.arena, Room{64, Slab<PostedReceive>::kCapacityMax}));
  UET_CHECK(rx_messages_.create(*core_.arena, config.rx_messages));
  UET_CHECK(kept_.create(*core_.arena, config, *core_.peers));
  const uint32_t pulls = config.unexpected_messages + config.rx_messages;
  UET_CHECK(pulls_.create(*core_.arena, pulls, Reuse::rested));
  UET_CHECK(pull_by_key_.create(*core_.arena, pulls, rng.u64()));
  core_.pulled = {this, [](void* me, uint32_t pull, const Completion& done) {
                    static_cast<Target*>(me)->on_pulled(pull, done);
                  }};
  UET_CHECK(create_deferral(rng));
  UET_CHECK(rx_by_key_.create(*core_.arena, config.rx_messages, rng.u64()));
  UET_CHECK(rx_by_pdc_.create(*core_.arena, config.rx_messages, rng.u64()));
  const Room owed{std::min(config.unexpected_messages, 16U), config.unexpected_messages};
  return owed_by_pdc_.create(*core_.arena, owed, rng.u64());
}

pds::Verdict Target::on_request(const pds::RxRequest& rx) {
  if (rx.next_hdr == wire::NextHeader::response_data ||
      rx.next_hdr == wire::NextHeader::response_data_small) {
    return initiator_.on_return_data(rx);
  }
  if (!stalled_.empty()) advance();
  auto parsed = parse_request(rx, core_.config.payload_mtu);
  if (!parsed.ok()) {
    core_.counters.add(parsed.error() == wire::ParseError::truncated ? Counter::rx_truncated
                                                                     : Counter::rx_malformed);
    return malformed(rx);
  }
  const Request& q = *parsed;
  pds::Verdict verdict;
  RxMessage* const known = q.is_single() || !q.has_pdc() ? nullptr : known_message(q);
  if (q.common.ver != 0) {
    core_.counters.add(Counter::rx_bad_version);
    verdict = response(q, ReturnCode::uncor, q.common.ri_generation);  // [SES-109]
  } else if (known != nullptr) {
    verdict = resume(*known, q);  // [SES-113]
  } else {
    verdict = begin(q);
  }
  // Every RUDI packet has a response of its own. [SES-077, SES-141]
  if (rx.mode == pds::Mode::rudi && verdict.kind == pds::Verdict::Kind::accept) {
    verdict = default_response(q);
  }
  // Nobody waits for an answer to a UUD packet. [SES-104]
  if (rx.mode == pds::Mode::uud) verdict.kind = pds::Verdict::Kind::drop;
  return verdict;
}

// Whoever sent it sends it again until it is answered, and it does not become any better; the PSN
// is all that names it. [SES-171, PDS-076]
pds::Verdict Target::malformed(const pds::RxRequest& rx) {
  Request nameless;
  nameless.token = rx.token;
  pds::Verdict verdict = response(nameless, ReturnCode::op_violation, 0);
  if (rx.mode == pds::Mode::uud) verdict.kind = pds::Verdict::Kind::drop;  // [SES-104]
  return verdict;
}

// A message that is not known yet. The order of the checks is the specification's. [SES-110..117]
pds::Verdict Target::begin(const Request& q) {
  const SesOpcode opcode = q.common.opcode;
  if (!serves(opcode)) return refuse(q, ReturnCode::unsupported_op, Counter::rx_unsupported_op);

  if (opcode == SesOpcode::deferrable_rtr) return on_restart(q);
  if (is_deferral_end(q)) {  // of a message that nobody told to wait, or that is forgotten
    core_.counters.add(Counter::rx_length_violation);
    return response(q, ReturnCode::op_violation, q.common.ri_generation);
  }
  const bool absolute = !q.common.rel;
  Endpoint* ep = q.header == wire::NextHeader::small
                     ? core_.find_process(absolute, q.common.job_id, q.common.pid_on_fep)
                     : core_.find_endpoint(absolute, q.common.job_id, q.common.pid_on_fep,
                                           q.common.resource_index);
  Counter why{};
  if (ep == nullptr) {
    const ReturnCode code = missing_endpoint(q, why);
    return refuse(q, code, why);
  }
  // A small header does not say which endpoint: its region decides. [SES-008]
  if (q.header != wire::NextHeader::small && !ep->options.hears(q.common.job_id)) {
    return refuse(q, ReturnCode::bad_job_id, Counter::rx_bad_job);  // [SES-004]
  }
  if (opcode == SesOpcode::msg_error) return on_msg_error(nullptr, q);
  if (q.common.ie) return refuse(q, ReturnCode::initiator_err, Counter::rx_initiator_error);

  ReturnCode code = check_generation(*ep, q, why);
  if (code != ReturnCode::ok) return refuse(q, code, why);
  code = check_mode(q);
  if (code != ReturnCode::ok) return refuse(q, code, Counter::rx_mode_violation);
  if (q.request_length > kMaxMessageBytes) {
    return refuse(q, ReturnCode::unsupported_size, Counter::rx_unsupported_size);
  }
  if (!has_legal_lengths(q) || (is_atomic(opcode) && !q.is_single()) ||
      (opcode == SesOpcode::no_op && q.request_length != 0)) {
    return refuse(q, ReturnCode::op_violation, Counter::rx_length_violation);  // [SES-051, SES-080]
  }
  if (Arrivals().is_too_far(q.offset, q.length, q.common.eom)) return no_message_slot();
  if (q.has_data && !ep->rx.carries_data) {
    return refuse(q, ReturnCode::op_violation, Counter::rx_header_data_refused);  // [SES-050]
  }
  if (opcode == SesOpcode::no_op) return on_no_op(q);
  if (opcode == SesOpcode::write) return begin_write(*ep, q);
  if (opcode == SesOpcode::read) return begin_read(*ep, q);
  if (is_atomic(opcode)) {
    return is_tagged(opcode) ? begin_send_atomic(*ep, q) : begin_atomic(*ep, q);
  }
  return begin_send(*ep, q);
}

// [SES-111, SES-172..174]
ReturnCode Target::missing_endpoint(const Request& q, Counter& why) const {
  // The job takes no part in an absolute look-up. [SES-002]
  if (q.common.rel && !core_.is_known(q.common.job_id)) {
    why = Counter::rx_bad_job;
    return ReturnCode::bad_job_id;
  }
  const bool pid_known =
      core_.find_process(!q.common.rel, q.common.job_id, q.common.pid_on_fep) != nullptr;
  why = pid_known ? Counter::rx_bad_index : Counter::rx_bad_pid;
  return pid_known ? ReturnCode::bad_index : ReturnCode::bad_pid;
}

// [SES-114, SES-132, SES-134, SES-136]
ReturnCode Target::check_generation(Endpoint& ep, const Request& q, Counter& why) {
  // The small header names no index, so no generation of one either. [SES-008]
  if (!q.has_pdc() || q.header == wire::NextHeader::small) return ReturnCode::ok;
  const bool tagged = is_tagged(q.common.opcode);
  refresh(ep, tagged);
  const Generation& generation = ep.generation(tagged);
  if (generation.is_enabled && q.common.ri_generation == generation.value) return ReturnCode::ok;
  // Our own message may be read whatever becomes of those that are sent to us. [SES-092]
  if (q.common.opcode == SesOpcode::read && core_.memory.is_exposed(q.match_bits)) {
    return ReturnCode::ok;
  }
  if (!generation.is_enabled) {
    why = Counter::rx_disabled;
    return ReturnCode::disabled_gen;
  }
  why = Counter::rx_bad_generation;
  return ReturnCode::bad_generation;
}

// Answers a new message with an error. A longer one stays known, so that all of its packets are
// told the same. [SES-107]
pds::Verdict Target::refuse(const Request& q, ReturnCode code, Counter why) {
  uint8_t generation = q.common.ri_generation;
  if (code == ReturnCode::bad_generation) {
    const Endpoint* ep = core_.find_endpoint(!q.common.rel, q.common.job_id, q.common.pid_on_fep,
                                             q.common.resource_index);
    if (ep != nullptr) {
      generation =
          is_tagged(q.common.opcode) ? ep->tagged_generation.value : ep->untagged_generation.value;
    }
  }
  if (!q.is_single() && q.has_pdc()) {
    RxMessage* m = track(q);
    if (m == nullptr) return no_message_slot();
    set_error(*m, code);
    m->error_generation = generation;
    count_arrival(*m, q.length);
    if (m->arrived >= m->end) forget(*m);
  }
  core_.counters.add(why);
  return response(q, code, generation);
}

// All the room there is, for tracking or for an answer, is in use: the initiator tries again.
// [SES-118]
pds::Verdict Target::no_message_slot() {
  core_.counters.add(Counter::rx_no_message_slot);
  return pds::Verdict::refused(wire::NackCode::no_ses_msg_avail);
}

// A later packet of a known message. [SES-113, SES-021]
pds::Verdict Target::resume(RxMessage& m, const Request& q) {
  if (q.common.opcode == SesOpcode::msg_error) return on_msg_error(&m, q);
  const bool may_end = m.to == RxMessage::To::deferred || m.error != ReturnCode::null;
  if (may_end && is_deferral_end(q)) return on_deferral_end(m, q);
  if (m.error != ReturnCode::null) return repeat_error(m, q);

  Counter why{};
  const ReturnCode code = check_same(m, q, why);
  if (code != ReturnCode::ok) {
    core_.counters.add(why);
    fail(m, Completion::Status::refused, code);
    count_arrival(m, q.length);
    if (m.arrived >= m.end) forget(m);
    return response(q, code, q.common.ri_generation);
  }
  if (m.packets.is_too_far(q.offset, q.length, q.common.eom)) return no_message_slot();
  Endpoint* ep = core_.endpoint(m.endpoint);
  UET_ASSERT(ep != nullptr);  // close() turns its messages into errored ones
  if (m.opcode == SesOpcode::write) return continue_write(m, *ep, q);
  if (m.opcode == SesOpcode::read) return continue_read(m, *ep, q);
  if (m.to == RxMessage::To::deferred) return continue_deferred(m, *ep, q);
  return continue_send(m, *ep, q);
}

// Takes from an accepted packet what the message must know.
void Target::note_packet(RxMessage& m, const Request& q) {
  if (q.common.som) {
    m.som_seen = true;
    m.has_data = q.has_data;
    m.header_data = q.header_data;
  }
  if (!q.common.eom) m.mtu = static_cast<uint16_t>(q.length);
  m.packets.note(q.offset, q.length, q.common.eom);
  count_arrival(m, q.length);
}

pds::Verdict Target::stored_error(const RxMessage& m, const Request& q) {
  const bool tells_generation = m.error == ReturnCode::bad_generation;
  return response(q, m.error, tells_generation ? m.error_generation : q.common.ri_generation);
}

pds::Verdict Target::repeat_error(RxMessage& m, const Request& q) {
  core_.counters.add(Counter::rx_repeated_error);
  const pds::Verdict verdict = stored_error(m, q);
  count_arrival(m, q.length);
  if (m.arrived >= m.end) forget(m);
  return verdict;
}

ReturnCode Target::check_same(const RxMessage& m, const Request& q, Counter& why) const {
  why = Counter::rx_initiator_error;
  if (q.common.ie) return ReturnCode::initiator_err;  // [SES-049]
  why = Counter::rx_changed_field;
  if (q.common.opcode != m.opcode) return ReturnCode::op_violation;  // [SES-021]
  if (q.match_bits != m.match_bits || q.common.job_id != m.job || q.common.pid_on_fep != m.pid ||
      q.common.resource_index != m.ri || q.initiator != m.initiator) {
    return ReturnCode::perm_violation;  // [SES-021, SES-170]
  }
  why = Counter::rx_length_violation;
  if (q.request_length != m.request_length || q.buffer_offset != m.buffer_offset ||
      !has_legal_lengths(q) || (m.pull != nullptr && !(q.rendezvous() == m.pull->source))) {
    return ReturnCode::op_violation;  // [SES-115, WIRE-069]
  }
  if (m.mtu != 0 &&
      (q.common.eom ? q.length > m.mtu || q.offset % m.mtu != 0 : q.length != m.mtu)) {
    return ReturnCode::op_violation;  // [SES-016]
  }
  if (m.mtu == 0 && !q.common.eom && !m.packets.fits_last(m.pushed, q.length)) {
    return ReturnCode::op_violation;
  }
  // PDS removes copies of a packet; a peer that sends the same octets under two PSNs would have
  // them counted for others that never came. [SES-190]
  if (!m.packets.is_too_far(q.offset, q.length, q.common.eom) &&
      m.packets.has(q.offset, q.length, q.common.eom)) {
    why = Counter::rx_repeated_part;
    return ReturnCode::op_violation;
  }
  // More octets than there are, a second first packet, or all of them without a first packet.
  const bool som_seen = m.som_seen || q.common.som;
  if (q.length > m.pushed - m.arrived || (m.som_seen && q.common.som) ||
      (q.length == m.pushed - m.arrived && !som_seen)) {
    return ReturnCode::op_violation;
  }
  const Endpoint* ep = core_.endpoint(m.endpoint);
  why = Counter::rx_header_data_refused;
  if (q.has_data && ep != nullptr && !ep->rx.carries_data) return ReturnCode::op_violation;
  return ReturnCode::ok;
}

// [SES-105, SES-106]
pds::Verdict Target::on_msg_error(RxMessage* m, const Request& q) {
  const bool is_legal = !q.common.som && q.common.eom && q.length == 0 && q.payload.empty();
  if (m == nullptr) {
    // Of an unknown message. Its data may still be under way; then it ends with the last of it.
    const pds::Verdict verdict = refuse(q, ReturnCode::op_violation, Counter::rx_msg_error_misused);
    RxMessage** made = q.has_pdc() ? rx_by_key_.find({q.token.pdc, q.id}) : nullptr;
    if (made == nullptr) return verdict;
    (*made)->msg_error_seen = true;
    (*made)->end = q.offset;
    if (!is_legal || q.offset == 0) forget(**made);
    return verdict;
  }
  if (!is_legal || m->msg_error_seen || q.offset > m->pushed) {
    core_.counters.add(Counter::rx_msg_error_misused);
    if (m->error == ReturnCode::null) {
      fail(*m, Completion::Status::refused, ReturnCode::op_violation);
    }
    return response(q, ReturnCode::op_violation, q.common.ri_generation);
  }
  if (m->error == ReturnCode::null) {
    core_.counters.add(Counter::rx_initiator_error);
    fail(*m, Completion::Status::refused, ReturnCode::initiator_err);
  }
  const pds::Verdict verdict = stored_error(*m, q);
  m->msg_error_seen = true;
  m->end = q.offset;
  if (m->arrived >= m->end) forget(*m);
  return verdict;
}

// The message will not be completed: ends the receive or drops what was kept. What still arrives
// of it is counted and told the error. [SES-107]
void Target::fail(RxMessage& m, Completion::Status status, ReturnCode code) {
  const RxMessage::To was = m.to;
  m.to = RxMessage::To::nowhere;
  set_error(m, code);
  if (was == RxMessage::To::receive && m.pull != nullptr) free(*m.pull);
  m.pull = nullptr;  // of a kept one it goes with what is kept
  if (was == RxMessage::To::receive) {
    fail_receive(m, status);
  } else if (was == RxMessage::To::unexpected) {
    UnexpectedMessage& u = *m.unexpected;
    m.unexpected = nullptr;
    u.arriving = nullptr;
    drop_unexpected(u, code);
  }
}

bool Target::has_open_message(pds::PdcHandle pdc) const {
  const PdcMessages* const of_pdc = rx_by_pdc_.find(pdc.value());
  return of_pdc != nullptr && of_pdc->open != 0;
}

void Target::on_pdc_closed(pds::PdcHandle pdc) {
  if (owed_by_pdc_.find(pdc.value()) != nullptr) owed_by_pdc_.erase(pdc.value());
  if (rx_by_pdc_.find(pdc.value()) == nullptr) return;
  for (RxMessage& m : partial_) {
    if (m.key.pdc != pdc) continue;
    core_.counters.add(Counter::rx_partial_closed);
    fail(m, Completion::Status::undeliverable, ReturnCode::undeliverable);
    forget(m);
  }
  for (RxMessage& m : given_up_) {
    if (m.key.pdc == pdc) forget(m);
  }
}

void Target::advance() {
  while (RxMessage* m = partial_.front()) {
    if (m->last_arrival + core_.config.partial_message_time > core_.now) break;
    if (is_held_up(*m)) {
      count_arrival(*m, 0);
      continue;
    }
    if (m->error == ReturnCode::null) {
      core_.counters.add(Counter::rx_partial_expired);  // [SES-108]
      fail(*m, Completion::Status::undeliverable, ReturnCode::undeliverable);
    }
    give_up(*m);
  }
  retry_pulls();
  expire_deferred();
  if (call_again_.is_due(core_.now)) send_calls();
  for (Endpoint& ep : stalled_) drain(ep);
}

Instant Target::next_deadline() const {
  Instant next = Instant::never();
  if (const RxMessage* m = partial_.front()) {
    next = m->last_arrival + core_.config.partial_message_time;
  }
  if (const Pull* p = failed_releases_.front()) next = std::min(next, p->again_at);
  if (const DeferredMessage* d = deferred_messages_.front()) {
    next = std::min(next, d->last_heard + core_.config.deferral_time * 2);
  }
  next = std::min({next, pull_again_.deadline(), call_again_.deadline()});
  // The completion queue has no way to say that it has room again.
  if (!stalled_.empty()) next = std::min(next, core_.now + Duration::milliseconds(1));
  return next;
}

}  // namespace uet::ses
