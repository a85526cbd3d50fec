// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers that Wireshark gives the fields of the link layer.
#pragma once

#include "dissector/fields.h"

namespace uet::dissector {

namespace proto {
inline int link = -1;
}
namespace subtree {
inline int link = -1;
}

namespace field::link {

// Carriage and control ordered sets. [LINK-001, LINK-125..129]
inline int link_type = -1, link_version = -1, carrier_count = -1, frame_seq = -1, sw_fcs = -1,
           inner_ethertype = -1, ctlos_control = -1, ctlos_type = -1, ctlos_o_code = -1,
           ctlos_rsvd = -1, link_flags = -1, frame_mark = -1, frame_rsvd = -1, sw_fcs_status = -1,
           cc_vc = -1, mac_opcode = -1, options_rsvd = -1, options_end_rsvd = -1, per_vc_rsvd = -1,
           ack_nack_seq = -1, init_seq = -1, init_data = -1, cf_vc = -1, cf_count = -1, cc_cid = -1,
           cc_half = -1, cc_count = -1;
// TLVs. [LINK-141..144]
inline int tlv_subtype = -1, tlv_version = -1, tlv_octets = -1, llr_capable = -1, llr_wanted = -1,
           llr_tx_enabled = -1, llr_rx_enabled = -1, cbfc_capable = -1, cbfc_wanted = -1,
           cbfc_tx_enabled = -1, cbfc_rx_enabled = -1, llr_operational = -1, cbfc_operational = -1,
           ue_version = -1, epoch = -1, peer_epoch = -1, ack_interval_us = -1, per_vc = -1,
           credit_size = -1, packet_overhead = -1, credit_sizes = -1, operational_credit_size = -1,
           operational_overhead = -1, vcs_supported = -1, lossless_wanted = -1,
           lossless_operational = -1, total_credits = -1, limit_vc = -1, limit_credits = -1,
           classifier_set = -1, classifier_winner = -1, vc_of_pcp = -1, vc_of_dscp = -1;

inline const value_string kCtlOsTypes[] = {{1, "LLR_ACK"},      {2, "LLR_NACK"},
                                           {3, "LLR_INIT"},     {4, "LLR_INIT_ECHO"},
                                           {0x10, "CF_Update"}, {0, nullptr}};
inline const value_string kTlvSubtypes[] = {
    {0xF1, "link options"}, {0xF2, "CBFC"}, {0xF3, "VC map"}, {0, nullptr}};

void register_fields();

}  // namespace field::link

}  // namespace uet::dissector
