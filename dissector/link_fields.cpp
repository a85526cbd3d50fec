// SPDX-License-Identifier: GPL-2.0-or-later
// The table of link layer fields.
#include "dissector/link_fields.h"

#include "dissector/names.h"

namespace uet::dissector::field::link {

namespace {

const value_string kCarried[] = {
    {1, "LLR frame"}, {2, "control ordered sets"}, {3, "CC_Update"}, {0, nullptr}};
const value_string kFcs[] = {
    {0, "BAD"}, {1, "GOOD"}, {2, "POISONED"}, {3, "unverified"}, {0, nullptr}};
const value_string kHalves[] = {{1, "VC 0-15"}, {2, "VC 16-31"}, {0, nullptr}};
const value_string kClassifiers[] = {{1, "pcp_dei"},       {2, "dscp4"},         {3, "dscp6"},
                                     {4, "pcp_dei+dscp4"}, {5, "pcp_dei+dscp6"}, {0, nullptr}};
const value_string kWinners[] = {{1, "pcp_dei"}, {2, "dscp"}, {0, nullptr}};

void register_carriage() {
  static hf_register_info rows[] = {
      row(link_type, "Type", "uet.link.type", FT_UINT8, BASE_DEC, 0, nullptr, VALS(kCarried)),
      row(link_version, "Version", "uet.link.version", FT_UINT8, BASE_DEC, 0xF0),
      row(link_flags, "Flags (reserved)", "uet.link.flags", FT_UINT8, BASE_HEX, 0x0F),
      row(carrier_count, "Ordered sets", "uet.link.count", FT_UINT8, BASE_DEC, 0x0F),
      row(frame_mark, "Mark of an LLR frame", "uet.link.frame_mark", FT_UINT32, BASE_HEX,
          0xF0000000),
      row(frame_rsvd, "Reserved", "uet.link.rsvd", FT_UINT32, BASE_HEX, 0x0FF00000),
      row(frame_seq, "LLR frame sequence", "uet.link.frame_seq", FT_UINT32, BASE_DEC, 0xFFFFF),
      row(sw_fcs, "FCS in software", "uet.link.sw_fcs", FT_UINT32, BASE_HEX, 0,
          "Of the frame without the shim"),
      row(sw_fcs_status, "FCS status", "uet.link.sw_fcs.status", FT_UINT32, BASE_DEC, 0, nullptr,
          VALS(kFcs)),
      row(inner_ethertype, "EtherType", "uet.link.ethertype", FT_UINT16, BASE_HEX),
      row(ctlos_control, "Control character", "uet.link.ctlos.control", FT_UINT8, BASE_HEX),
      row(ctlos_type, "Type", "uet.link.ctlos.type", FT_UINT8, BASE_HEX, 0, nullptr,
          VALS(kCtlOsTypes)),
      row(ctlos_o_code, "O-code", "uet.link.ctlos.o_code", FT_UINT8, BASE_HEX, 0x0F),
      row(ctlos_rsvd, "Reserved", "uet.link.rsvd", FT_UINT24, BASE_HEX),
      row(ack_nack_seq, "Last good sequence", "uet.link.ack_nack_seq", FT_UINT24, BASE_DEC),
      row(init_seq, "First sequence", "uet.link.init_seq", FT_UINT24, BASE_DEC),
      row(init_data, "Init data", "uet.link.init_data", FT_UINT16, BASE_HEX),
      row(cf_vc, "VC", "uet.link.cf.vc", FT_UINT24, BASE_DEC),
      row(cf_count, "Credits freed", "uet.link.cf.count", FT_UINT24, BASE_DEC, 0,
          "The low 15 bits of the counter"),
      row(mac_opcode, "MAC Control opcode", "uet.link.mac.opcode", FT_UINT16, BASE_HEX, 0,
          "EXTENSION"),
      row(cc_cid, "CID", "uet.link.cc.cid", FT_UINT24, BASE_HEX),
      row(cc_half, "VCs", "uet.link.cc.half", FT_UINT8, BASE_DEC, 0, nullptr, VALS(kHalves)),
      row(cc_vc, "VC", "uet.link.cc.vc", FT_UINT24, BASE_DEC, 0, "Of the counter behind it"),
      row(cc_count, "Credits consumed", "uet.link.cc.count", FT_UINT24, BASE_DEC),
  };
  register_rows(proto::link, rows);
}

void register_tlvs() {
  static hf_register_info rows[] = {
      row(tlv_subtype, "Subtype", "uet.link.tlv", FT_UINT8, BASE_HEX, 0, nullptr,
          VALS(kTlvSubtypes)),
      row(tlv_version, "Version", "uet.link.tlv.version", FT_UINT8, BASE_DEC),
      row(tlv_octets, "Octets", "uet.link.tlv.octets", FT_BYTES, BASE_NONE),
      row(llr_capable, "LLR capable", "uet.link.llr.capable", FT_BOOLEAN, 8, 0x80),
      row(llr_wanted, "LLR wanted", "uet.link.llr.wanted", FT_BOOLEAN, 8, 0x40),
      row(llr_tx_enabled, "LLR transmitter on", "uet.link.llr.tx_enabled", FT_BOOLEAN, 8, 0x20),
      row(llr_rx_enabled, "LLR receiver on", "uet.link.llr.rx_enabled", FT_BOOLEAN, 8, 0x10),
      row(cbfc_capable, "CBFC capable", "uet.link.cbfc.capable", FT_BOOLEAN, 8, 0x08),
      row(cbfc_wanted, "CBFC wanted", "uet.link.cbfc.wanted", FT_BOOLEAN, 8, 0x04),
      row(cbfc_tx_enabled, "CBFC sender on", "uet.link.cbfc.tx_enabled", FT_BOOLEAN, 8, 0x02),
      row(cbfc_rx_enabled, "CBFC receiver on", "uet.link.cbfc.rx_enabled", FT_BOOLEAN, 8, 0x01),
      row(llr_operational, "LLR runs", "uet.link.llr.operational", FT_BOOLEAN, 8, 0x80),
      row(cbfc_operational, "CBFC runs", "uet.link.cbfc.operational", FT_BOOLEAN, 8, 0x40),
      row(options_rsvd, "Reserved", "uet.link.rsvd", FT_UINT8, BASE_HEX, 0x3F),
      row(options_end_rsvd, "Reserved", "uet.link.rsvd", FT_UINT16, BASE_HEX),
      row(ue_version, "UE version", "uet.link.ue_version", FT_UINT8, BASE_HEX),
      row(epoch, "Epoch", "uet.link.epoch", FT_UINT16, BASE_DEC),
      row(peer_epoch, "Peer's epoch processed", "uet.link.peer_epoch", FT_UINT16, BASE_DEC),
      row(ack_interval_us, "ACK interval in us", "uet.link.ack_interval_us", FT_UINT16, BASE_DEC),
      row(per_vc, "Limits per VC", "uet.link.cbfc.per_vc", FT_BOOLEAN, 8, 0x80),
      row(per_vc_rsvd, "Reserved", "uet.link.rsvd", FT_UINT8, BASE_HEX, 0x7F),
      row(credit_size, "Credit size", "uet.link.cbfc.credit_size", FT_UINT16, BASE_DEC),
      row(packet_overhead, "Packet overhead", "uet.link.cbfc.packet_overhead", FT_INT8, BASE_DEC),
      row(credit_sizes, "Credit sizes supported", "uet.link.cbfc.credit_sizes", FT_UINT8, BASE_HEX,
          0, "Bit 0 is 32 octets, bit 6 2048"),
      row(operational_credit_size, "Credit size in use", "uet.link.cbfc.operational_credit_size",
          FT_UINT16, BASE_DEC),
      row(operational_overhead, "Packet overhead in use", "uet.link.cbfc.operational_overhead",
          FT_INT8, BASE_DEC),
      row(vcs_supported, "VCs supported", "uet.link.cbfc.vcs", FT_UINT8, BASE_DEC),
      row(lossless_wanted, "Lossless VCs wanted", "uet.link.cbfc.lossless_wanted", FT_UINT32,
          BASE_HEX),
      row(lossless_operational, "Lossless VCs in use", "uet.link.cbfc.lossless_operational",
          FT_UINT32, BASE_HEX),
      row(total_credits, "Credits in all", "uet.link.cbfc.total_credits", FT_UINT32, BASE_DEC),
      row(limit_vc, "VC", "uet.link.cbfc.limit_vc", FT_UINT8, BASE_DEC),
      row(limit_credits, "Limit", "uet.link.cbfc.limit", FT_UINT24, BASE_DEC),
      row(classifier_set, "Classifier", "uet.link.vc_map.classifier", FT_UINT8, BASE_DEC, 0xF0,
          nullptr, VALS(kClassifiers)),
      row(classifier_winner, "Wins", "uet.link.vc_map.winner", FT_UINT8, BASE_DEC, 0x0F, nullptr,
          VALS(kWinners)),
      row(vc_of_pcp, "VC by DEI and PCP", "uet.link.vc_map.pcp", FT_BYTES, BASE_NONE),
      row(vc_of_dscp, "VC by DSCP", "uet.link.vc_map.dscp", FT_BYTES, BASE_NONE),
  };
  register_rows(proto::link, rows);
}

}  // namespace

void register_fields() {
  register_carriage();
  register_tlvs();
}

}  // namespace uet::dissector::field::link
