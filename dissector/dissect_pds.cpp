// SPDX-License-Identifier: GPL-2.0-or-later
// The PDS headers: requests, acknowledgements, NACKs, control packets and those without a PDC.
#include "dissector/dissect.h"
#include "dissector/fields_pds.h"
#include "dissector/layer.h"

#include "wire/pds_prologue.h"

#include <cstdarg>
#include <initializer_list>

namespace uet::dissector {

namespace {

using namespace field::pds;
using wire::NextHeader;
using wire::PdsType;

void line(const Layer& h, const char* format, ...) G_GNUC_PRINTF(2, 3);

// Appends to the line of the header and to the Info column.
void line(const Layer& h, const char* format, ...) {
  char text[160];
  va_list arguments;
  va_start(arguments, format);
  g_vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  proto_item_append_text(h.item, "%s", text);
  col_append_str(h.pinfo->cinfo, COL_INFO, text);
}

void line_flags(const Layer& h, const PdsFields& f) {
  if (f.syn) line(h, " syn");
  if (f.ar) line(h, " ar");
  if (f.retx) line(h, " retx");
  if (f.m) line(h, " m");
}

// The flags of a header: bits that mean something, then those reserved. [WIRE-037]
struct Flag {
  int* field;
  bool PdsFields::*into;
};

void flags_of(const Layer& h, PdsFields& f, std::initializer_list<Flag> bits, int rsvd) {
  proto_item* word = proto_tree_add_item(h.tree, flags, h.tvb, h.start, 2, ENC_BIG_ENDIAN);
  Layer inside = h;
  inside.tree = proto_item_add_subtree(word, subtree::flags);
  for (const Flag& bit : bits) f.*bit.into = inside.flag(*bit.field, 0, 2);
  inside.reserved(rsvd, 0, 2);
}

// The next header must be one that the type may carry. [WIRE-116]
void next_header_of(const Layer& h, PdsFields& f, bool may_request, bool may_response) {
  f.next_hdr = static_cast<uint8_t>(h.u32(next_hdr, 0, 2));
  const auto next = static_cast<NextHeader>(f.next_hdr);
  if (wire::is_reserved(next)) return h.broken(&expert::next_hdr_reserved);
  if (wire::is_request(next) && !may_request) h.broken(&expert::request_under_response_type);
  if (wire::is_response(next) && !may_response) h.broken(&expert::response_under_request_type);
}

void spdcid_of(const Layer& h, PdsFields& f, bool may_be_zero) {
  f.spdcid = static_cast<uint16_t>(h.u32(spdcid, 8, 2));
  if (f.spdcid == 0 && !may_be_zero) h.broken(&expert::spdcid_zero);
}

// The last 16 bits of requests and control packets, by syn. [WIRE-040, WIRE-056, WIRE-121]
void dpdcid_or_start(const Layer& h, PdsFields& f) {
  if (!f.syn) {
    f.dpdcid = static_cast<uint16_t>(h.u32(dpdcid, 10, 2));
    line(h, " psn=%u pdc=%u>%u", f.psn, f.spdcid, f.dpdcid);
    return;
  }
  h.flag(use_rsv_pdc, 10, 2);
  f.private_mark = h.flag(private_mark, 10, 2);
  h.reserved(pdc_info_rsvd, 10, 2);
  f.start_psn = f.psn - h.u32(psn_offset, 10, 2);
  h.derived(start_psn, f.start_psn);
  line(h, " psn=%u start=%u pdc=%u>new", f.psn, f.start_psn, f.spdcid);
}

// [WIRE-040, WIRE-041]
int request(const Layer& h, PdsFields& f) {
  next_header_of(h, f, true, true);  // return data travels in requests [PDS-012]
  if (static_cast<NextHeader>(f.next_hdr) == NextHeader::response) {
    h.broken(&expert::response_under_request_type);
  }
  flags_of(h, f, {{&retx, &PdsFields::retx}, {&ar, &PdsFields::ar}, {&syn, &PdsFields::syn}},
           flags_rsvd_request);
  const int32_t clear = h.i16(clear_psn_offset, 2);
  f.psn = h.u32(psn, 4, 4);
  f.clear_psn = f.psn + static_cast<uint32_t>(clear);
  h.derived(clear_psn, f.clear_psn);
  spdcid_of(h, f, false);
  line_flags(h, f);
  dpdcid_or_start(h, f);
  if (f.type == PdsType::rud_request || f.type == PdsType::rod_request) return 12;
  h.u32(ccc_id, 12, 1);
  h.u32(credit_target, 13, 3);
  return 16;
}

// Common fields of ACK, ACK_CC and ACK_CCX. [WIRE-045]
void ack_head(const Layer& h, PdsFields& f) {
  next_header_of(h, f, false, true);
  Layer bits = h;
  if (f.type == PdsType::ack) {
    flags_of(h, f,
             {{&epsn, &PdsFields::epsn},
              {&m, &PdsFields::m},
              {&retx, &PdsFields::retx},
              {&p, &PdsFields::probe}},
             flags_rsvd_ack);
  } else {
    flags_of(h, f, {{&m, &PdsFields::m}, {&retx, &PdsFields::retx}, {&p, &PdsFields::probe}},
             flags_rsvd_ack_cc);
  }
  f.req = static_cast<uint8_t>(bits.u32(req, 0, 2));
  int32_t offset = 0;
  uint32_t opaque = 0;
  if (f.probe) {
    opaque = h.u32(probe_opaque, 2, 2);
  } else {
    offset = h.i16(ack_psn_offset, 2);
  }
  f.cack_psn = h.u32(cack_psn, 4, 4);
  f.ack_psn = f.cack_psn + static_cast<uint32_t>(offset);
  if (!f.probe) h.derived(ack_psn, f.ack_psn);
  spdcid_of(h, f, false);
  f.dpdcid = static_cast<uint16_t>(h.u32(dpdcid, 10, 2));
  line_flags(h, f);
  line(h, " cack=%u", f.cack_psn);
  if (f.probe) {
    line(h, " probe=%u", opaque);
  } else {
    line(h, " ack=%u", f.ack_psn);
  }
  line(h, " pdc=%u>%u", f.spdcid, f.dpdcid);
  if (f.req != 0) line(h, " req=%s", wire::name(static_cast<wire::AckRequest>(f.req)));
}

// Octets 13 to 23 of ACK_CC and ACK_CCX. [WIRE-046, WIRE-049]
void sack_part(const Layer& h, PdsFields& f) {
  f.mpr = static_cast<uint8_t>(h.u32(mpr, 13, 1));
  h.derived(mp_range, f.mpr * 128U);
  const int32_t offset = h.i16(sack_psn_offset, 14);
  f.sack_base = f.cack_psn + static_cast<uint32_t>(offset);
  h.derived(sack_base, f.sack_base);
  f.sack_bitmap = h.u64(sack_bitmap, 16, 8);
  f.has_sack = true;
  line(h, " mpr=%u sack=%u:%016" G_GINT64_MODIFIER "x", f.mpr, f.sack_base, f.sack_bitmap);
}

// [WIRE-047, WIRE-048]
void congestion_state(const Layer& h) {
  const auto type = static_cast<wire::CcType>(h.u32(cc_type, 12, 1));
  h.u32(cc_flags, 12, 1);
  if (type == wire::CcType::nscc) {
    const uint32_t units = h.u32(service_time, 24, 2);
    if (units != 0 && units != 0xFFFF) h.derived(service_time_ns, units * 128);
    h.flag(rc, 26, 1);
    h.u32(rcv_cwnd_pend, 26, 1);
    h.u32(rcvd_bytes, 27, 3);
    h.u32(ooo_count, 30, 2);
  } else if (type == wire::CcType::credit) {
    h.u32(credit, 24, 3);
    h.reserved(credit_rsvd, 27, 3);
    h.u32(ooo_count, 30, 2);
  } else {
    h.u64(ack_cc_state, 24, 8);
    expert_add_info(h.pinfo, h.item, &expert::reserved_code);
  }
}

int ack(const Layer& h, PdsFields& f) {
  ack_head(h, f);
  if (f.type == PdsType::ack_cc) {
    sack_part(h, f);
    congestion_state(h);
    return 32;
  }
  if (f.type == PdsType::ack_ccx) {
    h.u32(ccx_type, 12, 1);
    h.u32(cc_flags, 12, 1);
    sack_part(h, f);
    h.bytes(ack_ccx_state, 24, 16);
    return 40;
  }
  if (!f.epsn) return 12;
  if (f.next_hdr != 0) {  // the flag means something on an ACK alone [WIRE-050]
    expert_add_info(h.pinfo, h.item, &expert::reserved_bits);
    return 12;
  }
  f.payload = h.u32(payload, 12, 4);
  return 16;
}

// [WIRE-052, WIRE-054]
int nack(const Layer& h, PdsFields& f) {
  h.u32(next_hdr, 0, 2);  // ignored [WIRE-053]
  flags_of(h, f, {{&m, &PdsFields::m}, {&retx, &PdsFields::retx}, {&nt, &PdsFields::nt}},
           flags_rsvd_nack);
  f.nack_code = static_cast<uint8_t>(h.u32(nack_code, 2, 1));
  h.u32(vendor_code, 3, 1);
  (f.nt ? f.pkt_id : f.psn) = h.u32(f.nt ? nack_pkt_id : nack_psn, 4, 4);
  spdcid_of(h, f, true);
  f.dpdcid = static_cast<uint16_t>(h.u32(dpdcid, 10, 2));
  f.payload = h.u32(payload, 12, 4);
  line_flags(h, f);
  line(h, " %s %s=%u pdc=%u>%u payload=%u", wire::name(static_cast<wire::NackCode>(f.nack_code)),
       f.nt ? "pkt_id" : "psn", f.nt ? f.pkt_id : f.psn, f.spdcid, f.dpdcid, f.payload);
  if (f.type == PdsType::nack) return 16;
  h.u32(nccx_type, 16, 1);
  h.bytes(nack_ccx_state, 16, 16);
  return 32;
}

// [WIRE-056, WIRE-057]
int control(const Layer& h, PdsFields& f) {
  f.ctl_type = static_cast<uint8_t>(h.u32(ctl_type, 0, 2));
  const auto type = static_cast<wire::CtlType>(f.ctl_type);
  flags_of(h, f,
           {{&isrod, &PdsFields::isrod},
            {&retx, &PdsFields::retx},
            {&ar, &PdsFields::ar},
            {&syn, &PdsFields::syn}},
           flags_rsvd_cp);
  if (type == wire::CtlType::probe) {
    h.u32(probe_opaque, 2, 2);
  } else {
    h.reserved(cp_rsvd16, 2, 2);
  }
  f.psn = h.u32(psn, 4, 4);
  spdcid_of(h, f, false);
  line(h, " %s", wire::name(type));
  line_flags(h, f);
  dpdcid_or_start(h, f);
  f.payload = h.u32(payload, 12, 4);
  if (type == wire::CtlType::credit) h.u32(credit, 12, 3);
  if (type == wire::CtlType::credit_req) {
    h.u32(ccc_id, 12, 1);
    h.u32(credit_target, 13, 3);
  }
  if (type > wire::CtlType::negotiation) {
    expert_add_info(h.pinfo, h.item, &expert::reserved_code);
  }
  constexpr int kNegotiationSurplus = 4;
  if (type == wire::CtlType::negotiation && h.remaining_after(16) == kNegotiationSurplus) {
    h.bytes(negotiation, 12, 8);
    return 20;
  }
  return 16;
}

// [WIRE-042]
int rudi(const Layer& h, PdsFields& f) {
  const bool is_request = f.type == PdsType::rudi_request;
  next_header_of(h, f, is_request, !is_request);
  if (is_request) {
    flags_of(h, f, {{&retx, &PdsFields::retx}}, flags_rsvd_rudi_request);
    f.private_mark = h.flag(rudi_private_mark, 2, 2);
    h.reserved(rudi_rsvd, 2, 2);
  } else {
    flags_of(h, f, {{&m, &PdsFields::m}, {&retx, &PdsFields::retx}}, flags_rsvd_rudi_response);
    h.reserved(rsvd16, 2, 2);
  }
  f.pkt_id = h.u32(pkt_id, 4, 4);
  line_flags(h, f);
  line(h, " pkt_id=%u", f.pkt_id);
  return 8;
}

// [WIRE-043]
int uud(const Layer& h, PdsFields& f) {
  next_header_of(h, f, true, false);
  flags_of(h, f, {}, flags_rsvd_uud);
  h.reserved(rsvd16, 2, 2);
  return 4;
}

int by_type(const Layer& h, PdsFields& f) {
  switch (f.type) {
    case PdsType::rud_request:
    case PdsType::rod_request:
    case PdsType::rud_cc_request:
    case PdsType::rod_cc_request:
      return request(h, f);
    case PdsType::ack:
    case PdsType::ack_cc:
    case PdsType::ack_ccx:
      return ack(h, f);
    case PdsType::nack:
    case PdsType::nack_ccx:
      return nack(h, f);
    case PdsType::control:
      return control(h, f);
    case PdsType::rudi_request:
    case PdsType::rudi_response:
      return rudi(h, f);
    case PdsType::uud_request:
      return uud(h, f);
    case PdsType::tss:
      h.broken(&expert::tss_inside_tss);
      return 0;
  }
  h.broken(&expert::pds_type_reserved);
  return 0;
}

}  // namespace

int dissect_pds(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, Packet& packet) {
  Layer h{tvb, pinfo, nullptr, nullptr, 0};
  h.item = proto_tree_add_item(tree, proto::pds, tvb, 0, -1, ENC_NA);
  h.tree = proto_item_add_subtree(h.item, subtree::pds);
  packet.pds_tree = h.tree;
  packet.pds_item = h.item;
  packet.pds.type = static_cast<PdsType>(h.u32(type, 0, 2));
  proto_item_append_text(h.item, ", %s", wire::name(packet.pds.type));
  col_append_str(pinfo->cinfo, COL_INFO, wire::name(packet.pds.type));
  const int size = by_type(h, packet.pds);
  packet.has_pds = size != 0;
  if (size != 0) proto_item_set_len(h.item, size);
  return size;
}

}  // namespace uet::dissector
