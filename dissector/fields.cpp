// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of UET, TSS and SES fields.
#include "dissector/fields.h"

#include "dissector/names.h"
#include "dissector/value_strings.h"

#include <epan/proto.h>

namespace uet::dissector {

namespace {

constexpr int kNamedHex = BASE_HEX | BASE_EXT_STRING;
constexpr int kNamed = BASE_DEC | BASE_EXT_STRING;

void register_requests() {
  using namespace field::ses;
  static hf_register_info rows[] = {
      row(rsvd2, "Reserved", "uet.ses.rsvd", FT_UINT8, BASE_HEX, 0xC0),
      row(opcode, "Opcode", "uet.ses.opcode", FT_UINT8, kNamedHex, 0x3F, nullptr,
          strings_of<wire::SesOpcode>(6)),
      row(ver, "Version", "uet.ses.ver", FT_UINT8, BASE_DEC, 0xC0),
      row(dc, "Delivery complete", "uet.ses.dc", FT_BOOLEAN, 8, 0x20,
          "Respond only when the data is globally visible"),
      row(ie, "Initiator error", "uet.ses.ie", FT_BOOLEAN, 8, 0x10,
          "The message failed at its source"),
      row(rel, "Relative", "uet.ses.rel", FT_BOOLEAN, 8, 0x08, "Relative addressing"),
      row(hd, "Header data present", "uet.ses.hd", FT_BOOLEAN, 8, 0x04),
      row(eom, "End of message", "uet.ses.eom", FT_BOOLEAN, 8, 0x02),
      row(som, "Start of message", "uet.ses.som", FT_BOOLEAN, 8, 0x01),
      row(message_id, "Message ID", "uet.ses.message_id", FT_UINT16, BASE_DEC),
      row(length_rsvd, "Reserved", "uet.ses.rsvd", FT_UINT16, BASE_HEX, 0xC000),
      row(request_length14, "Request length", "uet.ses.request_length", FT_UINT16, BASE_DEC,
          0x3FFF),
      row(ri_generation, "RI generation", "uet.ses.ri_generation", FT_UINT8, BASE_DEC, 0,
          "Resource index generation"),
      row(job_id, "JobID", "uet.ses.job_id", FT_UINT24, BASE_DEC),
      row(pid_rsvd, "Reserved", "uet.ses.rsvd", FT_UINT16, BASE_HEX, 0xF000),
      row(pid_on_fep, "PIDonFEP", "uet.ses.pid_on_fep", FT_UINT16, BASE_DEC, 0x0FFF,
          "Target process on the endpoint"),
      row(ri_rsvd, "Reserved", "uet.ses.rsvd", FT_UINT16, BASE_HEX, 0xF000),
      row(resource_index, "Resource index", "uet.ses.resource_index", FT_UINT16, BASE_DEC, 0x0FFF),
      row(buffer_offset, "Buffer offset", "uet.ses.buffer_offset", FT_UINT64, BASE_HEX, 0,
          "In the target buffer, or a virtual address"),
      row(initiator, "Initiator", "uet.ses.initiator", FT_UINT32, BASE_DEC),
      row(match_bits, "Match bits", "uet.ses.match_bits", FT_UINT64, BASE_HEX),
      row(memory_key, "Memory key", "uet.ses.memory_key", FT_UINT64, BASE_HEX),
      row(header_data, "Header data", "uet.ses.header_data", FT_UINT64, BASE_HEX, 0,
          "Completion data, valid with hd"),
      row(rsvd18, "Reserved", "uet.ses.rsvd", FT_UINT32, BASE_HEX, 0xFFFFC000),
      row(payload_length, "Payload length", "uet.ses.payload_length", FT_UINT16, BASE_DEC, 0x3FFF,
          "Octets in this packet; of a READ request, octets it asks for"),
      row(message_offset, "Message offset", "uet.ses.message_offset", FT_UINT32, BASE_DEC),
      row(request_length, "Request length", "uet.ses.request_length", FT_UINT32, BASE_DEC, 0,
          "Octets of the whole message"),
      row(initiator_restart_token, "Initiator restart token", "uet.ses.initiator_restart_token",
          FT_UINT32, BASE_DEC),
      row(target_restart_token, "Target restart token", "uet.ses.target_restart_token", FT_UINT32,
          BASE_DEC),
  };
  register_rows(proto::ses, rows);
}

void register_extensions() {
  using namespace field::ses;
  static hf_register_info rows[] = {
      row(eager_length, "Eager length", "uet.ses.eager_length", FT_UINT32, BASE_DEC),
      row(read_ri_generation, "Read RI generation", "uet.ses.read_ri_generation", FT_UINT8,
          BASE_DEC),
      row(read_pid_on_fep, "Read PIDonFEP", "uet.ses.read_pid_on_fep", FT_UINT24, BASE_DEC,
          0xFFF000),
      row(read_resource_index, "Read resource index", "uet.ses.read_resource_index", FT_UINT24,
          BASE_DEC, 0x000FFF),
      row(read_offset, "Read offset", "uet.ses.read_offset", FT_UINT64, BASE_HEX),
      row(read_memory_key, "Read memory key", "uet.ses.read_memory_key", FT_UINT64, BASE_HEX),
      row(atomic_opcode, "Atomic opcode", "uet.ses.atomic_opcode", FT_UINT8, kNamedHex, 0, nullptr,
          strings_of<wire::AtomicOpcode>(8)),
      row(atomic_datatype, "Atomic datatype", "uet.ses.atomic_datatype", FT_UINT8, kNamedHex, 0,
          nullptr, strings_of<wire::AtomicDatatype>(8)),
      row(sem_ctl, "Semantic control", "uet.ses.sem_ctl", FT_UINT8, BASE_HEX),
      row(sem_cacheable, "Cacheable", "uet.ses.sem_ctl.cacheable", FT_BOOLEAN, 8, 0x01),
      row(sem_coherent, "CPU coherent", "uet.ses.sem_ctl.coherent", FT_BOOLEAN, 8, 0x02),
      row(sem_rsvd, "Reserved", "uet.ses.sem_ctl.rsvd", FT_UINT8, BASE_HEX, 0x1C),
      row(sem_vendor, "Vendor", "uet.ses.sem_ctl.vendor", FT_UINT8, BASE_HEX, 0xE0),
      row(atomic_rsvd, "Reserved", "uet.ses.rsvd", FT_UINT8, BASE_HEX),
      row(compare_value, "Compare value", "uet.ses.compare_value", FT_BYTES, BASE_NONE, 0,
          "The mask of a masked swap"),
      row(swap_value, "Swap value", "uet.ses.swap_value", FT_BYTES, BASE_NONE),
  };
  register_rows(proto::ses, rows);
}

void register_responses() {
  using namespace field::ses;
  static hf_register_info rows[] = {
      row(list, "List", "uet.ses.list", FT_UINT8, kNamed, 0xC0, "Where the message was delivered",
          strings_of<wire::ListCode>(2)),
      row(response_opcode, "Response opcode", "uet.ses.response_opcode", FT_UINT8, kNamedHex, 0x3F,
          nullptr, strings_of<wire::ResponseOpcode>(6)),
      row(return_code, "Return code", "uet.ses.return_code", FT_UINT8, kNamedHex, 0x3F, nullptr,
          strings_of<wire::ReturnCode>(6)),
      row(modified_length, "Modified length", "uet.ses.modified_length", FT_UINT32, BASE_DEC, 0,
          "Octets delivered or modified"),
      row(response_message_id, "Response message ID", "uet.ses.response_message_id", FT_UINT16,
          BASE_DEC),
      row(response_rsvd8, "Reserved", "uet.ses.rsvd", FT_UINT8, BASE_HEX),
      row(read_request_message_id, "Read request message ID", "uet.ses.read_request_message_id",
          FT_UINT16, BASE_DEC, 0, "Of the read or fetching atomic"),
      row(original_request_psn, "Original request PSN", "uet.ses.original_request_psn", FT_UINT32,
          BASE_DEC, 0, "PSN, or RUDI packet ID, of the request answered"),
  };
  register_rows(proto::ses, rows);
}

}  // namespace

void field::register_uet() {
  static hf_register_info rows[] = {
      row(entropy, "Entropy value", "uet.entropy", FT_UINT16, BASE_DEC, 0,
          "What switches choose the path by; over UDP the source port"),
      row(entropy_rsvd, "Reserved", "uet.entropy.rsvd", FT_UINT16, BASE_HEX),
      row(trimmed, "Trimmed", "uet.trimmed", FT_BOOLEAN, BASE_NONE, 0,
          "A switch cut the packet; its DSCP shows this"),
      row(payload, "Payload", "uet.payload", FT_BYTES, BASE_NONE),
      row(crc, "CRC", "uet.crc", FT_UINT32, BASE_HEX, 0,
          "CRC-32C from the IP source address to the end of the payload"),
      row(crc_status, "CRC status", "uet.crc.status", FT_UINT8, BASE_NONE, 0, nullptr,
          VALS(proto_checksum_vals)),
      row(joined_count, "Packets joined by the host", "uet.joined.count", FT_UINT32, BASE_DEC, 0,
          "This datagram is cut into packets later, or was put together of them"),
      row(joined_number, "Packet of those", "uet.joined.number", FT_UINT32, BASE_DEC),
      row(surplus, "Surplus octets", "uet.surplus", FT_BYTES, BASE_NONE),
  };
  register_rows(proto::uet, rows);
}

void field::tss::register_fields() {
  static hf_register_info rows[] = {
      row(type, "Type", "uet.tss.type", FT_UINT8, kNamed, 0xF8, nullptr,
          strings_of<wire::PdsType>(5)),
      row(sp, "SSI present", "uet.tss.sp", FT_BOOLEAN, 8, 0x04),
      row(rsvd, "Reserved", "uet.tss.rsvd", FT_UINT8, BASE_HEX, 0x02),
      row(an, "Association number", "uet.tss.an", FT_UINT8, BASE_DEC, 0x01,
          "Which of the two keys"),
      row(sdi, "SDI", "uet.tss.sdi", FT_UINT24, BASE_DEC, 0, "Secure domain identifier"),
      row(ssi, "SSI", "uet.tss.ssi", FT_UINT32, BASE_DEC, 0, "Source identifier"),
      row(epoch, "Epoch", "uet.tss.epoch", FT_UINT16, BASE_DEC),
      row(counter, "Counter", "uet.tss.counter", FT_UINT48, BASE_DEC),
      row(ciphertext, "Encrypted octets", "uet.tss.ciphertext", FT_BYTES, BASE_NONE),
      row(icv, "ICV", "uet.tss.icv", FT_BYTES, BASE_NONE, 0, "Integrity check value"),
      row(icv_status, "ICV status", "uet.tss.icv.status", FT_UINT8, BASE_NONE, 0, nullptr,
          VALS(proto_checksum_vals)),
      row(key_line, "Key in line", "uet.tss.key_line", FT_UINT32, BASE_DEC, 0,
          "Line of the key file that opens the packet"),
      row(rekey, "Rekey", "uet.tss.rekey", FT_UINT32, BASE_DEC, 0,
          "Part of the key derivation that follows from the counter"),
      row(nonce, "Nonce", "uet.tss.nonce", FT_BYTES, BASE_NONE),
      row(plaintext, "Decrypted octets", "uet.tss.plaintext", FT_BYTES, BASE_NONE),
      row(epochs_behind, "Epochs behind", "uet.tss.analysis.epochs_behind", FT_UINT32, BASE_DEC, 0,
          "The newest epoch of this source in packets whose ICV is right"),
      row(same_nonce_frame, "Same nonce in", "uet.tss.analysis.same_nonce_frame", FT_FRAMENUM,
          BASE_NONE, 0, "An earlier packet with this key and nonce"),
  };
  register_rows(proto::tss, rows);
}

void field::ses::register_fields() {
  register_requests();
  register_extensions();
  register_responses();
}

}  // namespace uet::dissector
