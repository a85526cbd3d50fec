// Finds lost packets by ACKs: by the order within one entropy value, by the number of packets that
// overtook them, and by the time since one did. It names the slots; the caller sends them again.
// Also the estimate of the round trip from which time-outs follow. [PDS 12]
#pragma once

#include "pds/tx/tx_window.h"

#include "base/serial.h"
#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::pds {

// Smoothed round trip of one PDC and the time-out that follows from it. [PDS-140, PDS-141]
class RtoEstimator {
 public:
  // unknown: the time-out before the first sample. About ten samples replace it.
  explicit RtoEstimator(Duration unknown = Duration::zero())
      : rttvar_ns_(static_cast<uint32_t>(std::min<int64_t>(unknown.ns() / 4, UINT32_MAX))) {}

  void on_rtt(Duration rtt);
  // The time-out of a packet after `resends` time-outs, between `min` and `max`.
  Duration rto(Duration min, Duration max, uint32_t resends) const;
  Duration smoothed() const { return Duration::nanoseconds(int64_t{srtt_ns_}); }

 private:
  uint32_t srtt_ns_ = 0;  // 0: no sample yet; saturates at 4.2 s
  uint32_t rttvar_ns_;
};

// Why a slot counts as lost.
enum class LossCause : uint8_t {
  ev_order,   // one sent later on the same EV has arrived [PDS-L4]
  ooo_count,  // too many later ones have arrived, or one sent long after it [PDS-L3]
};

// Reordering that L3 tolerates: a number of packets, or the time between the sending of the missing
// packet and of one that has arrived. [PDS-143, PDS-144]
struct ReorderRules {
  uint32_t threshold_packets = 5;
  uint32_t reported_packets = 0;  // out of order, as the destination counts them
  Duration time;                  // zero: not known
};

// The window that it looks at keeps its state.
class LossDetector {
 public:
  // Reads the arrivals since the last call. Calls fn(Psn, TxSlot&, LossCause) for each slot now
  // believed lost; fn marks it. `highest_arrived` is the highest PSN known to have arrived. Cost:
  // the slots that have become lost, and each slot once for each recovery.
  template <class Fn>
  static void infer(TxWindow& window, Psn highest_arrived, const ReorderRules& rules, Instant now,
                    Fn&& fn);

  static bool in_recovery(const TxWindow& window) {
    return window.memory_.is_held() && window.memory_->judgement.in_recovery;
  }

 private:
  template <class Fn>
  static void judge_passed(TxWindow& window, Fn&& fn);
  template <class Fn>
  static void judge_recovery(TxWindow& window, Psn highest_arrived, Fn&& fn);
  template <class Fn>
  static void judge_overdue(TxWindow& window, Psn highest_arrived, Duration time, Fn&& fn);
  template <class Fn>
  static void judge_overdue_resends(TxWindow& window, Duration time, Fn&& fn);

  static bool is_missing(const TxSlot& slot) {
    return slot.state.in_flight() && !slot.state.has_arrived() && !slot.state.is_answered();
  }
  // A packet sent longer than `time` after it has arrived. [PDS-143]
  static bool is_overdue(uint64_t newest_tick, Duration time, const TxSlot& slot) {
    const int64_t ticks = TxSlot::ticks_between(newest_tick, slot.sent_tick());
    return ticks > time.ns() >> SentTick::kShift;
  }
};

template <class Fn>
void LossDetector::infer(TxWindow& window, Psn highest_arrived, const ReorderRules& rules,
                         Instant now, Fn&& fn) {
  if (window.empty()) return;
  Judgement& j = window.memory_->judgement;
  const Arrivals& arrivals = window.memory_->arrivals;
  if (j.in_recovery && window.base().after(j.recovery_psn)) j.in_recovery = false;
  if (!highest_arrived.after(window.base())) return;

  judge_passed(window, fn);
  const uint32_t out_of_order = std::max<uint32_t>(arrivals.count(), rules.reported_packets);
  if (!j.in_recovery && out_of_order >= rules.threshold_packets) {
    j.in_recovery = true;
    j.recovery_psn = window.next() - 1;
    j.recovery_tick = TxSlot::tick_of(now);
    j.judged = window.base();
  }
  if (j.in_recovery) judge_recovery(window, highest_arrived, fn);
  if (rules.time == Duration::zero() || !arrivals.any()) return;
  judge_overdue(window, highest_arrived, rules.time, fn);
  if (window.memory_->queues.resent() > 0) judge_overdue_resends(window, rules.time, fn);
}

// Judges slots in a path queue before an arrived packet. [PDS-L4]
template <class Fn>
void LossDetector::judge_passed(TxWindow& window, Fn&& fn) {
  Arrivals& arrivals = window.memory_->arrivals;
  while (arrivals.passed() != 0) {
    const auto queue = static_cast<uint8_t>(__builtin_ctz(arrivals.passed()));
    arrivals.forget_passed(queue);
    const uint16_t last = arrivals.passed_to(queue);
    const Entropy ev = arrivals.passed_by(queue);
    for (uint16_t at = window.memory_->queues.first(queue);;) {
      TxSlot& slot = window.memory_.slots()[at];
      const uint16_t next = slot.next;
      if (is_missing(slot) && slot.ev == ev) {
        fn(window.memory_.psn_at(at, window.base()), slot, LossCause::ev_order);
      }
      if (at == last) break;
      at = next;
    }
  }
}

// Too many packets have overtaken a missing one: judges each packet sent before this was found,
// once.
template <class Fn>
void LossDetector::judge_recovery(TxWindow& window, Psn highest_arrived, Fn&& fn) {
  Judgement& j = window.memory_->judgement;
  Psn p = j.judged.before(window.base()) ? window.base() : j.judged;
  for (; p.before(highest_arrived); ++p) {
    TxSlot& slot = window[p];
    const bool is_before = TxSlot::ticks_between(slot.sent_tick(), j.recovery_tick) < 0;
    if (is_missing(slot) && is_before) fn(p, slot, LossCause::ooo_count);
  }
  j.judged = p;
}

// First transmissions went in the order of their PSNs: where one is not overdue, none above it is.
template <class Fn>
void LossDetector::judge_overdue(TxWindow& window, Psn highest_arrived, Duration time, Fn&& fn) {
  Judgement& j = window.memory_->judgement;
  const uint64_t newest = window.memory_->arrivals.newest_tick();
  Psn p = j.overdue_from.before(window.base()) ? window.base() : j.overdue_from;
  for (; p.before(highest_arrived); ++p) {
    TxSlot& slot = window[p];
    if (!is_missing(slot) || slot.state.was_resent()) continue;
    if (!is_overdue(newest, time, slot)) break;
    fn(p, slot, LossCause::ooo_count);
  }
  j.overdue_from = p;
}

// Each queue is in the order of sending.
template <class Fn>
void LossDetector::judge_overdue_resends(TxWindow& window, Duration time, Fn&& fn) {
  const uint64_t newest = window.memory_->arrivals.newest_tick();
  window.for_each_oldest([&](uint8_t queue, Psn psn) {
    TxSlot& slot = window[psn];
    if (!TxQueue::is_in_flight(queue) || !is_missing(slot)) return false;
    if (!is_overdue(newest, time, slot)) return false;
    fn(psn, slot, LossCause::ooo_count);
    return slot.queue != queue;
  });
}

}  // namespace uet::pds
