// The levels of the timer wheel: where a timer goes, and how it comes down.
#include "base/timer_wheel.h"

#include "base/prefetch.h"

#include <algorithm>

namespace uet {

namespace {

constexpr uint64_t kTickNs = uint64_t{1} << TimerWheel::kTickShift;

// Ticks are rounded up for deadlines, so that nothing fires early.
uint64_t tick_at_or_after(Instant t) {
  if (t < Instant::zero()) return 0;
  return (static_cast<uint64_t>(t.ns()) + kTickNs - 1) >> TimerWheel::kTickShift;
}

Instant instant_of(uint64_t tick) {
  // Rounding up the last tick of the scale goes past its end.
  if (tick > static_cast<uint64_t>(INT64_MAX) >> TimerWheel::kTickShift) return Instant::never();
  return Instant::from_ns(static_cast<int64_t>(tick << TimerWheel::kTickShift));
}

}  // namespace

Instant TimerNode::deadline() const { return instant_of(tick_); }

TimerWheel::TimerWheel(Instant start) {
  UET_ASSERT(start >= Instant::zero());
  current_ = static_cast<uint64_t>(start.ns()) >> kTickShift;
}

void TimerWheel::arm(TimerNode& node, Instant deadline) {
  cancel(node);
  if (deadline.is_never()) return;
  node.tick_ = std::max(tick_at_or_after(deadline), is_expiring_ ? current_ + 1 : current_);
  insert(node);
}

void TimerWheel::cancel(TimerNode& node) {
  if (!node.is_armed()) return;
  node.unlink();
  if (list_of(node.slot_).empty()) {
    occupied_[node.slot_ / kSlots] &= ~(uint64_t{1} << (node.slot_ % kSlots));
  }
}

void TimerWheel::insert(TimerNode& node) {
  const uint64_t differing = (node.tick_ ^ current_) | 1;
  const unsigned level = static_cast<unsigned>(std::bit_width(differing) - 1) / kSlotBits;
  const auto digit = static_cast<unsigned>(node.tick_ >> (level * kSlotBits)) % kSlots;
  const unsigned slot = level * kSlots + digit;
  const uint64_t bit = uint64_t{1} << digit;
  node.slot_ = static_cast<uint16_t>(slot);
  if ((occupied_[level] & bit) == 0) {
    occupied_[level] |= bit;
    earliest_[slot] = node.tick_;
    (new (&lists_[slot]) List)->push_back(node);
    return;
  }
  List& list = list_of(slot);
  if (list.empty() || node.tick_ < earliest_[slot]) earliest_[slot] = node.tick_;
  list.push_back(node);
}

// The slot whose timers are due first. Timers destroyed while armed leave their bit behind, so an
// occupied slot may be empty.
unsigned TimerWheel::first_slot() const {
  for (unsigned level = 0; level < kLevels; ++level) {
    for (uint64_t bits = occupied_[level]; bits != 0; bits &= bits - 1) {
      const unsigned slot = level * kSlots + static_cast<unsigned>(std::countr_zero(bits));
      if (!list_of(slot).empty()) return slot;
    }
  }
  return kSlotNone;
}

// The first tick that the slot covers.
uint64_t TimerWheel::start_of(unsigned slot) const {
  const unsigned shift = slot / kSlots * kSlotBits;
  const uint64_t above = current_ >> (shift + kSlotBits) << kSlotBits;
  return (above | slot % kSlots) << shift;
}

bool TimerWheel::advance_to_due(uint64_t target) {
  while (true) {
    const unsigned slot = first_slot();
    const uint64_t start = slot == kSlotNone ? kNone : start_of(slot);
    if (start > target) {
      current_ = std::max(current_, target);
      return false;
    }
    current_ = start;
    occupied_[slot / kSlots] &= ~(uint64_t{1} << (slot % kSlots));
    due_.splice_back(list_of(slot));
    if (slot < kSlots) return true;
    // A coarse slot begins: spread its timers over the levels below.
    while (TimerNode* const node = due_.pop_front()) insert(*node);
  }
}

Instant TimerWheel::next_deadline() const {
  const unsigned slot = first_slot();
  return slot == kSlotNone ? Instant::never() : instant_of(earliest_[slot]);
}

void TimerWheel::prefetch_next() const {
  for (unsigned level = 0; level < kLevels; ++level) {
    if (occupied_[level] == 0) continue;
    const unsigned slot =
        level * kSlots + static_cast<unsigned>(std::countr_zero(occupied_[level]));
    prefetch(&lists_[slot], sizeof(ListBytes));
    prefetch(&earliest_[slot], sizeof(uint64_t));
    return;
  }
}

template <class Fn>
void TimerWheel::for_each_occupied(Fn&& fn) const {
  for (unsigned level = 0; level < kLevels; ++level) {
    for (uint64_t bits = occupied_[level]; bits != 0; bits &= bits - 1) {
      fn(level * kSlots + static_cast<unsigned>(std::countr_zero(bits)));
    }
  }
}

uint32_t TimerWheel::armed_count() const {
  uint32_t count = 0;
  for_each_occupied([&](unsigned slot) {
    const List& list = list_of(slot);
    for (const TimerNode* node = list.front(); node != nullptr; node = list.next(*node)) ++count;
  });
  return count;
}

TimerWheel::~TimerWheel() {
  for_each_occupied([&](unsigned slot) { list_of(slot).~List(); });
}

}  // namespace uet
