// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers that Wireshark gives the fields of PDS.
#pragma once

#include "dissector/fields.h"

// [WIRE-036..057]
namespace uet::dissector::field::pds {

// Prologue.
inline int type = -1, next_hdr = -1, ctl_type = -1, flags = -1, retx = -1, ar = -1, syn = -1,
           m = -1, p = -1, req = -1, nt = -1, isrod = -1, epsn = -1, flags_rsvd_request = -1,
           flags_rsvd_rudi_request = -1, flags_rsvd_rudi_response = -1, flags_rsvd_uud = -1,
           flags_rsvd_ack = -1, flags_rsvd_ack_cc = -1, flags_rsvd_nack = -1, flags_rsvd_cp = -1;
// Requests and control packets.
inline int clear_psn_offset = -1, psn = -1, spdcid = -1, dpdcid = -1, use_rsv_pdc = -1,
           private_mark = -1, pdc_info_rsvd = -1, psn_offset = -1, ccc_id = -1, credit_target = -1,
           rsvd16 = -1, rudi_private_mark = -1, rudi_rsvd = -1, pkt_id = -1, payload = -1,
           cp_rsvd16 = -1, negotiation = -1;
// Acknowledgements.
inline int ack_psn_offset = -1, probe_opaque = -1, cack_psn = -1, cc_type = -1, cc_flags = -1,
           mpr = -1, sack_psn_offset = -1, sack_bitmap = -1, service_time = -1, rc = -1,
           rcv_cwnd_pend = -1, rcvd_bytes = -1, ooo_count = -1, credit = -1, credit_rsvd = -1,
           ack_cc_state = -1, ccx_type = -1, ack_ccx_state = -1;
// NACKs.
inline int nack_code = -1, vendor_code = -1, nack_psn = -1, nack_pkt_id = -1, nccx_type = -1,
           nack_ccx_state = -1;
// Meaning of fields in combination.
inline int clear_psn = -1, start_psn = -1, ack_psn = -1, sack_base = -1, mp_range = -1,
           service_time_ns = -1;

void register_fields();

}  // namespace uet::dissector::field::pds
