// Matching in posting order and in arrival order.
#include "ses/matcher.h"

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

Result<void> Matcher::create(Arena& arena, uint32_t receive_count, uint64_t seed) {
  UET_CHECK(exact_.create(arena, receive_count, seed));
  UET_CHECK(unexpected_by_tag_.create(arena, receive_count, seed + 1));
  UET_CHECK(unexpected_by_source_.create(arena, receive_count, seed + 2));
  // Twice the room, so that holes are squeezed out only once per receive_count posts.
  wildcards_ = arena.make_span<Wildcard>(uint64_t{receive_count} * 2);
  if (wildcards_.empty()) return Errc::no_memory;
  capacity_ = receive_count;
  return {};
}

void Matcher::post(PostedReceive& receive) {
  UET_ASSERT(!receive.is_matchable);
  receive.is_matchable = true;
  if (receive.ignore == 0) {
    exact_.push_back(receive, key_of(receive));
    if (receive.directed) ++directed_count_;
    return;
  }
  if (wildcard_end_ == wildcards_.size()) compact();
  UET_ASSERT(wildcard_end_ < wildcards_.size());
  receive.wildcard_slot = wildcard_end_;
  wildcards_[wildcard_end_++] = {receive.tag, ~receive.ignore, receive.sequence, &receive};
  ++wildcard_count_;
}

void Matcher::remove(PostedReceive& receive) {
  UET_ASSERT(receive.is_matchable);
  receive.is_matchable = false;
  if (receive.ignore == 0) {
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

void Matcher::compact() {
  uint32_t to = 0;
  for (uint32_t i = wildcard_begin_; i < wildcard_end_; ++i) {
    if (wildcards_[i].receive == nullptr) continue;
    wildcards_[i].receive->wildcard_slot = to;
    wildcards_[to++] = wildcards_[i];
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

  const uint64_t before = best == nullptr ? UINT64_MAX : best->sequence;
  for (uint32_t i = wildcard_begin_; i < wildcard_end_; ++i) {
    const Wildcard& w = wildcards_[i];
    if (w.sequence > before) break;
    if (((w.tag ^ envelope.tag) & w.care) != 0 || w.receive == nullptr) continue;  // [SES-121]
    const PostedReceive& r = *w.receive;
    if (!r.directed || (r.from == envelope.peer && r.from_initiator == envelope.initiator)) {
      return w.receive;  // [SES-123]
    }
  }
  return best;
}

void Matcher::add_unexpected(UnexpectedMessage& message) {
  unexpected_.push_back(message);
  unexpected_by_tag_.push_back(message, {.tag = message.envelope.tag});
  unexpected_by_source_.push_back(message, source_key(message.envelope));
}

void Matcher::remove_unexpected(UnexpectedMessage& message) {
  unexpected_.erase(message);
  unexpected_by_tag_.erase(message);
  unexpected_by_source_.erase(message);
}

UnexpectedMessage* Matcher::find_unexpected(const MatchFilter& filter) {
  if (filter.ignore == 0) {
    if (!filter.directed) return unexpected_by_tag_.front({.tag = filter.tag});
    return unexpected_by_source_.front(
        {.tag = filter.tag, .peer = filter.from.value(), .initiator = filter.from_initiator});
  }
  for (UnexpectedMessage& message : unexpected_) {
    if (filter.accepts(message.envelope)) return &message;
  }
  return nullptr;
}

}  // namespace uet::ses
