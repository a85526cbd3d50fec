// Received packets of one source, by epoch and counter: for packets without a PDC, which have no
// PSNs to detect repeats. [TSS-071]
#pragma once

#include "base/ring_bitmap.h"

#include <cstdint>
#include <span>

namespace uet::tss {

constexpr uint32_t kReplayBits = 65536;

class ReplayWindow {
 public:
  // Words for a power of two of packets; all of them are cleared.
  void attach(std::span<uint64_t> words) {
    arrived_.attach(words);
    is_empty_ = true;
  }
  bool is_attached() const { return arrived_.size() != 0; }

  // Whether an authenticated packet is new. One that is older than the window counts as a repeat,
  // because that cannot be checked. An epoch is 2^48 counters wide, so a newer one empties the
  // window.
  [[nodiscard]] bool accept(uint64_t tsc) {
    const uint32_t size = arrived_.size();
    if (is_empty_) {
      base_ = tsc - (size - 1);
      is_empty_ = false;
    }
    const auto ahead = static_cast<int64_t>(tsc - base_);
    if (ahead < 0) return false;
    if (ahead >= size) {
      const int64_t slide = ahead - size + 1;
      if (slide >= size) {
        arrived_.clear_all();
      } else {
        arrived_.advance(static_cast<uint32_t>(slide));
      }
      base_ += static_cast<uint64_t>(slide);
    }
    const auto offset = static_cast<uint32_t>(tsc - base_);
    if (arrived_.test(offset)) return false;
    arrived_.set(offset);
    return true;
  }

 private:
  RingBitmap arrived_;
  uint64_t base_ = 0;  // the oldest in the window
  bool is_empty_ = true;
};

}  // namespace uet::tss
