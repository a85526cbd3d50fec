// Demultiplexing and turns of the modes without PDCs.
#include "pds/connectionless/connectionless.h"

#include "pds/door/origin.h"

#include <algorithm>

namespace uet::pds {

Result<void> Connectionless::create(Arena& arena) {
  UET_CHECK(rudi_.create(arena));
  return rudi_target_.create(arena);
}

Result<void> Connectionless::adopt(Flow& flow) {
  UET_ASSERT(!has_pdcs(flow.key.mode));
  return flow.key.mode == Mode::rudi ? rudi_.adopt(flow) : Result<void>();
}

void Connectionless::wake(Flow& flow) {
  if (flow.key.mode == Mode::rudi) return rudi_.wake(flow);
  uud_.wake(flow);
}

std::optional<Connectionless::Refusal> Connectionless::receive(const RxDatagram& d,
                                                               wire::PdsType type, Instant now) {
  if (type == wire::PdsType::rudi_request) return on_rudi_request(d, now);
  if (type == wire::PdsType::rudi_response) {
    rudi_.on_response(d, now);
  } else {
    on_uud(d, now);
  }
  return std::nullopt;
}

std::optional<Connectionless::Refusal> Connectionless::on_rudi_request(const RxDatagram& d,
                                                                       Instant now) {
  wire::Reader r(d.bytes);
  const auto h = wire::RudiRequest::parse(r);
  if (!h.ok() || !wire::is_request(h->next_hdr)) {  // [PDS-V4]
    with_.counters.add(Count::drop_malformed);
    return std::nullopt;
  }
  const FabricAddress from = answer_to(*h, d);
  const wire::NackCode code = rudi_target_.on_request(*h, d, r.rest(), from, now);
  if (code == wire::NackCode::none) return std::nullopt;
  return refusal(*h, code, d, from);
}

void Connectionless::on_uud(const RxDatagram& d, Instant now) {
  wire::Reader r(d.bytes);
  const auto h = wire::Uud::parse(r);
  if (!h.ok() || !wire::is_request(h->next_hdr)) return with_.counters.add(Count::drop_malformed);
  const FabricAddress from =
      reply_address(d, PortHint::unstated, with_.config.strict_ports, with_.peers);
  uud_.on_request(*h, d, r.rest(), from, now);
}

// The rest of a trimmed packet still carries its number. [PDS-207]
std::optional<Connectionless::Refusal> Connectionless::receive_trimmed(const RxDatagram& d,
                                                                       wire::NackCode code) const {
  wire::Reader r(d.bytes);
  const auto h = wire::RudiRequest::parse(r);
  if (!h.ok()) return std::nullopt;
  return refusal(*h, code, d, answer_to(*h, d));
}

FabricAddress Connectionless::answer_to(const wire::RudiRequest& h, const RxDatagram& d) const {
  const auto hint = h.private_mark ? PortHint::marked : PortHint::standard;
  return reply_address(d, hint, with_.config.strict_ports, with_.peers);
}

// Neither side has a PDC to name, and no PSN to hint at. [PDS-203, PDS-110, PDS-011]
Connectionless::Refusal Connectionless::refusal(const wire::RudiRequest& request,
                                                wire::NackCode code, const RxDatagram& d,
                                                const FabricAddress& to) {
  wire::Nack h;
  h.nt = true;
  h.nack_code = code;
  h.nack_pkt_id = request.pkt_id;
  h.m = d.ecn == Ecn::ce;
  h.retx = request.retx;
  return {h, to, d.ev, d.sdi};
}

// Answers before requests; each has a bounded turn.
void Connectionless::transmit(TxBatch& batch, Instant now) {
  if (!has_work()) return;
  rudi_target_.transmit(batch, now);
  rudi_.transmit(batch, now);
  uud_.transmit(batch, now);
}

void Connectionless::advance(Instant now) {
  rudi_.advance(now);
  uud_.advance(now);
}

Instant Connectionless::next_deadline() const {
  return std::min(rudi_.next_deadline(), uud_.next_deadline());
}

void Connectionless::abort(Instant now) {
  rudi_.abort(now);
  rudi_target_.abort(now);
  uud_.abort(now);
}

}  // namespace uet::pds
