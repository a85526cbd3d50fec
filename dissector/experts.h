// SPDX-License-Identifier: GPL-2.0-or-later
// What the plugin remarks on packets: broken rules of the format, and events of a conversation.
#pragma once

#include "dissector/compat.h"

namespace uet::dissector::expert {

// A receiver rejects the packet; named as the causes of wire/parse_error.h. [WIRE-116]
inline expert_field pds_type_reserved = EI_INIT;
inline expert_field tss_inside_tss = EI_INIT;
inline expert_field next_hdr_reserved = EI_INIT;
inline expert_field ses_version = EI_INIT;
inline expert_field response_opcode_mismatch = EI_INIT;
inline expert_field request_under_response_type = EI_INIT;
inline expert_field response_under_request_type = EI_INIT;
inline expert_field single_packet_som_eom = EI_INIT;
inline expert_field spdcid_zero = EI_INIT;
inline expert_field sum_check = EI_INIT;
inline expert_field payload_length_limit = EI_INIT;
inline expert_field crc = EI_INIT;
inline expert_field truncated = EI_INIT;

// A receiver takes the packet; a sender must not make it. [WIRE-117]
inline expert_field reserved_bits = EI_INIT;
inline expert_field reserved_code = EI_INIT;
inline expert_field surplus_bytes = EI_INIT;

inline expert_field trimmed = EI_INIT;

// Security. [TSS-027]
inline expert_field icv_good = EI_INIT;
inline expert_field icv_bad = EI_INIT;
inline expert_field icv_unverified = EI_INIT;
inline expert_field no_key = EI_INIT;
inline expert_field sealed_copy = EI_INIT;   // [TSS-071]
inline expert_field nonce_reused = EI_INIT;  // [TSS-043]
inline expert_field late_epoch = EI_INIT;    // [TSS-054]

// The link layer in software.
inline expert_field ctlos_format = EI_INIT;
inline expert_field cc_cid = EI_INIT;
inline expert_field link_version = EI_INIT;
inline expert_field frame_mark = EI_INIT;
inline expert_field carrier_count = EI_INIT;
inline expert_field llr_in_llr = EI_INIT;
inline expert_field sw_fcs_bad = EI_INIT;       // [LINK-026]
inline expert_field sw_fcs_poisoned = EI_INIT;  // [LINK-025]

// Events of a conversation.
inline expert_field pdc_opens = EI_INIT;
inline expert_field pdc_closes = EI_INIT;
inline expert_field first_unseen = EI_INIT;
inline expert_field resent_for_nack = EI_INIT;
inline expert_field resent_for_sack = EI_INIT;
inline expert_field timeout = EI_INIT;
inline expert_field duplicate = EI_INIT;
inline expert_field out_of_order = EI_INIT;
inline expert_field gap = EI_INIT;
inline expert_field mpr_violation = EI_INIT;
inline expert_field sack_missing = EI_INIT;
inline expert_field range_full = EI_INIT;
inline expert_field nack = EI_INIT;
inline expert_field target_error = EI_INIT;     // [WIRE-083]
inline expert_field initiator_error = EI_INIT;  // [WIRE-059]
inline expert_field deferred = EI_INIT;

// Registers all of them for the protocol.
void register_all(int protocol);

}  // namespace uet::dissector::expert
