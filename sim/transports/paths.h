// The entropy value of a flow's next packet: one for all, a quick one, or one after the other.
#pragma once

#include "sim/transports/transport.h"

#include "base/rng.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace uet::sim::transports {

class Paths {
 public:
  // With one path there is no choice.
  Paths(const Network& network, uint32_t flow, uint32_t count)
      : rng_(network.seed, 0x7061746873 + flow),
        first_(static_cast<uint16_t>(rng_.below(65536))),
        round_trips_(count, 0) {}

  // The one of two random paths with the shorter round trip; an untried one is taken.
  uint16_t choose() {
    const size_t count = round_trips_.size();
    if (count == 1) return first_;
    const size_t one = rng_.below(count), other = rng_.below(count);
    return value(round_trips_[one] <= round_trips_[other] ? one : other);
  }
  void on_rtt(uint16_t path, Picoseconds rtt) {
    Picoseconds& known = round_trips_[index(path)];
    known = known == 0 ? rtt : known + (rtt - known) / 4;
  }
  // A packet was lost there.
  void on_loss(uint16_t path, Picoseconds timeout) {
    round_trips_[index(path)] = std::max(round_trips_[index(path)], timeout);
  }

 private:
  uint16_t value(size_t index) const { return static_cast<uint16_t>(first_ + index); }
  size_t index(uint16_t path) const {
    return static_cast<uint16_t>(path - first_) % round_trips_.size();
  }

  Rng rng_;
  const uint16_t first_;
  std::vector<Picoseconds> round_trips_;  // smoothed; 0: not known
};

// Each value once in a round, in an order that changes from round to round; one that was bad is
// left out once.
class Spray {
 public:
  // `count` is rounded up to a power of two.
  Spray(const Network& network, uint32_t flow, uint32_t count)
      : rng_(network.seed, 0x7370726179 + flow), is_bad_(std::bit_ceil(count), false) {
    turn();
  }
  uint16_t choose() {
    for (size_t tried = 0; tried < is_bad_.size() && is_bad_[at()]; ++tried) {
      is_bad_[at()] = false;
      step();
    }
    const auto chosen = static_cast<uint16_t>(first_ + at());
    step();
    return chosen;
  }
  void on_bad(uint16_t path) {
    is_bad_[static_cast<uint16_t>(path - first_) % is_bad_.size()] = true;
  }

 private:
  size_t at() const { return next_ ^ mask_; }
  void step() {
    if (++next_ == is_bad_.size()) turn();
  }
  void turn() {
    next_ = 0;
    mask_ = rng_.below(is_bad_.size());
  }

  Rng rng_;
  const uint16_t first_ = static_cast<uint16_t>(rng_.below(65536));
  std::vector<bool> is_bad_;
  size_t next_ = 0, mask_ = 0;
};

}  // namespace uet::sim::transports
