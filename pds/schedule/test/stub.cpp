// The lists of senders and the paths, as the tests of other parts see them.
#include "pds/schedule/paths.h"
#include "pds/schedule/schedule.h"
#include "pds/test/part.h"

namespace uet::pds {

using part::answers;
using part::note;

void Schedule::resume(Path&, Instant) { note("resume"); }
void Schedule::on_credit(Pdc&, uint32_t credit, Instant) {
  note("credit " + std::to_string(credit));
}
void Schedule::release_timer(Path&) {}
void Schedule::arm_by(Pdc&, Instant deadline) {
  note("arm_by " + part::text(deadline - part::kNow));
}
void Schedule::want_control(Pdc&, bool may_wait) {
  note(may_wait ? "want_control, may wait" : "want_control");
}
void Schedule::arm_if_held(Pdc&, Instant) { note("arm_if_held"); }
void Schedule::wake_flow(Flow&) { note("wake_flow"); }
void Schedule::want_send(Pdc&) { note("want_send"); }
void Schedule::wake_path(Path&) { note("wake_path"); }

Result<void> Paths::create(Arena& arena, Room room) { return slab_.create(arena, room); }
Path* Paths::take(PathKey key) {
  if (answers().path == nullptr) {
    return slab_.alloc(key, res_.cms, single_number(key), res_.rng, senders_);
  }
  ++answers().path->refs;
  return answers().path;
}
void Paths::drop(Path& path) {
  --path.refs;
  note("drop path");
}

}  // namespace uet::pds
