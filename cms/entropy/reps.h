// The memory of REPS: the last few EVs that were acknowledged without a mark. A time-out freezes
// it: for a while only EVs that were good before are used, then all values are explored again.
// [CMS-160, CMS-161]
#pragma once

#include "cms/config.h"

#include "base/assert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace uet::cms {

class RepsRing {
 public:
  explicit RepsRing(const EntropyConfig& config)
      : freeze_time_(config.freeze_time),
        places_(std::clamp<uint8_t>(config.ring, 1, kPlacesMax)),
        explore_packets_(config.explore_packets) {}

  // An ACK without a mark: the EV is the newest, and fresh. The ACKs of one burst come one behind
  // another and count once.
  void on_good(uint32_t index, Instant now) {
    thaw_if_due(now);
    const uint8_t newest = at_ == 0 ? static_cast<uint8_t>(places_ - 1) : uint8_t(at_ - 1);
    if ((fresh_ & bit(newest)) != 0 && values_[newest] == index) return;
    values_[at_] = static_cast<uint8_t>(index);
    held_ |= bit(at_);
    fresh_ |= bit(at_);
    at_ = following(at_);
  }
  // Removes the EV from the ring, and keeps the others.
  void on_timeout(uint32_t index, Instant now) {
    thaw_if_due(now);
    for (uint8_t place = 0; place < places_; ++place) {
      if (values_[place] != index) continue;
      held_ &= ~bit(place);
      fresh_ &= ~bit(place);
    }
    if (is_frozen() || explore_left_ != 0) return;
    frozen_until_ = now + freeze_time_;
  }

  // An EV to use again: the oldest usable fresh one, or while frozen the next one whose port is
  // free. Nothing: take a random one. is_good(index), is_free(index): see above.
  template <class IsGood, class IsFree>
  std::optional<uint32_t> next(Instant now, IsGood&& is_good, IsFree&& is_free) {
    thaw_if_due(now);
    if (explore_left_ != 0) {
      --explore_left_;
      return std::nullopt;
    }
    uint8_t place = is_frozen() ? cursor_ : at_;  // `at_` has the oldest
    for (uint8_t tries = 0; tries < places_; ++tries, place = following(place)) {
      const uint32_t index = values_[place];
      const uint64_t wanted = is_frozen() ? held_ : fresh_;
      if ((wanted & bit(place)) == 0 || !is_free(index)) continue;
      fresh_ &= ~bit(place);
      if (is_frozen()) {
        cursor_ = following(place);
      } else if (!is_good(index)) {
        continue;  // marked since it was good
      }
      return index;
    }
    return std::nullopt;
  }

  bool is_frozen() const { return frozen_until_ != Instant::zero(); }
  uint32_t size() const { return static_cast<uint32_t>(std::popcount(held_)); }

 private:
  static constexpr uint8_t kPlacesMax = 64;  // bits of a mask

  static constexpr uint64_t bit(uint8_t place) { return uint64_t{1} << place; }
  uint8_t following(uint8_t place) const {
    return static_cast<uint8_t>(place + 1 == places_ ? 0 : place + 1);
  }
  void thaw_if_due(Instant now) {
    if (!is_frozen() || now < frozen_until_) return;
    frozen_until_ = Instant::zero();
    held_ = fresh_ = 0;
    at_ = cursor_ = 0;
    explore_left_ = explore_packets_;
  }

  std::array<uint8_t, kPlacesMax> values_{};
  uint64_t held_ = 0;     // places that have a value
  uint64_t fresh_ = 0;    // of them, those not used since
  Instant frozen_until_;  // zero: not frozen
  Duration freeze_time_;
  uint8_t places_;
  uint8_t at_ = 0;      // where the next value goes
  uint8_t cursor_ = 0;  // while frozen: which comes next
  uint8_t explore_packets_;
  uint8_t explore_left_ = 0;
};

}  // namespace uet::cms
