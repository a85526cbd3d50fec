// The effect of answers and failures on a message, and its end. [ses.md 7]
#include "ses/outgoing/settling.h"

#include <algorithm>

namespace uet::ses {

using State = TxMessage::State;

namespace {

// Column "Act" of the return code table. [SES-152, SES-154, SES-155, SES-180]
bool is_retryable(wire::ReturnCode code) {
  return code == wire::ReturnCode::bad_generation || code == wire::ReturnCode::disabled_gen ||
         code == wire::ReturnCode::no_match || code == wire::ReturnCode::uncor_trnsnt;
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
    case pds::FailureReason::no_key:
    case pds::FailureReason::too_long:
      return false;
  }
  return true;
}

bool lacks_answer(const TxMessage& m) {
  return !m.has_semantic_answer || m.data_bytes < m.expected_bytes();
}

// A message that was not executed may go again on another PDC; a read, and a probe of an exposed
// message, always: they change nothing. So may a message with a missing packet when the peer lost
// the PDC: it cannot count as complete, and its received part was lost with the PDC. All others
// failed for good. [PDS-119, PDS-149, PDS-190]
bool may_go_again(const TxMessage& m) {
  const bool is_gone_there =
      m.failure.reason == pds::FailureReason::nack &&
      (m.failure.nack == wire::NackCode::inv_dpdcid || m.failure.nack == wire::NackCode::closing);
  const bool is_rest = m.pull != 0 && !m.may_repeat;  // its octets are counted at the other end
  return (m.is_read() && !is_rest) || m.restart != 0 || m.is_probe ||
         (m.all_undelivered && m.answered_packets == 0) ||
         (is_gone_there && !is_rest && (m.any_undelivered || m.was_aborted));
}

}  // namespace

void Settling::note_answer(TxMessage& m, const Answer& a) {
  switch (a.kind) {
    case Answer::Kind::ok:
      if (m.deferral != nullptr && a.defers()) {
        // The target has no receive for it; unsent packets are not sent. [SES-095, SES-097]
        m.deferral->is_deferred = true;
        if (!m.is_fully_pulled) m.is_stopped = true;
        return;
      }
      // Shorter than sent is a success of the send. [SES-139]
      m.has_semantic_answer = true;
      if (m.exposure != nullptr && !a.is_default) {
        Exposures::note_delivered(m, a.list, a.modified_length);
      }
      return;
    case Answer::Kind::none:
      return;
    case Answer::Kind::data:
      if (take_data(m, a.message_offset, a.modified_length, a.data)) return;
      res_.counters.add(Counter::rx_response_malformed);
      return note_error(m, wire::ReturnCode::uncor, 0);
    case Answer::Kind::error:
      return note_error(m, a.code, a.ri_generation);
    case Answer::Kind::malformed:
      res_.counters.add(Counter::rx_response_malformed);
      return note_error(m, wire::ReturnCode::uncor, 0);
  }
}

void Settling::note_error(TxMessage& m, wire::ReturnCode code, uint8_t ri_generation) {
  if (m.code != wire::ReturnCode::null) return;  // the first one wins
  m.code = code;
  if (!m.is_fully_pulled) m.is_stopped = true;  // [SES-105]
  if (is_retryable(code)) order_.begin_recovery(*m.remote);
  if (code == wire::ReturnCode::bad_generation) {
    // Kept for every later message of the class to that destination. [SES-134]
    m.remote->generations[m.is_tagged() ? 1 : 0] = ri_generation;
  }
}

void Settling::note_failure(TxMessage& m, const pds::Failure& failure) {
  if (m.failed_packets == 0 && !m.was_aborted) m.failure = failure;
  m.all_undelivered = m.all_undelivered && failure.not_delivered;
  m.any_undelivered = m.any_undelivered || failure.not_delivered;
  order_.begin_recovery(*m.remote);  // later operations wait until the end of this one is known
}

// For messages that wait here: their answer will not come. For all others PDS calls on_failed or
// on_aborted.
void Settling::on_pdc_closed(pds::PdcHandle pdc) {
  while (TxMessage* const m = awaiting_.first(pdc)) {
    m->failure = pds::Failure{.reason = pds::FailureReason::closed};
    m->was_aborted = true;
    m->all_undelivered = false;
    settle(*m);
  }
}

void Settling::settle(TxMessage& m) {
  if (m.announced != 0 && (m.is_stopped || m.is_fully_pulled)) order_.announce(m);
  if (!m.is_fully_pulled || m.done_packets() < m.pulled_packets) return;
  awaiting_.remove(m);  // or it waits again, below
  if (m.state == State::ended) {
    finish(m);
  } else if (m.code != wire::ReturnCode::null) {
    settle_refused(m);
  } else if (m.failed_packets != 0 || m.was_aborted) {
    settle_failed(m);
  } else {
    settle_answered(m);
  }
}

// Every packet was answered, and no answer was an error.
void Settling::settle_answered(TxMessage& m) {
  if (m.deferral != nullptr && m.deferral->is_deferred) {
    wait_for_restart(m);
  } else if (m.flow->mode == pds::Mode::rudi && lacks_answer(m)) {
    expire(m);  // every packet has had its only response [SES-141]
  } else if (m.data_bytes < m.expected_bytes()) {
    res_.timers.arm(m.timer, res_.now + res_.config.retry_patience);
    awaiting_.add(m);
  } else if (!m.has_semantic_answer) {
    // No PDC brings a second answer to a packet: most likely none comes. [SES-145]
    res_.timers.arm(m.timer, res_.now + res_.config.retry_patience * 5);
    awaiting_.add(m);
  } else if (m.exposure != nullptr && !m.exposure->is_read_out()) {
    m.is_probe ? settle_probe(m) : wait_for_reads(m);
  } else if (m.segment_start + m.segment_length < m.memory.bytes()) {
    next_segment(m);
  } else {
    finish(m, m.exposure == nullptr ? Completion::Status::ok : Exposures::end_of(m));
  }
}

// The attempt is over and so is the operation.
void Settling::finish(TxMessage& m, Completion::Status status) {
  operations_.report(m, status);
  finish(m);
}

void Settling::finish(TxMessage& m) {
  awaiting_.remove(m);  // its time was over
  order_.leave(m);
  order_.end_recovery_wait(*m.remote);
  operations_.free(m);
}

void Settling::settle_refused(TxMessage& m) {
  if (m.is_probe && (is_retryable(m.code) || m.code == wire::ReturnCode::bad_mkey)) {
    return settle_probe(m);
  }
  if (ask_less(m)) return retry(m, Duration::zero());
  if (!is_retryable(m.code) || !may_retry(m)) return finish(m, Completion::Status::refused);
  const bool at_once = m.code == wire::ReturnCode::bad_generation;  // [SES-134]
  retry(m, at_once ? Duration::zero() : retry_delay(m.retries));
}

void Settling::settle_failed(TxMessage& m) {
  const bool is_deferred = m.deferral != nullptr && m.deferral->is_deferred;
  const bool is_silent = is_peer_silent(m.failure.reason);
  if (is_deferred && !is_silent) return wait_for_restart(m);
  if (may_go_again(m) && !is_silent && may_retry(m)) {
    return retry(m, m.retries == 0 ? Duration::zero() : retry_delay(m.retries));
  }
  finish(m, Completion::Status::undeliverable);
}

void Settling::settle_probe(TxMessage& m) {
  const bool is_over = Exposures::on_probe_answered(*m.exposure, m.code);
  m.code = wire::ReturnCode::null;
  if (!is_over) return wait_for_reads(m);
  finish(m, Exposures::end_of(m));
}

// The data of a read, or the answer to a message, stayed away although its packets were answered.
void Settling::expire(TxMessage& m) {
  m.failure = pds::Failure{.reason = pds::FailureReason::timeout};
  finish(m, Completion::Status::undeliverable);
}

// Accepted: now it is the target's turn. Nothing but a fence waits for it meanwhile, and nothing
// that closes its PDC harms it. [SES-091]
void Settling::wait_for_reads(TxMessage& m) {
  m.is_probe = false;
  m.pdc = pds::PdcHandle(0);
  operations_.give_back_id(m);
  order_.expose(m);
  res_.timers.arm(m.timer, exposures_.next_look(m));
  order_.end_recovery_wait(*m.remote);
}

// In any other state the message is handled when its packets are answered.
void Settling::look_at_exposed(TxMessage& m) {
  if (m.state != State::exposed) return;
  if (m.exposure->is_read_out()) return end_exposed(m);
  res_.timers.arm(m.timer, exposures_.next_look(m));  // the target lives
}

void Settling::end_exposed(TxMessage& m) {
  operations_.report(m, Exposures::end_of(m));
  order_.end_exposed(m);
  operations_.free(m);
}

void Settling::probe(TxMessage& m) {
  order_.end_exposed(m);
  operations_.forget_attempt(m);
  m.retries = 0;  // patience with the message ended when it was accepted
  m.stuck_since = Instant::zero();
  m.is_probe = true;
  order_.release(m);
}

// All packets of the attempt are answered. While it waits, whatever comes behind a fence does too.
void Settling::wait_for_restart(TxMessage& m) {
  res_.counters.add(Counter::tx_deferred);
  operations_.forget_attempt(m);
  m.retries = 0;  // the target lives and has no fault to find
  if (m.deferral->is_granted) return begin_again(m);
  m.become(State::deferred);
  res_.timers.arm(m.timer, res_.now + res_.config.deferral_time);
}

void Settling::begin_again(TxMessage& m) {
  Deferrals::begin_again(m);
  res_.timers.cancel(m.timer);
  fit(m);
  order_.again_now(m);
}

// Further packets that PDS requests of the operation are made without its memory. [SES-105,
// PDS-182]
void Settling::stop(TxMessage& m, Completion::Status status) {
  const State was = m.state;
  if (was != State::started && was != State::exposed) order_.withdraw(m);
  operations_.report(m, status);
  m.is_stopped = true;
  if (was == State::started) return settle(m);
  if (was == State::exposed) {
    order_.end_exposed(m);
  } else {
    order_.end_recovery_wait(*m.remote);
  }
  operations_.free(m);
}

void Settling::end_too_long(TxMessage& m) {
  m.failure = pds::Failure{.reason = pds::FailureReason::too_long};
  stop(m, Completion::Status::undeliverable);
}

void Settling::end_without_key(TxMessage& m) {
  m.failure = pds::Failure{.reason = pds::FailureReason::no_key};
  stop(m, Completion::Status::undeliverable);
}

void Settling::on_timer(TxMessage& m) {
  switch (m.state) {
    case State::waiting:
      return order_.again_now(m);
    case State::exposed:
      return Exposures::on_silence(*m.exposure) ? probe(m) : end_exposed(m);
    case State::deferred:
      return begin_again(m);
    case State::held:
    case State::queued:
    case State::started:
    case State::ended:
      return expire(m);
  }
}

// The next READ message of an operation that is cut into several. [LF-131]
void Settling::next_segment(TxMessage& m) {
  m.segment_start += m.segment_length;
  m.segment_length =
      static_cast<uint32_t>(std::min<uint64_t>(m.memory.bytes() - m.segment_start, m.mtu));
  m.push_length = m.segment_length;
  operations_.forget_attempt(m);
  m.retries = 0;
  m.stuck_since = Instant::zero();
  order_.again_now(m);
}

}  // namespace uet::ses
