// What answers, failures and return data do to a message, and when it is over. [ses.md 7]
#include "ses/outgoing/initiator.h"
#include "wire/ses.h"

#include <algorithm>

namespace uet::ses {

// What one response says, whatever its header.
struct Initiator::Outcome {
  enum class Kind : uint8_t {
    ok,    // default, implied, or RESPONSE OK [SES-142, SES-143]
    none,  // NO_RESPONSE: the answer comes later [SES-145]
    data,
    error,
    malformed,
  };
  Kind kind = Kind::ok;
  wire::ReturnCode code = wire::ReturnCode::ok;
  uint8_t ri_generation = 0;
  wire::ListCode list{};
  bool is_default = true;
  uint32_t modified_length = 0;
  uint32_t message_offset = 0;
  std::span<const std::byte> data;

  // What a deferrable send is told when it must wait. [SES-095]
  bool defers() const {
    return !is_default && list == wire::ListCode::overflow && modified_length == 0;
  }
  static Outcome malformed() {
    Outcome o;
    o.kind = Kind::malformed;
    return o;
  }
};

namespace {

bool is_good(wire::ReturnCode code) {
  return code == wire::ReturnCode::ok || code == wire::ReturnCode::null;  // [SES-142]
}

// Column "Act" of the return code table. [SES-152, SES-154, SES-155, SES-180]
bool is_retryable(wire::ReturnCode code) {
  return code == wire::ReturnCode::bad_generation || code == wire::ReturnCode::disabled_gen ||
         code == wire::ReturnCode::no_match || code == wire::ReturnCode::uncor_trnsnt;
}

// The target will take it when its application posts a receive or takes what is kept. [SES-191]
bool waits_for_application(wire::ReturnCode code) {
  return code == wire::ReturnCode::disabled_gen || code == wire::ReturnCode::no_match;
}

bool is_peer_silent(pds::FailureReason reason) {
  switch (reason) {
    case pds::FailureReason::timeout:
    case pds::FailureReason::unreachable:
    case pds::FailureReason::no_route:
    case pds::FailureReason::aborted:
      return true;
    case pds::FailureReason::nack:
    case pds::FailureReason::closed:
    case pds::FailureReason::too_long:
      return false;
  }
  return true;
}

}  // namespace

Initiator::Outcome Initiator::read_response(const pds::RxResponse& response) {
  Outcome out;
  if (response.ses.empty()) return out;  // implied by CACK: default OK [PDS-168]
  wire::Reader r(response.ses);
  if (response.next_hdr == wire::NextHeader::response_data) {
    const auto h = wire::ResponseData::parse(r);
    if (!h.ok() || !h->check_sum(r.remaining()).ok()) return Outcome::malformed();
    out.kind = is_good(h->common.return_code) ? Outcome::Kind::data : Outcome::Kind::error;
    out.code = h->common.return_code;
    out.modified_length = h->modified_length;
    out.message_offset = h->message_offset;
    out.data = r.rest();
    return out;
  }
  if (response.next_hdr == wire::NextHeader::response_data_small) {
    const auto h = wire::ResponseDataSmall::parse(r);
    if (!h.ok() || !h->check_sum(r.remaining()).ok()) return Outcome::malformed();
    // The answer to a message of one packet, which PDS has joined to it: all there is. [WIRE-078]
    out.kind = is_good(h->common.return_code) ? Outcome::Kind::data : Outcome::Kind::error;
    out.code = h->common.return_code;
    out.modified_length = h->payload_length;
    out.data = r.rest();
    return out;
  }
  if (response.next_hdr != wire::NextHeader::response) return Outcome::malformed();
  const auto h = wire::Response::parse(r);
  if (!h.ok()) return Outcome::malformed();
  out.code = h->common.return_code;
  out.ri_generation = h->ri_generation;
  out.modified_length = h->modified_length;
  out.list = h->common.list;
  out.is_default = h->common.opcode == wire::ResponseOpcode::default_response;
  if (!is_good(out.code)) {
    out.kind = Outcome::Kind::error;
  } else if (h->common.opcode == wire::ResponseOpcode::no_response) {
    out.kind = Outcome::Kind::none;
  }
  return out;
}

void Initiator::note_error(TxMessage& m, wire::ReturnCode code, uint8_t ri_generation) {
  if (m.code != wire::ReturnCode::null) return;  // the first one wins
  m.code = code;
  if (!m.is_fully_pulled) m.is_stopped = true;  // [SES-105]
  if (is_retryable(code)) begin_recovery(*m.remote);
  if (code == wire::ReturnCode::bad_generation) {
    // Kept for every later message of the class to that destination. [SES-134]
    (m.is_tagged() ? m.remote->tagged_generation : m.remote->untagged_generation) = ri_generation;
  }
}

void Initiator::on_response(const pds::PacketRef& ref, const pds::RxResponse& response) {
  if (ReturnMessage* r = return_message(ref.message)) {
    on_taken(*r);
    free(*r);  // whatever it says [PDS-108]
    return;
  }
  TxMessage* m = message(ref.message);
  if (m == nullptr) {
    core_.counters.add(Counter::rx_response_stray);
    return;
  }
  // One more answer after a NO_RESPONSE counts for no packet.
  if (m->done_packets() < m->pulled_packets) ++m->answered_packets;
  const bool answers_msg_error = !ref.som && ref.length == 0;
  if (m->state != TxMessage::State::ended && !answers_msg_error) {
    const Outcome o = read_response(response);
    switch (o.kind) {
      case Outcome::Kind::ok:
        if (m->deferral != nullptr && o.defers()) {
          note_deferred(*m);
          break;
        }
        // Shorter than sent is a success of the send. [SES-139]
        m->has_semantic_answer = true;
        if (m->exposure != nullptr && !o.is_default) {
          note_delivered(*m, o.list, o.modified_length);
        }
        break;
      case Outcome::Kind::none:
        break;
      case Outcome::Kind::data:
        if (take_data(*m, o.message_offset, o.modified_length, o.data)) break;
        core_.counters.add(Counter::rx_response_malformed);
        note_error(*m, wire::ReturnCode::uncor, 0);
        break;
      case Outcome::Kind::error:
        note_error(*m, o.code, o.ri_generation);
        break;
      case Outcome::Kind::malformed:
        core_.counters.add(Counter::rx_response_malformed);
        note_error(*m, wire::ReturnCode::uncor, 0);
        break;
    }
  }
  settle(*m);
}

// Places one chunk of a read. Every chunk is what one request packet asked for, so anything else is
// refused. PDS removes duplicates; a responder that repeats a chunk under a new PSN spoils only
// the data it vouches for. [SES-024, SES-076]
bool Initiator::take_data(TxMessage& m, uint32_t offset, uint32_t modified_length,
                          std::span<const std::byte> data) {
  if (m.kind == OpKind::fetching_atomic) return take_old_values(m, offset, modified_length, data);
  if (!m.is_read() || modified_length != m.segment_length) return false;
  if (offset > m.segment_length || offset % m.mtu != 0) return false;
  if (data.size() != std::min<uint32_t>(m.segment_length - offset, m.mtu)) return false;
  if (data.size() > m.segment_length - m.data_bytes) return false;
  m.memory.scatter(m.segment_start + offset, data);
  m.data_bytes += static_cast<uint32_t>(data.size());
  m.has_semantic_answer = true;
  return true;
}

// The old values of a fetching atomic, all in one packet. The length that is echoed is that of the
// operands. [SES-081]
bool Initiator::take_old_values(TxMessage& m, uint32_t offset, uint32_t modified_length,
                                std::span<const std::byte> data) {
  if (modified_length != m.segment_length || offset != 0) return false;
  if (data.size() != m.result_bytes || m.data_bytes != 0) return false;
  std::array<std::byte, kAtomicBytesMax> values;
  std::copy(data.begin(), data.end(), values.begin());
  const std::span<std::byte> used(values.data(), data.size());
  swap_elements(m.atomic.type, used);
  m.result.scatter(0, used);
  m.data_bytes = m.result_bytes;
  m.has_semantic_answer = true;
  return true;
}

pds::Verdict Initiator::on_return_data(const pds::RxRequest& request) {
  wire::Reader r(request.ses);
  const auto h = wire::ResponseData::parse(r);
  if (request.next_hdr != wire::NextHeader::response_data || !h.ok()) {
    // It does not say whose it is. As if it had never arrived: it is sent again, perhaps whole.
    core_.counters.add(Counter::rx_response_malformed);
    pds::Verdict verdict;
    verdict.kind = pds::Verdict::Kind::drop;
    return verdict;
  }
  const uint32_t holder = core_.ids.holder(h->read_request_message_id);
  TxMessage* m = message(pds::MessageHandle(holder));
  // Only the PDC that carries the read may answer it.
  if (m == nullptr || m->state != TxMessage::State::started || m->pdc != request.token.pdc ||
      m->remote->key.peer != request.peer || !m->returns_data()) {
    core_.counters.add(Counter::rx_return_refused);
    return pds::Verdict::accepted();
  }
  if (!is_good(h->common.return_code)) {
    note_error(*m, h->common.return_code, 0);
  } else if (!h->check_sum(r.remaining()).ok()) {
    core_.counters.add(Counter::rx_response_malformed);
    note_error(*m, wire::ReturnCode::uncor, 0);
  } else if (!take_data(*m, h->message_offset, h->modified_length, r.rest())) {
    core_.counters.add(Counter::rx_return_refused);
    note_error(*m, wire::ReturnCode::uncor, 0);
  }
  settle(*m);
  return pds::Verdict::accepted();
}

void Initiator::note_failure(TxMessage& m, const pds::Failure& failure) {
  if (m.failed_packets == 0 && !m.was_aborted) m.failure = failure;
  m.all_undelivered = m.all_undelivered && failure.not_delivered;
  m.any_undelivered = m.any_undelivered || failure.not_delivered;
  begin_recovery(*m.remote);  // nothing later may start before it is known how this one ends
}

void Initiator::on_failed(const pds::PacketRef& ref, const pds::Failure& failure) {
  if (ReturnMessage* r = return_message(ref.message)) {
    // Whoever reads keeps the PDC until it has all it wants, so one who closes has it. [SES-075]
    if (failure.reason == pds::FailureReason::closed) on_taken(*r);
    free(*r);
    return;
  }
  TxMessage* m = message(ref.message);
  if (m == nullptr) {
    core_.counters.add(Counter::rx_response_stray);
    return;
  }
  note_failure(*m, failure);
  ++m->failed_packets;
  settle(*m);
}

void Initiator::on_aborted(pds::MessageHandle handle, const pds::Failure& failure) {
  if (ReturnMessage* r = return_message(handle)) {
    free(*r);
    return;
  }
  TxMessage* m = message(handle);
  if (m == nullptr) return;
  if (!m->was_aborted && m->failed_packets == 0) m->failure = failure;
  m->was_aborted = true;
  m->is_fully_pulled = true;
  settle(*m);
}

// Messages that wait for more than PDS owes them learn here that it will not come; for all others
// PDS calls on_failed or on_aborted.
void Initiator::on_pdc_closed(pds::PdcHandle pdc) {
  for (TxMessage& m : awaiting_) {
    if (m.pdc != pdc) continue;
    m.failure = pds::Failure{.reason = pds::FailureReason::closed};
    m.was_aborted = true;
    m.all_undelivered = false;
    settle(m);
  }
}

bool Initiator::lacks_answer(const TxMessage& m) {
  return !m.has_semantic_answer || m.data_bytes < m.expected_bytes();
}

// Looks whether the attempt is over and acts on how it ended. [SES-149]
void Initiator::settle(TxMessage& m) {
  if (!m.is_fully_pulled || m.done_packets() < m.pulled_packets) return;
  static_cast<ListNode<QueueTag>&>(m).unlink();  // no longer awaiting, or again below
  if (m.state == TxMessage::State::ended) {
    finish(m);
    return;
  }
  if (m.code != wire::ReturnCode::null) {
    settle_refused(m);
  } else if (m.failed_packets != 0 || m.was_aborted) {
    settle_failed(m);
  } else if (m.deferral != nullptr && m.deferral->is_deferred) {
    wait_for_restart(m);
  } else if (m.flow->mode == pds::Mode::rudi && lacks_answer(m)) {
    expire_read(m);  // every packet has had its only response [SES-141]
  } else if (m.data_bytes < m.expected_bytes()) {
    core_.timers.arm(m.timer, core_.now + core_.config.retry_patience);
    awaiting_.push_back(m);
  } else if (!m.has_semantic_answer) {
    awaiting_.push_back(m);
  } else if (m.exposure != nullptr && !m.exposure->is_read_out()) {
    wait_for_reads(m);
  } else if (m.segment_start + m.segment_length < m.memory.bytes()) {
    next_segment(m);
  } else {
    report(m, m.exposure == nullptr ? Completion::Status::ok : end_of(m));
    finish(m);
  }
}

// The attempt is over and so is the operation.
void Initiator::finish(TxMessage& m) {
  Remote& remote = *m.remote;
  leave_remote(m);
  end_recovery_wait(remote);
  free(m);
}

void Initiator::settle_refused(TxMessage& m) {
  if (m.is_probe && (is_retryable(m.code) || m.code == wire::ReturnCode::bad_mkey)) {
    settle_probe(m);
    return;
  }
  if (ask_less(m)) return retry(m, Duration::zero());
  if (is_retryable(m.code) && may_retry(m)) {
    const bool at_once = m.code == wire::ReturnCode::bad_generation;  // [SES-134]
    retry(m, at_once ? Duration::zero() : retry_delay(m.retries));
    return;
  }
  report(m, Completion::Status::refused);
  finish(m);
}

// A message of which nothing was executed may go again on another PDC; a read, and a probe of an
// exposed message, always: they change nothing. So may one that lacked a packet when the peer lost
// the PDC: nobody took it for complete, and what arrived of it went with the PDC. All else failed
// for good. [PDS-119, PDS-149, PDS-190]
void Initiator::settle_failed(TxMessage& m) {
  const bool is_gone_there =
      m.failure.reason == pds::FailureReason::nack &&
      (m.failure.nack == wire::NackCode::inv_dpdcid || m.failure.nack == wire::NackCode::closing);
  const bool is_rest = m.pull != 0 && !m.may_repeat;  // its octets are counted at the other end
  const bool is_harmless = (m.is_read() && !is_rest) || m.restart != 0 || m.is_probe ||
                           (m.all_undelivered && m.answered_packets == 0) ||
                           (is_gone_there && !is_rest && (m.any_undelivered || m.was_aborted));
  const bool is_deferred = m.deferral != nullptr && m.deferral->is_deferred;
  if (is_deferred && !is_peer_silent(m.failure.reason)) return wait_for_restart(m);
  if (is_harmless && !is_peer_silent(m.failure.reason) && may_retry(m)) {
    retry(m, m.retries == 0 ? Duration::zero() : retry_delay(m.retries));
    return;
  }
  report(m, Completion::Status::undeliverable);
  finish(m);
}

// The data of a read stayed away although its requests were answered.
void Initiator::expire_read(TxMessage& m) {
  m.failure = pds::Failure{.reason = pds::FailureReason::timeout};
  report(m, Completion::Status::undeliverable);
  finish(m);
}

// A peer whose application has no receive for the message answers each time: that may last. One
// that has only other reasons makes no progress, and is given up after as long as on a PDC that
// lets nothing pass. [SES-135, SES-191, PDS-148]
bool Initiator::may_retry(TxMessage& m) {
  if (m.retries == 0) m.first_refused = core_.now;
  if (core_.config.retry_limit != 0 && m.retries >= core_.config.retry_limit) return false;
  if (waits_for_application(m.code)) {
    m.stuck_since = Instant::zero();
    return true;
  }
  if (m.stuck_since == Instant::zero()) m.stuck_since = core_.now;
  return core_.now - m.stuck_since < core_.config.retry_patience * 5;
}

Duration Initiator::retry_delay(uint32_t retries) {
  const Config& c = core_.config;
  const auto span = static_cast<uint64_t>((c.retry_time_max - c.retry_time_min).ns());
  const int64_t drawn = c.retry_time_min.ns() + static_cast<int64_t>(core_.rng.below(span + 1));
  const uint32_t doublings = std::min<uint32_t>(retries, 16);
  return std::min(Duration::nanoseconds(drawn) * (int64_t{1} << doublings), c.retry_time_cap);
}

void Initiator::retry(TxMessage& m, Duration delay) {
  Remote& remote = *m.remote;
  core_.counters.add(Counter::tx_retried);
  ++m.retries;
  forget_attempt(m);
  fit(m);
  if (!remote.is_ordered) {
    if (delay == Duration::zero()) {
      leave_remote(m);
      release(m);
    } else {
      m.state = TxMessage::State::waiting;
      core_.timers.arm(m.timer, core_.now + delay);
    }
    return;
  }
  begin_recovery(remote);
  remote.recovery_delay = std::max(remote.recovery_delay, delay);
  leave_remote(m);
  hold_in_order(m);
  end_recovery_wait(remote);
}

// From the first refusal on, all later messages to the destination go after the refused one: those
// not started yet are called back, those in flight are refused by the target too, since they carry
// the generation of their start. [SES-029]
void Initiator::begin_recovery(Remote& remote) {
  if (!remote.is_ordered || remote.is_recovering) return;
  remote.is_recovering = true;
  for (TxMessage& queued : remote.flow->queue) {
    if (queued.remote != &remote) continue;
    static_cast<ListNode<QueueTag>&>(queued).unlink();
    leave_remote(queued);
    hold_in_order(queued);
  }
}

// With nothing in flight any more, the held messages go again after the delay.
void Initiator::end_recovery_wait(Remote& remote) {
  if (!remote.is_recovering || remote.in_flight != 0 || remote.timer.is_armed()) return;
  const Duration delay = remote.recovery_delay;
  remote.recovery_delay = Duration::zero();
  if (delay == Duration::zero() || remote.held.empty()) {
    remote.is_recovering = false;
    release_held(remote);
  } else {
    core_.timers.arm(remote.timer, core_.now + delay);
  }
}

// The next READ message of an operation that is cut into several. [LF-131]
void Initiator::next_segment(TxMessage& m) {
  m.segment_start += m.segment_length;
  m.segment_length =
      static_cast<uint32_t>(std::min<uint64_t>(m.memory.bytes() - m.segment_start, m.mtu));
  m.push_length = m.segment_length;
  forget_attempt(m);
  m.retries = 0;
  m.stuck_since = Instant::zero();
  leave_remote(m);
  if (m.remote->is_recovering) {
    hold_in_order(m);
    end_recovery_wait(*m.remote);
  } else {
    release(m);
  }
}

}  // namespace uet::ses
