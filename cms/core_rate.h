// The share of the credit pace that an oversubscribed core lets through, by the marks and the trims
// of packets that arrive; for RCCC without NSCC. [CMS-141]
#pragma once

#include "cms/config.h"
#include "cms/events.h"

#include "base/rng.h"

#include <cstdint>

namespace uet::cms {

class CoreRate {
 public:
  CoreRate() = default;  // always the whole pace
  // The seed shifts the periods of destinations against each other.
  CoreRate(const Config& config, uint64_t seed);

  // Every request packet that arrives. Judges the periods that are over.
  void on_received(const Received& e);
  uint32_t rate_q16() const { return rate_q16_; }
  Instant period_end() const { return judged_next_; }

 private:
  void judge();
  void judge_until(Instant now);
  Duration period();

  Rng rng_{0};
  Duration base_rtt_;
  Instant judged_next_;  // zero: nothing has arrived
  uint32_t rate_q16_ = 1 << 16;
  uint32_t rate_min_q16_ = 1 << 16;
  uint32_t mean_q16_ = 0;  // g: of the share of marked packets
  uint32_t packets_ = 0;   // of this period
  uint32_t marked_ = 0;
  uint32_t trimmed_ = 0;  // anywhere
  uint32_t trimmed_core_ = 0;
  uint32_t rises_ = 0;  // periods in a row with an increase
  bool is_on_ = false;
};

}  // namespace uet::cms
