// EVs that were acknowledged without a mark, to be used again: the oldest first, each at most once,
// so that the many ACKs of a burst count as one. [CMS-162, CMS-164]
#pragma once

#include "cms/entropy/range.h"

#include <array>
#include <bitset>

namespace uet::cms {

class RecycledEntropy {
 public:
  // At most kTrackedEntropyMax, the number of EVs.
  uint32_t size() const { return count_; }

  // Does nothing when the EV is there already.
  void push(uint32_t index) {
    if (held_[index]) return;
    held_.set(index);
    ring_[static_cast<uint8_t>(first_ + count_)] = static_cast<uint8_t>(index);
    ++count_;
  }
  uint32_t pop() {
    UET_ASSERT(count_ != 0);
    const uint8_t index = ring_[first_++];
    --count_;
    held_.reset(index);
    return index;
  }
  // A packet under that EV is lost. Cost: a turn through the queue if the EV is there.
  void remove(uint32_t index) {
    if (!held_[index]) return;
    for (uint32_t left = count_; left > 0; --left) {
      const uint32_t other = pop();
      if (other != index) push(other);
    }
  }

 private:
  std::array<uint8_t, kTrackedEntropyMax> ring_;  // a place is a uint8_t, which wraps with it
  std::bitset<kTrackedEntropyMax> held_;
  uint16_t count_ = 0;
  uint8_t first_ = 0;
};
static_assert(kTrackedEntropyMax == 256, "places and indices are octets");

}  // namespace uet::cms
