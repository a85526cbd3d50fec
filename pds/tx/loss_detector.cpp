// RTO estimation.
#include "pds/tx/loss_detector.h"

#include <algorithm>

namespace uet::pds {

void RtoEstimator::on_rtt(Duration rtt) {
  const int64_t sample = std::clamp<int64_t>(rtt.ns(), 1, UINT32_MAX / 8);
  if (srtt_ns_ == 0) {
    srtt_ns_ = static_cast<uint32_t>(sample);
    rttvar_ns_ = std::max(rttvar_ns_, static_cast<uint32_t>(sample / 2));
    return;
  }
  const int64_t error = sample - int64_t{srtt_ns_};
  const int64_t deviation = error < 0 ? -error : error;
  rttvar_ns_ = static_cast<uint32_t>((int64_t{rttvar_ns_} * 3 + deviation) / 4);
  srtt_ns_ = static_cast<uint32_t>((int64_t{srtt_ns_} * 7 + sample) / 8);
}

Duration RtoEstimator::rto(Duration min, Duration max, uint32_t resends) const {
  // Behind a full queue round trips are long and equal, until another source sends a burst; the
  // deviation then predicts little. [PDS-140]
  const int64_t adaptive =
      int64_t{srtt_ns_} + std::max(4 * int64_t{rttvar_ns_}, 3 * int64_t{srtt_ns_});
  int64_t ns = std::max(min.ns(), adaptive);
  for (uint32_t i = 0; i < resends && ns < max.ns(); ++i) ns *= 2;
  return Duration::nanoseconds(std::min(ns, max.ns()));
}

}  // namespace uet::pds
