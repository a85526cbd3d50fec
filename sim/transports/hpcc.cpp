// The law of HPCC.
#include "sim/transports/hpcc.h"

#include <algorithm>

namespace uet::sim::transports {

Hpcc::Hpcc(const HpccConstants& constants, const Network& network)
    : constants_(constants),
      base_us_(constants.rtt_us > 0 ? constants.rtt_us
                                    : static_cast<double>(network.base_rtt) * 1e-6),
      mbps_(static_cast<double>(network.mbps)),
      full_bytes_(network.payload_bytes + network.header_bytes),
      most_bytes_(mbps_ * base_us_ / 8),
      increase_bytes_(constants.increase_bytes > 0
                          ? constants.increase_bytes
                          : most_bytes_ * (1 - constants.utilisation) / constants.flows),
      window_bytes_(most_bytes_),
      reference_bytes_(most_bytes_),
      used_(constants.utilisation) {}

double Hpcc::window_packets() const { return window_bytes_ / full_bytes_; }

double Hpcc::rate_mbps() const { return std::min(window_bytes_ * 8 / base_us_, mbps_); }

// A route that has changed gives nothing to compare with.
void Hpcc::measure(const Telemetry& seen) {
  double most = 0, span_us = base_us_;
  bool is_known = seen.count == last_.count && seen.count > 0;
  for (uint32_t i = 0; i < seen.count && is_known; ++i) {
    const Telemetry::Hop &now = seen.hops[i], &before = last_.hops[i];
    if (now.at <= before.at || now.sent_bytes < before.sent_bytes) {
      is_known = false;
      break;
    }
    const double us = static_cast<double>(now.at - before.at) * 1e-6;
    const double sent = static_cast<double>(now.sent_bytes - before.sent_bytes) * 8 / us;
    const double mbps = now.mbps;
    const double queued = std::min(now.queued_bytes, before.queued_bytes);
    const double used = queued * 8 / (mbps * base_us_) + sent / mbps;
    if (used <= most) continue;
    most = used;
    span_us = us;
  }
  last_ = seen;
  if (!is_known) return;
  const double share = std::min(span_us, base_us_) / base_us_;
  used_ = (1 - share) * used_ + share * most;
}

double Hpcc::computed(bool is_new_round) {
  const bool is_judged = used_ >= constants_.utilisation || stage_ >= constants_.stages;
  double window = reference_bytes_ + increase_bytes_;
  if (is_judged) {
    window = reference_bytes_ / (used_ / constants_.utilisation) + increase_bytes_;
  }
  window = std::clamp(window, full_bytes_ / 1000, most_bytes_);
  if (is_new_round) {
    stage_ = is_judged ? 0 : stage_ + 1;
    reference_bytes_ = window;
  }
  return window;
}

void Hpcc::on_ack(const AckNews& news, Picoseconds) {
  if (news.telemetry == nullptr) return;
  measure(*news.telemetry);
  const bool is_new_round = news.number >= round_ends_;
  window_bytes_ = computed(is_new_round);
  if (is_new_round) round_ends_ = news.next;
}

void Hpcc::on_timeout(Picoseconds) {
  window_bytes_ = reference_bytes_ = full_bytes_;
  last_.count = 0;
}

}  // namespace uet::sim::transports
