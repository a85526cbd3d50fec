// Datagrams in: parses each one and finds its PDC. [PDS 7.1]
#include "pds/demux.h"

namespace uet::pds {

namespace {
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
      lookup_.prefetch_pdc(at[kPdcAhead].bytes);
    }
    if (i + kRestAhead < datagrams.size() && begins_anew(at + kRestAhead)) {
      if (const Pdc* const pdc = lookup_.pdc_ahead(at[kRestAhead].bytes))
        lookup_.prefetch_rest(*pdc);
    }
    receive(datagrams[i], now);
  }
}

void Demux::receive(const RxDatagram& d, Instant now) {
  res_.counters.add(Count::rx_packets);
  if (const Inbound* const next = requests_.last().next(d)) {
    res_.counters.add(Count::rx_requests);
    return requests_.receive(*next, now);
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
      return answers_.on_ack(d, prologue->type, now);
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
  requests_.receive(requests_.last().set(h, d, r.rest(), res_.config.seal_of(d.sdi)), now);
}

void Demux::on_control(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  const auto h = wire::Control::parse(r);
  if (!h) return res_.counters.add(Count::drop_malformed);
  requests_.receive(Inbound::of(*h, d), now);
}

void Demux::on_nack(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  // NACK_CCX is read as a NACK: no receiver here understands its state.
  if (r.remaining() < wire::Nack::kSize) return res_.counters.add(Count::drop_malformed);
  const wire::Nack h = wire::Nack::read(r);
  if (h.nt) return connectionless_.on_nack(h, d, now);
  answers_.on_nack(d, h, now);
}

}  // namespace uet::pds
