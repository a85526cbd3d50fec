// The entropy value of a context whose packets must stay in order (ROD): one at a time. It changes
// only for a reason, so contexts that began with different values keep different values. [CMS-150,
// CMS-004]
#pragma once

#include "cms/entropy/range.h"
#include "cms/entropy/walk.h"
#include "cms/events.h"

namespace uet::cms {

class SinglePath {
 public:
  // start: contexts with successive numbers begin with different EVs, as long as there are enough.
  SinglePath(const Config& config, uint32_t start, Rng& rng)
      : rng_(rng.u64()),
        range_(config, config.entropy_values, rng_),
        walk_(range_.size(), rng_),
        index_(start % range_.size()),
        rtt_(config.base_rtt),
        base_rtt_(config.base_rtt),
        reroute_rtts_(std::max<uint32_t>(config.entropy.reroute_rtts, kRerouteRttsMin)),
        marks_of_last_hop_(!config.has_credit()) {}

  // The EV of every packet until one of the calls below changes it.
  Entropy ev() const { return range_.at(index_); }
  bool has(Entropy ev) const { return range_.index_of(ev).has_value(); }

  // A packet leaves, and nothing is in flight before it: another EV cannot change the order.
  void on_idle() {
    if (is_bad_) move();
  }
  // A result about an EV. A mark, a trim or a loss on the present EV changes it, at most once in
  // `reroute_rtts` round trips, because a change may reorder packets. Before that time the next
  // idle moment changes it. False: this context sends no such EV; nothing is changed.
  [[nodiscard]] bool on_feedback(Entropy about, PathFeedback feedback, Instant now) {
    if (about != ev()) return has(about);
    if (feedback == PathFeedback::good) return true;
    if (feedback == PathFeedback::ecn && now < last_hop_until_) return true;
    is_bad_ = range_.size() > 1;
    if (!is_bad_ || now < not_before_) return true;
    not_before_ = now + reroute_time();
    move();
    return true;
  }
  // A packet was trimmed on the last hop: the queue toward the destination, which every path
  // shares, is full, and marks are of that queue for as long as the EV is kept. Not with receiver
  // credit, where that queue does not mark. [CMS-144]
  void on_last_hop(Instant now) {
    if (marks_of_last_hop_) last_hop_until_ = now + reroute_time();
  }
  // A valid sample of the round trip.
  void on_rtt(Duration rtt) {
    if (rtt > Duration::zero()) rtt_ = rtt_ + (rtt - rtt_) / 8;
  }
  // Mean of about the last eight samples; before the first one base_rtt of the configuration.
  Duration smoothed_rtt() const { return rtt_; }

 private:
  static constexpr uint32_t kRerouteRttsMin = 10;

  Duration reroute_time() const { return std::max(rtt_, base_rtt_) * reroute_rtts_; }
  void move() {
    const uint32_t old = index_;
    while (index_ == old) index_ = walk_.next(rng_);
    is_bad_ = false;
  }

  Rng rng_;
  EntropyRange range_;
  EntropyWalk walk_;
  uint32_t index_;
  Duration rtt_;  // smoothed
  Duration base_rtt_;
  Instant not_before_;      // that the EV changes in the midst of packets
  Instant last_hop_until_;  // a mark is no evidence about the EV
  uint32_t reroute_rtts_;
  bool marks_of_last_hop_;
  bool is_bad_ = false;  // congestion was reported for the present EV; there are others
};

}  // namespace uet::cms
