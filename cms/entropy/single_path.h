// The entropy value of a context whose packets must stay in order (ROD): one at a time. [CMS-150]
#pragma once

#include "cms/entropy/range.h"
#include "cms/entropy/walk.h"

namespace uet::cms {

class SinglePath {
 public:
  SinglePath(const Config& config, Rng& rng)
      : rng_(rng.u64()),
        range_(config, config.entropy_values, rng_),
        walk_(range_.size(), rng_),
        index_(walk_.next(rng_)),
        base_rtt_(config.base_rtt),
        reroute_rtts_(std::max<uint32_t>(config.entropy.reroute_rtts, kRerouteRttsMin)) {}

  // The EV of every packet until one of the calls below.
  Entropy ev() const { return range_.at(index_); }

  // Nothing is in flight: another EV cannot change the order.
  void on_idle() { move(); }
  // A mark, a trim or a loss that the present EV brought. last_hop: the queue toward the
  // destination is full, which every path shares. The EV changes at most once in `reroute_rtts`
  // round trips. Returns whether it did: then packets may arrive out of order.
  bool on_congestion(Instant now, Duration rtt, bool last_hop) {
    if (last_hop || range_.size() == 1) return false;
    if (now < not_before_) return false;
    not_before_ = now + std::max(rtt, base_rtt_) * reroute_rtts_;
    move();
    return true;
  }

 private:
  static constexpr uint32_t kRerouteRttsMin = 10;

  void move() {
    const uint32_t old = index_;
    while (range_.size() > 1 && index_ == old) index_ = walk_.next(rng_);
  }

  Rng rng_;
  EntropyRange range_;
  EntropyWalk walk_;
  uint32_t index_;
  Duration base_rtt_;
  Instant not_before_;
  uint32_t reroute_rtts_;
};

}  // namespace uet::cms
