// EntropySelector: the four ways to choose, over the walk, the resting EVs and the good ones.
#include "cms/entropy_selector.h"

namespace uet::cms {

namespace {
// Feedback about an EV has no effect while TFC is in use. [CMS-148]
bool is_tracking(const Config& config) {
  return config.entropy.spraying != Spraying::oblivious && config.entropy_values > 1 &&
         config.algorithm != Algorithm::tfc;
}
uint32_t limit_of(const Config& config) {
  return is_tracking(config) ? EntropyRange::tracked(config) : config.entropy_values;
}
}  // namespace

EntropySelector::EntropySelector(const Config& config, Rng& rng)
    : rng_(rng.u64()),
      range_(config, limit_of(config), rng_),
      walk_(range_.size(), rng_),
      spraying_(is_tracking(config) ? config.entropy.spraying : Spraying::oblivious),
      resting_(config, is_tracking(config) ? range_.size() : 1) {
  if (spraying_ == Spraying::mixed) memory_.emplace<RecycledEntropy>();
  if (spraying_ == Spraying::reps) memory_.emplace<RepsRing>(config.entropy);
}

Entropy EntropySelector::next(Instant now, uint32_t free_planes) {
  const uint32_t existing = kAllPlanes >> (32 - range_.planes());
  UET_ASSERT((free_planes & existing) != 0);
  return range_.at(choose(now, free_planes));
}

uint32_t EntropySelector::choose(Instant now, uint32_t planes) {
  if (is_oblivious()) return walk_on(planes);
  const auto may_use = [&](uint32_t index) { return is_free(index, planes); };
  resting_.on_time(now);
  if (const auto probe = resting_.take_probe(now, may_use)) return *probe;
  if (auto* const good = std::get_if<RecycledEntropy>(&memory_)) {
    if (const auto index = recycle(*good, planes)) return *index;
  }
  if (auto* const ring = std::get_if<RepsRing>(&memory_)) {
    const auto is_good = [&](uint32_t index) { return !resting_.is_marked(index); };
    if (const auto index = ring->next(now, is_good, may_use)) return *index;
    return draw(planes);
  }
  return walk_on(planes);
}

// The next EV of the walk that does not rest and whose plane is free. Only the penalty of the first
// skipped one falls. When all rest, the first of them: two rounds of steps contain a whole round.
// [CMS-159]
uint32_t EntropySelector::walk_on(uint32_t planes) {
  std::optional<uint32_t> first;
  for (uint32_t tries = 0; tries < 2 * range_.size() || !first; ++tries) {
    const uint32_t index = walk_.next(rng_);
    if (!is_free(index, planes)) continue;
    if (is_oblivious()) return index;
    const bool rests = resting_.rests(index);
    if (!first) resting_.pass(index);
    if (!rests) return index;
    if (!first) first = index;
  }
  return *first;
}

// Any EV of a free plane; a few draws avoid resting ones. [CMS-160]
uint32_t EntropySelector::draw(uint32_t planes) {
  constexpr int kDraws = 4;
  uint32_t index = 0;
  for (int tries = 0; tries < kDraws; ++tries) {
    index = static_cast<uint32_t>(rng_.below(range_.size()));
    // Its neighbours belong to the other planes; the size is a multiple of their number.
    const uint32_t row = index - range_.plane_of(index);
    while (!is_free(index, planes)) index = row + range_.plane_of(index + 1);
    const bool rests = resting_.rests(index);
    if (tries == 0) resting_.pass(index);
    if (!rests) break;
  }
  return index;
}

// The oldest good EV whose plane is free; earlier ones of busy planes move to the end, and an EV
// that was marked since it was good is forgotten. [CMS-154, CMS-162]
std::optional<uint32_t> EntropySelector::recycle(RecycledEntropy& good, uint32_t planes) {
  for (uint32_t left = good.size(); left > 0; --left) {
    const uint32_t index = good.pop();
    if (resting_.is_marked(index)) continue;
    if (is_free(index, planes)) return index;
    good.push(index);
  }
  return std::nullopt;
}

bool EntropySelector::on_feedback(Entropy ev, PathFeedback feedback, Instant now) {
  const std::optional<uint32_t> index = range_.index_of(ev);
  if (!index) return false;
  if (is_oblivious()) return true;
  resting_.on_feedback(*index, feedback, now);
  const bool is_good = feedback == PathFeedback::good;
  const bool is_lost = feedback == PathFeedback::timeout && resting_.heeds_losses();
  if (auto* const good = std::get_if<RecycledEntropy>(&memory_)) {
    if (is_good) good->push(*index);
    if (is_lost) good->remove(*index);
  } else if (auto* const ring = std::get_if<RepsRing>(&memory_)) {
    if (is_good) ring->on_good(*index, now);
    if (is_lost) ring->on_timeout(*index, now);
  }
  return true;
}

bool EntropySelector::is_frozen() const {
  const auto* const ring = std::get_if<RepsRing>(&memory_);
  return ring != nullptr && ring->is_frozen();
}

}  // namespace uet::cms
