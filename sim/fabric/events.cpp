// Moving the calendar on.
#include "sim/fabric/events.h"

#include <algorithm>
#include <bit>
#include <functional>

namespace uet::sim::fabric {

void EventQueue::add_now(Picoseconds at, uint32_t who) {
  const Due added = due(at, who);
  now_.insert(std::upper_bound(now_.begin(), now_.end(), added, std::greater<Due>()), added);
}

void EventQueue::add_late(Picoseconds at, uint32_t who) {
  late_.push_back(due(at, who));
  std::push_heap(late_.begin(), late_.end(), std::greater<Due>());
}

// The first bucket in use behind bucket_; kNever: none.
int64_t EventQueue::next_used() const {
  constexpr auto kWords = static_cast<size_t>(kBuckets / 64);
  const auto from = static_cast<size_t>((bucket_ + 1) & (kBuckets - 1));
  for (size_t i = 0; i <= kWords; ++i) {
    uint64_t word = used_[(from / 64 + i) % kWords];
    if (i == 0) word &= ~uint64_t{0} << (from % 64);
    if (i == kWords) word &= (uint64_t{1} << (from % 64)) - 1;
    if (word == 0) continue;
    const auto bit = static_cast<size_t>(std::countr_zero(word));
    const size_t place = ((from / 64 + i) % kWords) * 64 + bit;
    return bucket_ + 1 + static_cast<int64_t>((place - from) & (kBuckets - 1));
  }
  return kNever;
}

bool EventQueue::load_next() {
  const int64_t late = late_.empty() ? kNever : late_.front().at >> kShift;
  const int64_t soon = next_used();
  const int64_t next = std::min(late, soon);
  if (next == kNever) return false;
  bucket_ = next;
  const auto place = static_cast<size_t>(next & (kBuckets - 1));
  if (soon == next) {
    for (uint32_t node = (*heads_)[place]; node != kNone;) {
      now_.push_back(due(nodes_[node].at, nodes_[node].who));
      const uint32_t following = nodes_[node].next;
      nodes_[node].next = free_;
      free_ = node;
      node = following;
    }
    (*heads_)[place] = kNone;
    used_[place / 64] &= ~(uint64_t{1} << (place % 64));
  }
  while (!late_.empty() && late_.front().at >> kShift == next) {
    now_.push_back(late_.front());
    std::pop_heap(late_.begin(), late_.end(), std::greater<Due>());
    late_.pop_back();
  }
  std::sort(now_.begin(), now_.end(), std::greater<Due>());
  return true;
}

}  // namespace uet::sim::fabric
