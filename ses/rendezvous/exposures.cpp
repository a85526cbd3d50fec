// Rendezvous sends at the initiator: the source is exposed, its beginning pushed, the rest read by
// the target.
#include "ses/rendezvous/exposures.h"

#include "ses/outgoing/answer.h"

#include <algorithm>

namespace uet::ses {

using wire::ReturnCode;

namespace {

constexpr uint8_t kIdleLooksMax = 2;

}  // namespace

Result<void> Exposures::create() {
  return exposures_.create(*res_.arena, res_.config.rendezvous_sends, Reuse::rested);
}

// A message without room for a record goes as a plain send. [SES-088, LF-041]
void Exposures::expose(const Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov,
                       uint8_t theirs) {
  const uint8_t common = common_profiles(res_.config.profiles, theirs);
  if (support(common, Feature::rendezvous) != Support::mandatory) return;
  if (m.copy != nullptr || m.segment_length <= m.mtu || ep.options.mode == pds::Mode::uud) return;
  Exposure* const x = exposures_.alloc();
  if (x == nullptr) return;
  x->handle = exposures_.handle(x).word();
  const Result<RegionId> region =
      memory_.add({.iov = iov, .access = kRemoteRead, .job = m.job.value(), .exposed = x->handle});
  if (!region.ok()) {
    exposures_.free(x);
    return;
  }
  res_.counters.add(Counter::tx_rendezvous);
  x->message = &m;
  x->region = *region;
  x->source.eager_length = m.push_length = m.mtu;  // one packet
  x->source.read_ri_generation = ep.untagged_generation.value;
  x->source.read_pid_on_fep = ep.name.pid;
  x->source.read_resource_index = ep.name.ri;
  x->source.read_offset = 0;  // of octet 0 of the message [SES-089]
  x->source.read_memory_key = memory_.key(*region);
  x->wanted = m.segment_length - m.push_length;
  m.exposure = x;
  m.opcode = m.kind == OpKind::tagged_send ? wire::SesOpcode::rendezvous_tsend
                                           : wire::SesOpcode::rendezvous_send;
}

void Exposures::conceal(TxMessage& m) {
  if (m.exposure->region == RegionId()) return;
  memory_.remove(m.exposure->region);
  m.exposure->region = RegionId();
}

void Exposures::free(TxMessage& m) {
  exposures_.free(m.exposure);
  m.exposure = nullptr;
}

// After the target has read a part, the first part stays exposed.
bool Exposures::shorten(TxMessage& m, uint16_t payload) {
  Exposure& x = *m.exposure;
  if (x.is_begun) return false;
  x.source.eager_length = m.push_length = payload;
  x.wanted = m.segment_length - payload;
  return true;
}

// The target is probed once soon, if it may have all of it, and else after a long silence.
Instant Exposures::next_look(const TxMessage& m) const {
  const bool is_soon = m.exposure->may_be_read_out() && m.exposure->idle_looks == 0;
  const Config& config = res_.config;
  return res_.now + (is_soon ? config.retry_time_cap : config.retry_patience);
}

// Nothing is outstanding that would show that the target is gone: probe it [SES-051]. A target that
// knows the message reads it or says that it will not, however long it waits for others. But a
// target of another implementation may accept every probe, and have given up: the third probe names
// no message. A target that refuses it is believed when it accepts the others. [SES-192]
bool Exposures::on_silence(Exposure& x) {
  x.is_trial = x.should_be_read() && x.idle_looks >= kIdleLooksMax;
  if (x.is_trial && !x.is_known) x.is_given_up = true;
  return !x.is_given_up;
}

// The target is alive in any state. Exception: it does not know the message and never asked for a
// part: then it restarted, and will not read. A target that has asked may have everything it wants,
// and its last report is still under way, or became uncertain.
bool Exposures::on_probe_answered(Exposure& x, ReturnCode code) {
  if (waits_for_application(code) || code == ReturnCode::bad_generation) {
    // It says nothing about the message. [SES-191]
  } else if (x.is_trial) {
    const bool is_discerning = code == ReturnCode::bad_mkey;
    if (!is_discerning && x.idle_looks >= kIdleLooksMax) x.is_given_up = true;
    x.idle_looks = 0;
  } else {
    x.is_known = code == ReturnCode::null;
    if (x.should_be_read()) ++x.idle_looks;
    if (code == ReturnCode::bad_mkey) {
      if (!x.is_begun) x.is_given_up = true;
      if (x.may_be_read_out()) x.is_released = true;
    }
  }
  return x.is_read_out() || x.is_given_up;
}

// The reader is identified as the target before its read is handled.
Exposure* Exposures::of_region(RegionId region, PeerId peer) {
  Exposure* const x = exposures_.get(Handle<Exposure>::from_word(memory_.exposed(region)));
  const bool is_its = x != nullptr && x->region == region && x->message->remote->key.peer == peer;
  return is_its ? x : nullptr;
}

Exposure* Exposures::find(uint32_t handle, uint16_t attempt) {
  if (handle == 0) return nullptr;
  Exposure* const x = exposures_.get(Handle<Exposure>::from_word(handle));
  return x != nullptr && x->attempt == attempt ? x : nullptr;
}

// A READ of an exposed source arrives. If it begins at the start of the rest, and is no longer than
// the first READ, the target has started over: earlier reads do not count any more. A READ of
// length 0 means that the target is finished, or, at offset 0, that it gives up.
TxMessage* Exposures::on_read_begun(Exposure& x, uint64_t offset, uint32_t length) {
  const bool is_first = !x.is_begun;
  x.is_begun = true;
  if (length == 0) {
    x.is_released = true;
    x.is_given_up = offset == 0;
    return x.message;
  }
  x.is_cut = false;
  if (offset < x.unsure_end) x.unsure = 0;  // the target does not have them
  if (offset != x.message->push_length) return nullptr;
  if (is_first || length <= x.first_read) {
    ++x.attempt;
    x.served = x.unsure = 0;
    x.unsure_end = 0;
    x.idle_looks = 0;
    x.first_read = length;
  }
  return nullptr;
}

// Octets of an exposed source have reached the target for certain.
TxMessage* Exposures::on_served(Exposure& x, uint32_t bytes) {
  x.idle_looks = 0;
  x.served += std::min(bytes, UINT32_MAX - x.served);
  return x.message;
}

// The target has an answer to its READ: the data or the error.
TxMessage* Exposures::on_answer_end(const AnswerEnd& answer) {
  Exposure* const x = find(answer.exposed, answer.attempt);
  if (x == nullptr) return nullptr;
  if (answer.has_data) return on_served(*x, answer.length);
  if (!answer.is_unsure) return nullptr;
  x->unsure += std::min<uint32_t>(answer.length, UINT32_MAX - x->unsure);
  x->unsure_end = std::max(x->unsure_end, answer.end);
  x->idle_looks = 0;
  return x->message;
}

void Exposures::on_answer_cut(const AnswerEnd& answer) {
  Exposure* const x = find(answer.exposed, answer.attempt);
  if (x != nullptr) x->is_cut = true;
}

// The target could not get the rest: whatever became of that PDC, the message is lost.
Completion::Status Exposures::end_of(TxMessage& m) {
  using Reason = pds::FailureReason;
  if (!m.exposure->is_given_up) return Completion::Status::ok;
  m.failure = pds::Failure{.reason = m.exposure->is_cut ? Reason::too_long : Reason::closed};
  return Completion::Status::undeliverable;
}

// It has no receive yet, or reads no more than it has room for.
void Exposures::note_delivered(TxMessage& m, wire::ListCode list, uint32_t modified_length) {
  m.exposure->is_kept = list != wire::ListCode::expected;
  if (m.exposure->is_kept || modified_length >= m.segment_length) return;
  m.exposure->wanted = modified_length - std::min(modified_length, m.push_length);
}

}  // namespace uet::ses
