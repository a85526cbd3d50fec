// Which unreachable peers get a line in the log, so that neither one that is tried again and again
// nor a list of dead addresses fills it: a few lines a minute, and none twice for a peer that had
// one of the last. [LF-136]
#pragma once

#include "base/serial.h"
#include "base/time.h"

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace uet::prov {

class UnreachableLog {
 public:
  static constexpr uint32_t kLines = 8;  // in kTime at most
  static constexpr Duration kTime = Duration::seconds(60);

  // Operations to the peer failed. Nothing: it gets no line. Otherwise how many failures of other
  // peers have had none since the last line, because there were too many.
  std::optional<uint64_t> admit(PeerId peer, Instant now) {
    for (uint32_t i = 0; i < count_; ++i) {
      if (lines_[i].peer == peer) return std::nullopt;
    }
    Line& oldest = lines_[next_];
    if (count_ == kLines && now - oldest.at < kTime) {
      ++left_out_;
      return std::nullopt;
    }
    oldest = {peer, now};
    next_ = (next_ + 1) % kLines;
    if (count_ < kLines) ++count_;
    return std::exchange(left_out_, 0);
  }

 private:
  struct Line {
    PeerId peer;
    Instant at;
  };

  std::array<Line, kLines> lines_{};  // the last ones, a ring
  uint32_t count_ = 0;                // lines in it
  uint32_t next_ = 0;                 // the place of the next one
  uint64_t left_out_ = 0;
};

}  // namespace uet::prov
