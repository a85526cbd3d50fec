// Decides at the source that packets are lost: retransmission time-out with back-off, and two ways
// of reading the ACKs - order within one entropy value, and the number of packets that arrived out
// of order. It marks slots; sending them again is somebody else's business. [PDS 12]
#pragma once

#include "pds/psn_window.h"

#include "base/serial.h"
#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::pds {

// Smoothed round trip of one PDC and the time-out that follows from it. [PDS-140, PDS-141]
class RtoEstimator {
 public:
  void on_rtt(Duration rtt);
  // The time-out of a packet after `resends` time-outs, between `init` and `max`.
  Duration rto(Duration init, Duration max, uint32_t resends) const;
  Duration smoothed() const { return Duration::nanoseconds(int64_t{srtt_ns_}); }

 private:
  uint32_t srtt_ns_ = 0;  // 0: no sample yet; saturates at 4.2 s
  uint32_t rttvar_ns_ = 0;
};

// Why a slot counts as lost.
enum class LossCause : uint8_t {
  ev_order,   // one sent later on the same EV has arrived [PDS-L4]
  ooo_count,  // too many later ones have arrived, or one sent long after it [PDS-L3]
};

// How much reordering is believed before L3 speaks: so many packets, or so much time between the
// sending of the one that is missing and of one that has arrived. [PDS-143, PDS-144]
struct ReorderRules {
  uint32_t threshold_packets = 5;
  uint32_t reported_packets = 0;  // out of order, as the destination counts them
  Duration time;                  // zero: not known
};

class LossDetector {
 public:
  // Reads what the last ACK changed. Calls fn(Psn, TxSlot&, LossCause) for each slot now believed
  // lost, in PSN order; fn marks it. Cost: the distance from the base to `highest_arrived`, which
  // is the highest PSN known to have arrived.
  template <class Fn>
  void infer(TxWindow& window, Psn highest_arrived, const ReorderRules& rules, Instant now,
             Fn&& fn);

  bool in_recovery() const { return in_recovery_; }

 private:
  // The latest transmission known to have arrived, per EV.
  struct Latest {
    uint64_t tick = 0;
    Psn psn;
    Entropy ev;
    bool used = false;
  };
  static constexpr uint32_t kEvs = 32;  // more at once share a place: the first keeps it

  // a was sent after b. Within one call of transmit resends go in PSN order, before new packets.
  static bool sent_later(uint64_t a_tick, Psn a, uint64_t b_tick, Psn b) {
    const int64_t d = TxSlot::ticks_between(a_tick, b_tick);
    return d > 0 || (d == 0 && a.after(b));
  }
  // Of what has arrived: how many packets, and when the last of them was sent for the first time.
  struct Arrived {
    uint32_t packets = 0;
    uint64_t newest_tick = 0;
    bool any_first = false;  // newest_tick is one
  };
  static Arrived collect(TxWindow& window, Psn highest_arrived, Latest (&latest)[kEvs]);
  static bool is_overdue(const Arrived& arrived, const ReorderRules& rules, const TxSlot& slot);
  static void note(Latest (&latest)[kEvs], Psn psn, const TxSlot& slot);
  static bool passed_on_its_ev(const Latest (&latest)[kEvs], Psn psn, const TxSlot& slot);

  bool is_before_recovery(const TxSlot& slot) const {
    const uint64_t began = uint64_t{recovery_high_} << 32 | recovery_low_;
    return in_recovery_ && TxSlot::ticks_between(slot.sent_tick(), began) < 0;
  }

  Psn recovery_psn_;           // recovery ends when the base is past this
  uint32_t recovery_low_ = 0;  // tick; resent after this: not again in this recovery
  uint8_t recovery_high_ = 0;
  bool in_recovery_ = false;
};

template <class Fn>
void LossDetector::infer(TxWindow& window, Psn highest_arrived, const ReorderRules& rules,
                         Instant now, Fn&& fn) {
  if (in_recovery_ && window.base().after(recovery_psn_)) in_recovery_ = false;
  if (window.empty() || !highest_arrived.after(window.base())) return;

  Latest latest[kEvs];
  const Arrived arrived = collect(window, highest_arrived, latest);
  const uint32_t out_of_order = std::max(arrived.packets, rules.reported_packets);
  if (!in_recovery_ && out_of_order >= rules.threshold_packets) {
    in_recovery_ = true;
    recovery_psn_ = window.next() - 1;
    const uint64_t tick = TxSlot::tick_of(now);
    recovery_low_ = static_cast<uint32_t>(tick);
    recovery_high_ = static_cast<uint8_t>(tick >> 32 & 0xF);
  }
  for (Psn p = window.base(); p.before(highest_arrived); ++p) {
    TxSlot& slot = window[p];
    if (slot.done || slot.sacked || !slot.in_flight) continue;
    if (passed_on_its_ev(latest, p, slot)) {
      fn(p, slot, LossCause::ev_order);
    } else if (is_before_recovery(slot) || is_overdue(arrived, rules, slot)) {
      fn(p, slot, LossCause::ooo_count);
    }
  }
}

}  // namespace uet::pds
