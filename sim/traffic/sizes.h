// Sizes of flows: distributions from which random sizes are drawn.
#pragma once

#include "base/rng.h"

#include <cstdint>
#include <string>
#include <vector>

namespace uet::sim {

// The share of all flows that have at most `bytes` bytes. Between two points it is linear.
struct SizePoint {
  double bytes;
  double share;  // 0 to 1
};

class SizeDistribution {
 public:
  // Points in rising order of both, from share 0 to share 1.
  explicit SizeDistribution(std::vector<SizePoint> points);

  // web-search or ai; throws TrafficError for other names.
  static SizeDistribution named(const std::string& name);

  double mean_bytes() const;
  // At least 1. Draws once.
  uint64_t draw(Rng& rng) const;

 private:
  std::vector<SizePoint> points_;
};

// Uniform in [0, 1), of 53 bits. Draws once.
inline double unit(Rng& rng) { return static_cast<double>(rng.u64() >> 11) * 0x1p-53; }

}  // namespace uet::sim
