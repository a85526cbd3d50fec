// Shares, and the choice of victims. [PDS-181, PDS-253]
#include "pds/door/reclaim.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kVictimsLookedAt = 16;
constexpr uint32_t kVictimsPerOpen = 2;
}  // namespace

// Few free PDCs: the longest idle ones go. [PDS-181]
void Reclaim::relieve_pressure(bool is_initiator, Instant now) {
  const uint32_t free = table_.free_count(is_initiator);
  // Idle PDCs are closed before only the newcomers' share is free, so that hosts that hold a PDC
  // can open more. [PDS-253]
  const uint32_t percent =
      res_.config.low_water_percent + (is_initiator ? 0 : res_.config.newcomer_percent);
  const bool is_low = uint64_t{free} * 100 < uint64_t{res_.config.max_pdcs} * percent;
  if (free > 0 && !is_low && (is_initiator || !proofs_.half_open_full())) return;
  // When most PDCs are half-open, only half-open ones are reclaimed, each after its minimum time;
  // others stay. [T-01]
  const bool is_flooded = !is_initiator && uint64_t{proofs_.half_open()} * 2 > table_.size();
  const bool may_close = (free == 0 || is_low) && !is_flooded;
  const Victims victims = may_close ? Victims::established : Victims::half_open;
  retire(
      is_initiator, victims, [](const Pdc&) { return true; }, now);
}

bool Reclaim::may_begin_half_open() {
  if (!proofs_.half_open_full()) return true;
  res_.counters.add(Count::half_open_limit);
  return false;
}

// Whether a peer may open one more PDC: it, its host (all peers with its IP address), the job and
// the domain of its request must be within their shares. A host that holds a PDC also leaves some
// places to hosts that hold none, so that many hosts at their limits cannot keep a newcomer out.
// When a share is used up, idle PDCs of that peer, host, job or domain are closed. [T-01, T-02,
// T-61, PDS-253]
bool Reclaim::has_share(PeerId peer, uint32_t sdi, JobId job, Instant now) {
  const uint32_t all_free = table_.free_count(false);
  if (all_free == 0) return true;  // no PDC is free at all: the allocation refuses, and counts it
  const uint32_t percent = res_.config.job_share_percent;
  const Peer& p = res_.peers[peer];
  const Host& host = res_.peers.host_of(p);
  const uint32_t left = host.targets == 0 ? 0 : res_.config.newcomer_pdcs();
  const uint32_t free = all_free - std::min(left, all_free);
  const bool is_peer = !Shares::has_room(p.targets, free, res_.config.peer_share_percent);
  const bool is_host = !Shares::has_room(host.targets, free, res_.config.host_share_percent());
  if (is_peer || is_host || free == 0) {
    res_.counters.add(is_peer ? Count::peer_share_limit : Count::host_share_limit);
    const uint32_t half_open = is_peer ? p.half_open : host.half_open;
    const bool is_flooded = uint64_t{half_open} * 2 > (is_peer ? p.targets : host.targets);
    const auto is_candidate = [&](const Pdc& pdc) {
      return is_peer ? pdc.peer == peer : res_.peers[pdc.peer].host == p.host;
    };
    retire(false, is_flooded ? Victims::half_open : Victims::established, is_candidate, now);
    return false;
  }
  const bool is_job = !Shares::has_room(shares_.held({sdi, job.value()}), all_free, percent);
  const bool is_domain = sdi != 0 && !Shares::has_room(shares_.held({sdi}), all_free, percent);
  if (!is_job && !is_domain) return true;
  res_.counters.add(Count::job_share_limit);
  const bool is_flooded = uint64_t{proofs_.half_open()} * 2 > table_.size();
  const auto is_candidate = [&](const Pdc& pdc) {
    return pdc.sdi == sdi && (is_domain || pdc.job == job);
  };
  retire(false, is_flooded ? Victims::half_open : Victims::established, is_candidate, now);
  return false;
}

// Reclaims the longest idle of the given PDCs: half-open ones after their minimum time, others by
// an orderly close where the state allows it. [PDS-181]
template <class IsCandidate>
void Reclaim::retire(bool is_initiator, Victims victims, IsCandidate&& is_candidate, Instant now) {
  uint32_t looked_at = 0;
  uint32_t count = 0;
  for (Pdc& pdc : idle_.of(is_initiator)) {
    if (++looked_at > kVictimsLookedAt || count == kVictimsPerOpen) return;
    if (!is_candidate(pdc)) continue;
    const bool busy = !pdc.tx.empty() || !pdc.messages.empty() || pdc.messages.is_kept() ||
                      pdc.responses.awaited() > 0;
    if (busy) continue;
    if (pdc.is_unheard()) {
      ending_.free_pdc(pdc, PdcEvent::freed, Outcome::clean, Remains::nothing, now);
      ++count;
    } else if (!is_initiator && !pdc.proof.is_confirmed()) {
      if (reclaim(pdc, now)) ++count;
    } else if (pdc.state() == PdcState::established && victims == Victims::established) {
      res_.counters.add(Count::pressure_closes);
      if (is_initiator) {
        closing_.begin_close(pdc);
      } else {
        closing_.ask_close(pdc, now);
      }
      ++count;
    }
  }
}

// The peer never used our PDCID: most likely its address is forged. If not, the tombstone answers
// it. But a partly received message would fail at its receiver, and a tombstone holds no response
// and no gap: PDCs with any of these get more time. [PDS-176, PDS-181]
bool Reclaim::reclaim(Pdc& pdc, Instant now) {
  const Psn highest = pdc.rx.max_received();
  const bool is_doubtful = pdc.responses.stored() > 0 || !pdc.rx.all_received_below(highest + 1);
  const bool is_open = is_doubtful || res_.client.has_open_message(pdc.handle);
  if (now - pdc.last_active < (is_open ? res_.config.peer_timeout / 4 : res_.config.close_req)) {
    return false;
  }
  if (!table_.may_bury()) return false;
  pdc.end.break_off(highest, is_doubtful);
  res_.counters.add(Count::pdc_reclaimed);
  ending_.free_pdc(pdc, PdcEvent::freed, Outcome::unfinished, Remains::tombstone, now);
  return true;
}

}  // namespace uet::pds
