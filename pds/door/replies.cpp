// Contents of NACKs and late ACKs, and the budgets that limit them. [PDS 10.1]
#include "pds/door/replies.h"

#include "pds/door/origin.h"
#include "pds/nack_codes.h"

namespace uet::pds {

// [PDS-072]
void Replies::refuse(const std::optional<Connectionless::Refusal>& refusal, Instant now) {
  if (!refusal || !take_stranger_token(refusal->to, now)) return;
  queue_nack(refusal->nack, refusal->to, refusal->ev, refusal->sdi);
}

void Replies::send_replies(TxBatch& batch) {
  while (!queue_.empty() && !batch.full()) {
    const Reply& reply = queue_.front();
    wire::Writer w(batch.begin());
    w.bytes({reply.octets.data(), reply.length});
    batch.commit(reply.length, reply.to, reply.ev, res_.config.control_dscp, Ecn::not_ect, 0,
                 reply.sdi);
    queue_.pop_front();
  }
}

template <class Header>
bool Replies::queue(const Header& h, const FabricAddress& to, Entropy ev, uint32_t sdi) {
  if (queue_.full()) {
    res_.counters.add(Count::drop_reply_full);
    return false;
  }
  Reply reply;
  reply.to = to;
  reply.ev = ev;
  reply.sdi = sdi;
  wire::Writer w(reply.octets);
  h.emit(w);
  reply.length = static_cast<uint8_t>(w.position());
  queue_.push(reply);
  return true;
}

void Replies::queue_nack(const wire::Nack& h, const FabricAddress& to, Entropy ev, uint32_t sdi) {
  const bool closes = h.nack_code == wire::NackCode::closing ||
                      h.nack_code == wire::NackCode::gtd_resp_unavail ||
                      h.nack_code == wire::NackCode::unexp_event;
  if (closes && !res_.config.fatal_nacks) {
    return res_.counters.add(Count::drop_nack_muted);  // [PDS 22]
  }
  if (!queue(h, to, ev, sdi)) return;
  res_.counters.add(Count::nacks_tx);
  res_.counters.add(nack_tx_count(h.nack_code));
}

void Replies::queue_ack(const wire::Ack& h, const FabricAddress& to, Entropy ev, uint32_t sdi) {
  if (!queue(h, to, ev, sdi)) return;
  res_.counters.add(Count::acks_tx);
  res_.counters.add(Count::ack_after_close);
}

bool Replies::take_nack_token(Peer& peer, Instant now) {
  const bool may = peer.nacks.take(res_.config.nacks_per_second_per_peer, now);
  if (!may) res_.counters.add(Count::drop_nack_limited);
  return may;
}

bool Replies::take_stranger_token(const FabricAddress& source, Instant now) {
  const bool may = strangers_.take(source, res_.config.nacks_per_second_no_pdc, now);
  if (!may) res_.counters.add(Count::drop_nack_limited);
  return may;
}

// [PDS-110, PDS-111]
void Replies::nack(Pdc& pdc, wire::NackCode code, const AckTrigger& trigger, uint32_t payload,
                   Instant now) {
  Peer& peer = res_.peers[pdc.peer];
  if (!take_nack_token(peer, now) || !proofs_.spend(pdc, wire::Nack::kSize)) return;
  wire::Nack h;
  h.nack_code = code;
  h.nack_psn = trigger.psn;
  h.m = trigger.ce;
  h.retx = trigger.retx;
  const bool no_id = code == wire::NackCode::no_bitmap;
  h.spdcid = no_id ? Pdcid{} : pdc.id;
  h.dpdcid = pdc.peer_id;
  h.payload = payload;
  queue_nack(h, peer.address, trigger.ev, pdc.sdi);
}

void Replies::nack(Pdc& pdc, wire::NackCode code, const AckTrigger& trigger, Instant now) {
  nack(pdc, code, trigger, pdc.nack_hint().value(), now);
}

FabricAddress Replies::reply_address(const Inbound& in) {
  PortHint hint = in.private_mark ? PortHint::marked : PortHint::standard;
  if (!in.syn) hint = PortHint::unstated;
  return pds::reply_address(*in.datagram, hint, res_.config.strict_ports, res_.peers);
}

void Replies::nack_stranger(const Inbound& in, wire::NackCode code, Instant now, Pdcid own) {
  if (!take_stranger_token(in.datagram->from, now)) return;
  wire::Nack h;
  h.nack_code = code;
  h.nack_psn = in.psn();
  h.m = in.trigger.ce;
  h.retx = in.trigger.retx;
  h.spdcid = own;
  h.dpdcid = in.spdcid;
  queue_nack(h, reply_address(in), in.trigger.ev, in.sdi());
}

}  // namespace uet::pds
