// Each pattern is a loop over hosts; random values come from one generator in a fixed order.
#include "sim/traffic/patterns.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace uet::sim {

namespace {

void check_range(const char* what, uint64_t value, uint64_t min, uint64_t max) {
  if (value >= min && value <= max) return;
  throw TrafficError(std::string(what) + " is " + std::to_string(min) + " to " +
                     std::to_string(max) + ", not " + std::to_string(value));
}

void check(const Pattern& pattern) {
  check_range("hosts", pattern.hosts, 2, 1 << 24);
  check_range("bytes", pattern.bytes, 1, UINT64_MAX);
}

void shuffle(std::vector<uint32_t>& values, Rng& rng) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[rng.below(i)]);
}

// `count` random hosts, without `left_out`.
std::vector<uint32_t> others(const Pattern& pattern, uint32_t left_out, uint32_t count) {
  std::vector<uint32_t> hosts(pattern.hosts);
  std::iota(hosts.begin(), hosts.end(), 0);
  hosts.erase(hosts.begin() + left_out);
  Rng rng(pattern.seed);
  shuffle(hosts, rng);
  hosts.resize(count);
  return hosts;
}

}  // namespace

Traffic incast(const Pattern& pattern, uint32_t senders, uint32_t receiver) {
  check(pattern);
  check_range("senders", senders, 1, pattern.hosts - 1);
  check_range("receiver", receiver, 0, pattern.hosts - 1);
  Traffic traffic{.hosts = pattern.hosts};
  const uint16_t kind = traffic.kind("incast");
  for (const uint32_t from : others(pattern, receiver, senders)) {
    traffic.add({.from = from, .to = receiver, .bytes = pattern.bytes, .kind = kind});
  }
  return traffic;
}

Traffic outcast(const Pattern& pattern, uint32_t receivers, uint32_t sender) {
  check(pattern);
  check_range("receivers", receivers, 1, pattern.hosts - 1);
  check_range("sender", sender, 0, pattern.hosts - 1);
  Traffic traffic{.hosts = pattern.hosts};
  const uint16_t kind = traffic.kind("outcast");
  for (const uint32_t to : others(pattern, sender, receivers)) {
    traffic.add({.from = sender, .to = to, .bytes = pattern.bytes, .kind = kind});
  }
  return traffic;
}

Traffic permutation(const Pattern& pattern) {
  check(pattern);
  std::vector<uint32_t> to(pattern.hosts);
  std::iota(to.begin(), to.end(), 0);
  Rng rng(pattern.seed);
  // One shuffle of e (2.718) moves every host, however many there are.
  const auto stays = [&to] {
    for (uint32_t h = 0; h < to.size(); ++h) {
      if (to[h] == h) return true;
    }
    return false;
  };
  while (stays()) shuffle(to, rng);
  Traffic traffic{.hosts = pattern.hosts};
  const uint16_t kind = traffic.kind("permutation");
  for (uint32_t from = 0; from < pattern.hosts; ++from) {
    traffic.add({.from = from, .to = to[from], .bytes = pattern.bytes, .kind = kind});
  }
  return traffic;
}

Traffic ring(const Pattern& pattern, uint32_t stride) {
  check(pattern);
  check_range("stride", stride, 1, pattern.hosts - 1);
  Traffic traffic{.hosts = pattern.hosts};
  const uint16_t kind = traffic.kind("ring");
  for (uint32_t from = 0; from < pattern.hosts; ++from) {
    const uint32_t to = (from + stride) % pattern.hosts;
    traffic.add({.from = from, .to = to, .bytes = pattern.bytes, .kind = kind});
  }
  return traffic;
}

Traffic all_to_all(const Pattern& pattern, uint32_t group, uint32_t parallel) {
  check(pattern);
  if (group == 0) group = pattern.hosts;
  check_range("group", group, 2, pattern.hosts);
  if (pattern.hosts % group != 0) {
    throw TrafficError("group " + std::to_string(group) + " does not divide the " +
                       std::to_string(pattern.hosts) + " hosts");
  }
  check_range("parallel", parallel, 1, group - 1);
  check_flows(double{group - 1.0} * pattern.hosts, "take fewer hosts, or groups of some");
  Traffic traffic{.hosts = pattern.hosts};
  const uint16_t kind = traffic.kind("all-to-all");
  Rng rng(pattern.seed);
  for (uint32_t from = 0; from < pattern.hosts; ++from) {
    std::vector<uint32_t> targets(group);
    std::iota(targets.begin(), targets.end(), from / group * group);
    targets.erase(targets.begin() + from % group);
    shuffle(targets, rng);
    // Each flow that is done starts the next one.
    const bool waits = parallel < group - 1;
    const uint32_t next = waits ? traffic.add(Trigger{TriggerKind::multishot}) : 0;
    for (uint32_t i = 0; i < targets.size(); ++i) {
      traffic.add({.from = from,
                   .to = targets[i],
                   .bytes = pattern.bytes,
                   .trigger = i < parallel ? 0 : next,
                   .fires = {next},
                   .kind = kind});
    }
  }
  return traffic;
}

Traffic poisson(const Arrivals& arrivals, const SizeDistribution& sizes) {
  check_range("hosts", arrivals.hosts, 2, 1 << 24);
  if (!(arrivals.load > 0 && arrivals.load <= 10))
    throw TrafficError("load is above 0, at most 10");
  if (!(arrivals.link_gbps > 0)) throw TrafficError("the rate of links is above 0");
  if (arrivals.time <= Duration::zero()) throw TrafficError("time is above 0");
  Traffic traffic{.hosts = arrivals.hosts};
  const uint16_t kind = traffic.kind("poisson");
  const double bytes_per_ns = arrivals.link_gbps / 8 * arrivals.load * arrivals.hosts;
  const double gap_ns = sizes.mean_bytes() / bytes_per_ns;
  check_flows(static_cast<double>(arrivals.time.ns()) / gap_ns, "take a shorter time");
  Rng rng(arrivals.seed);
  const auto next_gap = [&] { return -std::log1p(-unit(rng)) * gap_ns; };
  const auto end = static_cast<double>(arrivals.time.ns());
  for (double at = next_gap(); at < end; at += next_gap()) {
    const auto from = static_cast<uint32_t>(rng.below(arrivals.hosts));
    const auto step = static_cast<uint32_t>(1 + rng.below(arrivals.hosts - 1));
    traffic.add({.from = from,
                 .to = (from + step) % arrivals.hosts,
                 .bytes = sizes.draw(rng),
                 .start = Duration::nanoseconds(static_cast<int64_t>(at)),
                 .kind = kind});
  }
  return traffic;
}

}  // namespace uet::sim
