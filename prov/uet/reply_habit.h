// Whether the application answers what it receives at once. If it does, the acknowledgement of a
// message waits for the reply, as TCP does for a ping-pong: both leave in one system call, the
// reply first. One missed reply ends the habit; the helper thread sends what waited in vain.
#pragma once

#include "base/time.h"

#include <cstdint>

namespace uet::prov {

class ReplyHabit {
 public:
  // A message is being handed to the application while acknowledgements wait to be sent. True: they
  // may go on waiting.
  bool on_delivered(Instant now) {
    if (!delivered_at_.is_never()) replies_ = 0;  // the one before was not answered
    delivered_at_ = now;
    glanced_ = false;
    return replies_ >= kHabit;
  }

  // The application asked for what it has already: of a message that came together with the
  // completion of its own. True: for the first time since, and a reply may still follow.
  bool on_glance() {
    if (delivered_at_.is_never() || glanced_) return false;
    glanced_ = true;
    return true;
  }

  // The application posted something that leaves now.
  void on_posted(Instant now) {
    if (delivered_at_.is_never()) return;
    replies_ = now - delivered_at_ <= kAtOnce ? replies_ + (replies_ < kHabit) : 0;
    delivered_at_ = Instant::never();
  }

  // The application looked for more and posted nothing.
  void on_polled() {
    if (delivered_at_.is_never()) return;
    replies_ = 0;
    delivered_at_ = Instant::never();
  }

  // Acknowledgements wait for a reply right now.
  bool is_waiting() const { return !delivered_at_.is_never() && replies_ >= kHabit; }

 private:
  static constexpr uint32_t kHabit = 3;  // replies in a row
  static constexpr Duration kAtOnce = Duration::microseconds(20);

  Instant delivered_at_ = Instant::never();  // of the message that awaits its reply
  uint32_t replies_ = 0;                     // in a row, at most kHabit
  bool glanced_ = false;
};

}  // namespace uet::prov
