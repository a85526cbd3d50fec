// Mixture of experts: how popular they are, and the exchange of tokens with them.
#include "sim/traffic/collectives.h"

#include "base/assert.h"
#include "base/rng.h"

#include <cmath>
#include <numeric>

namespace uet::sim {

std::vector<double> expert_shares(uint32_t n, double skew, uint64_t seed) {
  UET_ASSERT(n > 0 && skew >= 0);
  std::vector<double> shares(n);
  for (uint32_t i = 0; i < n; ++i) shares[i] = std::pow(i + 1, -skew);
  Rng rng(seed);
  for (uint32_t i = n; i > 1; --i) std::swap(shares[i - 1], shares[rng.below(i)]);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

Ends expert_exchange(const Collective& c, const Experts& experts) {
  const auto n = static_cast<uint32_t>(c.hosts.size());
  UET_ASSERT(n > 0 && (c.after.empty() || c.after.size() == n));
  const std::vector<double> shares = expert_shares(n, experts.skew, experts.seed);
  const Ends ready = c.after.empty() ? Ends(n) : c.after;
  const auto bytes_for = [&](uint32_t expert) {
    return static_cast<uint64_t>(std::llround(static_cast<double>(c.bytes) * shares[expert]));
  };
  Ends at_expert = ready;
  for (uint32_t step = 1; step < n; ++step) {  // each begins with its neighbour
    for (uint32_t from = 0; from < n; ++from) {
      const uint32_t to = (from + step) % n;
      if (bytes_for(to) == 0) continue;
      const Piece tokens{from * n + to, 1, false};
      at_expert[to].push_back(
          c.graph.send(c.hosts[from], c.hosts[to], bytes_for(to), ready[from], tokens));
    }
  }
  for (uint32_t e = 0; e < n && experts.compute > Duration::zero(); ++e) {
    const double ns = static_cast<double>(experts.compute.ns()) * shares[e] * n;
    at_expert[e] = {
        c.graph.pause(c.hosts[e], Duration::nanoseconds(std::llround(ns)), at_expert[e])};
  }
  Ends ends = at_expert;
  for (uint32_t step = 1; step < n; ++step) {
    for (uint32_t e = 0; e < n; ++e) {
      const uint32_t to = (e + step) % n;
      if (bytes_for(e) == 0) continue;
      const Piece tokens{(n + to) * n + e, 1, false};
      ends[to].push_back(c.graph.send(c.hosts[e], c.hosts[to], bytes_for(e), at_expert[e], tokens));
    }
  }
  return ends;
}

}  // namespace uet::sim
