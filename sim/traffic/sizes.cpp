// The distributions, as tables, and drawing by the inverse of a table.
#include "sim/traffic/sizes.h"

#include "sim/traffic/traffic.h"

#include "base/assert.h"

#include <algorithm>
#include <cmath>

namespace uet::sim {

namespace {

// The well-known distribution of a web-search cluster that the DCTCP paper measured (Alizadeh et
// al., SIGCOMM 2010, figure 4), as later papers tabulate it: many short queries, and most bytes in
// updates of 1 to 30 MB.
const std::vector<SizePoint> kWebSearch = {{0, 0},       {10e3, 0.15}, {20e3, 0.20},  {30e3, 0.30},
                                           {50e3, 0.40}, {80e3, 0.53}, {200e3, 0.60}, {1e6, 0.70},
                                           {2e6, 0.80},  {5e6, 0.90},  {10e6, 0.97},  {30e6, 1.00}};

// Ours, not measured: messages of a training step in a mix of parallelisms. A tenth is small
// (barriers, scales, router tables), then tokens for experts, activations between pipeline stages
// and parts of tensors, and gradients in buckets of up to 25 MiB, as PyTorch makes them by default.
const std::vector<SizePoint> kAi = {{0, 0},          {4096, 0.10},    {65'536, 0.30},
                                    {524'288, 0.50}, {4 << 20, 0.75}, {16 << 20, 0.90},
                                    {25 << 20, 1.00}};

}  // namespace

SizeDistribution::SizeDistribution(std::vector<SizePoint> points) : points_(std::move(points)) {
  UET_ASSERT(points_.size() >= 2 && points_.front().share == 0 && points_.back().share == 1);
  for (size_t i = 1; i < points_.size(); ++i) {
    UET_ASSERT(points_[i - 1].bytes <= points_[i].bytes);
    UET_ASSERT(points_[i - 1].share <= points_[i].share);
  }
}

SizeDistribution SizeDistribution::named(const std::string& name) {
  if (name == "web-search") return SizeDistribution(kWebSearch);
  if (name == "ai") return SizeDistribution(kAi);
  throw TrafficError("the distribution of sizes is web-search or ai, not " + name);
}

double SizeDistribution::mean_bytes() const {
  double sum = 0;
  for (size_t i = 1; i < points_.size(); ++i) {
    const SizePoint &a = points_[i - 1], &b = points_[i];
    sum += (b.share - a.share) * (a.bytes + b.bytes) / 2;
  }
  return sum;
}

uint64_t SizeDistribution::draw(Rng& rng) const {
  const double share = unit(rng);
  const auto above = std::upper_bound(points_.begin() + 1, points_.end() - 1, share,
                                      [](double s, const SizePoint& p) { return s < p.share; });
  const SizePoint &a = *(above - 1), &b = *above;
  const double bytes = a.bytes + (b.bytes - a.bytes) * (share - a.share) / (b.share - a.share);
  return std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(bytes)));
}

}  // namespace uet::sim
