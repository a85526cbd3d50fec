// Sources that may be forged. A SYN opens a PDC without a handshake, so anybody can open one in the
// name of somebody else. Until the peer has shown that it receives what we send it, it gets no more
// than three times what came from it; and when too many have not shown it, a SYN must show it before
// it opens anything. [PDS-251, PDS-252, T-01, T-38]
#include "pds/core.h"

#include <algorithm>

namespace uet::pds {

namespace {
constexpr uint32_t kUnprovenFactor = 3;         // octets sent for each octet received
constexpr uint32_t kUnprovenOctetsMax = 65536;  // however much came
constexpr uint32_t kUnprovenPackets = 4;        // where no Probe can ask for proof
constexpr uint32_t kProofDoublings = 6;
}  // namespace

// A packet that names our PDCID, which only an answer of ours has told, and a PSN that is possible.
bool Core::is_proof(const Pdc& pdc, const Inbound& in) const {
  if (!pdc.is_unverified() || in.syn) return false;
  const int32_t distance = in.psn() - pdc.start_psn;  // a Probe may name the PSN before the first
  return distance >= -1 && distance < static_cast<int32_t>(config_.tracked_packets());
}

// It must answer something: a packet that was sent, or the Probe that is out.
bool Core::is_proof(const Pdc& pdc, const wire::Ack& ack) const {
  const auto was_sent = [&](Psn psn) {
    return !psn.before(pdc.start_psn) && psn.before(pdc.tx.next());
  };
  if (ack.p) return pdc.tail.is_out && ack.probe_opaque == pdc.tail.opaque;
  return was_sent(ack.cack_psn) || was_sent(ack.ack_psn());
}

void Core::confirm(Pdc& pdc) {
  if (pdc.is_initiator || pdc.confirmed) return;
  pdc.confirmed = true;
  --half_open_;
  peers_.count_half_open(pdc.peer, -1);
  want_send(pdc);  // what waited for it
}

void Core::earn(Pdc& pdc, const RxDatagram& d) {
  if (!pdc.is_unverified()) return;
  const auto octets = static_cast<uint32_t>(std::min<size_t>(d.bytes.size(), kUnprovenOctetsMax));
  pdc.unproven_octets =
      std::min(pdc.unproven_octets + kUnprovenFactor * octets, kUnprovenOctetsMax);
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
  return config_.probe && pdc.is_unverified() && has_new(pdc) && !may_send_unproven(pdc);
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
void Core::check_proof(Pdc& pdc, Instant& next, Instant now) {
  if (!needs_proof(pdc)) return;
  const Duration wait = proof_wait(pdc);
  const Duration age = SentTick::age(pdc.tail.tick, now);
  if (age < wait) {
    next = std::min(next, now + (wait - age));
    return;
  }
  pdc.tail.is_out = false;
  ask_for_proof(pdc);
}

// A SYN without a PDC, and in the clear. True: it was answered with a challenge, and opens nothing.
// `is_proven`: it answers one.
bool Core::is_challenged(const Inbound& in, const FabricAddress& from, bool& is_proven,
                         Instant now) {
  if (in.sdi() != 0 || config_.challenge_above == 0) return false;
  is_proven = challenge_.is_answered(from, in.spdcid, in.start_psn, now);
  const uint32_t limit = std::min(config_.challenge_above, std::max(config_.max_pdcs / 4, 1U));
  if (is_proven || !challenge_.is_on(half_open_ >= limit, now)) return false;
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
  h.payload = challenge_.ask(from, in.spdcid, now).value();
  counters_.add(Count::challenged);
  queue_nack(h, from, in.trigger.ev, 0);
  return true;
}

}  // namespace uet::pds
