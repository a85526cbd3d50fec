// Packets of a send window that are known to have arrived, and those they have overtaken: the
// evidence for LossDetector. [PDS-L3, PDS-L4, PDS-143]
#pragma once

#include "pds/tx/tx_queues.h"
#include "pds/tx/tx_slot.h"

#include <cstdint>

namespace uet::pds {

class Arrivals {
 public:
  // Slots that are sacked, or done and not passed by the base.
  uint16_t count() const { return count_; }
  void add() { ++count_; }
  void remove() { --count_; }

  // Some first transmission has arrived, the latest at newest_tick().
  bool any() const { return any_; }
  uint64_t newest_tick() const { return newest_tick_; }
  // The window restarts.
  void forget_newest() { any_ = false; }
  void note_newest(uint64_t tick) {
    if (any_ && TxSlot::ticks_between(tick, newest_tick_) <= 0) return;
    newest_tick_ = tick;
    any_ = true;
  }

  // The places of the window's slots: they begin at `oldest` and wrap with `mask`.
  struct Ring {
    uint32_t oldest;
    uint32_t mask;
    bool is_before(uint32_t a, uint32_t b) const {
      return ((a - oldest) & mask) < ((b - oldest) & mask);
    }
  };
  // A packet is known to have arrived: those sent before it on its EV have been passed. If a
  // packet was sent again, it is unknown which transmission arrived: no evidence. [PDS-L3, PDS-L4]
  void note(const TxQueues& queues, const TxSlot* all, uint32_t at, const Ring& ring);

  // Path queues with a later packet that has arrived, a bit each.
  uint32_t passed() const { return passed_; }
  bool has_passed(uint8_t queue) const { return (passed_ >> queue & 1) != 0; }
  // The last slot of the queue that was overtaken, and the EV of the packet that did.
  uint16_t passed_to(uint8_t queue) const { return to_[queue]; }
  Entropy passed_by(uint8_t queue) const { return by_[queue]; }
  void forget_passed(uint8_t queue) { passed_ &= ~(uint32_t{1} << queue); }
  // The slot leaves its queue: only slots before it count as overtaken.
  void on_leaving(const TxQueues& queues, const TxSlot& slot, uint32_t at) {
    const uint8_t queue = slot.queue;
    if (queue >= TxQueue::kPaths || !has_passed(queue) || to_[queue] != at) return;
    if (queues.first(queue) == at) {
      forget_passed(queue);
    } else {
      to_[queue] = slot.prev;
    }
  }
  // As of TxQueues.
  template <class Moved>
  void renumber(Moved&& moved) {
    for (uint8_t q = 0; q < TxQueue::kPaths; ++q) {
      if (has_passed(q)) to_[q] = moved(to_[q]);
    }
  }

 private:
  // Arrays count where the mask has bits.
  uint64_t newest_tick_ = 0;
  uint32_t passed_ = 0;
  uint16_t count_ = 0;
  bool any_ = false;
  uint16_t to_[TxQueue::kPaths];
  Entropy by_[TxQueue::kPaths];
};

}  // namespace uet::pds
