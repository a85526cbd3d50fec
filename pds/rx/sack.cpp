// SackBitmap and the sweep of its base.
#include "pds/rx/sack.h"

namespace uet::pds {

SackBitmap SackBitmap::of(const RxWindow& window, Psn from) {
  const Psn base(from.value() & ~uint32_t{7});
  return {base, window.bits64(base)};
}

void SackSweep::on_request(Psn psn, Psn cack) {
  if (cack.after(track_)) {
    track_ = cack;
  } else if (psn.after(cack) && track_.after(psn)) {
    track_ = psn;
  }
}

SackBitmap SackSweep::next(const RxWindow& window, Psn must_show) {
  const Psn cack = window.cack_psn();
  const Psn max = window.max_received();
  if (track_.before(cack)) track_ = cack;
  // Everything above the cumulative ACK fits (57: the base is rounded down by up to 7).
  if (max - cack <= 57) return SackBitmap::of(window, cack + 1);

  Psn from = track_;
  const int32_t ahead = must_show - Psn(from.value() & ~uint32_t{7});
  if (must_show.after(cack) && (ahead < 0 || ahead > 63)) {
    // As many PSNs below the one that must show as fit; the sweep goes on from where it was.
    from = must_show - 56;
    if (from.before(cack + 1)) from = cack + 1;
  } else if (max.after(track_ + 63)) {
    track_ = track_ + 64;
  } else {
    track_ = cack;
  }
  return SackBitmap::of(window, from);
}

}  // namespace uet::pds
