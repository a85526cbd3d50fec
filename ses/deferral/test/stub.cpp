// Both ends of a deferral, as the tests of other parts see them: no message is deferred, unless the
// test has a record for it.
#include "ses/deferral/deferrals.h"
#include "ses/deferral/deferred_messages.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"

namespace uet::ses {

using test::answers;
using uet::test::note;

Result<void> Deferrals::create(Rng&) { return {}; }
void Deferrals::make_deferrable(const Endpoint&, TxMessage&, const Destination&) {
  note("make_deferrable");
}
void Deferrals::forget_token(TxMessage&) {}
void Deferrals::free(TxMessage&) {}
Deferrals::Restarted Deferrals::restart(const Restart&) { return {}; }
void Deferrals::begin_again(TxMessage&) {}
void Deferrals::forget_attempt(TxMessage&) {}

Result<void> DeferredMessages::create(Rng&) { return {}; }
bool DeferredMessages::may_defer(const Request&) const { return answers().deferred != nullptr; }
DeferredMessage* DeferredMessages::find(const Endpoint&, const Request&) {
  return answers().is_deferred ? answers().deferred : nullptr;
}
bool DeferredMessages::is_same(const DeferredMessage& d, const Request& q) {
  return d.key.token == q.tokens().initiator;
}
DeferredMessage* DeferredMessages::remember(Endpoint&, const Request&, const Envelope&) {
  answers().is_deferred = answers().may_remember;
  return answers().is_deferred ? answers().deferred : nullptr;
}
void DeferredMessages::note_heard(DeferredMessage&) { note("note_heard"); }
void DeferredMessages::note_data(DeferredMessage&, const Request&) { note("note_data"); }
void DeferredMessages::forget(DeferredMessage&) { note("forget deferred"); }
bool DeferredMessages::set_aside(Endpoint&, PostedReceive&, DeferredMessage&) {
  note("set_aside");
  return true;
}
void DeferredMessages::discard(DeferredMessage&) { note("discard deferred"); }
void DeferredMessages::call_for(PostedReceive&, DeferredMessage&) { note("call_for"); }
DeferredMessages::Lost DeferredMessages::give_up(DeferredMessage&, Completion::Status) {
  note("give up deferred");
  return {};
}
DeferredMessage* DeferredMessages::on_end(const InternalEnd&) {
  note("restart ended");
  return nullptr;
}
DeferredMessage* DeferredMessages::next_expired() { return nullptr; }
void DeferredMessages::send_calls() { note("send_calls"); }
Instant DeferredMessages::next_deadline() const { return Instant::never(); }

}  // namespace uet::ses
