// Chooses the entropy value of the next burst of a sprayed context: in a random order regardless of
// feedback, or by the ACKs, NACKs and time-outs of earlier EVs. Integer arithmetic, no heap; the
// cost of a call is bounded for any feedback. [CMS-149 .. CMS-164, CMS-023, PDS-004]
#pragma once

#include "cms/config.h"
#include "cms/entropy/range.h"
#include "cms/entropy/recycled.h"
#include "cms/entropy/reps.h"
#include "cms/entropy/resting.h"
#include "cms/entropy/walk.h"
#include "cms/events.h"

#include "base/rng.h"

#include <variant>

namespace uet::cms {

// Feedback of a NACK about the EV of its packet. Congestion on the last hop, and any other reason
// for which the destination refused the packet, do not depend on the EV; a mark does. [CMS-023,
// CMS-163]
constexpr PathFeedback nack_feedback(LossKind kind, bool ecn) {
  if (kind == LossKind::trimmed) return PathFeedback::trimmed;
  return ecn ? PathFeedback::ecn : PathFeedback::good;
}

class EntropySelector {
 public:
  static constexpr uint32_t kAllPlanes = ~uint32_t{0};

  // With `spraying` other than oblivious at most kTrackedEntropyMax of `entropy_values` are used.
  // rng: one draw seeds the selector's own generator.
  EntropySelector(const Config& config, Rng& rng);

  // The EV of the next burst. free_planes: a bit for each plane whose port takes packets now; at
  // least one of an existing plane. The EV belongs to one of them. [CMS-156]
  Entropy next(Instant now, uint32_t free_planes = kAllPlanes);

  // A result about an EV. False: this context sends no such EV; nothing is changed.
  [[nodiscard]] bool on_feedback(Entropy ev, PathFeedback feedback, Instant now);
  // A valid sample of the round trip: how long EVs rest. [CMS-154]
  void on_rtt(Duration rtt) { resting_.on_rtt(rtt); }

  // Mean of about the last eight samples; before the first one base_rtt of the configuration.
  Duration smoothed_rtt() const { return resting_.rtt(); }

  uint32_t size() const { return range_.size(); }  // EVs in use
  bool has(Entropy ev) const { return range_.index_of(ev).has_value(); }
  uint32_t planes() const { return range_.planes(); }
  uint32_t plane_of(Entropy ev) const { return ev.value() % range_.planes(); }
  uint32_t penalised() const { return resting_.penalised(); }
  uint32_t excluded() const { return resting_.excluded(); }
  bool is_frozen() const;  // REPS [CMS-161]

 private:
  bool is_oblivious() const { return spraying_ == Spraying::oblivious; }
  bool is_free(uint32_t index, uint32_t planes) const {
    return (planes >> range_.plane_of(index) & 1) != 0;
  }
  uint32_t choose(Instant now, uint32_t planes);
  uint32_t walk_on(uint32_t planes);
  uint32_t draw(uint32_t planes);
  std::optional<uint32_t> recycle(RecycledEntropy& good, uint32_t planes);

  Rng rng_;
  EntropyRange range_;
  EntropyWalk walk_;
  Spraying spraying_;
  RestingEntropy resting_;
  std::variant<std::monostate, RecycledEntropy, RepsRing> memory_;
};
static_assert(sizeof(EntropySelector) <= 608, "decision 15");

}  // namespace uet::cms
