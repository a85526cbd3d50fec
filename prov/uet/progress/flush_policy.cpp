// FlushPolicy: the helper thread's part.
//
// The helper must cost nothing while the application polls and must run when it does not. A wake-up
// in the middle of a ping-pong costs as much as ten messages. So while the application polls the
// helper sleeps on a timer alone, and now and then a visit extends that timer; packets do not wake
// it. When the timer ends, no visit came for at least half of its time: the helper runs the engine
// and then sleeps on the engine's deadline and on the socket, in poll because that leaves nothing
// registered with the socket meanwhile. A visit that makes the deadline earlier than the one it
// sleeps on wakes it, which happens at most once, because then it waits for the timer again.
// [architecture 5]
//
// watch \ event | timer over       | socket, deadline, pause over | earlier deadline
// visits        | run, then engine | -                            | -
// engine, pause | -                | visited: visits;             | visits
//               |                  | else run, engine             |
#include "prov/uet/progress/flush_policy.h"

#include <algorithm>

namespace uet::prov {

Decision FlushPolicy::on_visit(uint64_t visits, Instant now) {
  const bool is_steady =
      watch_ == Watch::visits && options_.peers_wait > kSteadyAbsence &&
      now - awaited_since_ <= kSteadyVisit * static_cast<int64_t>(visits - visits_before_);
  Decision decision = is_steady ? Decision::visit_steady : Decision::visit;
  if (posts_.is_overdue(now)) {
    posts_.on_sent_late(now);
    decision = Decision::visit_late;
  }
  watch_ = row_of(decision).watch;
  awaited_since_ = now;
  visits_before_ = visits;
  put_off_at_ = now + (decision == Decision::visit_steady ? kSteadyPutOff : kPutOff);
  return decision;
}

Decision FlushPolicy::on_busy(bool must_serve, bool auto_progress) {
  if (must_serve) return Decision::busy_sleepers;
  return auto_progress ? Decision::busy_auto : Decision::busy;
}

Decision FlushPolicy::on_helper(const HelperSees& sees, Instant now) {
  const bool visited = sees.visits != visits_seen_ && !sees.timer_over;
  visits_seen_ = sees.visits;
  if (visited && !options_.auto_progress && !sees.must_serve) return on_visit(sees.visits, now);
  posts_.on_sent_late(now);
  watch_ = Watch::pause;  // until it has run
  put_off_at_ = Instant::never();
  return received(now, Decision::helper);
}

Decision FlushPolicy::on_helper_ran(bool moved, const HelperSees& sees, Instant wake_by) {
  if (moved) return Decision::helper_moved;
  if (sees.thread_sleeps && !sees.must_serve) return Decision::helper_sleepers;
  watch_ = row_of(Decision::helper_idle).watch;
  watch_until_ = wake_by;
  return Decision::helper_idle;
}

Instant FlushPolicy::wake_by(Instant deadline, bool queued, Instant now) {
  return queued ? std::min(deadline, now + row_of(Decision::rest_queued).after) : deadline;
}

}  // namespace uet::prov
