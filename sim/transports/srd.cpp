// The rate of a sprayed flow.
#include "sim/transports/srd.h"

#include <algorithm>

namespace uet::sim::transports {

Srd::Srd(const SrdConstants& constants, const Network& network)
    : constants_(constants),
      link_(static_cast<double>(network.mbps)),
      base_rtt_(static_cast<double>(network.base_rtt)),
      packet_((network.payload_bytes + network.header_bytes) * 8.0),
      least_(packet_ / base_rtt_ * 1e6 / 64),
      rate_(std::clamp(constants.first_packets * packet_ / base_rtt_ * 1e6, least_, link_)) {}

double Srd::window_packets() const {
  return std::max(constants_.inflight * rate_ * base_rtt_ / (packet_ * 1e6), 1.0);
}

void Srd::on_sent(uint32_t, Picoseconds) { ++round_.sent; }

void Srd::on_ack(const AckNews& news, Picoseconds now) {
  const Picoseconds sent_at = now - news.rtt;
  if (round_.acks == 0) round_.first_ack = now;
  round_.last_ack = now;
  round_.first_sent = std::min(round_.first_sent, sent_at);
  round_.last_sent = std::max(round_.last_sent, sent_at);
  ++round_.acks;
  const auto rtt = static_cast<double>(news.rtt);
  least_rtt_ = std::min(least_rtt_, rtt);
  round_.slow += rtt > least_rtt_ + constants_.slow * base_rtt_ ? 1 : 0;
  round_.rtts += rtt;
  if (sent_at >= round_.began && round_.acks >= constants_.round_acks) judge(now);
}

// A queue: most paths are slow. Or ACKs come more slowly than their packets left. The first time
// the rate falls to that of the ACKs at once, since it has doubled until then.
void Srd::judge(Picoseconds now) {
  const auto rate = [this](double packets, Picoseconds span) {
    return packets * packet_ / static_cast<double>(std::max<Picoseconds>(span, 1)) * 1e6;
  };
  const double got = rate(round_.acks - 1, round_.last_ack - round_.first_ack);
  const double left = rate(round_.acks - 1, round_.last_sent - round_.first_sent);
  const double mean = round_.rtts / round_.acks;
  const bool is_queue = 2 * round_.slow > round_.acks;
  const bool is_slower = got < constants_.lower * left && round_.acks >= constants_.rate_acks;
  if (is_queue || is_slower) {
    const double fair = is_slower || is_starting_ ? std::min(rate_, got) : rate_;
    const double drain = is_queue ? (least_rtt_ + constants_.slow * base_rtt_) / mean : 1;
    const double least = is_starting_ ? least_ : rate_ * (1 - constants_.most_decrease);
    rate_ = std::max(fair * drain, least);
    fell_at_ = now;
    is_starting_ = false;
  } else {
    rise(rate(round_.sent, now - round_.began), now - round_.began);
  }
  rate_ = std::clamp(rate_, least_, link_);
  round_ = Round{};
  round_.began = now;
}

// At most twice the sent amount: a flow that a card or an application holds up learns nothing.
void Srd::rise(double sent_mbps, Picoseconds lasted) {
  const double trips = static_cast<double>(lasted) / base_rtt_;
  const double more = is_starting_ ? rate_
                                   : trips * constants_.increase * packet_ / base_rtt_ * 1e6 +
                                         std::min(trips, 1.0) * constants_.probe * rate_;
  rate_ = std::max(rate_, std::min(rate_ + more, 2 * sent_mbps));
}

void Srd::on_loss(Picoseconds now) {
  is_starting_ = false;
  if (static_cast<double>(now - fell_at_) < 2 * base_rtt_) return;
  rate_ = std::max(rate_ * (1 - constants_.most_decrease), least_);
  fell_at_ = now;
}

}  // namespace uet::sim::transports
