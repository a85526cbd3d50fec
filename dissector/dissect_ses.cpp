// SPDX-License-Identifier: GPL-2.0-or-later
// The SES headers and extensions, and how much payload they announce.
#include "dissector/dissect.h"
#include "dissector/fields.h"
#include "dissector/layer.h"

#include "wire/pds_prologue.h"
#include "wire/ses_extension.h"
#include "wire/ses_request.h"

namespace uet::dissector {

namespace {

using namespace field::ses;
using wire::NextHeader;

constexpr int kPayloadBytesMax = static_cast<int>(wire::kPayloadBytesMax);

struct Flags {
  bool hd, eom, som;
};

// The first 12 octets of a request; octets 2 and 3 are the header's own. [WIRE-059]
Flags request_common(const Layer& h, SesFields& s) {
  Flags f{};
  h.reserved(rsvd2, 0, 1);
  s.opcode = static_cast<wire::SesOpcode>(h.u32(opcode, 0, 1));
  if (h.u32(ver, 1, 1) != 0) h.broken(&expert::ses_version);
  h.flag(dc, 1, 1);
  const bool failed = h.flag(ie, 1, 1) || s.opcode == wire::SesOpcode::msg_error;
  if (failed) expert_add_info(h.pinfo, h.item, &expert::initiator_error);
  h.flag(rel, 1, 1);
  f.hd = h.flag(hd, 1, 1);
  f.eom = s.eom = h.flag(eom, 1, 1);
  f.som = s.som = h.flag(som, 1, 1);
  h.u32(ri_generation, 4, 1);
  s.job_id = h.u32(job_id, 5, 3);
  h.reserved(pid_rsvd, 8, 2);
  h.u32(pid_on_fep, 8, 2);
  h.reserved(ri_rsvd, 10, 2);
  h.u32(resource_index, 10, 2);
  return f;
}

void say_request(const Layer& h, const SesFields& s, const char* format) {
  proto_item_append_text(h.item, ", %s %s", format, wire::name(s.opcode));
  col_append_fstr(h.pinfo->cinfo, COL_INFO, " | %s", wire::name(s.opcode));
  if (s.has_message_id) {
    proto_item_append_text(h.item, " msg=%u", s.message_id);
    col_append_fstr(h.pinfo->cinfo, COL_INFO, " msg=%u", s.message_id);
  }
  col_append_fstr(h.pinfo->cinfo, COL_INFO, " off=%u len=%u", s.message_offset, s.request_length);
}

void length14(const Layer& h, SesFields& s, const Flags& f) {
  h.reserved(length_rsvd, 2, 2);
  s.request_length = h.u32(request_length14, 2, 2);
  if (!f.som || !f.eom) h.broken(&expert::single_packet_som_eom);
}

// [WIRE-065]
int small(const Layer& h, SesFields& s) {
  const Flags f = request_common(h, s);
  length14(h, s, f);
  if (f.hd) expert_add_info(h.pinfo, h.item, &expert::reserved_bits);
  s.buffer_offset = h.u64(buffer_offset, 12, 8);
  say_request(h, s, "SMALL");
  return 20;
}

void match_or_key(const Layer& h, SesFields& s) {
  s.memory_key = h.u64(wire::has_memory_key(s.opcode) ? memory_key : match_bits, 24, 8);
}

// [WIRE-066]
int medium(const Layer& h, SesFields& s) {
  const Flags f = request_common(h, s);
  length14(h, s, f);
  const uint64_t first = h.u64(f.hd ? header_data : buffer_offset, 12, 8);
  if (!f.hd) s.buffer_offset = first;
  s.initiator = h.u32(initiator, 20, 4);
  match_or_key(h, s);
  say_request(h, s, "MEDIUM");
  return 32;
}

void tokens(const Layer& h, SesFields& s, int offset) {
  s.initiator_restart_token = h.u32(initiator_restart_token, offset, 4);
  s.target_restart_token = h.u32(target_restart_token, offset + 4, 4);
}

// [WIRE-060, WIRE-063, WIRE-064]. Returns the announced payload of this packet, or -1.
int standard(const Layer& h, SesFields& s) {
  const Flags f = request_common(h, s);
  s.message_id = static_cast<uint16_t>(h.u32(message_id, 2, 2));
  s.has_message_id = true;
  if (wire::is_deferrable_send(s.opcode)) {
    tokens(h, s, 12);
  } else {
    s.buffer_offset = h.u64(buffer_offset, 12, 8);
  }
  s.initiator = h.u32(initiator, 20, 4);
  if (s.opcode == wire::SesOpcode::deferrable_rtr) {
    tokens(h, s, 24);
  } else {
    match_or_key(h, s);
  }
  int announced = -1;
  if (f.som) {
    h.u64(header_data, 32, 8);
  } else {
    h.reserved(rsvd18, 32, 4);
    announced = static_cast<int>(h.u32(payload_length, 34, 2));
    s.message_offset = h.u32(message_offset, 36, 4);
  }
  s.request_length = h.u32(request_length, 40, 4);
  say_request(h, s, "STANDARD");
  return announced;
}

// [WIRE-068]
int rendezvous(const Layer& h, SesFields& s) {
  h.u32(eager_length, 0, 4);
  h.u32(read_ri_generation, 4, 1);
  h.u32(read_pid_on_fep, 5, 3);
  h.u32(read_resource_index, 5, 3);
  s.read_offset = h.u64(read_offset, 8, 8);
  s.read_memory_key = h.u64(read_memory_key, 16, 8);
  s.rendezvous = true;
  return 24;
}

// [WIRE-070, WIRE-072]
int atomic(const Layer& h) {
  const auto code = static_cast<wire::AtomicOpcode>(h.u32(atomic_opcode, 0, 1));
  const auto datatype = static_cast<wire::AtomicDatatype>(h.u32(atomic_datatype, 1, 1));
  proto_item* control = proto_tree_add_item(h.tree, sem_ctl, h.tvb, h.start + 2, 1, ENC_BIG_ENDIAN);
  Layer inside = h;
  inside.tree = proto_item_add_subtree(control, subtree::sem_ctl);
  inside.flag(sem_cacheable, 2, 1);
  inside.flag(sem_coherent, 2, 1);
  inside.reserved(sem_rsvd, 2, 1);
  inside.u32(sem_vendor, 2, 1);
  h.reserved(atomic_rsvd, 3, 1);
  col_append_fstr(h.pinfo->cinfo, COL_INFO, " %s %s", wire::name(code), wire::name(datatype));
  if (!wire::is_compare_swap(code)) return 4;
  h.bytes(compare_value, 4, 16);
  h.bytes(swap_value, 20, 16);
  return 36;
}

// [WIRE-088]
int extension(const Layer& h, SesFields& s) {
  if (s.format == NextHeader::standard && wire::has_rendezvous_extension(s.opcode)) {
    return rendezvous(h, s);
  }
  return wire::has_atomic_extension(s.opcode) ? atomic(h) : 0;
}

// payload_length must be the truth; compare and swap values count as payload. [WIRE-073, WIRE-119]
void check_payload(const Layer& h, const SesFields& s, int announced, int present,
                   int extension_bytes) {
  if (announced > kPayloadBytesMax || present > kPayloadBytesMax) {
    h.broken(&expert::payload_length_limit);
  }
  if (announced < 0) return;
  constexpr int kCompareSwapBytes = 36, kCompareSwapPayload = 32;
  const int counted = present + (extension_bytes == kCompareSwapBytes ? kCompareSwapPayload : 0);
  const bool read = wire::is_request(s.format) && s.opcode == wire::SesOpcode::read;
  if ((read ? 0 : announced) != counted) h.broken(&expert::sum_check);
}

void request(Layer h, Packet& packet) {
  SesFields& s = packet.ses;
  int announced = -1;
  int size = 44;
  if (s.format == NextHeader::small) {
    size = small(h, s);
  } else if (s.format == NextHeader::medium) {
    size = medium(h, s);
  } else {
    announced = standard(h, s);
  }
  Layer behind = h;
  behind.start += size;
  const int extension_bytes = extension(behind, s);
  packet.payload_start = behind.start + extension_bytes;
  packet.payload_length = tvb_reported_length_remaining(h.tvb, packet.payload_start);
  proto_item_set_len(h.item, size + extension_bytes);
  packet.ses_end = packet.payload_start;
  packet.has_ses = true;
  check_payload(h, s, announced, packet.payload_length, extension_bytes);
}

// [WIRE-075, WIRE-077, WIRE-078]
void response(const Layer& h, Packet& packet) {
  SesFields& s = packet.ses;
  s.list = static_cast<wire::ListCode>(h.u32(list, 0, 1));
  s.response = static_cast<wire::ResponseOpcode>(h.u32(response_opcode, 0, 1));
  if (h.u32(ver, 1, 1) != 0) h.broken(&expert::ses_version);
  s.return_code = static_cast<wire::ReturnCode>(h.u32(return_code, 1, 1));
  if (s.return_code > wire::ReturnCode::ok) {
    expert_add_info_format(h.pinfo, h.item, &expert::target_error, "The target reports %s",
                           wire::name(s.return_code));
  }
  const bool with_data = s.format != NextHeader::response;
  if ((s.response == wire::ResponseOpcode::response_w_data) != with_data) {
    h.broken(&expert::response_opcode_mismatch);
  }
  proto_item_append_text(h.item, ", %s %s", wire::name(s.response), wire::name(s.return_code));
  col_append_fstr(h.pinfo->cinfo, COL_INFO, " | %s %s", wire::name(s.response),
                  wire::name(s.return_code));
  int size = 12;
  int announced = -1;
  if (s.format == NextHeader::response) {
    s.message_id = static_cast<uint16_t>(h.u32(message_id, 2, 2));
    s.has_message_id = true;
    h.u32(ri_generation, 4, 1);
    s.job_id = h.u32(job_id, 5, 3);
    s.request_length = h.u32(modified_length, 8, 4);
  } else if (s.format == NextHeader::response_data) {
    size = 20;
    h.u32(response_message_id, 2, 2);
    h.reserved(response_rsvd8, 4, 1);
    s.job_id = h.u32(job_id, 5, 3);
    s.message_id = static_cast<uint16_t>(h.u32(read_request_message_id, 8, 2));
    s.has_message_id = true;
    h.reserved(length_rsvd, 10, 2);
    announced = static_cast<int>(h.u32(payload_length, 10, 2));
    s.request_length = h.u32(modified_length, 12, 4);
    s.message_offset = h.u32(message_offset, 16, 4);
  } else {
    h.reserved(length_rsvd, 2, 2);
    announced = static_cast<int>(h.u32(payload_length, 2, 2));
    h.reserved(response_rsvd8, 4, 1);
    s.job_id = h.u32(job_id, 5, 3);
    s.original_request_psn = h.u32(original_request_psn, 8, 4);
  }
  if (s.has_message_id) col_append_fstr(h.pinfo->cinfo, COL_INFO, " msg=%u", s.message_id);
  proto_item_set_len(h.item, size);
  packet.ses_end = h.start + size;
  packet.has_ses = true;
  const int left = h.remaining_after(size);
  if (with_data) {
    packet.payload_start = h.start + size;
    packet.payload_length = left;
    check_payload(h, s, announced, left, 0);
  }
}

}  // namespace

void dissect_ses(tvbuff_t* tvb, int offset, packet_info* pinfo, proto_tree* tree, Packet& packet) {
  packet.ses.format = static_cast<NextHeader>(packet.pds.next_hdr);
  const bool is_request = wire::is_request(packet.ses.format);
  if (!is_request && !wire::is_response(packet.ses.format)) return;
  Layer h{tvb, pinfo, nullptr, nullptr, offset};
  h.item = proto_tree_add_item(tree, proto::ses, tvb, offset, -1, ENC_NA);
  h.tree = proto_item_add_subtree(h.item, subtree::ses);
  packet.ses_tree = h.tree;
  if (is_request) {
    request(h, packet);
  } else {
    response(h, packet);
  }
}

}  // namespace uet::dissector
