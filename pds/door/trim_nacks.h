// Which trimmed packets of secured PDCs get a NACK. They are not authenticated, so each PSN gets
// one NACK in a round trip, and a peer a limited number in a second. The tables are small: a PSN
// replaces another one in the same place, and peers in the same place share a budget. [TSS-081,
// T-37]
#pragma once

#include "pds/door/token_bucket.h"

#include "base/serial.h"
#include "base/time.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace uet::pds {

class TrimNacks {
 public:
  explicit TrimNacks(uint32_t per_second) : per_second_(per_second) {}

  // Where no round trip was measured, which is usual at a target.
  static constexpr Duration kRoundTripMin = Duration::microseconds(100);

  // Whether the packet gets a NACK; if so, the budget is charged. `peer`: number of the peer.
  [[nodiscard]] bool take(Pdcid pdc, uint32_t peer, Psn psn, Duration round_trip, Instant now) {
    Place& place = places_[(psn.value() ^ pdc.value()) % places_.size()];
    const bool is_again = place.pdc == pdc && place.psn == psn;
    if (is_again && now < place.at + std::max(round_trip, kRoundTripMin)) return false;
    if (!budgets_[peer % budgets_.size()].take(per_second_, now)) return false;
    place = {now, psn, pdc};
    return true;
  }

 private:
  struct Place {
    Instant at;
    Psn psn;
    Pdcid pdc;  // 0: free
  };

  uint32_t per_second_;
  std::array<Place, 64> places_{};
  std::array<TokenBucket, 16> budgets_{};
};

}  // namespace uet::pds
