// The law of Swift.
#include "sim/transports/swift.h"

#include <algorithm>
#include <cmath>

namespace uet::sim::transports {

Swift::Swift(const SwiftConstants& constants, const Network& network, uint32_t links)
    : constants_(constants),
      mbps_(static_cast<double>(network.mbps)),
      hops_us_(constants.hop_us * links),
      most_window_(1000),
      window_(constants.first_window) {}

// The more flows share a queue, the longer it may be: their windows are small then, and so is what
// each of them can notice.
Picoseconds Swift::target() const {
  const double few = 1 / std::sqrt(constants_.most_window);
  const double slope = constants_.range_us / (1 / std::sqrt(constants_.least_window) - few);
  const double flows = std::clamp(slope * (1 / std::sqrt(window_) - few), 0.0, constants_.range_us);
  return static_cast<Picoseconds>((constants_.base_us + hops_us_ + flows) * 1e6);
}

void Swift::on_ack(const AckNews& news, Picoseconds now) {
  const bool may_fall = now - fell_at_ >= rtt_;
  rtt_ = rtt_ == 0 ? news.rtt : rtt_ + (news.rtt - rtt_) / 8;
  timeouts_ = 0;
  const Picoseconds aim = target();
  if (news.rtt < aim) {
    window_ += constants_.increase * news.packets / std::max(window_, 1.0);
    window_ = std::min(window_, most_window_);
  } else if (may_fall) {
    const double over = static_cast<double>(news.rtt - aim) / static_cast<double>(news.rtt);
    fall(std::max(1 - constants_.decrease * over, 1 - constants_.most_decrease), now);
  }
}

void Swift::on_loss(Picoseconds now) {
  if (now - fell_at_ >= rtt_) fall(1 - constants_.most_decrease, now);
}

void Swift::on_timeout(Picoseconds now) {
  if (++timeouts_ >= constants_.timeouts) {
    window_ = constants_.floor_window;
  } else {
    on_loss(now);
  }
}

void Swift::fall(double factor, Picoseconds now) {
  window_ = std::max(window_ * factor, constants_.floor_window);
  fell_at_ = now;
}

}  // namespace uet::sim::transports
