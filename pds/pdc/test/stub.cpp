// The end of PDCs and the list of idle ones, as the tests of other parts see them.
#include "pds/pdc/close_steps.h"
#include "pds/pdc/closing.h"
#include "pds/pdc/ending.h"
#include "pds/pdc/idle_list.h"
#include "pds/test/part.h"

namespace uet::pds {

using part::answers;
using part::note;
using part::text;

void IdleList::touch(Pdc& pdc, Instant now) {
  pdc.last_active = now;
  note("touch");
}

void Closing::begin_close(Pdc&) { note("begin_close"); }
void Closing::ask_close(Pdc&, Instant) { note("ask_close"); }

void Ending::fail(Pdc&, const Failure& failure, Count, Notice notice, Instant) {
  note(std::string("fail, ") + (failure.not_delivered ? "not executed" : "fate unknown") +
       (notice == Notice::close ? ", the peer may hold its end" : ""));
}
void Ending::close_idle_toward(PeerId, Instant) { note("close_idle_toward"); }
void Ending::abort_returns(Pdc&, const Failure&, Instant) { note("abort_returns"); }
void Ending::abort_message(Pdc&, const Failure&, Instant) { note("abort_message"); }
void Ending::discard(Pdc&) { note("discard"); }
void Ending::free_pdc(Pdc&, PdcEvent why, Outcome outcome, Remains remains, Instant) {
  note(std::string("free_pdc: ") + name(why) + (outcome == Outcome::clean ? ", clean" : "") +
       (remains == Remains::tombstone ? ", with a tombstone" : ""));
}

bool CloseSteps::progress_close(Pdc&, TxBatch&, Instant) {
  note("progress_close");
  return true;
}
void CloseSteps::on_close_answered(Pdc&, const wire::Ack& ack, Instant) {
  note("on_close_answered " + text(ack.cack_psn));
}
bool CloseSteps::finish_received_close(Pdc&, Instant) {
  note("finish_received_close");
  return false;
}
bool CloseSteps::is_close_early(Pdc&, const Inbound&, Instant) { return answers().is_close_early; }

}  // namespace uet::pds
