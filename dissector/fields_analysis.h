// SPDX-License-Identifier: GPL-2.0-or-later
// The numbers that Wireshark gives the fields that follow from more than one packet.
#pragma once

#include "dissector/fields.h"

namespace uet::dissector::field::analysis {

inline int pdc = -1, way = -1, psn_rel = -1, opened_in = -1, closed_in = -1, initiator_pdcid = -1,
           target_pdcid = -1;
inline int retransmission = -1, duplicate = -1, out_of_order = -1, gap = -1, outstanding = -1,
           mpr_violation = -1, previous_frame = -1, since_previous = -1, cause = -1,
           cause_frame = -1;
inline int ack_frame = -1, answer_frame = -1, nack_frame = -1, request_frame = -1,
           response_time = -1, newly_done = -1, missing_psn = -1, missing_count = -1, offered = -1,
           range_full = -1;
inline int message = -1, message_frame = -1, ses_response_frame = -1, service_time = -1,
           ses_request_frame = -1, data_frame = -1, linked_frame = -1, linked_count = -1;
inline int fragments = -1, fragment = -1, overlap = -1, conflict = -1, tails = -1, too_long = -1,
           error = -1, count = -1, reassembled_in = -1, reassembled_length = -1,
           reassembled_data = -1;

void register_fields();

}  // namespace uet::dissector::field::analysis
