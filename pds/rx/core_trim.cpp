// Packets that a switch has cut: of a request the PDS header is left, and nothing proves it. They
// tell a source early what was lost; they open no PDC, move no window and never reach the client.
// [PDS 11, PDS-V2]
#include "pds/core.h"
#include "pds/door/origin.h"

#include "wire/pds.h"

namespace uet::pds {

using wire::NackCode;

namespace {
NackCode code_of(const RxDatagram& d, const Config& config) {
  return d.dscp == config.trimmed_lasthop_dscp ? NackCode::trimmed_lasthop : NackCode::trimmed;
}
}  // namespace

// Only the DSCP says that a packet was cut; lengths and checksums say nothing any more. [PDS-130]
void Core::on_trimmed(const RxDatagram& d, Instant now) {
  counters_.add(Count::trimmed_rx);
  const auto prologue = wire::Prologue::peek(wire::Reader(d.bytes));
  if (!prologue) return counters_.add(Count::drop_trimmed);
  if (wire::is_request(prologue->type)) return on_trimmed_request(d, now);
  if (wire::is_ack(prologue->type)) return on_trimmed_ack(d, now);
  if (const auto refusal = connectionless_.receive_trimmed(d, code_of(d, config_))) {
    return refuse(refusal, now);
  }
  counters_.add(Count::drop_trimmed);  // [PDS-135]
}

void Core::on_trimmed_request(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  const wire::PdsType type = wire::Prologue::of(wire::load_u16(r.peek(2))).type;
  const uint32_t size =
      wire::is_request_with_cc(type) ? wire::Request::kSizeCc : wire::Request::kSize;
  if (r.remaining() < size) return counters_.add(Count::drop_trimmed);
  const wire::Request h = wire::Request::read(r);
  if (wire::is_reserved(h.next_hdr) || h.spdcid == Pdcid{}) {
    return counters_.add(Count::drop_trimmed);
  }
  const Inbound in = Inbound::of(h, d, {});
  const NackCode code = code_of(d, config_);
  bool is_new = false;  // a secured SYN never gets here: it cannot be read
  Pdc* const pdc = in.syn ? find_trimmed_syn(in, is_new) : table_.find(in.dpdcid);
  if (is_new) return nack_stranger(in, code, now);  // no state for what proves nothing [PDS-132]
  const bool binds = pdc != nullptr && pdc->state() != PdcState::syn && pdc->mode == in.mode &&
                     pdc->peer_id == in.spdcid && pdc->state() != PdcState::pending &&
                     is_from(d, peers_[pdc->peer]);
  const bool closed = binds && pdc->life.close_received() && in.psn().after(pdc->close_psn);
  if (!binds || closed) return counters_.add(Count::drop_trimmed);

  const Arrival how = pdc->rx.classify(in.psn());  // [PDS-131]
  switch (how) {
    case Arrival::fresh:
      return nack(*pdc, code, in.trigger, now);
    case Arrival::dup_window:
    case Arrival::dup_below:
      return on_duplicate(*pdc, in, how, now);
    case Arrival::too_old:
    case Arrival::beyond_range:
      return counters_.add(Count::drop_trimmed);
  }
}

// The target of a trimmed SYN, or null; `is_new`: nobody is known by that key.
Pdc* Core::find_trimmed_syn(const Inbound& in, bool& is_new) {
  PeerId id;
  const FabricAddress from = reply_address(in);
  Pdc* const pdc = peers_.find(from, id) == nullptr ? nullptr : table_.find_peer(id, in.spdcid);
  is_new = pdc == nullptr;
  const bool is_same = pdc != nullptr && !pdc->is_initiator() && pdc->start_psn == in.start_psn;
  return is_same ? pdc : nullptr;
}

// The data of a response is gone: only its request brings it again, at most once per round trip.
// [PDS-134]
void Core::on_trimmed_ack(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  if (r.remaining() < wire::Ack::kSize) return counters_.add(Count::drop_trimmed);
  const wire::Prologue prologue = wire::Prologue::of(wire::load_u16(r.peek(2)));
  const bool has_data = prologue.next_hdr() == wire::NextHeader::response_data ||
                        prologue.next_hdr() == wire::NextHeader::response_data_small;
  if (!has_data) return counters_.add(Count::drop_trimmed);  // [PDS-135]
  const wire::Ack h = wire::Ack::read(r);
  Pdc* const pdc = table_.find(h.dpdcid);
  const bool binds = pdc != nullptr && pdc->state() != PdcState::syn && pdc->peer_id == h.spdcid &&
                     is_from(d, peers_[pdc->peer]);
  TxSlot* const slot = binds && !h.p ? pdc->tx.find(h.ack_psn()) : nullptr;
  const bool again = slot != nullptr && slot->kind == SlotKind::data && !slot->lost &&
                     slot->sent_for(d.at) >= pdc->rtt.smoothed();
  if (!again) return counters_.add(Count::drop_trimmed);
  if (slot->in_flight) {  // it arrived: no verdict on the path that it took
    slot->in_flight = false;
    pdc->path->ccc.on_forgotten(slot->bytes);
    wake_path(*pdc->path);
  }
  slot->sacked = false;
  mark_lost(*pdc, h.ack_psn(), *slot, cms::LossKind::inferred, Count::retx_trimmed_ack, now);
}

}  // namespace uet::pds
