// SPDX-License-Identifier: GPL-2.0-or-later
// The table of fields that follow from more than one packet.
#include "dissector/fields_analysis.h"

#include "dissector/names.h"
#include "dissector/pdc.h"

namespace uet::dissector::field::analysis {

namespace {

const value_string kWays[] = {{0, "initiator to target"}, {1, "target to initiator"}, {0, nullptr}};
const value_string kCauses[] = {{static_cast<uint32_t>(Cause::none), "none"},
                                {static_cast<uint32_t>(Cause::nack), "NACK"},
                                {static_cast<uint32_t>(Cause::sack), "missing in a SACK"},
                                {static_cast<uint32_t>(Cause::timeout), "time-out"},
                                {0, nullptr}};

hf_register_info frame(int& id, const char* name, const char* filter, ft_framenum_type_t type,
                       const char* text) {
  return row(id, name, filter, FT_FRAMENUM, BASE_NONE, 0, text, FRAMENUM_TYPE(type));
}

void register_pds() {
  static hf_register_info rows[] = {
      row(pdc, "PDC", "uet.pds.pdc", FT_UINT32, BASE_DEC, 0, "Number of the PDC in this capture"),
      row(way, "Direction", "uet.pds.analysis.direction", FT_UINT8, BASE_DEC, 0, nullptr,
          VALS(kWays)),
      row(initiator_pdcid, "PDCID of the initiator", "uet.pds.analysis.initiator_pdcid", FT_UINT16,
          BASE_DEC),
      row(target_pdcid, "PDCID of the target", "uet.pds.analysis.target_pdcid", FT_UINT16,
          BASE_DEC),
      frame(opened_in, "PDC opened in", "uet.pds.analysis.opened_in", FT_FRAMENUM_NONE,
            "The first packet of the PDC in this capture"),
      frame(closed_in, "PDC closed in", "uet.pds.analysis.closed_in", FT_FRAMENUM_NONE,
            "The ACK of the close"),
      row(psn_rel, "PSN from the start", "uet.pds.analysis.psn_rel", FT_UINT32, BASE_DEC, 0,
          "psn less Start_PSN, when the SYN is in the capture"),
      row(retransmission, "Retransmission", "uet.pds.analysis.retransmission", FT_BOOLEAN,
          BASE_NONE),
      row(duplicate, "Duplicate", "uet.pds.analysis.duplicate", FT_BOOLEAN, BASE_NONE, 0,
          "Seen before, and not marked as a retransmission"),
      row(out_of_order, "Out of order", "uet.pds.analysis.out_of_order", FT_BOOLEAN, BASE_NONE),
      row(gap, "PSNs skipped", "uet.pds.analysis.gap", FT_UINT32, BASE_DEC, 0,
          "PSNs before this one that the capture does not have so far"),
      row(outstanding, "Outstanding PSNs", "uet.pds.analysis.outstanding", FT_UINT32, BASE_DEC, 0,
          "From the cumulative ACK to the highest PSN sent"),
      row(offered, "Offered by the receiver", "uet.pds.analysis.offered", FT_UINT32, BASE_DEC, 0,
          "PSNs behind the cumulative ACK that it takes, by its last mpr; 1024 until it says one"),
      row(range_full, "Range is used up", "uet.pds.analysis.range_full", FT_BOOLEAN, BASE_NONE),
      row(mpr_violation, "Beyond the receiver's range", "uet.pds.analysis.mpr_violation",
          FT_BOOLEAN, BASE_NONE),
      frame(previous_frame, "Sent before in", "uet.pds.analysis.previous_frame",
            FT_FRAMENUM_RETRANS_PREV, nullptr),
      row(since_previous, "Time since it was sent before", "uet.pds.analysis.since_previous",
          FT_RELATIVE_TIME, BASE_NONE),
      row(cause, "Sent again because of", "uet.pds.analysis.cause", FT_UINT8, BASE_DEC, 0, nullptr,
          VALS(kCauses)),
      frame(cause_frame, "Asked for in", "uet.pds.analysis.cause_frame", FT_FRAMENUM_NONE,
            "The NACK or SACK that the retransmission answers"),
      frame(ack_frame, "Acknowledged in", "uet.pds.analysis.ack_frame", FT_FRAMENUM_ACK,
            "The first ACK that covers this PSN"),
      frame(answer_frame, "Answered in", "uet.pds.analysis.answer_frame", FT_FRAMENUM_RESPONSE,
            "The first packet that names this PSN or packet ID"),
      frame(nack_frame, "Refused in", "uet.pds.analysis.nack_frame", FT_FRAMENUM_RESPONSE,
            "The last NACK of this PSN or packet ID"),
      frame(request_frame, "Answers frame", "uet.pds.analysis.request_frame", FT_FRAMENUM_REQUEST,
            nullptr),
      row(response_time, "Response time", "uet.pds.analysis.response_time", FT_RELATIVE_TIME,
          BASE_NONE),
      row(newly_done, "PSNs newly acknowledged", "uet.pds.analysis.newly_done", FT_UINT32,
          BASE_DEC),
      row(missing_psn, "Missing PSN", "uet.pds.analysis.missing_psn", FT_UINT32, BASE_DEC, 0,
          "Not received, though a later one was"),
      row(missing_count, "Missing PSNs", "uet.pds.analysis.missing_count", FT_UINT32, BASE_DEC),
  };
  register_rows(proto::pds, rows);
}

void register_ses() {
  static hf_register_info rows[] = {
      row(message, "Message", "uet.ses.message", FT_UINT32, BASE_DEC, 0,
          "Number of the message in this capture"),
      frame(message_frame, "Message begins in", "uet.ses.analysis.message_frame", FT_FRAMENUM_NONE,
            nullptr),
      frame(ses_response_frame, "Response in", "uet.ses.analysis.response_frame",
            FT_FRAMENUM_RESPONSE, "The last response to the message"),
      row(service_time, "Service time", "uet.ses.analysis.service_time", FT_RELATIVE_TIME,
          BASE_NONE, 0, "From the first packet of the message to its last response"),
      frame(ses_request_frame, "Responds to the message of", "uet.ses.analysis.request_frame",
            FT_FRAMENUM_REQUEST, nullptr),
      frame(data_frame, "Last data in", "uet.ses.analysis.data_frame", FT_FRAMENUM_NONE,
            "The last packet with data of this read"),
      frame(linked_frame, "Belongs to", "uet.ses.analysis.linked_frame", FT_FRAMENUM_NONE,
            "Rendezvous and its first read, deferrable send and its restart"),
      row(linked_count, "Messages that follow from it", "uet.ses.analysis.linked_count", FT_UINT32,
          BASE_DEC, 0, "When more than one: reads of a rendezvous"),
  };
  register_rows(proto::ses, rows);
}

void register_fragments() {
  static hf_register_info rows[] = {
      row(fragments, "Packets of the message", "uet.ses.fragments", FT_NONE, BASE_NONE),
      frame(fragment, "Packet", "uet.ses.fragment", FT_FRAMENUM_NONE, nullptr),
      row(overlap, "Overlap", "uet.ses.fragment.overlap", FT_BOOLEAN, BASE_NONE),
      row(conflict, "Overlap with other data", "uet.ses.fragment.overlap.conflict", FT_BOOLEAN,
          BASE_NONE),
      row(tails, "Several ends", "uet.ses.fragment.multiple_tails", FT_BOOLEAN, BASE_NONE),
      row(too_long, "Beyond the end", "uet.ses.fragment.too_long", FT_BOOLEAN, BASE_NONE),
      frame(error, "Reassembly error", "uet.ses.fragment.error", FT_FRAMENUM_NONE, nullptr),
      row(count, "Packets", "uet.ses.fragment.count", FT_UINT32, BASE_DEC),
      frame(reassembled_in, "Complete in", "uet.ses.reassembled_in", FT_FRAMENUM_NONE, nullptr),
      row(reassembled_length, "Message length", "uet.ses.reassembled_length", FT_UINT32, BASE_DEC),
      row(reassembled_data, "Message", "uet.ses.reassembled_data", FT_BYTES, BASE_NONE),
  };
  register_rows(proto::ses, rows);
}

}  // namespace

void register_fields() {
  register_pds();
  register_ses();
  register_fragments();
}

}  // namespace uet::dissector::field::analysis
