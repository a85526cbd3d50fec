// Proofs, replies, shares, secured starts and the door, as the tests of other parts see them.
#include "pds/door/door.h"
#include "pds/door/origin.h"
#include "pds/door/proofs.h"
#include "pds/door/reclaim.h"
#include "pds/door/replies.h"
#include "pds/door/secure_psn.h"
#include "pds/test/part.h"

namespace uet::pds {

using part::answers;
using part::note;
using part::text;

bool is_from(const RxDatagram& d, const Peer& peer) { return d.from == peer.address; }
FabricAddress reply_address(const RxDatagram& d, PortHint, bool, PeerTable&) { return d.from; }

void Proofs::confirm(Pdc& pdc) {
  if (!pdc.is_initiator()) pdc.proof.confirm();
}
void Proofs::earn(Pdc&, const RxDatagram& d) { note("earn by " + std::to_string(d.bytes.size())); }
bool Proofs::spend(Pdc&, uint32_t) { return answers().may_spend; }
Duration Proofs::proof_wait(const Pdc&) const { return part::kRto; }
bool Proofs::check_proof(Pdc&, Instant&, Instant) { return true; }
bool Proofs::owes_proof(const Pdc&) const { return answers().owes_proof; }
void Proofs::check_owed_proof(Pdc&, Instant&, Instant) {}

void Replies::queue_ack(const wire::Ack& h, const FabricAddress&, Entropy, uint32_t) {
  note("ack " + text(h.cack_psn));
}
bool Replies::take_nack_token(Peer&, Instant) { return answers().may_refuse; }
void Replies::nack(Pdc&, wire::NackCode code, const AckTrigger& trigger, uint32_t payload,
                   Instant) {
  note(std::string("nack ") + wire::name(code) + " psn " + text(trigger.psn) + " payload " +
       std::to_string(payload));
}
void Replies::nack(Pdc&, wire::NackCode code, const AckTrigger& trigger, Instant) {
  note(std::string("nack ") + wire::name(code) + " psn " + text(trigger.psn));
}
void Replies::nack_stranger(const Inbound& in, wire::NackCode code, Instant, Pdcid own) {
  note(std::string("nack_stranger ") + wire::name(code) + " psn " + text(in.psn()) +
       (own == Pdcid{} ? "" : ", of a PDC"));
}
void Replies::refuse(const std::optional<Connectionless::Refusal>& refusal, Instant) {
  if (refusal) note(std::string("refuse ") + wire::name(refusal->nack.nack_code));
}
void Replies::send_replies(TxBatch&) { note("send_replies"); }
FabricAddress Replies::reply_address(const Inbound& in) { return in.datagram->from; }

void Reclaim::relieve_pressure(bool, Instant) { note("relieve_pressure"); }

Pdc* Door::look_up_syn(const Inbound& in, Instant) {
  note("look_up_syn " + text(in.psn()));
  return answers().to_demux.of_syn;
}
bool Door::leave_pending(Pdc&, const Inbound&, Instant) {
  note("leave_pending");
  return answers().to_demux.may_leave_pending;
}
void Door::drop_if_unused(PdcHandle) { note("drop_if_unused"); }
void Door::answer_for_tombstone(const Tombstone&, const Inbound& in, Instant) {
  note("answer_for_tombstone " + text(in.psn()));
}

Psn SecurePsn::raise_floor(const Pdc& pdc) {
  note("raise_floor");
  return pdc.rx.max_received() + 1;
}
Psn SecurePsn::initial_start(const Pdc& made, PeerId, uint32_t, const PdcTable&) {
  return made.start.psn();
}
void SecurePsn::learn_start(const Pdc&, const wire::Ack&) { note("learn_start"); }

}  // namespace uet::pds
