// Messages in progress, as the tests of other parts see them.
#include "ses/incoming/arriving_messages.h"

#include "base/test/calls.h"

namespace uet::ses {

void ArrivingMessages::note_owed(pds::PdcHandle) { uet::test::note("note_owed"); }
void ArrivingMessages::note_answered(pds::PdcHandle) { uet::test::note("note_answered"); }
void ArrivingMessages::set_error(RxMessage& m, wire::ReturnCode code) {
  uet::test::note(std::string("set_error ") + wire::name(code));
  m.error = code;
}

}  // namespace uet::ses
