// Deferrable sends at the initiator: a target without a receive tells them to wait and has them
// sent again later, whole; and the ready-to-restarts with which the target half does so. [ses.md
// 4.5]
//
// state \ event  | told to wait, all answered | ready to restart | nothing heard | cancel, close
// held, queued   | -                          | goes with it     | -             | gone
// started        | deferred, or queued again  | noted            | -             | ended
// deferred       | -                          | queued           | queued anew   | gone
#include "ses/outgoing/initiator.h"

namespace uet::ses {
namespace {

// Whether a target is to be given the choice to make the sender wait. [LF-041, SES-045, SES-187]
bool may_defer(const Config& config, uint8_t theirs) {
  const uint8_t common = common_profiles(config.profiles, theirs);
  if (support(common, Feature::deferral) != Support::mandatory) return false;
  switch (config.defer_to) {
    case DeferTo::nobody:
      return false;
    case DeferTo::who_keeps_nothing:
      return support(common, Feature::kept_messages) != Support::mandatory;
    case DeferTo::everybody:
      return true;
  }
  return false;
}

}  // namespace

// What finds no room for that goes as a plain send. One of no octets cannot be told from one that
// waits by what it is answered. [SES-093, SES-100, SES-147]
void Initiator::make_deferrable(Endpoint& ep, TxMessage& m, const Destination& to) {
  if (ep.options.mode != pds::Mode::rud || m.segment_length == 0) return;
  if (!may_defer(core_.config, to.capabilities)) return;
  Deferral* const d = deferrals_.alloc();
  if (d == nullptr) return;
  TxMessage* const self = &m;
  do {
    d->token = core_.rng.u32();  // [SES-034, T-28]
  } while (d->token == 0 || !deferral_by_token_.insert(d->token, self).ok());
  core_.counters.add(Counter::tx_deferrable);
  d->target_initiator = to.initiator_id;
  m.deferral = d;
  m.opcode = m.kind == OpKind::tagged_send ? wire::SesOpcode::deferrable_tsend
                                           : wire::SesOpcode::deferrable_send;
}

// The operation is over: nobody can have it sent again. Its packets still carry the tokens.
void Initiator::forget_token(TxMessage& m) {
  const bool was_known = deferral_by_token_.erase(m.deferral->token);
  UET_ASSERT(was_known);
}

// The target has no receive for it; what is not sent yet is not sent. [SES-095, SES-097]
void Initiator::note_deferred(TxMessage& m) {
  m.deferral->is_deferred = true;
  if (!m.is_fully_pulled) m.is_stopped = true;
}

// All packets of the attempt are answered. While it waits, whatever comes behind a fence does too.
void Initiator::wait_for_restart(TxMessage& m) {
  core_.counters.add(Counter::tx_deferred);
  forget_attempt(m);
  m.retries = 0;  // the target lives and has no fault to find
  if (m.deferral->is_granted) return begin_again(m);
  m.state = TxMessage::State::deferred;
  core_.timers.arm(m.timer, core_.now + core_.config.deferral_time);
}

// From octet 0, under a new message ID: for the receive that was set aside if it was asked for,
// else because the target may have forgotten about it, or be gone. [SES-099, SES-101]
void Initiator::begin_again(TxMessage& m) {
  Deferral& d = *m.deferral;
  d.target_token = d.is_granted ? d.granted_token : 0;
  d.is_granted = false;
  core_.timers.cancel(m.timer);
  fit(m);
  leave_remote(m);
  release(m);
}

// The send that a ready-to-restart of this token is for: ours, to that peer and process. [SES-099]
TxMessage* Initiator::deferrable_send(const Restart& r, uint32_t token) {
  TxMessage** const found = deferral_by_token_.find(token);
  if (found == nullptr) return nullptr;
  TxMessage* const m = *found;
  const bool is_its = m->remote->key.peer == r.peer && m->job == r.job &&
                      m->deferral->target_initiator == r.initiator;
  return is_its ? m : nullptr;
}

// False: it names no send of ours to that peer.
bool Initiator::restart(const Restart& r) {
  // Sources differ: wire.md and a header that paraphrases the specification have the token of the
  // send in the upper half, the reference provider that of whoever sends the ready-to-restart. We
  // send the former and take both. [WIRE-064, SES-098]
  uint32_t target_token = r.tokens.target;
  TxMessage* m = deferrable_send(r, r.tokens.initiator);
  if (m == nullptr) {
    target_token = r.tokens.initiator;
    m = deferrable_send(r, r.tokens.target);
  }
  if (m == nullptr) return false;

  Deferral& d = *m->deferral;
  switch (m->state) {
    case TxMessage::State::deferred:
      d.is_granted = true;
      d.granted_token = target_token;
      begin_again(*m);
      return true;
    case TxMessage::State::started:
      // It overtook the answer, or it came twice: the attempt that it asked for is under way.
      if (target_token != 0 && target_token == d.target_token) return true;
      d.is_granted = true;
      d.granted_token = target_token;
      return true;
    case TxMessage::State::held:
    case TxMessage::State::queued:
    case TxMessage::State::waiting:
      d.target_token = target_token;  // no packet of the next attempt is out yet
      return true;
    case TxMessage::State::exposed:
    case TxMessage::State::ended:
      break;
  }
  UET_ASSERT(false);  // neither has a token
  return false;
}

// An operation of our own, outside the order of the user's. Its process and index are those of the
// sender's address where we know it, else 0; nobody looks at them. [SES-098, SES-102]
Result<void> Initiator::send_restart(Endpoint& ep, const Restart& r, bool absolute,
                                     uint32_t deferred) {
  Destination to;
  to.peer = r.peer;
  to.job = r.job;
  to.absolute = absolute;
  if (Remote* const* known = remote_by_source_.find({ep.id.value(), r.peer, r.initiator})) {
    to.pid = (*known)->key.pid;
    to.ri = (*known)->key.ri;
  }
  Remote* at = UET_TRY(remote(ep, to, /*is_internal=*/true));
  TxMessage* m = messages_.alloc();
  if (m == nullptr) return Errc::again;
  m->kind = OpKind::send;
  m->opcode = wire::SesOpcode::deferrable_rtr;
  m->mtu = payload_toward(r.peer);
  m->restart = deferred;
  m->job = at->key.job;
  m->match_bits = r.tokens.pack();
  post_internal(ep, *at, *m);
  return {};
}

// How it ended is the target half's business.
void Initiator::report_restart(const TxMessage& m, Completion::Status status) {
  Completion done;
  done.kind = m.kind;
  done.status = status;
  done.code = m.code;
  done.peer = m.remote->key.peer;
  core_.restarted.done(core_.restarted.self, m.restart, done);
}

}  // namespace uet::ses
