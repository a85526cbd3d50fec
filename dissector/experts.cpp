// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of expert remarks.
#include "dissector/experts.h"

#include "dissector/names.h"

namespace uet::dissector::expert {

namespace {

ei_register_info remark(expert_field& id, const char* name, int group, int severity,
                        const char* text) {
  return {&id, {name, group, severity, text, EXPFILL}};
}

ei_register_info malformed(expert_field& id, const char* name, const char* text) {
  return remark(id, name, PI_MALFORMED, PI_ERROR, text);
}

template <size_t kCount>
void add(expert_module_t* module, ei_register_info (&remarks)[kCount]) {
  register_remarks(module, remarks);
}

// A remark about the order of PSNs.
ei_register_info sequence(expert_field& id, const char* name, const char* text) {
  return remark(id, name, PI_SEQUENCE, PI_NOTE, text);
}

// Of one packet. [WIRE-116, WIRE-117]
void register_format(expert_module_t* module) {
  static ei_register_info remarks[] = {
      malformed(pds_type_reserved, "uet.pds.type.reserved", "PDS type without a meaning"),
      malformed(tss_inside_tss, "uet.tss.inside_tss", "A security header inside another"),
      malformed(next_hdr_reserved, "uet.pds.next_hdr.reserved", "next_hdr without a meaning"),
      malformed(ses_version, "uet.ses.ver.unknown", "SES version is not 0"),
      malformed(response_opcode_mismatch, "uet.ses.response_opcode.mismatch",
                "The response opcode does not fit the header it is in"),
      malformed(request_under_response_type, "uet.pds.next_hdr.request",
                "An SES request under an acknowledgement or response"),
      malformed(response_under_request_type, "uet.pds.next_hdr.response",
                "An SES response under a request"),
      malformed(single_packet_som_eom, "uet.ses.single_packet",
                "A small or medium request is one packet: som and eom must be set"),
      malformed(spdcid_zero, "uet.pds.spdcid.zero", "spdcid is 0"),
      malformed(sum_check, "uet.ses.payload_length.mismatch",
                "payload_length is not the number of octets present"),
      malformed(payload_length_limit, "uet.ses.payload_length.limit",
                "More than 8192 octets of payload in one packet"),
      malformed(crc, "uet.crc.bad", "CRC does not match"),
      malformed(truncated, "uet.truncated", "Shorter than the headers it announces"),
      remark(reserved_bits, "uet.reserved_bits", PI_PROTOCOL, PI_NOTE,
             "A reserved field is not 0 (receivers ignore it)"),
      remark(reserved_code, "uet.reserved_code", PI_PROTOCOL, PI_NOTE,
             "A code without a meaning (receivers ignore it)"),
      remark(surplus_bytes, "uet.surplus_bytes", PI_PROTOCOL, PI_NOTE,
             "Octets after the last header (receivers ignore them)"),
      remark(trimmed, "uet.trimmed.remark", PI_SEQUENCE, PI_WARN,
             "A switch has trimmed this packet: only PDS is left of it"),
  };
  add(module, remarks);
}

void register_security(expert_module_t* module) {
  static ei_register_info remarks[] = {
      remark(icv_good, "uet.tss.icv.good", PI_DECRYPTION, PI_CHAT, "The ICV is right"),
      remark(icv_bad, "uet.tss.icv.bad", PI_DECRYPTION, PI_ERROR,
             "The ICV is right with none of the keys for this SDI and AN"),
      remark(icv_unverified, "uet.tss.icv.unverified", PI_DECRYPTION, PI_WARN,
             "Decrypted, but the ICV is cut off: nothing says that this is what was sent"),
      remark(no_key, "uet.tss.no_key", PI_DECRYPTION, PI_NOTE,
             "No key for this SDI and AN: the ICV is not checked"),
      remark(sealed_copy, "uet.tss.copy", PI_SECURITY, PI_WARN,
             "The same packet as before, its counter included: copied in the network, or replayed"),
      remark(nonce_reused, "uet.tss.nonce_reused", PI_SECURITY, PI_ERROR,
             "Another packet was sealed with this key and nonce: an attacker with both can read "
             "and forge"),
      remark(late_epoch, "uet.tss.late_epoch", PI_SECURITY, PI_WARN,
             "The epoch is too old for a receiver that knows the newest of this source"),
  };
  add(module, remarks);
}

void register_link(expert_module_t* module) {
  static ei_register_info remarks[] = {
      malformed(ctlos_format, "uet.link.ctlos.format",
                "No control ordered set: it begins with 5C and has O-code 6"),
      malformed(cc_cid, "uet.link.cc.cid.unknown", "The CID is not that of UE"),
      malformed(link_version, "uet.link.version.unknown", "Version is not 1"),
      malformed(frame_mark, "uet.link.frame_mark.missing", "The mark of an LLR frame is 7"),
      malformed(carrier_count, "uet.link.count.range", "A carrier has 1 to 5 ordered sets"),
      malformed(llr_in_llr, "uet.link.nested", "An LLR frame inside another"),
      remark(sw_fcs_bad, "uet.link.sw_fcs.bad", PI_CHECKSUM, PI_WARN,
             "The FCS does not match: the receiver asks for the frame again"),
      remark(sw_fcs_poisoned, "uet.link.sw_fcs.poisoned", PI_CHECKSUM, PI_NOTE,
             "Poisoned: an earlier hop saw the error; counted as received, not delivered"),
  };
  add(module, remarks);
}

void register_conversation(expert_module_t* module) {
  static ei_register_info remarks[] = {
      remark(pdc_opens, "uet.pds.opens", PI_SEQUENCE, PI_CHAT, "A PDC opens"),
      remark(pdc_closes, "uet.pds.closes", PI_SEQUENCE, PI_CHAT, "A PDC is closed"),
      sequence(first_unseen, "uet.pds.first_unseen",
               "Retransmission; the first transmission is not in the capture"),
      sequence(resent_for_nack, "uet.pds.resent_for_nack", "Retransmission that a NACK asked for"),
      sequence(resent_for_sack, "uet.pds.resent_for_sack",
               "Retransmission of what was missing in a SACK"),
      remark(timeout, "uet.pds.timeout", PI_SEQUENCE, PI_WARN,
             "Retransmission that nothing asked for: a time-out, or a lost NACK"),
      sequence(duplicate, "uet.pds.duplicate",
               "Seen before, and not a retransmission: the network made it twice"),
      sequence(out_of_order, "uet.pds.out_of_order", "A higher PSN came before"),
      sequence(gap, "uet.pds.gap", "PSNs before this one are not in the capture so far"),
      remark(mpr_violation, "uet.pds.beyond_mpr", PI_PROTOCOL, PI_WARN,
             "The PSN is beyond the range that the receiver has offered"),
      sequence(range_full, "uet.pds.range_full",
               "The sender has used all of the range that the receiver offers, and must wait"),
      sequence(sack_missing, "uet.pds.sack_missing", "PSNs are missing at the receiver"),
      remark(deferred, "uet.ses.deferred", PI_RESPONSE_CODE, PI_NOTE,
             "The target has no receive for it and will ask for it again"),
      remark(nack, "uet.pds.nack", PI_RESPONSE_CODE, PI_WARN, "NACK"),
      remark(target_error, "uet.ses.target_error", PI_RESPONSE_CODE, PI_WARN,
             "The target reports an error"),
      remark(initiator_error, "uet.ses.initiator_error", PI_REQUEST_CODE, PI_WARN,
             "The initiator ends the message in error"),
  };
  add(module, remarks);
}

}  // namespace

void register_all(int protocol) {
  expert_module_t* module = expert_register_protocol(protocol);
  register_format(module);
  register_security(module);
  register_link(module);
  register_conversation(module);
}

}  // namespace uet::dissector::expert
