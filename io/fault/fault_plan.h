// Faults of a network as numbers: used by the simulated network and by the fault decorator, and
// read from strings such as "loss=0.01,dup=0.001,delay=50us". Draws no random numbers itself.
#pragma once

#include "base/time.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace uet::io {

// A span of time in which nothing gets through: from <= now < to.
struct Blackhole {
  Instant from;
  Instant to;
  bool operator==(const Blackhole&) const = default;
};

// Probabilities are per packet, in [0, 1]. Everything 0: a perfect path.
struct FaultPlan {
  static constexpr uint32_t kBlackholes = 4;

  double loss = 0;             // dropped
  double burst = 0;            // starts a burst in which every packet is dropped
  uint32_t burst_packets = 0;  // length of a burst, its first packet included
  double duplicate = 0;        // delivered twice
  double reorder = 0;          // held back by up to reorder_delay
  Duration reorder_delay = Duration::microseconds(100);
  double corrupt = 0;  // one bit of a copy flipped
  // Whether a corrupted packet arrives. Off: it is dropped as the UDP checksum would do.
  bool deliver_corrupt = true;

  Duration delay;               // one way, for every packet
  Duration jitter;              // uniform in [0, jitter] on top; alone it can reorder too
  uint32_t mtu_bytes = 0;       // largest datagram (header + payload); 0: whatever the port takes
  uint64_t rate_bps = 0;        // bits per second of each port's link; 0: unlimited
  uint32_t queue_bytes = 0;     // drop when the link's queue would exceed it; 0: unlimited
  uint32_t ecn_mark_bytes = 0;  // mark ECT packets CE when the queue exceeds it; 0: never
  // Length in octets to which packets of the trimmable class are cut if they would overflow the
  // queue. They get the trimmed class and overtake the queue, instead of being dropped. 0: never.
  // [WIRE-019]
  uint32_t trim_bytes = 0;
  uint8_t trimmable_dscp = 8;  // [WIRE-016]
  uint8_t trimmed_dscp = 16;

  std::array<Blackhole, kBlackholes> blackholes{};
  uint32_t blackhole_count = 0;
  Instant fail_at = Instant::never();  // from then on the backend calls itself broken (EIO)
  uint64_t seed = 0;                   // of the Rng that draws the faults; 0: the caller's choice

  bool operator==(const FaultPlan&) const = default;
  bool blackholed(Instant now) const {
    for (uint32_t i = 0; i < blackhole_count; ++i) {
      if (blackholes[i].from <= now && now < blackholes[i].to) return true;
    }
    return false;
  }
};

// Reads "name=value,name=value,...". Empty text is the perfect path. Names and values:
//   loss, dup, corrupt   probability                reorder  probability[:duration]
//   burst                probability:packets        delay, jitter  duration (ns, us, ms, s)
//   corrupt_delivered    0 or 1                     mtu, queue, ecn  octets, with k or m (2^10,
//   2^20) rate                 bits/s, with k, m or g (10^3...)   seed  number blackhole
//   duration-duration, at most four times
//   fail                 duration
// On failure returns nothing and, when error is given, a sentence that names the offending item.
std::optional<FaultPlan> parse_fault_plan(std::string_view text, std::string* error = nullptr);

}  // namespace uet::io
