// Requests of a destination with scarce memory to its sources, in ACKs: a reduction by the
// occupancy of its receive buffer, and afterwards for one round trip the restoration of their
// windows. The source's half is in Nscc. [CMS-111, CMS-116]
#pragma once

#include "cms/events.h"

#include "base/assert.h"
#include "base/time.h"

#include <cstdint>

namespace uet::cms {

class DestinationPressure {
 public:
  static constexpr uint8_t kMost = 127;  // about one packet in a round trip [CMS-114]

  // Fill of the receive buffer, in octets, at which sources must send less (low) or as little as
  // possible (high). low_mark < high_mark < 2^56.
  DestinationPressure(uint64_t low_mark, uint64_t high_mark, Duration base_rtt)
      : low_(low_mark), high_(high_mark), base_rtt_(base_rtt) {
    UET_ASSERT(low_mark < high_mark && high_mark >> 56 == 0);
  }

  // `bytes` octets of the buffer are in use now.
  void on_occupancy(uint64_t bytes, Instant now) {
    const uint8_t pend = pend_at(bytes);
    if (pend_ != 0 && pend == 0) restore_until_ = now + base_rtt_;
    pend_ = pend;
  }
  // For an ACK that leaves now.
  Feedback feedback(Instant now) const {
    return {.rcv_cwnd_pend = pend_, .restore_cwnd = pend_ == 0 && now < restore_until_};
  }

 private:
  // 0 below the low mark, 127 above the high one, and linear between.
  uint8_t pend_at(uint64_t bytes) const {
    if (bytes <= low_) return 0;
    if (bytes >= high_) return kMost;
    return static_cast<uint8_t>((bytes - low_) * kMost / (high_ - low_));
  }

  uint64_t low_;
  uint64_t high_;
  Duration base_rtt_;
  Instant restore_until_;  // zero: nothing is to be restored
  uint8_t pend_ = 0;
};

}  // namespace uet::cms
