// Timers: a hierarchical wheel with 1.024 us ticks. Arm and cancel are O(1); there is no clock
// here, the owner calls expire with the time. Timers never fire before their deadline.
//
// Nine levels of 64 slots cover every Instant. A timer sits at the level of the highest 6-bit digit
// in which its tick differs from the current tick, so everything on a lower level is due earlier,
// and within a level slots are due in index order: no slot ever wraps. Timers of one tick are
// always in one slot together, so they keep the order of arming on their way down.
#pragma once

#include "base/assert.h"
#include "base/intrusive_list.h"
#include "base/time.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

namespace uet {

// One timer, a member of the object that it times. Its destructor disarms it.
class TimerNode : public ListNode<struct TimerTag> {
 public:
  // By `kind` the owner distinguishes its timers in a common handler.
  explicit TimerNode(uint8_t kind = 0) : kind_(kind) {}

  bool is_armed() const { return is_linked(); }
  uint8_t kind() const { return kind_; }
  // When it fires: the deadline it was armed with, rounded up to a tick. Of an armed timer only.
  Instant deadline() const;

 private:
  friend class TimerWheel;

  uint64_t tick_ = 0;
  uint16_t slot_ = 0;  // index over all levels
  uint8_t kind_;
};

// The object of which `node` is the member `member`: owner_of(node, &Pdc::timer_).
template <class Owner>
Owner& owner_of(TimerNode& node, TimerNode Owner::*member) {
  // In the C++ ABI of our platforms a pointer to a data member is its offset.
  static_assert(sizeof(member) == sizeof(ptrdiff_t));
  auto* const at = reinterpret_cast<std::byte*>(&node) - std::bit_cast<ptrdiff_t>(member);
  return *reinterpret_cast<Owner*>(at);
}

// About 14 KiB; the memory of a slot is not touched before the slot gets its first timer. Must not
// move. Its destructor disarms all timers.
class TimerWheel {
 public:
  static constexpr int kTickShift = 10;  // a tick is 2^10 ns

  // Time begins at `start`, at or after zero; deadlines before it are due at once.
  explicit TimerWheel(Instant start = Instant::zero());
  ~TimerWheel();
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // (Re)arms the timer for the first tick at or after `deadline`; Instant::never() cancels it. A
  // deadline that has passed is due at the next expire; inside expire, at the next tick, so that a
  // handler that always rearms for now cannot hold up the loop.
  void arm(TimerNode& node, Instant deadline);

  // Disarms; nothing happens when it is not armed.
  void cancel(TimerNode& node);

  // Calls fn(TimerNode&) for every timer due at or before `now`, in the order of their ticks and,
  // within one tick, of their arming. The timer is disarmed when fn sees it. fn may arm and cancel
  // any timer, also destroy it, but not call expire; what it arms for a tick up to `now` fires in
  // the same call, in its place. A `now` before an earlier one does nothing. Returns how many
  // fired.
  template <class Fn>
  uint32_t expire(Instant now, Fn&& fn);

  // When expire must be called next; never() when nothing is armed. Exactly the earliest deadline
  // in ticks, unless that timer was cancelled or rearmed later: then possibly earlier, in the past
  // only when a timer is due. Calling expire at the returned time always makes progress: it fires
  // timers or moves them down a level. O(levels).
  Instant next_deadline() const;

  // Prefetches what next_deadline() reads besides the head of the wheel.
  void prefetch_next() const;

  // Number of armed timers. Looks at each of them: for tests and for tools.
  uint32_t armed_count() const;

 private:
  static constexpr unsigned kLevels = 9;  // 54 bits hold every Instant
  static constexpr unsigned kSlotBits = 6;
  static constexpr unsigned kSlots = 1u << kSlotBits;
  static constexpr uint64_t kNone = ~uint64_t{0};
  static constexpr unsigned kSlotNone = ~0u;
  using List = IntrusiveList<TimerNode, TimerTag>;

  // The list of a slot whose bit in occupied_ is set. Other slots have an empty list, or none yet.
  List& list_of(unsigned slot) { return *std::launder(reinterpret_cast<List*>(&lists_[slot])); }
  const List& list_of(unsigned slot) const { return const_cast<TimerWheel*>(this)->list_of(slot); }
  void insert(TimerNode& node);
  template <class Fn>
  void for_each_occupied(Fn&& fn) const;
  unsigned first_slot() const;
  uint64_t start_of(unsigned slot) const;
  // Moves to the next tick with due timers, puts them in due_ and returns true; false when nothing
  // more is due up to `target`, which is then the current tick.
  bool advance_to_due(uint64_t target);

  uint64_t current_ = 0;  // tick up to which everything has fired
  bool is_expiring_ = false;
  std::array<uint64_t, kLevels> occupied_{};  // bit i: slot i may hold timers
  List due_;                                  // of the current tick, being fired
  // Valid for occupied slots only: a lower bound of the ticks of the slot's timers, and the timers.
  std::array<uint64_t, kLevels * kSlots> earliest_;
  struct alignas(List) ListBytes {
    std::array<std::byte, sizeof(List)> bytes;
  };
  std::array<ListBytes, kLevels * kSlots> lists_;
};

template <class Fn>
uint32_t TimerWheel::expire(Instant now, Fn&& fn) {
  UET_ASSERT(!is_expiring_);
  if (now < Instant::zero()) return 0;
  const uint64_t target = static_cast<uint64_t>(now.ns()) >> kTickShift;
  uint32_t fired = 0;
  is_expiring_ = true;
  while (advance_to_due(target)) {
    while (TimerNode* const node = due_.pop_front()) {
      ++fired;
      fn(*node);
    }
  }
  is_expiring_ = false;
  return fired;
}

}  // namespace uet
