// What one simulated run looks like: how many endpoints, what the network does to them, what they
// do to each other. Drawn from the seed swarm-style: most runs turn most faults off and some on
// hard. The same seed gives the same plan.
#pragma once

#include "io/fault_plan.h"

#include "base/rng.h"
#include "base/time.h"

#include <cstdint>
#include <string>

namespace uet::sim {

// Simulated time begins here; zero would mean "never" to some.
inline constexpr Instant kStart = Instant::from_ns(1'000'000'000);

struct Plan {
  uint32_t endpoints = 2;
  bool ordered = false;  // ROD instead of RUD
  uint32_t operations = 40;
  uint32_t message_bytes_max = 20'000;
  uint32_t payload_mtu = 4096;
  uint32_t window_packets = 256;  // of each PDC
  uint32_t pdcs_max = 4096;
  uint32_t unexpected_bytes = 1 << 20;
  double late_receives = 0.3;  // share of receives posted after their message was sent
  Duration spread = Duration::milliseconds(5);  // operations start within this span
  // One endpoint stops being run for a while, as a stopped process would.
  Duration pause = Duration::zero();
  uint32_t entropy_values = 4;
  bool spec_timers = false;
  io::FaultPlan faults;
  // Faults stop here; everything posted must then succeed.
  Duration faults_for = Duration::seconds(3600);

  static Plan draw(uint64_t seed);
  std::string describe() const;
};

}  // namespace uet::sim
