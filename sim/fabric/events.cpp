// Moving the calendar on.
#include "sim/fabric/events.h"

#include "base/prefetch.h"

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

// In front of the chunks of that bucket.
void EventQueue::add_chunk(int64_t bucket) {
  uint32_t chunk = free_;
  if (chunk == kNone) {
    chunk = static_cast<uint32_t>(chunks_.size());
    chunks_.emplace_back();
  } else {
    free_ = chunks_[chunk].next;
  }
  const auto place = static_cast<size_t>(bucket & (kBuckets - 1));
  chunks_[chunk].next = (*heads_)[place];
  chunks_[chunk].count = 0;
  (*heads_)[place] = chunk;
  used_[place / 64] |= uint64_t{1} << (place % 64);
}

// At least one event, if there is one.
void EventQueue::look_ahead() {
  if (now_.empty()) {
    const int64_t late = late_.empty() ? kNever : late_.front().at >> kShift;
    load(std::min(late, next_used()));
  }
  const int64_t last = (now_.back().at >> kShift) + kBucketsAhead;
  while (now_.size() < ahead_ && bucket_ < last) load(bucket_ + 1);
}

void EventQueue::load(int64_t bucket) {
  bucket_ = bucket;
  loaded_.clear();
  if (is_used(bucket)) {
    const auto place = static_cast<size_t>(bucket & (kBuckets - 1));
    for (uint32_t index = (*heads_)[place]; index != kNone;) {
      Chunk& chunk = chunks_[index];
      if (chunk.next != kNone) prefetch(&chunks_[chunk.next], sizeof(Chunk));
      for (uint32_t i = 0; i < chunk.count; ++i) {
        const Soon& soon = chunk.events[i];
        loaded_.push_back(due((bucket << kShift) + soon.offset, soon.who));
      }
      const uint32_t following = chunk.next;
      chunk.next = free_;
      free_ = index;
      index = following;
    }
    (*heads_)[place] = kNone;
    used_[place / 64] &= ~(uint64_t{1} << (place % 64));
  }
  while (!late_.empty() && late_.front().at >> kShift == bucket) {
    loaded_.push_back(late_.front());
    std::pop_heap(late_.begin(), late_.end(), std::greater<Due>());
    late_.pop_back();
  }
  std::sort(loaded_.begin(), loaded_.end(), std::greater<Due>());
  if (now_.empty()) return std::swap(now_, loaded_);
  now_.insert(now_.begin(), loaded_.begin(), loaded_.end());
}

}  // namespace uet::sim::fabric
