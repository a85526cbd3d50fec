// Rounds times latency, and bytes over rate.
#include "sim/training/collective_time.h"

#include "sim/traffic/collectives.h"

#include <bit>

namespace uet::sim {

double Link::seconds(double bytes) const {
  return static_cast<double>(latency.ns()) * 1e-9 + bytes * 8 / (gbps * 1e9);
}

double ring_half_seconds(double bytes, uint32_t n, const Link& link) {
  return n < 2 ? 0 : (n - 1) * link.seconds(bytes / n);
}

double ring_all_reduce_seconds(double bytes, uint32_t n, const Link& link) {
  return 2 * ring_half_seconds(bytes, n, link);
}

double double_tree_seconds(double bytes, uint32_t n, uint32_t chunks, const Link& link) {
  if (n < 2) return 0;
  const double chunk = bytes / 2 / chunks;
  const Link wire{link.gbps, Duration::zero()};
  return 2 * tree_depth(n) * link.seconds(chunk) +
         (chunks - 1) * wire.seconds(tree_sends(n) * chunk);
}

double halving_doubling_seconds(double bytes, uint32_t n, const Link& link) {
  if (n < 2) return 0;
  const uint32_t core = std::bit_floor(n);
  double seconds = core < n ? 2 * link.seconds(bytes) : 0;
  for (double part = bytes / 2; part * core >= bytes * 0.999; part /= 2) {
    seconds += 2 * link.seconds(part);
  }
  return seconds;
}

}  // namespace uet::sim
