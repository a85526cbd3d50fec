// Datagrams in: parses each one and finds its PDC. [PDS 7.1]
#include "pds/demux.h"

#include "pds/door/origin.h"

#include "base/prefetch.h"

#include <algorithm>

namespace uet::pds {

using wire::NackCode;

namespace {
// All packet types that have a DPDCID have it at the same offset.
constexpr size_t kDpdcidAt = 10;
bool has_dpdcid(std::span<const std::byte> datagram) { return datagram.size() >= kDpdcidAt + 2; }
Pdcid dpdcid_of(std::span<const std::byte> datagram) {
  return Pdcid(wire::load_u16(datagram.data() + kDpdcidAt));
}
// It is for another PDC than the datagram before it, whose PDC is on its way to the cache. Packets
// of a burst have one PDC.
bool begins_anew(const RxDatagram* d) {
  const bool are_named = has_dpdcid(d[-1].bytes) && has_dpdcid(d->bytes);
  return !are_named || dpdcid_of(d[-1].bytes) != dpdcid_of(d->bytes);
}
}  // namespace

// With many PDCs the state of each is out of the cache by the time of its next packet. Two steps
// ahead, so that nothing waits: first the PDC, then what it points to.
void Demux::receive(std::span<const RxDatagram> datagrams, Instant now) {
  constexpr size_t kPdcAhead = 6;
  constexpr size_t kRestAhead = 3;
  for (size_t i = 0; i < datagrams.size(); ++i) {
    const RxDatagram* const at = &datagrams[i];
    if (i + kPdcAhead < datagrams.size() && begins_anew(at + kPdcAhead)) {
      prefetch_pdc(at[kPdcAhead].bytes);
    }
    if (i + kRestAhead < datagrams.size() && begins_anew(at + kRestAhead)) {
      if (const Pdc* const pdc = pdc_ahead(at[kRestAhead].bytes)) prefetch_rest(*pdc);
    }
    receive(datagrams[i], now);
  }
}

Pdc* Demux::pdc_ahead(std::span<const std::byte> datagram) const {
  return has_dpdcid(datagram) ? table_.find(dpdcid_of(datagram)) : nullptr;
}

void Demux::prefetch_id(std::span<const std::byte> datagram) const {
  if (has_dpdcid(datagram)) table_.prefetch_id(dpdcid_of(datagram));
}

void Demux::prefetch_pdc(std::span<const std::byte> datagram) const {
  prefetch(pdc_ahead(datagram), sizeof(Pdc));
}

void Demux::prefetch_rest(const Pdc& pdc) const {
  prefetch(pdc.context, Context::kHotBytes);
  prefetch(&res_.peers[pdc.peer], sizeof(Peer));
  pdc.tx.prefetch_slot(pdc.tx.base());
}

void Demux::receive(const RxDatagram& d, Instant now) {
  res_.counters.add(Count::rx_packets);
  if (const Inbound* const next = inbox_.last().next(d)) {
    res_.counters.add(Count::rx_requests);
    return on_inbound(*next, now);
  }
  if (d.bytes.size() < wire::Prologue::kSize) return res_.counters.add(Count::drop_too_short);
  if (res_.config.is_trimmed(d.dscp)) return trimmed_.receive(d, now);  // [PDS-V2]
  const auto prologue = wire::Prologue::peek(wire::Reader(d.bytes));
  if (!prologue) return res_.counters.add(Count::drop_type_reserved);

  switch (prologue->type) {
    case wire::PdsType::rud_request:
    case wire::PdsType::rod_request:
    case wire::PdsType::rud_cc_request:
    case wire::PdsType::rod_cc_request:
      return on_request(d, now);
    case wire::PdsType::ack:
    case wire::PdsType::ack_cc:
    case wire::PdsType::ack_ccx:
      return on_ack(d, prologue->type, now);
    case wire::PdsType::nack:
    case wire::PdsType::nack_ccx:
      return on_nack(d, now);
    case wire::PdsType::control:
      return on_control(d, now);
    case wire::PdsType::rudi_request:  // [PDS-V5]
    case wire::PdsType::rudi_response:
    case wire::PdsType::uud_request:
      return replies_.refuse(connectionless_.receive(d, prologue->type, now), now);
    case wire::PdsType::tss:
      return res_.counters.add(Count::drop_type_unsupported);
  }
}

void Demux::on_request(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  const wire::PdsType type = wire::Prologue::of(wire::load_u16(r.peek(2))).type;
  const uint32_t size =
      wire::is_request_with_cc(type) ? wire::Request::kSizeCc : wire::Request::kSize;
  if (r.remaining() < size) return res_.counters.add(Count::drop_malformed);
  const wire::Request h = wire::Request::read(r);
  // Return data carries response headers, so wire::Request::check() would refuse too much here.
  // [PDS-V4]
  if (wire::is_reserved(h.next_hdr) || h.spdcid == Pdcid{}) {
    return res_.counters.add(Count::drop_malformed);
  }
  if (h.next_hdr == wire::NextHeader::none && !h.syn) {
    return res_.counters.add(Count::drop_malformed);
  }
  res_.counters.add(Count::rx_requests);
  on_inbound(inbox_.last().set(h, d, r.rest(), res_.config.seal_of(d.sdi)), now);
}

void Demux::on_control(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  const auto h = wire::Control::parse(r);
  if (!h) return res_.counters.add(Count::drop_malformed);
  on_inbound(Inbound::of(*h, d), now);
}

void Demux::on_inbound(const Inbound& in, Instant now) {
  Pdc* const pdc = in.syn ? door_.look_up_syn(in, now) : look_up(in, now);
  if (pdc == nullptr) return;
  if (pdc->sdi != in.sdi()) return res_.counters.add(Count::drop_sdi);  // [PDS-V8]
  if (pdc->state() == PdcState::pending && !door_.leave_pending(*pdc, in, now)) return;
  idle_.heard(*pdc, now);
  Proofs::earn(*pdc, *in.datagram);
  if (pdc->is_unverified()) schedule_.want_send(*pdc);  // data that waited for octets
  const PdcHandle handle = pdc->handle;
  const Admission result = inbox_.admit(*pdc, in, now);
  send_refusal(*pdc, in.trigger, result, now);
  // Each packet may be the last one that a received Close has waited for. The PDC may be gone then.
  if (result.is_taken && pdc->life.close_received()) steps_.finish_received_close(*pdc, now);
  if (in.syn) door_.drop_if_unused(handle);
}

void Demux::send_refusal(Pdc& pdc, const AckTrigger& packet, const Admission& result, Instant now) {
  if (!result.is_refused()) return;
  replies_.nack(pdc, result.nack, packet, result.payload, now);
}

Pdc* Demux::look_up(const Inbound& in, Instant now) {
  Pdc* const pdc = table_.find(in.dpdcid);
  if (pdc == nullptr) {
    if (const Tombstone* const t = table_.find_tombstone(in.dpdcid)) {
      if (t->peer_id == in.spdcid && is_from(*in.datagram, res_.peers[t->peer])) {
        door_.answer_for_tombstone(*t, in, now);
        return nullptr;
      }
    }
    res_.counters.add(Count::drop_no_pdc);
    replies_.nack_stranger(in, wire::NackCode::inv_dpdcid, now);  // [PDS-I20, PDS-T4]
    return nullptr;
  }
  if (!is_from(*in.datagram, res_.peers[pdc->peer])) {
    res_.counters.add(Count::drop_bad_peer);
    refuse_binding(*pdc, in, now);
    return nullptr;
  }
  if (pdc->state() == PdcState::syn) {
    // A packet that overtook the first ACK: the peer sends return data again, and a control packet
    // gets a NACK. [PDS-042, PDS-162]
    res_.counters.add(Count::drop_syn_state);
    // The packet carries our PDCID, which shows that the peer receives our packets. A packet that
    // is not sealed like the PDC gets no answer. [PDS-252, TSS-078]
    if (in.is_control && in.ar && pdc->sdi == in.sdi()) {
      replies_.nack_stranger(in, wire::NackCode::unexp_event, now, pdc->id);
    }
    return nullptr;
  }
  if (pdc->peer_id != in.spdcid) {
    res_.counters.add(Count::drop_bad_pdcid);
    refuse_binding(*pdc, in, now);
    return nullptr;
  }
  return pdc;
}

// On a secured PDC an honest packet matches; one that does not match gets no answer. [PDS-V7,
// TSS-073]
void Demux::refuse_binding(const Pdc& pdc, const Inbound& in, Instant now) {
  if (pdc.sdi == 0) replies_.nack_stranger(in, wire::NackCode::pdc_hdr_mismatch, now);
}

// Finds the PDC of an ACK or a NACK, which must come from the peer of that PDC. Null: the packet is
// dropped without an answer. [PDS-V6, PDS-V7, PDS-073, PDS-115]
Pdc* Demux::look_up_answered(Pdcid dpdcid, Pdcid spdcid, bool is_nack, const RxDatagram& d) {
  Pdc* const pdc = table_.find(dpdcid);
  if (pdc == nullptr) {
    res_.counters.add(Count::drop_no_pdc);
    return nullptr;
  }
  if (!is_from(d, res_.peers[pdc->peer])) {
    res_.counters.add(Count::drop_bad_peer);
    return nullptr;
  }
  // Only the peer that we mean can seal for our domain. [PDS-V8, PDS-054]
  const bool believed = res_.config.plain_new_start_psn && is_nack && d.sdi == 0;
  if (pdc->sdi != d.sdi && !believed) {
    res_.counters.add(Count::drop_sdi);
    return nullptr;
  }
  const bool learns = pdc->state() == PdcState::syn;
  const bool matches = pdc->peer_id == spdcid || (is_nack && spdcid == Pdcid{});
  if (!learns && !matches) {
    res_.counters.add(Count::drop_bad_pdcid);
    return nullptr;
  }
  return pdc;
}

void Demux::on_ack(const RxDatagram& d, wire::PdsType type, Instant now) {
  wire::Reader r(d.bytes);
  wire::AckCc cc;
  bool has_cc = type != wire::PdsType::ack;
  if (type == wire::PdsType::ack) {
    const auto h = wire::Ack::parse(r);
    if (!h) return res_.counters.add(Count::drop_malformed);
    cc.ack = *h;
  } else if (type == wire::PdsType::ack_cc) {
    const auto h = wire::AckCc::parse(r);
    if (!h) return res_.counters.add(Count::drop_malformed);
    cc = *h;
  } else {
    const auto h = wire::AckCcx::parse(r);
    if (!h) return res_.counters.add(Count::drop_malformed);
    cc.ack = h->ack;
    cc.mpr = h->mpr;
    cc.sack_psn_offset = h->sack_psn_offset;
    cc.sack_bitmap = h->sack_bitmap;
  }
  Pdc* const pdc = look_up_answered(cc.ack.dpdcid, cc.ack.spdcid, false, d);
  if (pdc == nullptr) return;
  // In SYN we send no Probe, so this ACK answers nothing that we sent. [PDS-042]
  if (pdc->state() == PdcState::syn && cc.ack.p) return res_.counters.add(Count::drop_probe_answer);
  const AckEffect effect =
      ack_reader_.process_ack(*pdc, cc.ack, has_cc ? &cc : nullptr, r.rest(), d, now);
  // Without memory a SYN of the peer by that id is not known to be wrong, and opens a PDC.
  if (effect.is_established) (void)table_.bind_peer(*pdc);
  if (effect.is_closed) steps_.on_close_answered(*pdc, cc.ack, now);
}

void Demux::on_nack(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  // NACK_CCX is read as a NACK: no receiver here understands its state.
  if (r.remaining() < wire::Nack::kSize) return res_.counters.add(Count::drop_malformed);
  const wire::Nack h = wire::Nack::read(r);
  if (h.nt) return connectionless_.on_nack(h, d, now);
  Pdc* const pdc = look_up_answered(h.dpdcid, h.spdcid, true, d);
  if (pdc == nullptr) return;
  if (pdc->sdi != d.sdi && h.nack_code != NackCode::new_start_psn) {
    return res_.counters.add(Count::drop_sdi);
  }
  const auto again = nack_reader_.process_nack(*pdc, h, d, now);
  if (!again) return;
  send_refusal(*pdc, *again, inbox_.answer_again(*pdc, *again, Count::ack_duplicate, now), now);
}

}  // namespace uet::pds
