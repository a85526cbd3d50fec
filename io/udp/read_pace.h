// When a stream is read: in gulps.
#pragma once

#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::io {

// A receiver that reads a stream as fast as it comes reads each page while the sender's processor
// still has it, the kernel gives it back at once, and the sender's next copy waits for the line to
// change hands: two to four times the time of the copy. So a stream rests between reads. Single
// messages do not rest: only after `kStream` octets without a pause.
class ReadPace {
 public:
  static constexpr uint32_t kBulk = 32 * 1024;         // octets of a read that is part of a stream
  static constexpr uint64_t kStream = 5 * 256 * 1024;  // more than a message of 1 MiB
  static constexpr Duration kRest = Duration::microseconds(40);
  static constexpr Duration kPause = Duration::microseconds(25);  // ends a stream
  static constexpr uint64_t kGulp = 64 * 1024;  // a pause with fewer octets is not in a stream
  static constexpr uint32_t kOctetsPerNs = 16;  // what may arrive; no rest is to fill the buffer

  // buffer_bytes: the size of the kernel's buffer.
  void configure(uint32_t buffer_bytes) {
    rest_ = std::min(kRest, Duration::nanoseconds(buffer_bytes / kOctetsPerNs));
  }

  // False: no clock is needed, neither to read nor when nothing was there.
  bool may_be_stream() const { return streamed_ != 0; }
  bool is_resting(Instant now) const { return now < next_; }

  // One read. is_all: no more packets wait, as far as is known without a system call.
  void on_read(uint32_t octets, bool is_all, Instant now) {
    next_ = now;
    is_rest_due_ = false;
    if (octets < kBulk) return;
    streamed_ += octets;
    gulp_ += octets;
    is_rest_due_ = streamed_ > kStream;
    if (is_all) begin_rest(now);
  }
  // Nothing was there to read.
  void on_nothing(Instant now) {
    if (now - next_ > kPause) streamed_ = 0;
    begin_rest(now);
  }

 private:
  void begin_rest(Instant now) {
    if (!is_rest_due_ || streamed_ == 0) return;
    is_rest_due_ = false;
    if (gulp_ < kGulp) {
      streamed_ = gulp_ = 0;  // a fast ping-pong: each message answers the last
      return;
    }
    gulp_ = 0;
    next_ = now + rest_;
  }

  Duration rest_ = kRest;
  Instant next_;              // nothing is read before
  uint64_t streamed_ = 0;     // octets since the last pause
  uint64_t gulp_ = 0;         // octets since the last rest
  bool is_rest_due_ = false;  // once after each read
};

}  // namespace uet::io
