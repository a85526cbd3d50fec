// Messages in progress, the half that owns them, and answers to READs, as the tests of other parts
// see them.
#include "ses/incoming/incoming.h"

#include "base/test/calls.h"
#include "ses/test/answers.h"

namespace uet::ses {

using test::answers;
using uet::test::note;

void ArrivingMessages::note_held_up(pds::PdcHandle) { uet::test::note("held up"); }
void ArrivingMessages::note_owed(pds::PdcHandle) { uet::test::note("note_owed"); }
void ArrivingMessages::note_answered(pds::PdcHandle) { uet::test::note("note_answered"); }
void ArrivingMessages::set_error(RxMessage& m, wire::ReturnCode code) {
  uet::test::note(std::string("set_error ") + wire::name(code));
  m.error = code;
}

Result<void> ReadAnswers::create() {
  UET_CHECK(answers_.create(*res_.arena, 4));
  for (const uint16_t length : answers().to_exchange.held) {
    ReturnMessage m;
    m.peer = PeerId(answers().to_exchange.reader);
    m.length = length;
    UET_ASSERT(answers_.alloc(m) != nullptr);
  }
  return {};
}
bool ReadAnswers::pull(pds::MessageHandle, pds::PacketRef&) {
  note("pull an answer");
  return answers().to_exchange.has_packet;
}
void ReadAnswers::encode(const pds::PacketRef&, wire::Writer&, TxBatch&) const {
  note("encode an answer");
}
AnswerEnd ReadAnswers::end(pds::MessageHandle handle) {
  return {.exposed = 1, .length = static_cast<uint16_t>(handle.value() & ~kMark)};
}
AnswerEnd ReadAnswers::cut(pds::MessageHandle handle) { return end(handle); }
AnswerEnd ReadAnswers::cut(ReturnMessage& r) { return {.length = r.length}; }
void ReadAnswers::on_unreadable(pds::MessageHandle) { note("on_unreadable"); }

Result<void> Incoming::create(uint64_t) { return {}; }
pds::Verdict Incoming::on_request(const pds::RxRequest&) {
  note("on_request");
  return pds::Verdict::accepted();
}
void Incoming::on_end(const InternalEnd& done) { note("end of pull " + std::to_string(done.pull)); }
void Incoming::on_pdc_closed(pds::PdcHandle) { note("incoming on_pdc_closed"); }
void Incoming::advance() { note("incoming advance"); }
Instant Incoming::next_deadline() const { return answers().to_exchange.deadline; }

}  // namespace uet::ses
