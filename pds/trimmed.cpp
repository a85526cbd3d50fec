// What a trimmed packet still says, by its type. [PDS 11]
#include "pds/trimmed.h"

#include "pds/door/origin.h"

namespace uet::pds {

using wire::NackCode;

namespace {
NackCode code_of(const RxDatagram& d, const Config& config) {
  return d.dscp == config.trimmed_lasthop_dscp ? NackCode::trimmed_lasthop : NackCode::trimmed;
}
}  // namespace

// Only the DSCP says that a packet was cut; lengths and checksums say nothing any more. [PDS-130]
void Trimmed::receive(const RxDatagram& d, Instant now) {
  res_.counters.add(Count::trimmed_rx);
  if ((d.sdi & wire::kUnverifiedSdi) != 0) return on_secured(d, now);
  const auto prologue = wire::Prologue::peek(wire::Reader(d.bytes));
  if (!prologue) return res_.counters.add(Count::drop_trimmed);
  if (wire::is_request(prologue->type)) return on_request(d, now);
  if (wire::is_ack(prologue->type)) return on_ack(d, now);
  if (const auto refusal = connectionless_.receive_trimmed(d, code_of(d, res_.config))) {
    return replies_.refuse(refusal, now);
  }
  res_.counters.add(Count::drop_trimmed);  // [PDS-135]
}

// The datagram has the prologue of a request. Nothing: its header is cut, too, or wrong.
std::optional<Inbound> Trimmed::read_header(const RxDatagram& d) const {
  wire::Reader r(d.bytes);
  const wire::PdsType type = wire::Prologue::of(wire::load_u16(r.peek(2))).type;
  const uint32_t size =
      wire::is_request_with_cc(type) ? wire::Request::kSizeCc : wire::Request::kSize;
  if (r.remaining() < size) return {};
  const wire::Request h = wire::Request::read(r);
  if (wire::is_reserved(h.next_hdr) || h.spdcid == Pdcid{}) return {};
  return Inbound::of(h, d, {}, res_.config.seal_of(d.sdi));
}

bool Trimmed::binds(const Pdc* pdc, const Inbound& in) const {
  const bool binds = pdc != nullptr && pdc->state() != PdcState::syn && pdc->mode == in.mode &&
                     pdc->peer_id == in.spdcid && pdc->state() != PdcState::pending &&
                     is_from(*in.datagram, res_.peers[pdc->peer]);
  return binds && !(pdc->life.close_received() && in.psn().after(pdc->end.psn()));
}

void Trimmed::on_request(const RxDatagram& d, Instant now) {
  const std::optional<Inbound> read = read_header(d);
  if (!read) return res_.counters.add(Count::drop_trimmed);
  const Inbound& in = *read;
  const NackCode code = code_of(d, res_.config);
  bool is_new = false;
  Pdc* const pdc = in.syn ? find_syn(in, is_new) : table_.find(in.dpdcid);
  if (is_new) {
    return replies_.nack_stranger(in, code, now);  // no state for what proves nothing [PDS-132]
  }
  if (!binds(pdc, in)) return res_.counters.add(Count::drop_trimmed);

  const Arrival how = pdc->rx.classify(in.psn());  // [PDS-131]
  // A trimmed packet is not authenticated: demands of a secured PDC in it are not trusted.
  // [CMS-167]
  const bool asks = in.has_cc && pdc->sdi == 0;
  if (asks && destination_.on_demand(*pdc, in.credit, cms::AskedBy::packet, now)) {
    const bool is_last_hop = code == NackCode::trimmed_lasthop;
    destination_.on_received(*pdc, in,
                             {.trimmed = !is_last_hop,
                              .trimmed_lasthop = is_last_hop,
                              .duplicate = how != Arrival::fresh});
  }
  switch (how) {
    case Arrival::fresh:
      return replies_.nack(*pdc, code, in.trigger, now);
    case Arrival::dup_window:
    case Arrival::dup_below:
      return answer_again(*pdc, in, how, now);
    case Arrival::too_old:
    case Arrival::beyond_range:
      return res_.counters.add(Count::drop_trimmed);
  }
}

// The header was decrypted and could not be verified. It may report that a PSN of an open PDC was
// lost, and has no other effect. [TSS-081, PDS-132]
void Trimmed::on_secured(const RxDatagram& datagram, Instant now) {
  RxDatagram d = datagram;
  d.sdi &= ~wire::kUnverifiedSdi;
  const auto prologue = wire::Prologue::peek(wire::Reader(d.bytes));
  const bool is_request = prologue.ok() && wire::is_request(prologue->type);
  const std::optional<Inbound> in = is_request ? read_header(d) : std::nullopt;
  if (!in) return res_.counters.add(Count::drop_trimmed);
  bool is_new = false;
  Pdc* const pdc = in->syn ? find_syn(*in, is_new) : table_.find(in->dpdcid);
  const bool is_missing =
      binds(pdc, *in) && pdc->sdi == d.sdi && pdc->rx.classify(in->psn()) == Arrival::fresh;
  if (!is_missing) return res_.counters.add(Count::drop_trimmed);
  if (!nacks_.take(pdc->id, pdc->peer.value(), in->psn(), pdc->rtt.smoothed(), now)) {
    return res_.counters.add(Count::drop_nack_limited);
  }
  replies_.nack(*pdc, code_of(d, res_.config), in->trigger, now);
}

// The target PDC of a trimmed SYN, or null; `is_new`: no PDC has that key.
Pdc* Trimmed::find_syn(const Inbound& in, bool& is_new) {
  PeerId id;
  const FabricAddress from = replies_.reply_address(in);
  Pdc* const pdc = res_.peers.find(from, id) == nullptr ? nullptr : table_.find_peer(id, in.spdcid);
  is_new = pdc == nullptr;
  const bool is_same = pdc != nullptr && !pdc->is_initiator() && pdc->start.psn() == in.start_psn;
  return is_same ? pdc : nullptr;
}

// The data of a response is gone: only its request brings it again, at most once per round trip.
// [PDS-134]
void Trimmed::on_ack(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  if (r.remaining() < wire::Ack::kSize) return res_.counters.add(Count::drop_trimmed);
  const wire::Prologue prologue = wire::Prologue::of(wire::load_u16(r.peek(2)));
  const bool has_data = prologue.next_hdr() == wire::NextHeader::response_data ||
                        prologue.next_hdr() == wire::NextHeader::response_data_small;
  if (!has_data) return res_.counters.add(Count::drop_trimmed);  // [PDS-135]
  const wire::Ack h = wire::Ack::read(r);
  Pdc* const pdc = table_.find(h.dpdcid);
  const bool binds = pdc != nullptr && pdc->state() != PdcState::syn && pdc->peer_id == h.spdcid &&
                     is_from(d, res_.peers[pdc->peer]);
  TxSlot* const slot = binds && !h.p ? pdc->tx.find(h.ack_psn()) : nullptr;
  const bool again = slot != nullptr && slot->kind == SlotKind::data && !slot->state.is_lost() &&
                     slot->sent_for(d.at) >= pdc->rtt.smoothed();
  if (!again) return res_.counters.add(Count::drop_trimmed);
  loss_.forget(*pdc, *slot);  // it arrived: no verdict on the path that it took
  slot->state.unarrive();
  loss_.mark_lost(*pdc, h.ack_psn(), *slot, cms::LossKind::inferred, Count::retx_trimmed_ack, now);
}

// Its answer may have been lost, or it is refused again. [PDS-131]
void Trimmed::answer_again(Pdc& pdc, const Inbound& in, Arrival how, Instant now) {
  const Admission result = inbox_.on_trimmed_duplicate(pdc, in, how, now);
  if (result.is_refused()) replies_.nack(pdc, result.nack, in.trigger, result.payload, now);
}

}  // namespace uet::pds
