// SPDX-License-Identifier: GPL-2.0-or-later
// The link layer of UE as it travels in software: LLR shim, control ordered sets in their carrier,
// CC_Update, and the TLVs of LLDP. What the specification does to preambles is not in captures.
#include "dissector/link.h"

#include "dissector/layer.h"
#include "dissector/link_fields.h"

#include <initializer_list>

namespace uet::dissector {

namespace {

using namespace field::link;

constexpr uint32_t kEtherType = 0x88B5, kMacControl = 0x8808, kCid = 0xFA7ACB;  // [LINK-110, 141]
constexpr uint32_t kMacControlExtension = 0xFFFE;
constexpr int kVcsInUpdate = 16, kCtlOsBytes = 8, kShimBytes = 6, kFcsBytes = 4;

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

int mac_control = -1;  // a name of its own: Wireshark wants one for each handler of EtherTypes
dissector_handle_t mac_control_handle;  // of those that are not ours

Layer layer(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, int start, int size,
            const char* what) {
  Layer h{tvb, pinfo, nullptr, nullptr, start};
  h.item = proto_tree_add_item(tree, proto::link, tvb, start, size, ENC_NA);
  h.tree = proto_item_add_subtree(h.item, subtree::link);
  proto_item_append_text(h.item, ", %s", what);
  return h;
}

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

// One control ordered set of 8 octets. [LINK-001, LINK-002]
void control_ordered_set(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, int start) {
  const Layer h = layer(tvb, pinfo, tree, start, kCtlOsBytes, "control ordered set");
  h.u32(ctlos_control, 0, 1);
  const auto type = static_cast<CtlOs>(h.u32(ctlos_type, 1, 1));
  const char* name = val_to_str_const(static_cast<uint32_t>(type), kCtlOsTypes, "unknown");
  proto_item_append_text(h.item, " %s", name);
  col_append_fstr(pinfo->cinfo, COL_INFO, " %s", name);
  h.u32(ctlos_o_code, 4, 1);
  if (type == CtlOs::cf_update) {
    cf_pair(h, 2);
    cf_pair(h, 5);
    return;
  }
  const uint32_t seq = u24_at(h, 2) >> 4U;
  const bool init = type == CtlOs::llr_init || type == CtlOs::llr_init_echo;
  if (!init && type != CtlOs::llr_ack && type != CtlOs::llr_nack) return;
  shown_over(h, init ? init_seq : ack_nack_seq, 2, 3, seq);
  col_append_fstr(pinfo->cinfo, COL_INFO, " seq=%u", seq);
  if (init) proto_tree_add_item(h.tree, init_data, tvb, start + 5, 2, ENC_LITTLE_ENDIAN);
}

// The counters of 16 VCs, 20 bits each. [LINK-110, LINK-111]
void cc_update(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, int start) {
  const Layer h = layer(tvb, pinfo, tree, start, -1, "CC_Update");
  h.u32(cc_cid, 0, 3);
  const uint32_t half = h.u32(cc_half, 3, 1);
  for (int i = 0; i < kVcsInUpdate; ++i) {
    const int octet = 4 + i * 5 / 2;
    const uint32_t over = u24_at(h, octet);
    const uint32_t value = i % 2 == 0 ? over >> 4U : over & 0xFFFFFU;
    const int vc = (half == 2 ? kVcsInUpdate : 0) + i;
    proto_tree_add_uint_format(h.tree, cc_count, tvb, start + octet, 3, value,
                               "Credits consumed, VC %d: %u", vc, value);
  }
  col_append_str(pinfo->cinfo, COL_INFO, " CC_Update");
}

// The shim of a frame that LLR protects: the frame goes on behind it. [LINK-125]
void llr_data(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, proto_tree* whole) {
  const Layer h = layer(tvb, pinfo, tree, 0, kShimBytes, "LLR frame");
  h.u32(link_type, 0, 1);
  h.u32(link_version, 1, 1);
  const uint32_t seq = h.u32(frame_seq, 2, 4);
  proto_item_append_text(h.item, " %u", seq);
  const int left = h.remaining_after(kShimBytes + 2);
  if (left < kFcsBytes) return h.broken(&expert::truncated);
  proto_tree_add_item(h.tree, sw_fcs, tvb, kShimBytes + 2 + left - kFcsBytes, kFcsBytes,
                      ENC_LITTLE_ENDIAN);
  const uint32_t ethertype = tvb_get_ntohs(tvb, kShimBytes);
  h.u32(inner_ethertype, kShimBytes, 2);
  if (ethertype == kEtherType) return;  // never within itself: no recursion on input
  tvbuff_t* inner = tvb_new_subset_length(tvb, kShimBytes + 2, left - kFcsBytes);
  dissector_table_t table = find_dissector_table("ethertype");
  if (dissector_try_uint(table, ethertype, inner, pinfo, whole) == 0) {
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
  const Layer h = layer(tvb, pinfo, tree, 0, 2, "carrier");
  h.u32(link_type, 0, 1);
  h.u32(link_version, 1, 1);
  if (type == Carried::ctlos) {  // [LINK-128]
    const uint32_t count = h.u32(carrier_count, 1, 1);
    for (uint32_t i = 0; i < count; ++i) {
      control_ordered_set(tvb, pinfo, tree, 2 + static_cast<int>(i) * kCtlOsBytes);
    }
  } else if (type == Carried::cc_update) {  // [LINK-129]
    cc_update(tvb, pinfo, tree, 2);
  }
  return static_cast<int>(tvb_reported_length(tvb));
}

// A MAC Control EXTENSION frame of UEC; all other MAC control goes where it went. [LINK-110]
int dissect_mac_control(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
  const bool ours = tvb_bytes_exist(tvb, 0, 5) && tvb_get_ntohs(tvb, 0) == kMacControlExtension &&
                    tvb_get_ntoh24(tvb, 2) == kCid;
  if (!ours) {
    if (mac_control_handle == nullptr) return 0;
    return call_dissector_with_data(mac_control_handle, tvb, pinfo, tree, data);
  }
  col_set_str(pinfo->cinfo, COL_PROTOCOL, "UE link");
  col_set_str(pinfo->cinfo, COL_INFO, "UE link:");
  cc_update(tvb, pinfo, tree, 2);
  return static_cast<int>(tvb_reported_length(tvb));
}

// [LINK-142]
void link_options(const Layer& h, int at) {
  h.u32(tlv_version, at, 1);
  for (int* id : {&llr_capable, &llr_wanted, &llr_tx_enabled, &llr_rx_enabled, &cbfc_capable,
                  &cbfc_wanted, &cbfc_tx_enabled, &cbfc_rx_enabled}) {
    h.flag(*id, at + 1, 1);
  }
  h.flag(llr_operational, at + 2, 1);
  h.flag(cbfc_operational, at + 2, 1);
  h.u32(ue_version, at + 3, 1);
  h.u32(epoch, at + 4, 2);
  h.u32(peer_epoch, at + 6, 2);
  h.u32(ack_interval_us, at + 8, 2);
}

// [LINK-143]
void cbfc(const Layer& h, int at) {
  h.u32(tlv_version, at, 1);
  const bool by_vc = h.flag(per_vc, at + 1, 1);
  h.u32(credit_size, at + 2, 2);
  proto_tree_add_item(h.tree, packet_overhead, h.tvb, h.start + at + 4, 1, ENC_BIG_ENDIAN);
  h.u32(credit_sizes, at + 5, 1);
  h.u32(operational_credit_size, at + 6, 2);
  proto_tree_add_item(h.tree, operational_overhead, h.tvb, h.start + at + 8, 1, ENC_BIG_ENDIAN);
  h.u32(vcs_supported, at + 9, 1);
  h.u32(lossless_wanted, at + 10, 4);
  h.u32(lossless_operational, at + 14, 4);
  h.u32(total_credits, at + 18, 4);
  for (int next = at + 22; by_vc && h.remaining_after(next) >= 4; next += 4) {
    h.u32(limit_vc, next, 1);
    h.u32(limit_credits, next + 1, 3);
  }
}

// [LINK-144]
void vc_map(const Layer& h, int at) {
  h.u32(tlv_version, at, 1);
  h.u32(classifier_set, at + 1, 1);
  h.u32(classifier_winner, at + 1, 1);
  h.bytes(vc_of_pcp, at + 2, 16);
  h.bytes(vc_of_dscp, at + 18, 64);
}

// An organizationally specific TLV. LLDP hands it down from its head on: type and length, CID,
// subtype. Subtypes that are not ours are shown as octets: they mean
// what their sender means. [LINK-141]
int dissect_tlv(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  constexpr int kSubtypeAt = 5;
  const Layer h = layer(tvb, pinfo, tree, kSubtypeAt, -1, "LLDP TLV");
  const uint32_t type = h.u32(tlv_subtype, 0, 1);
  proto_item_append_text(h.item, ", %s", val_to_str_const(type, kTlvSubtypes, "unknown"));
  const int left = h.remaining_after(1);
  if (left == 0) return static_cast<int>(tvb_reported_length(tvb));
  if (type == 0xF1) {
    link_options(h, 1);
  } else if (type == 0xF2) {
    cbfc(h, 1);
  } else if (type == 0xF3) {
    vc_map(h, 1);
  } else {
    h.bytes(tlv_octets, 1, left);
  }
  return static_cast<int>(tvb_reported_length(tvb));
}

}  // namespace

void register_link() {
  proto::link = proto_register_protocol("UE Link Layer", "UE link", "uet.link");
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
  dissector_add_uint("lldp.orgtlv.oui", kCid, create_dissector_handle(dissect_tlv, proto::link));
}

}  // namespace uet::dissector
