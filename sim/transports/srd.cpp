// The window of a sprayed flow.
#include "sim/transports/srd.h"

#include <algorithm>

namespace uet::sim::transports {

Srd::Srd(const SrdConstants& constants, const Network& network)
    : constants_(constants),
      mbps_(static_cast<double>(network.mbps)),
      target_(constants.target * static_cast<double>(network.base_rtt)),
      most_(constants.target * network.bdp_bytes / (network.payload_bytes + network.header_bytes)),
      window_(constants.first_window * network.bdp_bytes /
              (network.payload_bytes + network.header_bytes)) {}

void Srd::on_ack(const AckNews& news, Picoseconds now) {
  ++acks_;
  slow_ += static_cast<double>(news.rtt) > target_ ? 1 : 0;
  rtts_ += static_cast<double>(news.rtt);
  if (now >= round_ends_) judge(now);
}

// Most of a round's ACKs were slow: the flow sends more than it gets through.
void Srd::judge(Picoseconds now) {
  const double mean = rtts_ / acks_;
  if (2 * slow_ > acks_) {
    window_ *= std::max(target_ / mean, 1 - constants_.most_decrease);
    fell_at_ = now;
  } else {
    window_ += constants_.increase;
  }
  window_ = std::clamp(window_, 0.1, most_);
  round_ends_ = now + static_cast<Picoseconds>(mean);
  acks_ = slow_ = 0;
  rtts_ = 0;
}

void Srd::on_loss(Picoseconds now) {
  if (now - fell_at_ < static_cast<Picoseconds>(target_)) return;
  window_ = std::max(window_ * (1 - constants_.most_decrease), 0.1);
  fell_at_ = now;
}

}  // namespace uet::sim::transports
