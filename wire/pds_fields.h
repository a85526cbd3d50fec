// The fields of the PDS, TSS and entropy headers, one list a header, in the order of the wire.
// A list calls the visitor once for each field: v(Field, value), where the value is the member of
// the header, of its own type; the visitor completes the Field or sets the member. Users call
// fields_of() and set_field() of fields.h.
#pragma once

#include "wire/field.h"
#include "wire/ip.h"
#include "wire/pds.h"
#include "wire/tss.h"

#include <concepts>
#include <type_traits>

namespace uet::wire {

// The header itself, or one that may only be read.
template <class H, class Header>
concept Holds = std::same_as<std::remove_const_t<H>, Header>;

// Visits the parts of a packed word, and packs them again if one of them was set.
template <class Parts, class Word, class Visit>
void visit_packed(Word& word, Visit visit) {
  Parts parts = Parts::unpack(word);
  const Parts before = parts;
  visit(parts);
  if constexpr (!std::is_const_v<Word>) {
    if (!(parts == before)) word = parts.pack();
  }
}

template <class V>
void visit_fields(const EntropyHeader& h, V& v) {
  v(number("entropy", 16), h.entropy);
}

template <class V>
void visit_fields(const TssHeader& h, V& v) {
  v(code<PdsType, 5>("type", Role::given), PdsType::tss);
  v(flag("sp"), h.sp);
  v(number("an", 1), h.an);
  v(number("sdi", 24), h.sdi);
  v(hex("ssi", 32).when(h.sp), h.ssi);
  v(number("epoch", 16), h.epoch());
  v(number("counter", 48), h.counter());
}

// The last 16 bits of requests and control packets, by syn.
template <class H, class V>
void visit_pdcids(H& h, V& v) {
  v(number("spdcid", 16), h.spdcid);
  v(number("dpdcid", 16).when(!h.syn), h.dpdcid);
  v(flag("use_rsv_pdc").when(h.syn), h.use_rsv_pdc);
  v(flag("private_mark").when(h.syn), h.private_mark);
  v(number("psn_offset", 12).when(h.syn), h.psn_offset);
  v(sum("start_psn").when(h.syn), h.start_psn());
}

template <Holds<Request> H, class V>
void visit_fields(H& h, V& v) {
  v(code<PdsType, 5>("type", Role::given), h.type);
  v(code<NextHeader, 4>("next_hdr", Role::given), h.next_hdr);
  v(flag("retx"), h.retx);
  v(flag("ar"), h.ar);
  v(flag("syn"), h.syn);
  v(number("clear_psn_offset", 16), h.clear_psn_offset);
  v(sum("clear_psn"), h.clear_psn());
  v(number("psn", 32), h.psn);
  visit_pdcids(h, v);
  v(number("ccc_id", 8).when(h.has_cc()), h.ccc_id);
  v(number("credit_target", 24).when(h.has_cc()), h.credit_target);
}

// Common fields of ACK, ACK_CC and ACK_CCX.
template <class H, class V>
void visit_ack(H& h, V& v) {
  v(code<PdsType, 5>("type", Role::given), h.type);
  v(code<NextHeader, 4>("next_hdr", Role::given), h.next_hdr);
  v(flag("m"), h.m);
  v(flag("retx"), h.retx);
  v(flag("p"), h.p);
  v(code<AckRequest, 2>("req"), h.req);
  v(number("probe_opaque", 16).when(h.p), h.probe_opaque);
  v(number("ack_psn_offset", 16).when(!h.p), h.ack_psn_offset);
  v(sum("ack_psn").when(!h.p), h.ack_psn());
  v(number("cack_psn", 32), h.cack_psn);
  v(number("spdcid", 16), h.spdcid);
  v(number("dpdcid", 16), h.dpdcid);
}

template <Holds<Ack> H, class V>
void visit_fields(H& h, V& v) {
  visit_ack(h, v);
  v(flag("epsn"), h.epsn);
  v(number("payload", 32).when(h.has_expected_psn()), h.expected_start_psn);
}

template <class H, class V>
void visit_sack(H& h, V& v) {
  visit_ack(h.ack, v);
  v(number("cc_flags", 4).rarely(), h.cc_flags);
  v(number("mpr", 8), h.mpr);
  v(number("sack_psn_offset", 16), h.sack_psn_offset);
  v(sum("sack_base"), h.sack_base());
  v(hex("sack_bitmap", 64), h.sack_bitmap);
}

template <Holds<AckCc> H, class V>
void visit_fields(H& h, V& v) {
  const bool nscc = h.cc_type == CcType::nscc;
  const bool credit = h.cc_type == CcType::credit;
  visit_sack(h, v);
  v(code<CcType, 4>("cc_type"), h.cc_type);
  v(hex("ack_cc_state", 64).when(!nscc && !credit), h.state);
  visit_packed<NsccState>(h.state, [&](auto& s) {
    v(number("service_time", 16).view().when(nscc), s.service_time);
    v(flag("rc").view().when(nscc), s.rc);
    v(number("rcv_cwnd_pend", 7).view().when(nscc), s.rcv_cwnd_pend);
    v(number("rcvd_bytes", 24).view().when(nscc), s.rcvd_bytes);
  });
  visit_packed<CreditState>(
      h.state, [&](auto& s) { v(number("credit", 24).view().when(credit), s.credit); });
  visit_packed<NsccState>(h.state, [&](auto& s) {
    v(number("ooo_count", 16).view().when(nscc || credit), s.ooo_count);
  });
}

template <Holds<AckCcx> H, class V>
void visit_fields(H& h, V& v) {
  visit_sack(h, v);
  v(number("ccx_type", 4), h.ccx_type);
  v(octets("ack_ccx_state", 128), h.state);
}

template <Holds<Nack> H, class V>
void visit_fields(H& h, V& v) {
  v(code<PdsType, 5>("type", Role::given), h.type);
  v(flag("m"), h.m);
  v(flag("retx"), h.retx);
  v(flag("nt"), h.nt);
  v(code<NackCode, 8>("nack_code"), h.nack_code);
  v(number("vendor_code", 8), h.vendor_code);
  v(number("nack_psn", 32).when(!h.nt), h.nack_psn);
  v(number("nack_pkt_id", 32).when(h.nt), h.nack_pkt_id);
  v(number("spdcid", 16), h.spdcid);
  v(number("dpdcid", 16), h.dpdcid);
  v(number("payload", 32), h.payload);
}

template <Holds<NackCcx> H, class V>
void visit_fields(H& h, V& v) {
  visit_fields(h.nack, v);
  v(number("nccx_type", 4), h.nccx_type);
  v(octets("nack_ccx_state", 124), h.state);  // the first 4 bits are nccx_type
}

// The payload of a CREDIT.
struct CreditPayload {
  uint32_t credit = 0;  // 24 bits

  static CreditPayload unpack(uint32_t payload) { return {unpack_credit(payload)}; }
  uint32_t pack() const { return pack_credit(credit); }
  bool operator==(const CreditPayload&) const = default;
};

template <Holds<Control> H, class V>
void visit_fields(H& h, V& v) {
  const bool asks = h.ctl_type == CtlType::credit_req;
  v(code<PdsType, 5>("type", Role::given), PdsType::control);
  v(code<CtlType, 4>("ctl_type"), h.ctl_type);
  v(flag("isrod"), h.isrod);
  v(flag("retx"), h.retx);
  v(flag("ar"), h.ar);
  v(flag("syn"), h.syn);
  v(number("probe_opaque", 16), h.probe_opaque);
  v(number("psn", 32), h.psn);
  visit_pdcids(h, v);
  v(number("payload", 32), h.payload);
  visit_packed<CreditPayload>(h.payload, [&](auto& p) {
    v(number("credit", 24).view().when(h.ctl_type == CtlType::credit), p.credit);
  });
  visit_packed<CreditRequest>(h.payload, [&](auto& p) {
    v(number("ccc_id", 8).view().when(asks), p.ccc_id);
    v(number("credit_target", 24).view().when(asks), p.credit_target);
  });
}

template <Holds<RudiRequest> H, class V>
void visit_fields(H& h, V& v) {
  v(code<PdsType, 5>("type", Role::given), PdsType::rudi_request);
  v(code<NextHeader, 4>("next_hdr", Role::given), h.next_hdr);
  v(flag("retx"), h.retx);
  v(flag("private_mark"), h.private_mark);
  v(number("pkt_id", 32), h.pkt_id);
}

template <Holds<RudiResponse> H, class V>
void visit_fields(H& h, V& v) {
  v(code<PdsType, 5>("type", Role::given), PdsType::rudi_response);
  v(code<NextHeader, 4>("next_hdr", Role::given), h.next_hdr);
  v(flag("m"), h.m);
  v(flag("retx"), h.retx);
  v(number("pkt_id", 32), h.pkt_id);
}

template <Holds<Uud> H, class V>
void visit_fields(H& h, V& v) {
  v(code<PdsType, 5>("type", Role::given), PdsType::uud_request);
  v(code<NextHeader, 4>("next_hdr", Role::given), h.next_hdr);
}

}  // namespace uet::wire
