// SPDX-License-Identifier: GPL-2.0-or-later
// The TLVs of LLDP by which two ports agree on LLR and CBFC.
#include "dissector/link.h"

#include "dissector/link_fields.h"

#include <initializer_list>

namespace uet::dissector {

namespace {

using namespace field::link;

constexpr uint32_t kVersion = 1;

// [LINK-142]
void link_options(const Layer& h, int at) {
  for (int* id : {&llr_capable, &llr_wanted, &llr_tx_enabled, &llr_rx_enabled, &cbfc_capable,
                  &cbfc_wanted, &cbfc_tx_enabled, &cbfc_rx_enabled}) {
    h.flag(*id, at + 1, 1);
  }
  h.flag(llr_operational, at + 2, 1);
  h.flag(cbfc_operational, at + 2, 1);
  h.reserved(options_rsvd, at + 2, 1);
  h.u32(ue_version, at + 3, 1);
  h.u32(epoch, at + 4, 2);
  h.u32(peer_epoch, at + 6, 2);
  h.u32(ack_interval_us, at + 8, 2);
  h.reserved(options_end_rsvd, at + 10, 2);
}

// [LINK-143]
void cbfc(const Layer& h, int at) {
  const bool by_vc = h.flag(per_vc, at + 1, 1);
  h.reserved(per_vc_rsvd, at + 1, 1);
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
  h.u32(classifier_set, at + 1, 1);
  h.u32(classifier_winner, at + 1, 1);
  h.bytes(vc_of_pcp, at + 2, 16);
  h.bytes(vc_of_dscp, at + 18, 64);
}

}  // namespace

// LLDP passes the TLV from its head on: type and length, CID, subtype. A TLV of another owner or
// version is shown as octets, because its meaning is unknown.
int dissect_link_tlv(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
  constexpr int kSubtypeAt = 5;
  const Layer h = link_layer(tvb, pinfo, tree, kSubtypeAt, -1, "LLDP TLV");
  const uint32_t type = h.u32(tlv_subtype, 0, 1);
  proto_item_append_text(h.item, ", %s", val_to_str_const(type, kTlvSubtypes, "unknown"));
  const int size = static_cast<int>(tvb_reported_length(tvb));
  const int left = h.remaining_after(1);
  if (left == 0) return size;
  const bool ours = type >= 0xF1 && type <= 0xF3;
  if (!ours || h.u32(tlv_version, 1, 1) != kVersion) {
    h.bytes(tlv_octets, 1, left);
    return size;
  }
  if (type == 0xF1) link_options(h, 1);
  if (type == 0xF2) cbfc(h, 1);
  if (type == 0xF3) vc_map(h, 1);
  return size;
}

}  // namespace uet::dissector
