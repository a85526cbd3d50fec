// Oblivious spraying, every EV in turn in a random order, whatever the feedback: for packets that
// belong to no congestion context. [CMS-009, CMS-151, CMS-158]
#pragma once

#include "cms/entropy/range.h"
#include "cms/entropy/walk.h"

namespace uet::cms {

class ObliviousSelector {
 public:
  ObliviousSelector(const Config& config, Rng& rng)
      : rng_(rng.u64()), range_(config, config.entropy_values, rng_), walk_(range_.size(), rng_) {}

  // The EV of the next packet or burst.
  Entropy next() { return range_.at(walk_.next(rng_)); }

 private:
  Rng rng_;
  EntropyRange range_;
  EntropyWalk walk_;
};

}  // namespace uet::cms
