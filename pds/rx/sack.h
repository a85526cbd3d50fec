// The selective part of an ACK: which 64 PSNs to report, and the bitmap of them.
// [PDS 8.4, PDS-033]
#pragma once

#include "pds/rx/rx_window.h"

#include "base/serial.h"

#include <cstdint>

namespace uet::pds {

// 64 PSNs from `base`; bit i (of weight 2^i) set: base + i has arrived.
struct SackBitmap {
  Psn base;
  uint64_t bits = 0;

  // The state of the 64 PSNs from `from` in `window`, rounded down to a multiple of 8. PSNs at or
  // below the cumulative ACK show as arrived. [PDS-087]
  static SackBitmap of(const RxWindow& window, Psn from);

  bool has(Psn psn) const {
    const uint32_t at = psn.value() - base.value();
    return at < 64 && ((bits >> at) & 1) != 0;
  }
  bool operator==(const SackBitmap&) const = default;
};

// Chooses the base of each ACK so that consecutive ACKs sweep over everything that arrived out of
// order. [PDS-086]
class SackSweep {
 public:
  void start(Psn first) { track_ = first - 1; }
  // A request arrived (in any order), after the window recorded it.
  void on_request(Psn psn, Psn cack);
  // The bitmap of the next ACK. `must_show`: this PSN is in it whatever the sweep says. [PDS-088]
  SackBitmap next(const RxWindow& window, Psn must_show);

 private:
  Psn track_;
};

}  // namespace uet::pds
