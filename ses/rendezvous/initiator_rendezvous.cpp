// Rendezvous sends at the initiator: the source is exposed, its beginning pushed, the rest read by
// the target; and the reads with which the target half fetches the rest of a peer's message. How
// long a source must stay, and when all is read, rests on recollection: it is decided here alone.
// [ses.md 4.4]
//
// state \ event | packets answered | last octet read | nothing heard   | cancel, close
// started       | exposed          | noted           | -               | ended
// exposed       | -                | gone            | queued as probe | gone
// probe         | exposed          | noted           | -               | ended
// A probe whose answer is that nobody knows the message: gone.
// An answer to a read that became too long for the route while it was under way has arrived, or the
// error in its place [LF-141]: the target knows. It reads again, says that it has given up, or has
// all it wants: then it does not know the message any more.
#include "ses/outgoing/initiator.h"

#include "wire/payload_mtu.h"

#include <algorithm>

namespace uet::ses {
namespace {

constexpr uint8_t kIdleLooksMax = 3;

}  // namespace

// Exposes the source if target and length are for it. What finds no room for that goes as a plain
// send. [SES-088, LF-041]
void Initiator::expose(Endpoint& ep, TxMessage& m, std::span<const IoSlice> iov, uint8_t theirs) {
  const uint8_t common = common_profiles(core_.config.profiles, theirs);
  if (support(common, Feature::rendezvous) != Support::mandatory) return;
  if (m.copy != nullptr || m.segment_length <= m.mtu || ep.options.mode == pds::Mode::uud) return;
  Exposure* const x = exposures_.alloc();
  if (x == nullptr) return;
  const Result<RegionId> region = core_.memory.add(
      {.iov = iov, .access = kRemoteRead, .job = m.job.value(), .exposed = m.handle});
  if (!region.ok()) {
    exposures_.free(x);
    return;
  }
  core_.counters.add(Counter::tx_rendezvous);
  x->region = *region;
  x->source.eager_length = m.push_length = m.mtu;  // one packet
  x->source.read_ri_generation = ep.untagged_generation.value;
  x->source.read_pid_on_fep = ep.name.pid;
  x->source.read_resource_index = ep.name.ri;
  x->source.read_offset = 0;  // of octet 0 of the message [SES-089]
  x->source.read_memory_key = core_.memory.key(*region);
  x->wanted = m.segment_length - m.push_length;
  m.exposure = x;
  m.opcode = m.kind == OpKind::tagged_send ? wire::SesOpcode::rendezvous_tsend
                                           : wire::SesOpcode::rendezvous_send;
}

// The source is the user's again. [SES-092]
void Initiator::conceal(TxMessage& m) {
  if (m.exposure->region == RegionId()) return;
  core_.memory.remove(m.exposure->region);
  m.exposure->region = RegionId();
}

// The target is asked once soon, if it may have all of it, and else when it was silent for long.
void Initiator::arm_look(TxMessage& m) {
  const bool is_soon = m.exposure->may_be_read_out() && m.exposure->idle_looks == 0;
  const Config& config = core_.config;
  core_.timers.arm(m.timer, core_.now + (is_soon ? config.retry_time_cap : config.retry_patience));
}

// Accepted: now it is the target's turn. Nothing but a fence waits for it meanwhile, and nothing
// that closes its PDC harms it. [SES-091]
void Initiator::wait_for_reads(TxMessage& m) {
  Remote& remote = *m.remote;
  m.is_probe = false;
  if (m.id.value() != 0) core_.ids.give_back(m.id);
  m.id = MessageId(0);
  m.pdc = pds::PdcHandle(0);
  wake_starved();
  m.state = TxMessage::State::exposed;
  ++remote.exposed;
  leave_remote(m);
  arm_look(m);
  end_recovery_wait(remote);
}

// Nothing is outstanding, so nothing would show that the target is gone: ask it [SES-051]. One that
// has a receive and does not read, or began to and stopped, has given up. A target of another make
// answers OK whatever it knows.
void Initiator::on_unread(TxMessage& m) {
  Exposure& x = *m.exposure;
  const bool should_read = !x.is_kept || x.is_begun;
  if (should_read && ++x.idle_looks == kIdleLooksMax) {
    x.is_given_up = true;
    end_exposed(m);
    return;
  }
  --m.remote->exposed;
  forget_attempt(m);
  m.retries = 0;  // patience with the message ended when it was accepted
  m.stuck_since = Instant::zero();
  m.is_probe = true;
  release(m);
}

// The probe was refused. Whatever the target is busy with, it lives; unless it does not know the
// message and never asked for any of it: then it began anew since, and nobody will. One that has
// asked may have all it wants, and what that shows is still on its way, or became unsure.
void Initiator::settle_probe(TxMessage& m) {
  Exposure& x = *m.exposure;
  if (m.code == wire::ReturnCode::bad_mkey) {
    if (!x.is_begun) x.is_given_up = true;
    if (x.may_be_read_out()) x.is_released = true;
  }
  m.code = wire::ReturnCode::null;
  if (!x.is_read_out() && !x.is_given_up) {
    wait_for_reads(m);
    return;
  }
  report(m, end_of(m));
  finish(m);
}

// The target is told to be the one that reads before its read is looked at.
TxMessage* Initiator::exposed_to(RegionId region, PeerId peer) {
  TxMessage* m = message(pds::MessageHandle(core_.memory.exposed(region)));
  const bool is_its = m != nullptr && m->exposure != nullptr && m->exposure->region == region &&
                      m->remote->key.peer == peer;
  return is_its ? m : nullptr;
}

// A READ of an exposed source begins. One of the beginning of the rest, for as much as the first or
// less, is a new attempt: what an earlier one fetched does not count any more. One for nothing says
// that this was all, or at the very start that no more could be had.
void Initiator::on_read_begun(TxMessage& m, uint64_t offset, uint32_t length) {
  Exposure& x = *m.exposure;
  const bool is_first = !x.is_begun;
  x.is_begun = true;
  if (length == 0) {
    x.is_released = true;
    x.is_given_up = offset == 0;
    finish_read_out(m);
    return;
  }
  x.is_cut = false;
  if (offset < x.unsure_end) x.unsure = 0;  // the target does not have them
  if (offset != m.push_length) return;
  if (is_first || length <= x.first_read) {
    ++x.attempt;
    x.served = x.unsure = 0;
    x.unsure_end = 0;
    x.idle_looks = 0;
    x.first_read = length;
  }
}

// Octets of an exposed source have reached the target for certain.
void Initiator::on_served(uint32_t handle, uint16_t attempt, uint32_t bytes) {
  TxMessage* m = message(pds::MessageHandle(handle));
  if (m == nullptr || m->exposure == nullptr || m->exposure->attempt != attempt) return;
  m->exposure->idle_looks = 0;
  m->exposure->served += std::min(bytes, UINT32_MAX - m->exposure->served);
  if (m->state == TxMessage::State::exposed) arm_look(*m);  // it lives
  finish_read_out(*m);
}

// The target has an answer to its READ, the data or what became of it.
void Initiator::on_taken(const ReturnMessage& r) {
  if (r.exposed == 0) return;
  if (r.has_data()) return on_served(r.exposed, r.attempt, r.length);
  TxMessage* m = message(pds::MessageHandle(r.exposed));
  if (!r.is_unsure || m == nullptr || m->exposure == nullptr) return;
  Exposure& x = *m->exposure;
  if (x.attempt != r.attempt) return;
  x.unsure += std::min<uint32_t>(r.length, UINT32_MAX - x.unsure);
  x.unsure_end = std::max(x.unsure_end, r.region_offset + r.length);
  x.idle_looks = 0;
  if (m->state == TxMessage::State::exposed) arm_look(*m);
}

// In any other state the message is looked at when its packets are answered.
void Initiator::finish_read_out(TxMessage& m) {
  if (m.state == TxMessage::State::exposed && m.exposure->is_read_out()) end_exposed(m);
}

// The target could not get the rest: whatever became of that PDC, the message is lost.
Completion::Status Initiator::end_of(TxMessage& m) {
  using Reason = pds::FailureReason;
  if (!m.exposure->is_given_up) return Completion::Status::ok;
  m.failure = pds::Failure{.reason = m.exposure->is_cut ? Reason::too_long : Reason::closed};
  return Completion::Status::undeliverable;
}

void Initiator::end_exposed(TxMessage& m) {
  report(m, end_of(m));
  --m.remote->exposed;
  free(m);
}

// What the target says of the message: it has no receive yet, or reads no more than it has room
// for. [SES-090, SES-091]
void Initiator::note_delivered(TxMessage& m, wire::ListCode list, uint32_t modified_length) {
  m.exposure->is_kept = list != wire::ListCode::expected;
  if (m.exposure->is_kept || modified_length >= m.segment_length) return;
  m.exposure->wanted = modified_length - std::min(modified_length, m.push_length);
}

Result<void> Initiator::read_rest(Endpoint& ep, const RestRequest& request) {
  Remote* at = UET_TRY(remote(ep, request.from, /*is_internal=*/true));
  TxMessage* m = messages_.alloc();
  if (m == nullptr) return Errc::again;
  const Result<void> taken = m->memory.assign(request.iov, core_.long_iovs);
  if (!taken.ok()) {
    messages_.free(m);
    return taken.error();
  }
  m->kind = OpKind::read;
  m->opcode = wire::SesOpcode::read;
  m->mtu = payload_toward(request.from.peer);
  // The sender's first packet shows what its path takes. That counts for one in no address vector
  // [LF-131], and where it is less than was agreed: the path has become smaller. [LF-141]
  const bool is_unknown = !(*core_.peers)[request.from.peer].states_payload();
  const bool is_shown =
      wire::is_payload_mtu(request.shown_payload) && (is_unknown || request.shown_payload < m->mtu);
  if (is_shown) m->mtu = static_cast<uint16_t>(request.shown_payload);
  m->segment_length = static_cast<uint32_t>(m->memory.bytes());
  if (!reads_whole(*m, request.from.peer)) {  // [LF-131]
    m->segment_length = std::min<uint32_t>(m->segment_length, m->mtu);
  }
  m->push_length = m->segment_length;
  m->may_repeat = !request.iov.empty() && m->segment_length == m->memory.bytes();
  m->pull = request.pull;
  m->job = at->key.job;
  m->match_bits = request.key;
  m->remote_offset = request.offset;
  post_internal(ep, *at, *m);
  return {};
}

// The end of such a read is the target half's business, not the user's.
void Initiator::report_rest(const TxMessage& m, Completion::Status status) {
  Completion done;
  done.kind = m.kind;
  done.status = status;
  done.code = m.code;
  done.failure = m.failure;
  done.local_error = m.local_error;
  core_.pulled.done(core_.pulled.self, m.pull, done);
}

}  // namespace uet::ses
