// What the peer's answers show about the PSNs of one direction of a PDC: up to which one all have
// arrived, and how far above that the peer tracks. [PDS-035, PDS-245, PDS-246]
#pragma once

#include "base/serial.h"

#include <algorithm>
#include <cstdint>

namespace uet::pds {

class PeerRange {
 public:
  static constexpr uint32_t kUnit = 128;  // packets of one unit of MPR

  // Nothing sent yet; the first PSN will be `first`. The peer tracks `mpr` units until it says
  // otherwise; 0: no limit.
  void start(Psn first, uint8_t mpr) {
    cack_ = floor_ = clean_from_ = first - 1;
    is_told_here_ = false;
    tell(mpr);
  }

  // The peer cannot mean this: it lies before all that was sent, or so far back that no packet on
  // its way can be that old. [PDS-090, PDS-246]
  bool is_below(Psn cack) const { return cack.before(floor_); }

  // A cumulative ACK that is_below() has not refused. True: it is news.
  bool on_cack(Psn cack) {
    if (!cack.after(cack_)) return false;
    cack_ = cack;
    is_told_here_ = false;
    if (cack - floor_ >= kFarBack) floor_ = cack - kFarBack / 2;
    if (refusals_ != 0) grow();
    return true;
  }
  // The range that came with that cumulative ACK. An overtaken ACK has no effect. The newest of
  // several ACKs with one cumulative ACK cannot be identified: the first one counts.
  void on_mpr(Psn cack, uint8_t mpr) {
    if (cack.before(cack_) || is_told_here_) return;
    tell(mpr);
    is_told_here_ = true;
  }
  // The peer refused a PSN as out of its range: one unit is assumed, until the peer reports more or
  // accepts more. [PDS-245]
  void on_refused() {
    clean_from_ = cack_;
    is_told_here_ = false;
    if (packets_ == kUnit) return;  // of the same burst
    packets_ = kUnit;
    if (refusals_ < kRefusalsMax) ++refusals_;
  }

  Psn cack() const { return cack_; }             // highest one heard
  uint16_t packets() const { return packets_; }  // above cack() that the peer tracks; 0: no limit
  bool admits(Psn psn) const {
    return packets_ == 0 || psn - cack_ <= static_cast<int32_t>(packets_);
  }

 private:
  static constexpr int32_t kFarBack = int32_t{1} << 30;
  static constexpr uint8_t kRefusalsMax = 7;

  void tell(uint8_t mpr) {
    told_ = mpr;
    packets_ = static_cast<uint16_t>(mpr * kUnit);
    refusals_ = 0;
  }

  // One unit more for each range that passed without a refusal; twice as much must pass after each
  // refusal, so that a peer with a small range is tried ever more rarely. [PDS-245]
  void grow() {
    const uint32_t cap = told_ == 0 ? UINT8_MAX : told_;
    if (packets_ == 0 || packets_ >= cap * kUnit) return;
    const uint32_t needed = uint32_t{packets_} << (refusals_ - 1);
    if (cack_ - clean_from_ < static_cast<int32_t>(needed)) return;
    clean_from_ = cack_;
    packets_ = static_cast<uint16_t>(packets_ + kUnit);
    if (told_ == 0 && packets_ >= cap * kUnit) packets_ = 0;
  }

  Psn cack_;
  Psn floor_;       // lowest cumulative ACK that is believed
  Psn clean_from_;  // cumulative ACK at the last refusal or growth
  uint16_t packets_ = 0;
  uint8_t told_ = 0;               // units
  uint8_t refusals_ : 7 = 0;       // bursts of them since the peer reported its range, saturating
  bool is_told_here_ : 1 = false;  // with this cumulative ACK
};
static_assert(sizeof(PeerRange) == 16);

}  // namespace uet::pds
