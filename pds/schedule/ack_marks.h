// Counts the ACKs of a context, and those that reported an ECN mark. For tools only: no decision
// depends on it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace uet::pds {

class AckMarks {
 public:
  static constexpr uint32_t kRecent = 32;  // ACKs that recent_permille() looks at

  void add(bool is_marked) {
    const uint32_t mark = is_marked ? 1 : 0;
    recent_ = recent_ << 1 | mark;
    ++acks_;
    marked_ += mark;
  }
  // Since the context exists; both wrap.
  uint32_t acks() const { return acks_; }
  uint32_t marked() const { return marked_; }
  // The marked ones among the last 32 ACKs, or among all where fewer came, in thousandths.
  uint32_t recent_permille() const {
    const uint32_t seen = std::clamp(acks_, 1U, kRecent);
    return static_cast<uint32_t>(std::popcount(recent_)) * 1000 / seen;
  }

 private:
  uint32_t recent_ = 0;  // a bit for each ACK, the last one lowest
  uint32_t acks_ = 0;
  uint32_t marked_ = 0;
};

}  // namespace uet::pds
