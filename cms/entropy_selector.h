// Which entropy value the next burst carries: oblivious spraying, every EV in turn from a random
// start, whatever the feedback. The places of feedback-driven selection are kept. [PDS-004,
// CMS-023]
#pragma once

#include "cms/config.h"
#include "cms/events.h"

#include "base/rng.h"

namespace uet::cms {

class EntropySelector {
 public:
  EntropySelector(const Config& config, Rng& rng)
      : count_(config.entropy_values ? config.entropy_values : 1),
        next_(static_cast<uint32_t>(rng.below(count_))) {}

  // The EV of the next burst of a sprayed (RUD) PDC.
  Entropy next() {
    const Entropy ev(static_cast<uint16_t>(next_));
    next_ = next_ + 1 == count_ ? 0 : next_ + 1;
    return ev;
  }

  // Oblivious: heard and ignored.
  void on_feedback(Entropy, PathFeedback) {}

 private:
  uint32_t count_;  // at most 65,536
  uint32_t next_;   // below count_
};
static_assert(sizeof(EntropySelector) <= 160, "decision 15");

}  // namespace uet::cms
