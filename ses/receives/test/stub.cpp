// Posted receives and kept messages, as the tests of other parts see them.
#include "ses/receives/delivery.h"
#include "ses/receives/generations.h"
#include "ses/receives/kept_messages.h"
#include "ses/receives/owned_receives.h"
#include "ses/receives/receives.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"

namespace uet::ses {

using test::answers;
using uet::test::note;

bool Receives::book(const Endpoint&, const PostedReceive&, uint64_t) { return answers().may_book; }
void Receives::consume(Endpoint& ep, PostedReceive& r, uint64_t bytes) {
  r.used += bytes;
  ep.matcher(r.tagged).remove(r);
}
void Receives::complete(const Endpoint&, PostedReceive&, const Arrived& a) {
  const bool is_ok = a.status == Completion::Status::ok;
  note("complete " + std::to_string(a.place.room) + (is_ok ? "" : " in error"));
}

Result<void> KeptRoom::create(Arena&, const Config&, pds::PeerTable&) { return {}; }
UnexpectedMessage* KeptRoom::admit(const Sender&, uint32_t) { return answers().kept; }
void KeptRoom::drop(UnexpectedMessage&) { note("drop kept"); }
bool KeptRoom::store(UnexpectedMessage&, uint32_t, std::span<const std::byte> payload, bool) {
  if (answers().may_store) note("store " + std::to_string(payload.size()));
  return answers().may_store;
}

void KeptMessages::keep(Endpoint& ep, UnexpectedMessage& u, const Request& q,
                        const Envelope& envelope) {
  note("keep");
  u.envelope = envelope;
  u.request_length = q.request_length;
  u.endpoint = ep.id.value();
}
void KeptMessages::hide(UnexpectedMessage&) { note("hide"); }
pds::Verdict KeptMessages::complete(UnexpectedMessage&, const Request&) {
  note("complete kept");
  return pds::Verdict::accepted();
}

void Generations::disable(Endpoint&, bool) { note("disable"); }
void Generations::look(Endpoint&, bool) {}

PostedReceive* OwnedReceives::ask(Endpoint&, const Sought&) { return nullptr; }
void OwnedReceives::tell_owner(ReceiveQueue&, bool) {}

void Delivery::drain() {}
void Delivery::drain_where_room() {}
void Delivery::fail(RxMessage& m, Completion::Status, wire::ReturnCode code) {
  note(std::string("fail ") + wire::name(code));
  m.error = code;
  m.to = RxMessage::To::nowhere;
}
void Delivery::give_up(DeferredMessage&, Completion::Status) { note("give_up"); }

}  // namespace uet::ses
