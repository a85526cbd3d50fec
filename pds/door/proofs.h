// Unproven sources, which may be forged. Until a peer has shown that it receives our packets, it
// gets at most three times the octets that it sent. [PDS-252, T-01, T-38]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"

#include "wire/pds.h"

namespace uet::pds {

class Proofs {
 public:
  Proofs(Resources& res, Schedule& schedule) : res_(res), schedule_(schedule) {}

  uint32_t half_open() const { return half_open_; }
  // Counts unproven targets: one begins, or one ends.
  void begin(PeerId peer) {
    ++half_open_;
    res_.peers.count_half_open(peer, 1);
  }
  void end(PeerId peer) {
    --half_open_;
    res_.peers.count_half_open(peer, -1);
  }
  // Octets from an unproven source allow more octets to it. [PDS-252]
  static void earn(Pdc& pdc, const RxDatagram& d);
  // The peer has shown that it receives what we send it.
  void confirm(Pdc& pdc);
  // The same by a NACK of a packet that we sent. A NACK without an SPDCID proves nothing: an
  // attacker who opened many PDCs under a forged address soon guesses one of their DPDCIDs.
  void confirm(Pdc& pdc, const wire::Nack& nack) {
    if (nack.spdcid == pdc.peer_id) confirm(pdc);
  }
  // Takes `octets` from the number that may still go to an unproven peer. False: too few are left;
  // the packet is not sent, and counts as lost.
  bool spend(Pdc& pdc, uint32_t octets);
  // A Probe takes no PSN, and even a peer that does not know Probes refuses it.
  void ask_for_proof(Pdc& pdc);
  Duration proof_wait(const Pdc& pdc) const;
  // False: the peer was silent for too long; the PDC fails.
  bool check_proof(Pdc& pdc, Instant& next, Instant now);
  // Initiator: the target may wait for proof that our address is not forged.
  bool owes_proof(const Pdc& pdc) const;
  void check_owed_proof(Pdc& pdc, Instant& next, Instant now);
  // Whether the PDCs of unproven peers are as many as there may be. [T-01]
  bool half_open_full() const;

 private:
  Resources& res_;
  Schedule& schedule_;
  uint32_t half_open_ = 0;  // targets whose peer never used our PDCID
};

}  // namespace uet::pds
