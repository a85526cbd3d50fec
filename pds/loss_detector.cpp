// RTO estimation and the evidence that LossDetector::infer weighs.
#include "pds/loss_detector.h"

#include <algorithm>

namespace uet::pds {

void RtoEstimator::on_rtt(Duration rtt) {
  const int64_t sample = std::clamp<int64_t>(rtt.ns(), 1, UINT32_MAX / 8);
  if (srtt_ns_ == 0) {
    srtt_ns_ = static_cast<uint32_t>(sample);
    rttvar_ns_ = static_cast<uint32_t>(sample / 2);
    return;
  }
  const int64_t error = sample - int64_t{srtt_ns_};
  const int64_t deviation = error < 0 ? -error : error;
  rttvar_ns_ = static_cast<uint32_t>((int64_t{rttvar_ns_} * 3 + deviation) / 4);
  srtt_ns_ = static_cast<uint32_t>((int64_t{srtt_ns_} * 7 + sample) / 8);
}

Duration RtoEstimator::rto(Duration init, Duration max, uint32_t resends) const {
  const int64_t adaptive = int64_t{srtt_ns_} + 4 * int64_t{rttvar_ns_};
  int64_t ns = std::max(init.ns(), adaptive);
  for (uint32_t i = 0; i < resends && ns < max.ns(); ++i) ns *= 2;
  return Duration::nanoseconds(std::min(ns, max.ns()));
}

LossDetector::Arrived LossDetector::collect(TxWindow& window, Psn highest_arrived,
                                            Latest (&latest)[kEvs]) {
  Arrived arrived;
  for (Psn p = window.base();; ++p) {
    const TxSlot& slot = window[p];
    if (slot.done || slot.sacked) {
      ++arrived.packets;
      // Which transmission of a resent packet arrived is not known: it is no evidence.
      if (slot.resends == 0) {
        note(latest, p, slot);
        const uint64_t tick = slot.sent_tick();
        const bool is_newer = TxSlot::ticks_between(tick, arrived.newest_tick) > 0;
        if (is_newer || !arrived.any_first) arrived.newest_tick = tick;
        arrived.any_first = true;
      }
    }
    if (p == highest_arrived) return arrived;
  }
}

bool LossDetector::is_overdue(const Arrived& arrived, const ReorderRules& rules,
                              const TxSlot& slot) {
  if (rules.time == Duration::zero() || !arrived.any_first) return false;
  const int64_t ticks = TxSlot::ticks_between(arrived.newest_tick, slot.sent_tick());
  return ticks > rules.time.ns() >> SentTick::kShift;
}

void LossDetector::note(Latest (&latest)[kEvs], Psn psn, const TxSlot& slot) {
  Latest& l = latest[slot.ev.value() % kEvs];
  if (!l.used || (l.ev == slot.ev && sent_later(slot.sent_tick(), psn, l.tick, l.psn))) {
    l = {slot.sent_tick(), psn, slot.ev, true};
  }
}

bool LossDetector::passed_on_its_ev(const Latest (&latest)[kEvs], Psn psn, const TxSlot& slot) {
  const Latest& l = latest[slot.ev.value() % kEvs];
  return l.used && l.ev == slot.ev && sent_later(l.tick, l.psn, slot.sent_tick(), psn);
}

}  // namespace uet::pds
