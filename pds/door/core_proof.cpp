// Sources that may be forged. A SYN opens a PDC without a handshake, so anybody can open one in the
// name of somebody else. Until the peer has shown that it receives what we send it, it gets no more
// than three times what came from it; and when too many have not shown it, a SYN must show it
// before it opens anything. [PDS-251, PDS-252, T-01, T-38]
#include "pds/core.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kUnprovenPackets = 4;  // where no Probe can ask for proof
constexpr uint32_t kProofDoublings = 6;
}  // namespace

void Core::confirm(Pdc& pdc) {
  if (pdc.is_initiator() || pdc.confirmed) return;
  pdc.confirmed = true;
  --half_open_;
  peers_.count_half_open(pdc.peer, -1);
  want_send(pdc);  // what waited for it
}

// Whether so much may go to the peer. What is not sent is as good as lost.
bool Core::spend(Pdc& pdc, uint32_t octets) {
  if (!pdc.is_unverified()) return true;
  if (pdc.unproven_octets < octets) {
    counters_.add(Count::drop_unproven);
    return false;
  }
  pdc.unproven_octets -= octets;
  return true;
}

bool Core::may_send_unproven(const Pdc& pdc) const {
  if (!config_.probe) return pdc.tx.size() < kUnprovenPackets;
  return pdc.unproven_octets >= pdc.path->packet_bytes_max;
}

// Return data waits for it. The initiator may have nothing more to send, so it is asked: a Probe
// takes no PSN, and even who does not know Probes refuses it, which shows as much.
bool Core::needs_proof(const Pdc& pdc) const {
  const bool has_some = has_new(pdc) || pdc.lost_count > 0;
  return config_.probe && pdc.is_unverified() && has_some && !may_send_unproven(pdc);
}

void Core::ask_for_proof(Pdc& pdc) {
  if (pdc.tail.is_out || pdc.tail.is_due) return;
  pdc.tail.is_due = true;
  want_control(pdc);
}

Duration Core::proof_wait(const Pdc& pdc) const {
  return config_.rto_init * (int64_t{1} << std::min<uint32_t>(pdc.tail.unheard, kProofDoublings));
}

// Asks again, as long as the octets last.
// False: the peer was silent for so long that the PDC failed.
bool Core::check_proof(Pdc& pdc, Instant& next, Instant now) {
  if (!needs_proof(pdc)) return true;
  const Instant end = pdc.last_active + config_.peer_timeout;
  if (now >= end) {
    fail(pdc, {FailureReason::timeout, {}, false}, Count::pdc_closed_timeout, false, now);
    return false;
  }
  next = std::min(next, end);
  const Duration wait = proof_wait(pdc);
  const Duration age = SentTick::age(pdc.tail.tick, now);
  if (age < wait) {
    next = std::min(next, now + (wait - age));
    return true;
  }
  pdc.tail.is_out = false;
  ask_for_proof(pdc);
  return true;
}

// The other side of it: an initiator that waits for return data, and has nothing else to send, may
// be what the target waits for, whose Probes were lost. One answered Probe of ours is enough.
bool Core::owes_proof(const Pdc& pdc) const {
  const bool has_shown = pdc.confirmed || pdc.rx.max_received() != pdc.start_psn - 1;
  return pdc.is_initiator() && !has_shown && pdc.state() == PdcState::established &&
         pdc.keep_count > 0 && pdc.tx.empty() && may_probe(pdc);
}

void Core::check_owed_proof(Pdc& pdc, Instant& next, Instant now) {
  if (!owes_proof(pdc)) return;
  const Duration wait = proof_wait(pdc);
  const Duration silent = std::min(now - pdc.last_active, SentTick::age(pdc.tail.tick, now));
  if (silent < wait) {
    next = std::min(next, now + (wait - silent));
    return;
  }
  pdc.tail.is_due = true;
  next = std::min(next, now + wait * 2);
  want_control(pdc);
}

// A SYN without a PDC, and in the clear. True: it was answered with a challenge, and opens nothing.
// `is_proven`: it answers one.
bool Core::is_challenged(const Inbound& in, const FabricAddress& from, bool& is_proven,
                         Instant now) {
  if (in.sdi() != 0 || config_.challenge_above == 0) return false;
  is_proven = challenge_.is_answered(from, in.spdcid, in.start_psn, now);
  if (is_proven || !challenge_.is_on(half_open_ >= config_.challenge_limit(), now)) return false;
  if (!challenges_.take(config_.challenges_per_second, now)) {
    counters_.add(Count::drop_nack_limited);
    return true;
  }
  wire::Nack h;
  h.nack_code = wire::NackCode::new_start_psn;
  h.nack_psn = in.psn();
  h.m = in.trigger.ce;
  h.retx = in.trigger.retx;
  h.dpdcid = in.spdcid;
  PeerId id;
  const bool is_known = peers_.find(from, id) != nullptr;
  const auto is_taken = [&](Psn start) {
    const Tombstone* const t = is_known ? table_.find_tombstone(id, in.spdcid) : nullptr;
    return t != nullptr && t->start_psn == start;
  };
  h.payload = challenge_.ask(from, in.spdcid, now, is_taken).value();
  counters_.add(Count::challenged);
  queue_nack(h, from, in.trigger.ev, 0);
  return true;
}

}  // namespace uet::pds
