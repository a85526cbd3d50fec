// The lists of senders and the contexts, as the tests of other parts see them.
#include "pds/schedule/contexts.h"
#include "pds/schedule/schedule.h"
#include "pds/test/part.h"

namespace uet::pds {

using part::answers;
using part::note;

void Schedule::resume(Context&, Instant) { note("resume"); }
void Schedule::on_credit(Pdc&, uint32_t credit, Instant) {
  note("credit " + std::to_string(credit));
}
void Schedule::release_timer(Context&) {}
void Schedule::arm_by(Pdc&, Instant deadline) {
  note("arm_by " + part::text(deadline - part::kNow));
}
void Schedule::want_control(Pdc&, bool may_wait) {
  note(may_wait ? "want_control, may wait" : "want_control");
}
void Schedule::arm_if_held(Pdc&, Instant) { note("arm_if_held"); }
void Schedule::wake_flow(Flow&) { note("wake_flow"); }
void Schedule::want_send(Pdc&) { note("want_send"); }
void Schedule::wake_context(Context&) { note("wake_context"); }

Result<void> Contexts::create(Arena& arena, Room room) { return slab_.create(arena, room); }
Context* Contexts::take(ContextKey key) {
  if (answers().context == nullptr) {
    return slab_.alloc(key, res_.cms, single_number(key), res_.rng, senders_);
  }
  ++answers().context->refs;
  return answers().context;
}
void Contexts::drop(Context& context) {
  --context.refs;
  note("drop context");
}

}  // namespace uet::pds
