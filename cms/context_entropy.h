// The entropy values of one congestion context: many at once where packets may overtake each other,
// one at a time where they may not. [CMS-003, CMS-150, CMS-151]
#pragma once

#include "cms/entropy/single_path.h"
#include "cms/entropy_selector.h"

#include <optional>
#include <variant>

namespace uet::cms {

class ContextEntropy {
 public:
  // single: the context has a single path, and this is its number. See SinglePath. [CMS-004]
  ContextEntropy(const Config& config, std::optional<uint32_t> single, Rng& rng)
      : values_(single ? Values(std::in_place_type<SinglePath>, config, *single, rng)
                       : Values(std::in_place_type<EntropySelector>, config, rng)) {}

  // The EV of the next burst, of a free plane; of a single path the present one. [CMS-156]
  Entropy next(Instant now, uint32_t free_planes = EntropySelector::kAllPlanes) {
    if (auto* const selector = std::get_if<EntropySelector>(&values_)) {
      return selector->next(now, free_planes);
    }
    return std::get_if<SinglePath>(&values_)->ev();
  }
  // See SinglePath; nothing where the context is sprayed.
  void on_idle() {
    if (auto* const path = std::get_if<SinglePath>(&values_)) path->on_idle();
  }
  void on_last_hop(Instant now) {
    if (auto* const path = std::get_if<SinglePath>(&values_)) path->on_last_hop(now);
  }
  // A result about an EV. False: this context sends no such EV; nothing is changed.
  [[nodiscard]] bool on_feedback(Entropy ev, PathFeedback feedback, Instant now) {
    return std::visit([&](auto& values) { return values.on_feedback(ev, feedback, now); }, values_);
  }
  // A valid sample of the round trip. [CMS-150, CMS-154]
  void on_rtt(Duration rtt) {
    std::visit([&](auto& values) { values.on_rtt(rtt); }, values_);
  }
  Duration smoothed_rtt() const {
    return std::visit([](const auto& values) { return values.smoothed_rtt(); }, values_);
  }
  // The EV is one that this context may send.
  bool has(Entropy ev) const {
    return std::visit([&](const auto& values) { return values.has(ev); }, values_);
  }

  // Null: the context has a single path.
  const EntropySelector* selector() const { return std::get_if<EntropySelector>(&values_); }

 private:
  using Values = std::variant<EntropySelector, SinglePath>;
  Values values_;
};

}  // namespace uet::cms
