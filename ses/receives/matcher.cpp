// Matching in posting order and in arrival order.
#include "ses/receives/matcher.h"

#include <algorithm>

namespace uet::ses {
namespace {

MatchKey key_of(const PostedReceive& r) {
  if (!r.directed) return {.tag = r.tag};
  return {.tag = r.tag, .peer = r.from.value(), .initiator = r.from_initiator};
}

MatchKey source_key(const Envelope& e) {
  return {.tag = e.tag, .peer = e.peer.value(), .initiator = e.initiator};
}

}  // namespace

Result<void> Matcher::create(Arena& arena, uint64_t seed) {
  arena_ = &arena;
  UET_CHECK(exact_.create(arena, seed));
  UET_CHECK(unexpected_by_tag_.create(arena, seed + 1));
  return unexpected_by_source_.create(arena, seed + 2);
}

void Matcher::expect(uint32_t receives) {
  capacity_max_ = receives;
  exact_.expect(receives);
  unexpected_by_tag_.expect(receives);
  unexpected_by_source_.expect(receives);
}

// At least four times as much, so that the old tables in the arena take less than the new ones.
Result<void> Matcher::grow(uint32_t receives) {
  UET_ASSERT(receives <= capacity_max_);
  const uint32_t wanted = std::min(std::max({4 * capacity_, receives, 16U}), capacity_max_);
  const auto wildcards = arena_->make_span<Wildcard>(uint64_t{wanted} * 2);
  const auto patterns = arena_->make_span<Pattern>(uint64_t{wanted} * 2);
  if (wildcards.empty() || patterns.empty()) return Errc::no_memory;
  compact_into(patterns, wildcards);
  patterns_ = patterns;
  wildcards_ = wildcards;
  capacity_ = wanted;
  return {};
}

void Matcher::post(PostedReceive& receive) {
  UET_ASSERT(!receive.is_matchable);
  receive.is_matchable = true;
  if (receive.is_exact()) {
    exact_.push_back(receive, key_of(receive));
    if (receive.directed) ++directed_count_;
    return;
  }
  if (wildcard_end_ == wildcards_.size()) compact_into(patterns_, wildcards_);
  UET_ASSERT(wildcard_end_ < wildcards_.size());
  receive.wildcard_slot = wildcard_end_;
  patterns_[wildcard_end_] = {receive.tag, ~receive.ignore};
  wildcards_[wildcard_end_++] = {receive.sequence, &receive};
  ++wildcard_count_;
}

void Matcher::remove(PostedReceive& receive) {
  UET_ASSERT(receive.is_matchable);
  receive.is_matchable = false;
  if (receive.is_exact()) {
    exact_.erase(receive);
    if (receive.directed) --directed_count_;
    return;
  }
  wildcards_[receive.wildcard_slot].receive = nullptr;
  --wildcard_count_;
  // In-order use leaves its holes at the front, where skipping them costs nothing.
  while (wildcard_begin_ < wildcard_end_ && wildcards_[wildcard_begin_].receive == nullptr) {
    ++wildcard_begin_;
  }
  if (wildcard_begin_ == wildcard_end_) wildcard_begin_ = wildcard_end_ = 0;
}

// The receives without the holes, into these tables, which may be the ones in use.
void Matcher::compact_into(std::span<Pattern> patterns, std::span<Wildcard> wildcards) {
  uint32_t to = 0;
  for (uint32_t i = wildcard_begin_; i < wildcard_end_; ++i) {
    if (wildcards_[i].receive == nullptr) continue;
    wildcards_[i].receive->wildcard_slot = to;
    patterns[to] = patterns_[i];
    wildcards[to++] = wildcards_[i];
  }
  wildcard_begin_ = 0;
  wildcard_end_ = to;
}

PostedReceive* Matcher::match(const Envelope& envelope) const {
  PostedReceive* best = exact_.front({.tag = envelope.tag});
  if (directed_count_ != 0) {
    PostedReceive* directed = exact_.front(source_key(envelope));
    if (directed != nullptr && (best == nullptr || directed->sequence < best->sequence)) {
      best = directed;
    }
  }
  if (wildcard_count_ == 0) return best;

  // Only receives older than the exact one count.
  const uint64_t before = best == nullptr ? UINT64_MAX : best->sequence;
  const auto is_older = [](const Wildcard& w, uint64_t sequence) { return w.sequence < sequence; };
  const auto first = wildcards_.begin() + wildcard_begin_;
  const auto last = std::lower_bound(first, wildcards_.begin() + wildcard_end_, before, is_older);
  const auto end = static_cast<uint32_t>(last - wildcards_.begin());
  for (uint32_t i = wildcard_begin_; (i = next_hit(envelope.tag, i, end)) != end; ++i) {
    PostedReceive* r = wildcards_[i].receive;
    if (r != nullptr && r->accepts_sender(envelope)) return r;  // [SES-123]
  }
  return best;
}

// The first pattern in [i, end) that takes the tag; end: none. Four at a time, since nearly all
// miss. [SES-121]
uint32_t Matcher::next_hit(uint64_t tag, uint32_t i, uint32_t end) const {
  const auto miss = [&](uint32_t at) { return (patterns_[at].tag ^ tag) & patterns_[at].care; };
  for (; end - i >= 4; i += 4) {
    // One branch for four elements.
    const auto hits =
        static_cast<unsigned>(miss(i) == 0) + static_cast<unsigned>(miss(i + 1) == 0) +
        static_cast<unsigned>(miss(i + 2) == 0) + static_cast<unsigned>(miss(i + 3) == 0);
    if (hits != 0) break;
  }
  while (i != end && miss(i) != 0) ++i;
  return i;
}

void Matcher::add_unexpected(UnexpectedMessage& message) {
  unexpected_.push_back(message);
  unexpected_by_tag_.push_back(message, {.tag = message.envelope.tag});
  if (has_sources_) unexpected_by_source_.push_back(message, source_key(message.envelope));
}

void Matcher::remove_unexpected(UnexpectedMessage& message) {
  unexpected_.erase(message);
  unexpected_by_tag_.erase(message);
  if (has_sources_) unexpected_by_source_.erase(message);
}

void Matcher::index_sources() {
  has_sources_ = true;
  for (UnexpectedMessage& message : unexpected_) {
    unexpected_by_source_.push_back(message, source_key(message.envelope));
  }
}

UnexpectedMessage* Matcher::find_unexpected(const MatchFilter& filter) {
  if (filter.ignore == 0 && filter.job == kAnyJob) {
    if (!filter.directed) return unexpected_by_tag_.front({.tag = filter.tag});
    if (!has_sources_) index_sources();
    return unexpected_by_source_.front(
        {.tag = filter.tag, .peer = filter.from.value(), .initiator = filter.from_initiator});
  }
  for (UnexpectedMessage& message : unexpected_) {
    if (filter.accepts(message)) return &message;
  }
  return nullptr;
}

}  // namespace uet::ses
