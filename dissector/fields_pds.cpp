// SPDX-License-Identifier: GPL-2.0-or-later
// The table of PDS fields.
#include "dissector/fields_pds.h"

#include "dissector/names.h"
#include "dissector/value_strings.h"

namespace uet::dissector::field::pds {

namespace {

constexpr int kNamed = BASE_DEC | BASE_EXT_STRING;
constexpr int kNamedHex = BASE_HEX | BASE_EXT_STRING;

void register_prologue() {
  static hf_register_info rows[] = {
      row(type, "Type", "uet.pds.type", FT_UINT16, kNamed, 0xF800, nullptr,
          strings_of<wire::PdsType>(5)),
      row(next_hdr, "Next header", "uet.pds.next_hdr", FT_UINT16, kNamed, 0x0780,
          "The SES header that follows", strings_of<wire::NextHeader>(4)),
      row(ctl_type, "Control type", "uet.pds.ctl_type", FT_UINT16, kNamed, 0x0780, nullptr,
          strings_of<wire::CtlType>(4)),
      row(flags, "Flags", "uet.pds.flags", FT_UINT16, BASE_HEX, 0x007F),
      row(retx, "Retransmission", "uet.pds.retx", FT_BOOLEAN, 16, 0x0010,
          "This packet, or the one it answers, is a retransmission"),
      row(ar, "ACK requested", "uet.pds.ar", FT_BOOLEAN, 16, 0x0008),
      row(syn, "SYN", "uet.pds.syn", FT_BOOLEAN, 16, 0x0004, "The PDC is not confirmed yet"),
      row(m, "Congestion mark", "uet.pds.m", FT_BOOLEAN, 16, 0x0020,
          "The packet answered arrived with ECN CE"),
      row(p, "Answers a probe", "uet.pds.p", FT_BOOLEAN, 16, 0x0008),
      row(req, "Request of the target", "uet.pds.req", FT_UINT16, kNamed, 0x0006, nullptr,
          strings_of<wire::AckRequest>(2)),
      row(nt, "NACK for RUDI", "uet.pds.nt", FT_BOOLEAN, 16, 0x0008),
      row(isrod, "ROD", "uet.pds.isrod", FT_BOOLEAN, 16, 0x0020,
          "The control packet is for a ROD PDC"),
      row(epsn, "Expected PSN present", "uet.pds.epsn", FT_BOOLEAN, 16, 0x0040),
      row(flags_rsvd_request, "Reserved", "uet.pds.flags.rsvd", FT_UINT16, BASE_HEX, 0x0063),
      row(flags_rsvd_rudi_request, "Reserved", "uet.pds.flags.rsvd", FT_UINT16, BASE_HEX, 0x006F),
      row(flags_rsvd_rudi_response, "Reserved", "uet.pds.flags.rsvd", FT_UINT16, BASE_HEX, 0x004F),
      row(flags_rsvd_uud, "Reserved", "uet.pds.flags.rsvd", FT_UINT16, BASE_HEX, 0x007F),
      row(flags_rsvd_ack, "Reserved", "uet.pds.flags.rsvd", FT_UINT16, BASE_HEX, 0x0001),
      row(flags_rsvd_ack_cc, "Reserved", "uet.pds.flags.rsvd", FT_UINT16, BASE_HEX, 0x0041),
      row(flags_rsvd_nack, "Reserved", "uet.pds.flags.rsvd", FT_UINT16, BASE_HEX, 0x0047),
      row(flags_rsvd_cp, "Reserved", "uet.pds.flags.rsvd", FT_UINT16, BASE_HEX, 0x0043),
  };
  register_rows(proto::pds, rows);
}

void register_requests() {
  static hf_register_info rows[] = {
      row(clear_psn_offset, "Clear PSN offset", "uet.pds.clear_psn_offset", FT_INT16, BASE_DEC, 0,
          "CLEAR_PSN less psn"),
      row(psn, "PSN", "uet.pds.psn", FT_UINT32, BASE_DEC, 0, "Packet sequence number"),
      row(spdcid, "SPDCID", "uet.pds.spdcid", FT_UINT16, BASE_DEC, 0, "PDC identifier, sender's"),
      row(dpdcid, "DPDCID", "uet.pds.dpdcid", FT_UINT16, BASE_DEC, 0, "PDC identifier, receiver's"),
      row(use_rsv_pdc, "Use reserved PDC", "uet.pds.use_rsv_pdc", FT_BOOLEAN, 16, 0x8000),
      row(private_mark, "Answer to the source port", "uet.pds.private_mark", FT_BOOLEAN, 16, 0x2000,
          "Private to this project: the answer goes to the source port with its low 4 bits clear"),
      row(pdc_info_rsvd, "Reserved", "uet.pds.pdc_info.rsvd", FT_UINT16, BASE_HEX, 0x5000),
      row(psn_offset, "PSN offset", "uet.pds.psn_offset", FT_UINT16, BASE_DEC, 0x0FFF,
          "psn less Start_PSN"),
      row(ccc_id, "CCC ID", "uet.pds.ccc_id", FT_UINT8, BASE_DEC, 0,
          "Congestion control context identifier"),
      row(credit_target, "Credit target", "uet.pds.credit_target", FT_UINT24, BASE_DEC, 0,
          "Credit that the source wants"),
      row(rsvd16, "Reserved", "uet.pds.rsvd", FT_UINT16, BASE_HEX),
      row(cp_rsvd16, "Reserved (not a probe)", "uet.pds.probe_opaque", FT_UINT16, BASE_DEC),
      row(rudi_private_mark, "Answer to the source port", "uet.pds.private_mark", FT_BOOLEAN, 16,
          0x2000, "Private to this project"),
      row(rudi_rsvd, "Reserved", "uet.pds.rsvd", FT_UINT16, BASE_HEX, 0xDFFF),
      row(pkt_id, "Packet ID", "uet.pds.pkt_id", FT_UINT32, BASE_DEC),
      row(payload, "Payload", "uet.pds.payload", FT_UINT32, BASE_DEC, 0,
          "PSN, credit or message ID; by ctl_type or NACK code"),
      row(negotiation, "Negotiation", "uet.pds.negotiation", FT_BYTES, BASE_NONE),
      row(clear_psn, "CLEAR_PSN", "uet.pds.clear_psn", FT_UINT32, BASE_DEC),
      row(start_psn, "Start_PSN", "uet.pds.start_psn", FT_UINT32, BASE_DEC),
  };
  register_rows(proto::pds, rows);
}

void register_answers() {
  static hf_register_info rows[] = {
      row(ack_psn_offset, "ACK PSN offset", "uet.pds.ack_psn_offset", FT_INT16, BASE_DEC, 0,
          "ACK_PSN less cack_psn"),
      row(probe_opaque, "Probe opaque value", "uet.pds.probe_opaque", FT_UINT16, BASE_DEC),
      row(cack_psn, "Cumulative ACK PSN", "uet.pds.cack_psn", FT_UINT32, BASE_DEC, 0,
          "This PSN and all before it are done"),
      row(cc_type, "CC type", "uet.pds.cc_type", FT_UINT8, kNamed, 0xF0, nullptr,
          strings_of<wire::CcType>(4)),
      row(ccx_type, "CCX type", "uet.pds.ccx_type", FT_UINT8, BASE_DEC, 0xF0),
      row(cc_flags, "CC flags (reserved)", "uet.pds.cc_flags", FT_UINT8, BASE_HEX, 0x0F),
      row(mpr, "Maximum PSN range", "uet.pds.mpr", FT_UINT8, BASE_DEC, 0, "Units of 128 PSNs"),
      row(sack_psn_offset, "SACK PSN offset", "uet.pds.sack_psn_offset", FT_INT16, BASE_DEC, 0,
          "SACK base less cack_psn"),
      row(sack_bitmap, "SACK bitmap", "uet.pds.sack_bitmap", FT_UINT64, BASE_HEX, 0,
          "The least significant bit is the base"),
      row(service_time, "Service time", "uet.pds.service_time", FT_UINT16, BASE_DEC, 0,
          "Time inside the receiver, in units of 128 ns"),
      row(rc, "Restore cwnd", "uet.pds.rc", FT_BOOLEAN, 8, 0x80),
      row(rcv_cwnd_pend, "Receiver window penalty", "uet.pds.rcv_cwnd_pend", FT_UINT8, BASE_DEC,
          0x7F),
      row(rcvd_bytes, "Received bytes", "uet.pds.rcvd_bytes", FT_UINT24, BASE_DEC, 0,
          "Units of 256 bytes; wraps"),
      row(ooo_count, "Out of order count", "uet.pds.ooo_count", FT_UINT16, BASE_DEC),
      row(credit, "Credit", "uet.pds.credit", FT_UINT24, BASE_DEC),
      row(credit_rsvd, "Reserved", "uet.pds.rsvd", FT_UINT24, BASE_HEX),
      row(ack_cc_state, "ACK CC state", "uet.pds.ack_cc_state", FT_UINT64, BASE_HEX),
      row(ack_ccx_state, "ACK CCX state", "uet.pds.ack_ccx_state", FT_BYTES, BASE_NONE),
      row(nack_code, "NACK code", "uet.pds.nack_code", FT_UINT8, kNamedHex, 0, nullptr,
          strings_of<wire::NackCode>(8)),
      row(vendor_code, "Vendor code", "uet.pds.vendor_code", FT_UINT8, BASE_DEC),
      row(nack_psn, "NACK PSN", "uet.pds.nack_psn", FT_UINT32, BASE_DEC),
      row(nack_pkt_id, "NACK packet ID", "uet.pds.nack_pkt_id", FT_UINT32, BASE_DEC),
      row(nccx_type, "NCCX type", "uet.pds.nccx_type", FT_UINT8, BASE_DEC, 0xF0),
      row(nack_ccx_state, "NACK CCX state (first 4 bits are nccx_type)", "uet.pds.nack_ccx_state",
          FT_BYTES, BASE_NONE),
      row(ack_psn, "ACK_PSN", "uet.pds.ack_psn", FT_UINT32, BASE_DEC, 0,
          "The packet that caused this ACK"),
      row(sack_base, "SACK base", "uet.pds.sack_base", FT_UINT32, BASE_DEC),
      row(mp_range, "MP_RANGE", "uet.pds.mp_range", FT_UINT32, BASE_DEC, 0, "Packets; mpr * 128"),
      row(service_time_ns, "Service time in ns", "uet.pds.service_time_ns", FT_UINT32, BASE_DEC),
  };
  register_rows(proto::pds, rows);
}

}  // namespace

void register_fields() {
  register_prologue();
  register_requests();
  register_answers();
}

}  // namespace uet::dissector::field::pds
