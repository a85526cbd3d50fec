// The queues in which the slots of a send window stand, by what they wait for, so that neither an
// ACK nor a timer looks at all of them. A slot stands in at most one; answered ones and those that
// are about to be sent again stand in none. The links are in the slots, which the window owns and
// names by their places.
#pragma once

#include "pds/tx/tx_slot.h"

#include "base/assert.h"

#include <algorithm>
#include <cstdint>

namespace uet::pds {

struct TxQueue {
  static constexpr uint8_t kLevels = 10;  // of back-off; the last one takes all above
  static constexpr uint8_t kPath = 0;     // in flight, never timed out: one for each EV modulo 32
  static constexpr uint8_t kPaths = 32;
  static constexpr uint8_t kRetried = kPath + kPaths;     // in flight after 1, 2, ... time-outs
  static constexpr uint8_t kSacked = kRetried + kLevels;  // arrived, after 0, 1, ... time-outs
  static constexpr uint8_t kDelayed = kSacked + kLevels;  // refused for now, 1, 2, ... times
  static constexpr uint8_t kAsking = kDelayed + kLevels;  // an ACK Request is due
  static constexpr uint8_t kAside = kAsking + 1;  // until the peer tracks it: no timer [PDS-245]
  static constexpr uint8_t kCount = kAside + 1;

  static constexpr bool is_in_flight(uint8_t queue) { return queue < kSacked; }
  static uint8_t of_path(const TxSlot& slot) {
    return static_cast<uint8_t>(kPath + slot.ev.value() % kPaths);
  }
  // The queue that the slot belongs to, or TxSlot::kNoQueue.
  static uint8_t of(const TxSlot& slot);
};
static_assert(TxQueue::kCount <= 64, "one bit each");

class TxQueues {
 public:
  bool has(uint8_t queue) const { return (used_ >> queue & 1) != 0; }
  // A bit for each queue with slots.
  uint64_t used() const { return used_; }
  // The oldest slot of a queue that has one.
  uint16_t first(uint8_t queue) const { return first_[queue]; }
  // Slots in flight that were sent more than once.
  uint16_t resent() const { return resent_; }

  // Calls fn(queue) for each queue that has slots and whose slots wait for a time, again and again
  // as long as it returns true: fn has then moved the oldest slot elsewhere.
  template <class Fn>
  void for_each_timed(Fn&& fn) const {
    constexpr uint64_t kUntimed = uint64_t{1} << TxQueue::kAsking | uint64_t{1} << TxQueue::kAside;
    for (uint64_t left = used_ & ~kUntimed; left != 0; left &= left - 1) {
      const auto queue = static_cast<uint8_t>(__builtin_ctzll(left));
      while (has(queue) && fn(queue)) {
      }
    }
  }

  // To the end of the queue. A slot that is in flight was sent once.
  void append(TxSlot* all, uint32_t at, uint8_t queue) {
    TxSlot& slot = all[at];
    const auto place = static_cast<uint16_t>(at);
    slot.queue = queue;
    if (!has(queue)) {
      used_ |= uint64_t{1} << queue;
      first_[queue] = slot.next = slot.prev = place;
      return;
    }
    TxSlot& first = all[first_[queue]];
    slot.next = first_[queue];
    slot.prev = first.prev;
    all[first.prev].next = place;
    first.prev = place;
  }
  // The same of any slot.
  void add(TxSlot* all, uint32_t at, uint8_t queue) {
    if (TxQueue::is_in_flight(queue) && all[at].state.was_resent()) ++resent_;
    append(all, at, queue);
  }
  // Takes a slot out of its queue.
  void remove(TxSlot* all, uint32_t at) {
    TxSlot& slot = all[at];
    const uint8_t queue = slot.queue;
    slot.queue = TxSlot::kNoQueue;
    if (TxQueue::is_in_flight(queue) && slot.state.was_resent()) --resent_;
    if (slot.next == at) {
      used_ &= ~(uint64_t{1} << queue);
      return;
    }
    if (first_[queue] == at) first_[queue] = slot.next;
    all[slot.prev].next = slot.next;
    all[slot.next].prev = slot.prev;
  }
  // The same of the first of its queue that was sent once.
  void remove_first(TxSlot* all, TxSlot& slot, uint32_t at, uint8_t queue) {
    if (slot.next == at) {
      used_ &= ~(uint64_t{1} << queue);
    } else {
      first_[queue] = slot.next;
      all[slot.prev].next = slot.next;
      all[slot.next].prev = slot.prev;
    }
    slot.queue = TxSlot::kNoQueue;
  }
  // The slots have moved: moved(place) gives the new place. The caller changes the links in the
  // slots.
  template <class Moved>
  void renumber(Moved&& moved) {
    for (uint8_t q = 0; q < TxQueue::kCount; ++q) {
      if (has(q)) first_[q] = moved(first_[q]);
    }
  }

 private:
  // Arrays count where the masks have bits.
  uint64_t used_ = 0;
  uint16_t resent_ = 0;
  uint16_t first_[TxQueue::kCount];
};

}  // namespace uet::pds
