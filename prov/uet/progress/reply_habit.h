// Whether the application answers received messages at once. If it does, the acknowledgement of a
// message waits for the reply, as TCP does for a ping-pong: both leave in one system call, the
// reply first. One missed reply ends the habit; then the helper thread sends the ACK.
#pragma once

#include "prov/uet/progress/absence.h"

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::prov {

class ReplyHabit {
 public:
  // A message is being handed to the application while acknowledgements wait to be sent. True: they
  // may go on waiting.
  bool on_delivered(Instant now) {
    if (!delivered_at_.is_never()) end_run(now);  // the one before was not answered
    delivered_at_ = now;
    may_glance_ = true;
    return is_habit();
  }

  // The application took another completion, which was there already.
  void on_found() { may_glance_ = true; }

  // The application polled and took nothing: because it polls until the queue is empty, or for a
  // counter. True: for the first time since it took something, and a reply may still follow.
  bool on_glance() {
    if (delivered_at_.is_never() || !may_glance_) return false;
    may_glance_ = false;
    return true;
  }

  // The application posted something that leaves now.
  void on_posted(Instant now) {
    if (delivered_at_.is_never()) return;
    if (now - delivered_at_ > kAtOnce) return end_run(now);
    replies_ += replies_ < kHabit;
    credit_ = std::min(credit_ + 1, kCreditMax);
    delivered_at_ = Instant::never();
  }

  // The application looked for more and posted nothing.
  void on_polled(Instant now) {
    if (!delivered_at_.is_never()) end_run(now);
  }

  bool is_habit() const { return replies_ >= kHabit && credit_ > 0; }
  // Acknowledgements wait for a reply right now.
  bool is_waiting() const { return !delivered_at_.is_never() && is_habit(); }

 private:
  static constexpr uint32_t kHabit = 3;  // replies in a row
  static constexpr Duration kAtOnce = Duration::microseconds(50);
  // Gain: a saved system call. Cost: the time that the peer waits for a reply that does not come,
  // at most until the helper runs. Both are counted in units of this length.
  static constexpr Duration kSaved = Duration::microseconds(10);
  static constexpr int32_t kCreditMax = 1000;

  void end_run(Instant now) {
    const Duration in_vain = std::min(now - delivered_at_, is_habit() ? kSteadyAbsence : kAbsence);
    credit_ = std::max(credit_ - static_cast<int32_t>(in_vain.ns() / kSaved.ns()), -kCreditMax);
    replies_ = 0;
    delivered_at_ = Instant::never();
  }

  Instant delivered_at_ = Instant::never();  // of the message that awaits its reply
  uint32_t replies_ = 0;                     // in a row, at most kHabit
  int32_t credit_ = 100;                     // replies that were worth waiting for
  bool may_glance_ = false;
};

}  // namespace uet::prov
