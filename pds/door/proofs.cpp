// Limits for an unproven source, and how a target asks it for proof. [PDS-252]
#include "pds/door/proofs.h"

#include "pds/tx/may_send.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kProofDoublings = 6;
}  // namespace

void Proofs::confirm(Pdc& pdc) {
  if (pdc.is_initiator() || pdc.proof.is_confirmed()) return;
  if (pdc.is_unverified()) res_.peers.count_responses(pdc.peer, pdc.responses.places());
  pdc.proof.confirm();
  end(pdc.peer);
  schedule_.want_send(pdc);  // what waited for it
}

// Whether `octets` octets may go to the peer. A packet that may not go counts as lost.
bool Proofs::spend(Pdc& pdc, uint32_t octets) {
  if (!pdc.is_unverified()) return true;
  if (pdc.proof.spend(octets)) return true;
  res_.counters.add(Count::drop_unproven);
  return false;
}

void Proofs::earn(Pdc& pdc, const RxDatagram& d) {
  if (!pdc.is_unverified()) return;
  pdc.proof.earn(static_cast<uint32_t>(d.bytes.size()));
}

void Proofs::ask_for_proof(Pdc& pdc) {
  if (pdc.tail.is_pending()) return;
  pdc.tail.want();
  schedule_.want_control(pdc);
}

Duration Proofs::proof_wait(const Pdc& pdc) const {
  return res_.config.shortest_rto() *
         (int64_t{1} << std::min<uint32_t>(pdc.tail.unheard(), kProofDoublings));
}

// Asks again, as long as octets are left. False: the peer was silent for too long; the PDC fails.
bool Proofs::check_proof(Pdc& pdc, Instant& next, Instant now) {
  if (!needs_proof(res_, pdc)) return true;
  const Instant end = pdc.last_active + res_.config.peer_timeout;
  if (now >= end) {
    return false;
  }
  next = std::min(next, end);
  const Duration wait = proof_wait(pdc);
  const Duration age = pdc.tail.age(now);
  if (age < wait) {
    next = std::min(next, now + (wait - age));
    return true;
  }
  pdc.tail.forget();
  ask_for_proof(pdc);
  return true;
}

// An initiator waits for return data and has nothing to send. The target may wait for proof of our
// address because its Probes were lost. We then send a Probe; its answer is proof enough.
bool Proofs::owes_proof(const Pdc& pdc) const {
  const bool has_shown = pdc.proof.is_confirmed() || pdc.rx.max_received() != pdc.start.psn() - 1;
  return pdc.is_initiator() && !has_shown && pdc.state() == PdcState::established &&
         pdc.messages.is_kept() && pdc.tx.empty() && may_probe(res_, pdc);
}

void Proofs::check_owed_proof(Pdc& pdc, Instant& next, Instant now) {
  if (!owes_proof(pdc)) return;
  const Duration wait = proof_wait(pdc);
  const Duration silent = std::min(now - pdc.last_active, pdc.tail.age(now));
  if (silent < wait) {
    next = std::min(next, now + (wait - silent));
    return;
  }
  pdc.tail.want();
  next = std::min(next, now + wait * 2);
  schedule_.want_control(pdc);
}

// [T-01]
bool Proofs::half_open_full() const {
  if (res_.config.half_open_percent == 100) return false;
  return uint64_t{half_open_} * 100 >=
         uint64_t{res_.config.max_pdcs} * res_.config.half_open_percent;
}

}  // namespace uet::pds
