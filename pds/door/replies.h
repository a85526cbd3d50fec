// Packets that no PDC keeps: NACKs, and ACKs of PDCs that are gone, with the budgets that bound how
// many of them a peer can cause. [PDS 10.1, PDS-072]
#pragma once

#include "pds/connectionless/connectionless.h"
#include "pds/door/proofs.h"
#include "pds/door/reply.h"
#include "pds/door/stranger_budget.h"
#include "pds/pdc/pdc.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"

#include "wire/pds.h"

#include "base/ring.h"

#include <optional>

namespace uet::pds {

class Replies {
 public:
  Replies(Resources& res, Proofs& proofs) : res_(res), proofs_(proofs), strangers_(res.rng.u64()) {}

  Result<void> create(Arena& arena) { return queue_.create(arena, res_.config.reply_queue); }
  bool empty() const { return queue_.empty(); }
  // NACK of a mode without PDCs, if the budget allows it.
  void refuse(const std::optional<Connectionless::Refusal>& refusal, Instant now);
  void send_replies(TxBatch& batch);
  void queue_nack(const wire::Nack& h, const FabricAddress& to, Entropy ev, uint32_t sdi);
  // The same for a closed PDC.
  void queue_ack(const wire::Ack& h, const FabricAddress& to, Entropy ev, uint32_t sdi);
  // Takes one of the replies that the peer may cause. [PDS-072]
  bool take_nack_token(Peer& peer, Instant now);
  // Refuses a packet of the PDC. Without a payload the NACK carries the expected PSN.
  void nack(Pdc& pdc, wire::NackCode code, const AckTrigger& trigger, uint32_t payload,
            Instant now);
  void nack(Pdc& pdc, wire::NackCode code, const AckTrigger& trigger, Instant now);
  // Where answers to a packet go. [WIRE-121]
  FabricAddress reply_address(const Inbound& in);
  // A NACK of a packet that belongs to no PDC, or to one that does not know the peer's PDCID yet:
  // `own` is ours then.
  void nack_stranger(const Inbound& in, wire::NackCode code, Instant now, Pdcid own = {});

 private:
  // False, counted, when the queue is full.
  template <class Header>
  bool queue(const Header& h, const FabricAddress& to, Entropy ev, uint32_t sdi);
  bool take_stranger_token(const FabricAddress& source, Instant now);

  Resources& res_;
  Proofs& proofs_;
  Ring<Reply> queue_;
  StrangerBudget strangers_;
};

}  // namespace uet::pds
