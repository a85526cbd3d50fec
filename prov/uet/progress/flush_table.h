// The decisions of FlushPolicy: event, action, and reason. Among the rows of one event the first
// with a true condition decides. docs/flush-table.md shows this table.
#pragma once

#include "prov/uet/progress/absence.h"

#include "base/time.h"

#include <cstddef>
#include <cstdint>

namespace uet::prov {

// Action on all queued packets: posts, acknowledgements, resends.
enum class Flush : uint8_t {
  wait,   // nothing leaves now
  send,   // what may leave does
  round,  // the engine also receives and runs its timers, and then sends
};

// What the helper thread waits for next.
enum class Watch : uint8_t {
  same,    // as before
  visits,  // a time without visits: each visit extends its timer
  pause,   // that a while is over
  engine,  // the engine's deadline, and its socket
};

enum class Decision : uint8_t {
  post_more,
  post_unattended,
  post_unserved,
  post_no_habit,
  post_first,
  post_alone,
  post_last,
  post_full,
  post_late,
  post_waits,
  no_post,
  unread_late,
  unread_more,
  unread,
  receive_more,
  receive_waits,
  receive,
  found_unattended,
  found_posts,
  found_waits,
  found,
  stays_posts,
  stays_reply,
  stays,
  came_posts,
  came_nothing,
  came_own,
  came_unserved,
  came_no_habit,
  came_waits,
  vain_posts,
  vain_reply,
  vain_arriving,
  vain,
  round,
  visit_late,
  visit_steady,
  visit,
  left_earlier,
  unserved,
  busy_sleepers,
  busy_auto,
  busy,
  helper,
  helper_moved,
  helper_sleepers,
  helper_idle,
  rest_queued,
};

struct FlushRow {
  Decision decision;
  const char* event;
  const char* when;
  Flush flush;
  const char* why;
  Watch watch = Watch::same;
  Duration after = Duration::zero();  // the helper's timer or pause
};

// A thread is inside while other threads wait to be served: about as long as a visit takes.
inline constexpr Duration kServeRetry = Duration::microseconds(20);
// Threads in WaitObject run the engine themselves; the helper only watches deadlines that moved
// while they slept.
inline constexpr Duration kSleepersPause = Duration::milliseconds(10);
// The socket took no more: long enough for a buffer to drain, short enough not to be seen.
inline constexpr Duration kBacklogRetry = Duration::microseconds(100);

// clang-format off
inline constexpr FlushRow kFlushTable[] = {
  {Decision::post_more, "a post", "with FI_MORE",
   Flush::wait, "the application says that more follows"},
  {Decision::post_unattended, "a post", "nothing was received for 1 ms",
   Flush::round, "visits postpone the helper, so they do its work"},
  {Decision::post_unserved, "a post", "no helper will send it later",
   Flush::send, "it might never leave"},
  {Decision::post_no_habit, "a post", "posts do not come in runs, or none followed one that waited",
   Flush::send, "the next post may come late"},
  {Decision::post_first, "a post",
   "one of the first two of a run, and all older ones of its endpoint are done",
   Flush::send, "one packet must be on its way while others wait"},
  {Decision::post_alone, "a post", "all others of its endpoint are done, or wait",
   Flush::send, "the application may wait for this one"},
  {Decision::post_last, "a post", "the run is as long as the one before",
   Flush::send, "no other follows"},
  {Decision::post_full, "a post", "64 posts or 128 KiB would wait",
   Flush::send, "a longer batch saves nothing"},
  {Decision::post_late, "a post", "one has waited for 20 us",
   Flush::send, "a longer wait would be noticed"},
  {Decision::post_waits, "a post", "else",
   Flush::wait, "a later post or poll sends all in one system call"},

  {Decision::no_post, "a post refused, a cancel", "always",
   Flush::send, "posts held by FI_MORE may have waited for this call"},
  {Decision::unread_late, "a post finds its queue full",
   "nothing was received for 50 us, or a post has waited for 20 us",
   Flush::round, "ACKs make room, and a longer wait would be noticed"},
  {Decision::unread_more, "a post finds its queue full", "packets are queued, and no post waits",
   Flush::send, "posts held by FI_MORE may have waited for this call"},
  {Decision::unread, "a post finds its queue full", "else",
   Flush::wait, "the application reads completions and posts again"},

  {Decision::receive_more, "a posted receive", "with FI_MORE",
   Flush::wait, "the application says that more follows"},
  {Decision::receive_waits, "a posted receive", "an ACK waits for a reply",
   Flush::wait, "the reply takes everything with it"},
  {Decision::receive, "a posted receive", "else",
   Flush::send, "the peer may wait for room"},

  {Decision::found_unattended, "a poll finds an earlier completion",
   "nothing was received for 50 us",
   Flush::round, "ACKs make room, and peers wait for answers"},
  {Decision::found_posts, "a poll finds an earlier completion", "a post has waited for 20 us",
   Flush::send, "a longer wait would be noticed"},
  {Decision::found_waits, "a poll finds an earlier completion", "posts wait",
   Flush::wait, "the application polls on until it finds none, and may post between"},
  {Decision::found, "a poll finds an earlier completion", "else",
   Flush::wait, "a reply to it may follow"},

  {Decision::stays_posts, "a poll finds a counter at its value", "posts wait",
   Flush::round, "a poll that receives ends the wait of posts"},
  {Decision::stays_reply, "a poll finds a counter at its value", "the first one since a message",
   Flush::wait, "a reply to it may follow"},
  {Decision::stays, "a poll finds a counter at its value", "else",
   Flush::round, "such polls may go on without end"},

  {Decision::came_posts, "a poll receives a packet and finds a completion", "posts wait",
   Flush::send, "a poll that receives ends the wait of posts"},
  {Decision::came_nothing, "a poll receives a packet and finds a completion", "nothing is queued",
   Flush::wait, "there is nothing to send"},
  {Decision::came_own, "a poll receives a packet and finds a completion",
   "it is of an own operation, packets came for less than 50 us, the application replies at once, "
   "and no peer waits for an ACK",
   Flush::wait, "the rest of a message follows, and one ACK serves for all of it"},
  {Decision::came_unserved, "a poll receives a packet and finds a completion", "no helper",
   Flush::send, "if no reply comes, the ACK might never leave"},
  {Decision::came_no_habit, "a poll receives a packet and finds a completion",
   "the application does not reply at once",
   Flush::send, "the peer waits for its ACK"},
  {Decision::came_waits, "a poll receives a packet and finds a completion", "else",
   Flush::wait, "ACK and reply leave in one system call"},

  {Decision::vain_posts, "a poll finds nothing", "posts wait",
   Flush::send, "a poll that receives ends the wait of posts"},
  {Decision::vain_reply, "a poll finds nothing", "the first one while an ACK waits for a reply",
   Flush::wait, "many programs poll until nothing is left, then reply"},
  {Decision::vain_arriving, "a poll finds nothing",
   "packets came in the last 8 us, and not for 50 us yet, the application replies at once, and no "
   "peer waits for an ACK",
   Flush::wait, "the rest of a message follows, and one ACK serves for all of it"},
  {Decision::vain, "a poll finds nothing", "else",
   Flush::send, "no reply comes"},

  {Decision::round, "a call that wants progress", "always",
   Flush::round, "only the engine moves a counter, or a queue without room"},

  {Decision::visit_late, "a visit, the helper's timer is old", "posts have waited for 20 us",
   Flush::send, "visits postpone the helper, so they do its work",
   Watch::visits, kAbsence},
  {Decision::visit_steady, "a visit, the helper's timer is old",
   "there was a visit each 100 us on average",
   Flush::wait, "the next visit is near, and a timer beyond the kernel's next tick is cheap",
   Watch::visits, kSteadyAbsence},
  {Decision::visit, "a visit, the helper's timer is old", "else",
   Flush::wait, "the helper need not run while the application does",
   Watch::visits, kAbsence},

  {Decision::left_earlier, "a visit ends", "the deadline is before the helper's",
   Flush::wait, "the helper sleeps too long", Watch::pause},
  {Decision::unserved, "a thread stops watching", "others still sleep",
   Flush::wait, "the helper watches the socket for them", Watch::pause},

  {Decision::busy_sleepers, "the helper finds the engine in use",
   "threads sleep that depend on the helper",
   Flush::wait, "the thread in the engine may not wake them", Watch::pause, kServeRetry},
  {Decision::busy_auto, "the helper finds the engine in use", "FI_PROGRESS_AUTO",
   Flush::wait, "the thread in the engine runs it", Watch::pause, kAbsence},
  {Decision::busy, "the helper finds the engine in use", "else",
   Flush::wait, "the application is in the engine; its next visit starts the timer again",
   Watch::visits, kAbsence},

  {Decision::helper, "the helper enters the engine",
   "there was no visit, or the helper need not wait for that",
   Flush::round, "it does the application's work"},
  {Decision::helper_moved, "the helper has run", "something moved",
   Flush::wait, "more may follow", Watch::pause},
  {Decision::helper_sleepers, "the helper has run", "threads sleep that watch the socket",
   Flush::wait, "they run the engine; their deadlines may move", Watch::pause, kSleepersPause},
  {Decision::helper_idle, "the helper has run", "else",
   Flush::wait, "nothing happens before that", Watch::engine},
  {Decision::rest_queued, "a thread or the helper sleeps", "packets are queued",
   Flush::wait, "the socket drains meanwhile", Watch::pause, kBacklogRetry},
};
// clang-format on

inline constexpr size_t kFlushRows = sizeof(kFlushTable) / sizeof(kFlushTable[0]);

constexpr const FlushRow& row_of(Decision decision) {
  return kFlushTable[static_cast<size_t>(decision)];
}

namespace internal {
constexpr bool rows_stand_in_order() {
  for (size_t i = 0; i < kFlushRows; ++i) {
    if (kFlushTable[i].decision != static_cast<Decision>(i)) return false;
  }
  return kFlushRows == static_cast<size_t>(Decision::rest_queued) + 1;
}
}  // namespace internal
static_assert(internal::rows_stand_in_order());

// The column that every call of the application needs, in one cache line.
struct FlushColumn {
  Flush of[kFlushRows] = {};
  constexpr FlushColumn() {
    for (size_t i = 0; i < kFlushRows; ++i) of[i] = kFlushTable[i].flush;
  }
};
inline constexpr FlushColumn kFlushColumn;

}  // namespace uet::prov
