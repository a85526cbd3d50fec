// The rate machine of DCQCN.
#include "sim/transports/dcqcn.h"

#include <algorithm>

namespace uet::sim::transports {
Dcqcn::Dcqcn(const DcqcnConstants& constants, const Network& network)
    : constants_(constants),
      link_(static_cast<double>(network.mbps)),
      rate_(link_),
      target_(link_) {}

void Dcqcn::on_sent(uint32_t bytes, Picoseconds) {
  if (rise_at_ == kNever) return;
  sent_bytes_ += bytes;
  if (sent_bytes_ < constants_.increase_bytes) return;
  sent_bytes_ = 0;
  ++counters_;
  rise();
}

void Dcqcn::on_cnp(Picoseconds now) {
  target_ = rate_;
  rate_ = std::max(rate_ * (1 - alpha_ / 2), constants_.least_mbps);
  alpha_ = (1 - constants_.gain) * alpha_ + constants_.gain;
  timers_ = counters_ = sent_bytes_ = 0;
  alpha_at_ = now + from_us(constants_.alpha_us);
  rise_at_ = now + from_us(constants_.increase_us);
}

void Dcqcn::on_deadline(Picoseconds now) {
  if (alpha_at_ <= now) {
    alpha_ *= 1 - constants_.gain;
    alpha_at_ += from_us(constants_.alpha_us);
  }
  if (rise_at_ > now) return;
  rise_at_ += from_us(constants_.increase_us);
  ++timers_;
  rise();
}

// Fast recovery, then additive increase, and hyper increase when both have come often.
void Dcqcn::rise() {
  const double most = std::max(timers_, counters_), least = std::min(timers_, counters_);
  if (least > constants_.recovery) {
    target_ += (least - constants_.recovery) * constants_.hyper_mbps;
  } else if (most > constants_.recovery) {
    target_ += constants_.additive_mbps;
  }
  target_ = std::min(target_, link_);
  rate_ = (target_ + rate_) / 2;
  if (rate_ < link_ * 0.9999) return;
  rate_ = link_;
  rise_at_ = kNever;
}

}  // namespace uet::sim::transports
