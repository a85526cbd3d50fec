// Deferrable sends at the initiator.
#include "ses/deferral/deferrals.h"

namespace uet::ses {
namespace {

// Whether a target is to be given the choice to make the sender wait. [LF-041, SES-045, SES-187]
bool may_be_deferred(const Config& config, uint8_t theirs) {
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

Result<void> Deferrals::create(Rng& rng) {
  UET_CHECK(deferrals_.create(*res_.arena, res_.config.deferrable_sends));
  return by_token_.create(*res_.arena, res_.config.deferrable_sends, rng.u64());
}

// A message without room for a record goes as a plain send. A message of no octets does too: its
// answers do not show whether it waits. [SES-093, SES-100, SES-147]
void Deferrals::make_deferrable(const Endpoint& ep, TxMessage& m, const Destination& to) {
  if (ep.options.mode != pds::Mode::rud || m.segment_length == 0) return;
  if (!may_be_deferred(res_.config, to.capabilities)) return;
  Deferral* const d = deferrals_.alloc();
  if (d == nullptr) return;
  do {
    d->token = res_.rng.u32();  // [SES-034, T-28]
  } while (d->token == 0 || !by_token_.insert(d->token, d).ok());
  res_.counters.add(Counter::tx_deferrable);
  d->message = &m;
  d->target_initiator = to.initiator_id;
  m.deferral = d;
  m.opcode = m.kind == OpKind::tagged_send ? wire::SesOpcode::deferrable_tsend
                                           : wire::SesOpcode::deferrable_send;
}

void Deferrals::forget_token(TxMessage& m) {
  const bool was_known = by_token_.erase(m.deferral->token);
  UET_ASSERT(was_known);
}

void Deferrals::free(TxMessage& m) {
  deferrals_.free(m.deferral);
  m.deferral = nullptr;
}

// From octet 0, under a new message ID: for the receive that was set aside if it was asked for,
// else because the target may have forgotten about it, or be gone.
void Deferrals::begin_again(TxMessage& m) {
  Deferral& d = *m.deferral;
  d.target_token = d.is_granted ? d.granted_token : 0;
  d.is_granted = false;
}

void Deferrals::forget_attempt(TxMessage& m) {
  m.deferral->is_deferred = m.deferral->is_closed = false;
}

// The send that a ready-to-restart of this token is for: ours, to that peer and process. [SES-099]
TxMessage* Deferrals::find(const Restart& r, uint32_t token) {
  Deferral** const found = by_token_.find(token);
  if (found == nullptr) return nullptr;
  TxMessage* const m = (*found)->message;
  const bool is_its = m->remote->key.peer == r.peer && m->job == r.job &&
                      m->deferral->target_initiator == r.initiator;
  return is_its ? m : nullptr;
}

Deferrals::Restarted Deferrals::restart(const Restart& r) {
  // Sources differ. In wire.md, and in a header that paraphrases the specification, the upper half
  // is the token of the deferred send; in the reference provider it is the token of the target. We
  // send the first form and accept both. [WIRE-064, SES-098]
  uint32_t target_token = r.tokens.target;
  TxMessage* m = find(r, r.tokens.initiator);
  if (m == nullptr) {
    target_token = r.tokens.initiator;
    m = find(r, r.tokens.target);
  }
  if (m == nullptr) return {};

  Deferral& d = *m->deferral;
  switch (m->state) {
    case TxMessage::State::deferred:
      d.is_granted = true;
      d.granted_token = target_token;
      return {.is_known = true, .again = m};
    case TxMessage::State::started:
      // It overtook the answer, or it came twice: the attempt that it asked for is under way.
      if (target_token != 0 && target_token == d.target_token) return {.is_known = true};
      d.is_granted = true;
      d.granted_token = target_token;
      return {.is_known = true};
    case TxMessage::State::held:
    case TxMessage::State::queued:
    case TxMessage::State::waiting:
      d.target_token = target_token;  // no packet of the next attempt is out yet
      return {.is_known = true};
    case TxMessage::State::exposed:
    case TxMessage::State::ended:
      break;
  }
  UET_ASSERT(false);  // neither has a token
  return {};
}

}  // namespace uet::ses
