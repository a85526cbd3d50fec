// Whether a PDC has something to send, and what holds it back. Questions only. [PDS-062]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/resources.h"
#include "pds/schedule/flow.h"

#include <algorithm>

namespace uet::pds {

inline constexpr uint32_t kPsnOffsetMax = 4095;  // [PDS-038]
inline constexpr uint32_t kUnprovenPackets = 4;  // where no Probe can ask for proof
inline constexpr Duration kHeldWaitMin = Duration::microseconds(100);  // ends are late by as much

// Called for every packet, so it is inlined.
[[gnu::always_inline]] inline bool has_new(const Pdc& pdc) {
  return !pdc.messages.empty() ||
         (pdc.flow != nullptr && pdc.flow->ready && pdc.may_take_message());
}

// It is stalled, and something waits for that to end.
inline bool is_held_by_range(const Pdc& pdc) {
  return pdc.is_stalled() && (!pdc.tx.empty() || has_new(pdc));
}

inline bool may_send_unproven(const Resources& res, const Pdc& pdc) {
  if (!res.config.probe) return pdc.tx.size() < kUnprovenPackets;
  return pdc.proof.octets() >= pdc.context->limits.packet_bytes_max;
}

// Return data waits for a proof. The initiator may have nothing more to send, so a Probe asks it: a
// Probe takes no PSN, and even an initiator without support for Probes refuses it, which is proof
// enough.
inline bool needs_proof(const Resources& res, const Pdc& pdc) {
  const bool has_some = has_new(pdc) || pdc.losses.has_lost();
  return res.config.probe && pdc.is_unverified() && has_some && !may_send_unproven(res, pdc);
}

inline bool may_probe(const Resources& res, const Pdc& pdc) {
  return res.config.probe && !res.peers[pdc.peer].no_probe;  // [PDS-163]
}

// A peer that drops packets out of order needs all packets after a lost one as well.
inline bool drops_behind_gaps(const Resources& res, const Pdc& pdc) {
  return pdc.mode == Mode::rod && !res.config.rod_reorder;
}

// The peer would drop whatever is behind the packet that it refused for now. [PDS-150]
inline bool gap_waits(const Resources& res, Pdc& pdc) {
  if (!drops_behind_gaps(res, pdc)) return false;
  const TxSlot* const slot = pdc.tx.find(pdc.losses.gap());
  return slot != nullptr && slot->state.is_refused();
}

// The gap waits, and no packet before it is known to be lost. send_lost() finds those.
inline bool is_held_by_gap(const Resources& res, Pdc& pdc) {
  return gap_waits(res, pdc) &&
         (!pdc.losses.has_lost() || !pdc.losses.lost_from().before(pdc.losses.gap()));
}

// The window has room for one more PSN. Until the source of a SYN has proven its address, the
// answer may be only a little longer than the SYN: otherwise small forged requests would fill the
// link of a victim. [PDS-035, PDS-037, PDS-038, T-38]
inline bool window_open(const Resources& res, Pdc& pdc) {
  const Psn next = pdc.tx.next();
  if (pdc.is_unverified() && !may_send_unproven(res, pdc)) return false;
  if (pdc.tx.size() >= res.config.tx_window_packets || !pdc.range.admits(next)) return false;
  return pdc.state() != PdcState::syn ||
         next - pdc.start.psn() <= static_cast<int32_t>(kPsnOffsetMax);
}

// There is more to send, and a window stops it: that of the PDC, of the peer or of CMS. Resends
// wait for CMS only.
inline bool is_held(const Pdc& pdc) {
  if (pdc.losses.has_lost()) return !pdc.context->is_admitted(pdc.context->limits.packet_bytes_max);
  return has_new(pdc);
}

// There is more to send, and a window, credit or pacing lets nothing go now.
inline bool is_stopped(const Resources& res, Pdc& pdc, Instant now) {
  if (!pdc.context->may_send(pdc.context->limits.packet_bytes_max, now)) {
    return pdc.losses.has_lost() || has_new(pdc);
  }
  return !pdc.losses.has_lost() && has_new(pdc) && !window_open(res, pdc);
}

// Tail_Loss_Time, at least 1.5 round trips: otherwise a peer with a long round trip would get a
// Probe for each packet. [PDS-145]
inline Duration tail_loss_time(const Resources& res, const Pdc& pdc) {
  return std::max(res.config.tail_loss, pdc.rtt.smoothed() * 3 / 2);
}

// How long a source waits without an answer before it probes. A PDC that is stopped would be
// sending, so three round trips of silence are enough there: a lost packet keeps all later ones
// waiting. [PDS-145]
inline Duration tail_wait(const Resources& res, const Pdc& pdc) {
  const Duration most = tail_loss_time(res, pdc);
  const Duration srtt = pdc.rtt.smoothed();
  if (!is_held(pdc) || srtt == Duration::zero()) return most;
  return std::min(most, std::max(srtt * 3, kHeldWaitMin));
}

}  // namespace uet::pds
