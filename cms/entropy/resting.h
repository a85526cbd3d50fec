// EVs that are not used for a while: each has a penalty of 0 to 15, and rests while it is above 0.
// Reports of a peer can make EVs rest, but never more than a share of them. No heap. [CMS-154,
// CMS-155, CMS-159]
#pragma once

#include "cms/config.h"
#include "cms/entropy/range.h"
#include "cms/entropy/recent_marks.h"
#include "cms/events.h"

#include <array>
#include <optional>

namespace uet::cms {

class RestingEntropy {
 public:
  // size: EVs of the context, at most kTrackedEntropyMax.
  RestingEntropy(const Config& config, uint32_t size);

  void on_feedback(uint32_t index, PathFeedback feedback, Instant now);
  // How long a round trip takes now; EVs rest for at least that time.
  void on_rtt(Duration rtt) { marks_.on_rtt(rtt); }
  Duration rtt() const { return marks_.rtt(); }
  // Call before the questions below.
  void on_time(Instant now) { marks_.on_time(now); }

  // Whether the walk skips the EV. While most EVs that are not excluded have a penalty, none of
  // these is skipped; when all EVs are excluded, none is skipped.
  bool rests(uint32_t index) const {
    if (is_excluded(index)) return excluded_ < size_;
    return penalty(index) != 0 && !is_saturated();
  }
  // Whether the EV was marked within the last round trip, or is excluded: not to be used again
  // although it was good before or since.
  bool is_marked(uint32_t index) const {
    if (is_excluded(index)) return excluded_ < size_;
    return marks_.has(index) && !is_saturated();
  }
  // The walk passes over the EV, or uses it: its penalty falls by one, but not in the round trip
  // that follows the mark.
  void pass(uint32_t index);
  // An excluded EV that the next packet has to try, once in `probe_interval`. may_use(index): its
  // plane is free. Nothing: none is due.
  template <class MayUse>
  std::optional<uint32_t> take_probe(Instant now, MayUse&& may_use) {
    if (excluded_ == 0 || now < probe_at_) return std::nullopt;
    for (uint32_t tries = 0; tries < size_; ++tries) {
      const uint32_t index = probed_;
      probed_ = static_cast<uint16_t>(probed_ + 1 == size_ ? 0 : probed_ + 1);
      if (!is_excluded(index) || !may_use(index)) continue;
      probe_at_ = now + probe_interval_;
      return index;
    }
    return std::nullopt;
  }

  // Losses say something of an EV. [CMS-155]
  bool heeds_losses() const { return after_loss_ != AfterLoss::nothing; }
  uint32_t penalty(uint32_t index) const { return penalties_[index / 2] >> (index % 2 * 4) & 15; }
  bool is_excluded(uint32_t index) const {
    return after_loss_ == AfterLoss::exclude && penalty(index) == kExcluded;
  }
  // More than the configured share of the EVs has a penalty. [CMS-154]
  bool is_saturated() const {
    return uint32_t{penalised_} * 100 > uint32_t{saturation_percent_} * (size_ - excluded_);
  }
  uint32_t penalised() const { return penalised_; }  // without excluded ones
  uint32_t excluded() const { return excluded_; }

 private:
  static constexpr uint32_t kExcluded = 15;  // with AfterLoss::exclude no sum of penalties

  void set_penalty(uint32_t index, uint32_t penalty);
  void raise(uint32_t index, uint32_t by);
  void exclude(uint32_t index, Instant now);

  std::array<uint8_t, kTrackedEntropyMax / 2> penalties_{};  // 4 bits each
  RecentMarks marks_;
  Duration probe_interval_;
  Instant probe_at_;        // not before
  uint16_t size_;           // 1-256
  uint16_t probed_ = 0;     // where the search for the next probe begins
  uint16_t penalised_ = 0;  // EVs with a penalty, not excluded
  uint16_t excluded_ = 0;
  std::array<uint8_t, 4> by_;  // penalty for each PathFeedback
  uint8_t max_;
  uint8_t saturation_percent_;
  AfterLoss after_loss_;
};

}  // namespace uet::cms
