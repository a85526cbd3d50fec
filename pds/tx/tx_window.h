// Sent and unanswered packets of one direction of a PDC: a slot for each PSN, and queues of the
// slots by what they wait for, so that neither an ACK nor a timer looks at all of them. It sends
// nothing. [PDS 3, 12]
#pragma once

#include "pds/tx/tx_memory.h"

#include "base/prefetch.h"
#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::pds {

// Holds memory only while something is outstanding.
class TxWindow {
 public:
  // Nothing outstanding; the first PSN will be `first`.
  void start(Psn first);
  // Gives the slot memory back when nothing is outstanding any more. Slots are gone after it.
  void release_if_empty(TxPool& pool) {
    if (!empty() || !memory_.is_held()) return;
    memory_.release(pool);
  }
  // Forgets everything outstanding and gives the memory back; the next PSN stays.
  void abandon(TxPool& pool);

  // Makes sure that push() has a slot. False: pool empty, nothing was changed.
  [[nodiscard]] bool reserve(TxPool& pool) {
    return size() < memory_.capacity() || memory_.grow(pool, base_, size());
  }
  // Takes the next PSN. Requires reserve().
  TxSlot& push();

  // Renumbers everything that is outstanding. [PDS-051]
  void rebase(int32_t delta);

  // Oldest PSN without an answer; next() when all are answered.
  Psn base() const { return base_; }
  Psn next() const { return next_; }
  uint32_t size() const { return static_cast<uint32_t>(next_ - base_); }
  bool empty() const { return base_ == next_; }
  bool contains(Psn psn) const { return psn.value() - base_.value() < size(); }
  // A slot between base() and next(), answered or not.
  TxSlot& operator[](Psn psn) {
    UET_DEBUG_ASSERT(contains(psn));
    return memory_.slot(psn);
  }
  // The slot if it is outstanding and not answered, else null.
  TxSlot* find(Psn psn) {
    if (!contains(psn)) return nullptr;
    TxSlot& slot = (*this)[psn];
    return slot.state.is_answered() ? nullptr : &slot;
  }
  // The slot of a packet that is outstanding, or was answered and its slot not used again; else
  // null. [PDS-070]
  TxSlot* recent(Psn psn);
  // The slot of that packet, outstanding or the next one, and the queues of the slots.
  void prefetch_slot(Psn psn) const {
    if (!memory_.is_held()) return;
    prefetch(memory_.head(), sizeof(TxHead));
    prefetch(&memory_.slot(psn), sizeof(TxSlot));
  }
  // Marks it answered and moves base() over everything answered.
  void complete(Psn psn);
  // The packet was sent for the first time. Requires that it is not in a queue.
  void note_first_sent(Psn psn) {
    const uint32_t at = memory_.index(psn);
    const TxSlot& slot = memory_.slots()[at];
    UET_DEBUG_ASSERT(slot.queue == TxSlot::kNoQueue && !slot.state.was_resent());
    memory_->queues.append(memory_.slots(), at, TxQueue::of_path(slot));
    if (slot.state.is_quiet() && psn.before(memory_->quiet_from)) memory_->quiet_from = psn;
  }
  // Call after each other change of a slot's state or time: the slot moves to the end of its new
  // queue. A slot that has become `sacked` counts as arrived.
  void requeue(Psn psn);

  // Slots that are known to have arrived, at or above the base.
  uint32_t arrived() const { return memory_.is_held() ? memory_->arrivals.count() : 0; }
  // The slot waits for the peer to track it, and for no time. requeue() ends that. [PDS-245]
  void set_aside(Psn psn);
  bool has_aside() const { return memory_.is_held() && memory_->queues.has(TxQueue::kAside); }
  // All slots are set aside: nothing is in flight, and no timer brings a slot back.
  bool has_only_aside() const {
    return memory_.is_held() && memory_->queues.used() == uint64_t{1} << TxQueue::kAside;
  }
  // The slots set aside, by PSN, as long as fn(psn, slot) returns true: fn has then requeued it.
  template <class Fn>
  void for_each_aside(Fn&& fn);
  // Calls fn(queue, psn) for the oldest slot of each queue that has one, except the queues of
  // asked-for and set-aside slots, again and again as long as it returns true: fn has then moved
  // that slot elsewhere.
  template <class Fn>
  void for_each_oldest(Fn&& fn) {
    if (!memory_.is_held()) return;
    memory_->queues.for_each_timed([&](uint8_t queue) {
      return fn(queue, memory_.psn_at(memory_->queues.first(queue), base_));
    });
  }
  // The slot to ask for next: the base, which holds up all others, else the one that waits longest.
  // False: none. [PDS-L6]
  bool next_asked(Psn& psn);
  // The quiet slots, by PSN. [PDS-064]
  template <class Fn>
  void for_each_quiet(Fn&& fn);
  // The oldest of them. False: none.
  bool oldest_quiet(Psn& psn);

 private:
  friend class LossDetector;  // reads slots, queues and arrivals; keeps its judgement here

  void pass_answered();

  TxMemory memory_;
  Psn base_;
  Psn next_;
};

template <class Fn>
void TxWindow::for_each_quiet(Fn&& fn) {
  if (!memory_.is_held()) return;
  Psn p = memory_->quiet_from;
  if (p.before(base_)) p = base_;
  for (; p.before(next_); ++p) {
    TxSlot& slot = (*this)[p];
    if (slot.state.is_quiet() && !slot.state.is_answered()) fn(p, slot);
  }
  memory_->quiet_from = next_;
}

template <class Fn>
void TxWindow::for_each_aside(Fn&& fn) {
  if (!has_aside()) return;
  Psn& from = memory_->aside_from;
  if (from.before(base_)) from = base_;
  for (; from.before(next_); ++from) {
    TxSlot& slot = (*this)[from];
    if (slot.queue == TxQueue::kAside && !fn(from, slot)) return;
  }
}

}  // namespace uet::pds
