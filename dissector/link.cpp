// SPDX-License-Identifier: GPL-2.0-or-later
// The link layer of UE in software: LLR shim, control ordered sets in their carrier, CC_Update.
// Captures do not contain the changes to preambles.
#include "dissector/link.h"

#include "dissector/link_fields.h"
#include "dissector/names.h"

#include <initializer_list>

namespace uet::dissector {

namespace {

using namespace field::link;

constexpr uint32_t kEtherType = 0x88B5, kMacControl = 0x8808;
constexpr uint32_t kMacControlExtension = 0xFFFE;  // [LINK-110]
constexpr uint32_t kVersion = 1;                   // of the carriage
constexpr uint32_t kVcsInUpdate = 16, kCtlOsInCarrierMax = 5;
constexpr int kCtlOsBytes = 8, kShimBytes = 6, kFcsBytes = 4;

enum class Carried : uint8_t {
  llr_data = 1,
  ctlos = 2,
  cc_update = 3
};

enum class CtlOs : uint8_t {
  llr_ack = 1,
  llr_nack = 2,
  llr_init = 3,
  llr_init_echo = 4,
  cf_update = 0x10
};

int mac_control = -1;  // a separate name: Wireshark wants one for each handler of EtherTypes
dissector_handle_t mac_control_handle;  // the handler of others

// A number whose bits do not fill octets, shown over the octets that hold it.
void shown_over(const Layer& h, int id, int offset, int size, uint32_t value) {
  proto_tree_add_uint(h.tree, id, h.tvb, h.start + offset, size, value);
}

uint32_t u24_at(const Layer& h, int offset) { return tvb_get_ntoh24(h.tvb, h.start + offset); }

// {vc 5, count 15} over 20 bits, from the first or the second half octet on. [LINK-001]
void cf_pair(const Layer& h, int offset) {
  const uint32_t bits = u24_at(h, offset) >> 4U;
  shown_over(h, cf_vc, offset, 3, bits >> 15U);
  shown_over(h, cf_count, offset, 3, bits & 0x7FFFU);
}

// Fixed fields of every control ordered set, and the fields that are 0 in this one.
void fixed_octets(const Layer& h, bool seq_alone) {
  const uint32_t control = h.u32(ctlos_control, 0, 1);
  const uint32_t code = h.u32(ctlos_o_code, 4, 1);
  if (control != 0x5C || code != 6) h.broken(&expert::ctlos_format);
  if (seq_alone) h.reserved(ctlos_rsvd, 5, 3);
}

// One control ordered set of 8 octets. [LINK-001, LINK-002]
void control_ordered_set(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, int start) {
  const Layer h = link_layer(tvb, pinfo, tree, start, kCtlOsBytes, "control ordered set");
  const auto type = static_cast<CtlOs>(h.u32(ctlos_type, 1, 1));
  const char* name = val_to_str_const(static_cast<uint32_t>(type), kCtlOsTypes, "unknown");
  proto_item_append_text(h.item, " %s", name);
  col_append_fstr(pinfo->cinfo, COL_INFO, " %s", name);
  const bool init = type == CtlOs::llr_init || type == CtlOs::llr_init_echo;
  const bool answer = type == CtlOs::llr_ack || type == CtlOs::llr_nack;
  fixed_octets(h, answer);
  if (type == CtlOs::cf_update) {
    cf_pair(h, 2);
    cf_pair(h, 5);
    return;
  }
  if (!init && !answer) {
    expert_add_info(pinfo, h.item, &expert::reserved_code);
    return;
  }
  const uint32_t seq = u24_at(h, 2) >> 4U;
  shown_over(h, init ? init_seq : ack_nack_seq, 2, 3, seq);
  col_append_fstr(pinfo->cinfo, COL_INFO, " seq=%u", seq);
  if (init) proto_tree_add_item(h.tree, init_data, tvb, start + 5, 2, ENC_LITTLE_ENDIAN);
}

// The counters of 16 VCs, 20 bits each. [LINK-110, LINK-111]
void cc_update(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, int start) {
  const Layer h = link_layer(tvb, pinfo, tree, start, -1, "CC_Update");
  if (h.u32(cc_cid, 0, 3) != kUeCid) h.broken(&expert::cc_cid);
  const uint32_t half = h.u32(cc_half, 3, 1);
  for (uint32_t i = 0; i < kVcsInUpdate; ++i) {
    const int octet = 4 + static_cast<int>(i) * 5 / 2;
    const uint32_t over = u24_at(h, octet);
    const uint32_t value = i % 2 == 0 ? over >> 4U : over & 0xFFFFFU;
    shown_over(h, cc_vc, octet, 3, (half == 2 ? kVcsInUpdate : 0) + i);
    shown_over(h, cc_count, octet, 3, value);
  }
  col_append_str(pinfo->cinfo, COL_INFO, " CC_Update");
}

enum class Fcs : uint32_t {
  bad,
  good,
  poisoned,
  unverified
};

// Checks the FCS over the frame without the shim that LLR added. [LINK-024..027, LINK-125]
Fcs judge_fcs(const Layer& h, int from, int size, uint32_t fcs) {
  constexpr uint32_t kPoison = 0xAAAAAAAA, kStart = 0xFFFFFFFF;
  const packet_info* pinfo = h.pinfo;
  if (pinfo->dl_dst.type != AT_ETHER || pinfo->dl_src.type != AT_ETHER ||
      !tvb_bytes_exist(h.tvb, from, size)) {
    return Fcs::unverified;
  }
  uint32_t sum = kStart;
  for (const address* end : {&pinfo->dl_dst, &pinfo->dl_src}) {
    const auto octets = static_cast<unsigned>(end->len);
    sum = ~crc32_ccitt_seed(static_cast<const guint8*>(end->data), octets, sum);
  }
  const uint32_t right =
      crc32_ccitt_tvb_offset_seed(h.tvb, static_cast<guint>(from), static_cast<guint>(size), sum);
  if (fcs == right) return Fcs::good;
  return fcs == (right ^ kPoison) ? Fcs::poisoned : Fcs::bad;
}

// The last 4 octets; a capture may have cut them off.
void software_fcs(const Layer& h, int from, int size) {
  const int at = h.start + from + size;
  if (!tvb_bytes_exist(h.tvb, at, kFcsBytes)) return;
  uint32_t value = 0;
  proto_tree_add_item_ret_uint(h.tree, sw_fcs, h.tvb, at, kFcsBytes, ENC_LITTLE_ENDIAN, &value);
  const Fcs fcs = judge_fcs(h, h.start + from, size, value);
  proto_item* shown = h.derived(sw_fcs_status, static_cast<uint32_t>(fcs));
  if (fcs == Fcs::bad) expert_add_info(h.pinfo, shown, &expert::sw_fcs_bad);
  if (fcs == Fcs::poisoned) expert_add_info(h.pinfo, shown, &expert::sw_fcs_poisoned);
}

// Whether this packet has had an LLR frame before: frames may hold frames, by VLAN tags and
// tunnels, and their contents must not decide the depth of recursion.
bool is_inside_another(packet_info* pinfo) {
  static char mark;
  if (p_get_proto_data(packet_scope(pinfo), pinfo, proto::link, 0) != nullptr) return true;
  p_add_proto_data(packet_scope(pinfo), pinfo, proto::link, 0, &mark);
  return false;
}

// The shim of a frame that LLR protects: the frame follows it. [LINK-125]
void llr_data(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, proto_tree* whole) {
  const Layer h = link_layer(tvb, pinfo, tree, 0, kShimBytes, "LLR frame");
  h.u32(link_type, 0, 1);
  if (h.u32(link_version, 1, 1) != kVersion) h.broken(&expert::link_version);
  h.reserved(link_flags, 1, 1);
  if (h.u32(frame_mark, 2, 4) != 7) h.broken(&expert::frame_mark);
  h.reserved(frame_rsvd, 2, 4);
  const uint32_t seq = h.u32(frame_seq, 2, 4);
  proto_item_append_text(h.item, " %u", seq);
  const int left = h.remaining_after(kShimBytes + 2) - kFcsBytes;
  if (left < 0) return h.broken(&expert::truncated);
  const uint32_t ethertype = h.u32(inner_ethertype, kShimBytes, 2);
  software_fcs(h, kShimBytes, 2 + left);
  tvbuff_t* inner = tvb_new_subset_length(tvb, kShimBytes + 2, left);
  const bool nested = is_inside_another(pinfo);
  if (nested) h.broken(&expert::llr_in_llr);
  if (nested ||
      dissector_try_uint(find_dissector_table("ethertype"), ethertype, inner, pinfo, whole) == 0) {
    call_data_dissector(inner, pinfo, whole);
  }
}

int dissect_link(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  col_set_str(pinfo->cinfo, COL_PROTOCOL, "UE link");
  col_set_str(pinfo->cinfo, COL_INFO, "UE link:");
  const auto type = static_cast<Carried>(octet_at(tvb, 0));
  if (type == Carried::llr_data) {
    llr_data(tvb, pinfo, tree, tree);
    return static_cast<int>(tvb_reported_length(tvb));
  }
  const Layer h = link_layer(tvb, pinfo, tree, 0, 2, "carrier");
  h.u32(link_type, 0, 1);
  if (h.u32(link_version, 1, 1) != kVersion) h.broken(&expert::link_version);
  if (type == Carried::ctlos) {  // [LINK-128]
    const uint32_t count = h.u32(carrier_count, 1, 1);
    if (count < 1 || count > kCtlOsInCarrierMax) h.broken(&expert::carrier_count);
    for (uint32_t i = 0; i < count; ++i) {
      control_ordered_set(tvb, pinfo, tree, 2 + static_cast<int>(i) * kCtlOsBytes);
    }
  } else if (type == Carried::cc_update) {  // [LINK-129]
    h.reserved(link_flags, 1, 1);
    cc_update(tvb, pinfo, tree, 2);
  } else {
    expert_add_info(pinfo, h.item, &expert::reserved_code);
  }
  return static_cast<int>(tvb_reported_length(tvb));
}

// A MAC Control EXTENSION frame of UEC; all other MAC control goes to its usual dissector.
// [LINK-110]
int dissect_mac_control(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  const bool ours = tvb_bytes_exist(tvb, 0, 5) && tvb_get_ntohs(tvb, 0) == kMacControlExtension &&
                    tvb_get_ntoh24(tvb, 2) == kUeCid;
  if (!ours) {
    if (mac_control_handle == nullptr) return 0;
    return call_dissector_with_data(mac_control_handle, tvb, pinfo, tree, data);
  }
  col_set_str(pinfo->cinfo, COL_PROTOCOL, "UE link");
  col_set_str(pinfo->cinfo, COL_INFO, "UE link:");
  const Layer h = link_layer(tvb, pinfo, tree, 0, 2, "MAC Control");
  h.u32(mac_opcode, 0, 2);
  cc_update(tvb, pinfo, tree, 2);
  return static_cast<int>(tvb_reported_length(tvb));
}

}  // namespace

Layer link_layer(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, int start, int size,
                 const char* what) {
  Layer h{tvb, pinfo, nullptr, nullptr, start};
  h.item = proto_tree_add_item(tree, proto::link, tvb, start, size, ENC_NA);
  h.tree = proto_item_add_subtree(h.item, subtree::link);
  proto_item_append_text(h.item, ", %s", what);
  return h;
}

void register_link() {
  proto::link = register_protocol({"UE Link Layer", "UE link", "uet.link"},
                                  {"UE Link Layer (uet plugin)", "UETX link", "uetx.link"});
  mac_control = proto_register_protocol_in_name_only("UE MAC Control", "UE MAC control",
                                                     "uet.link.mac", proto::link, FT_PROTOCOL);
  field::link::register_fields();
  static int* subtrees[] = {&subtree::link};
  proto_register_subtree_array(subtrees, static_cast<int>(array_length(subtrees)));
}

void hand_off_link() {
  dissector_add_uint("ethertype", kEtherType, create_dissector_handle(dissect_link, proto::link));
  mac_control_handle = dissector_get_uint_handle(find_dissector_table("ethertype"), kMacControl);
  dissector_add_uint("ethertype", kMacControl,
                     create_dissector_handle(dissect_mac_control, mac_control));
  dissector_add_uint("lldp.orgtlv.oui", kUeCid,
                     create_dissector_handle(dissect_link_tlv, proto::link));
}

}  // namespace uet::dissector
