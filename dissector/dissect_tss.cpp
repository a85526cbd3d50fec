// SPDX-License-Identifier: GPL-2.0-or-later
// The security header. The octets behind it are shown as they are; a decryption would put its
// plaintext in the place of dissect_sealed.
#include "dissector/dissect.h"
#include "dissector/fields.h"
#include "dissector/layer.h"

namespace uet::dissector {

namespace {

constexpr int kIcvBytes = 16;  // [WIRE-033]

// Ciphertext and ICV; a trimmed packet has lost its end, and with it the ICV. [WIRE-022]
void dissect_sealed(const Layer& header, int size, bool trimmed) {
  const int left = header.remaining_after(size);
  if (trimmed) {
    if (left > 0) header.bytes(field::tss::ciphertext, size, left);
    return;
  }
  if (left < kIcvBytes) return header.broken(&expert::truncated);
  if (left > kIcvBytes) header.bytes(field::tss::ciphertext, size, left - kIcvBytes);
  header.bytes(field::tss::icv, size + left - kIcvBytes, kIcvBytes);
}

}  // namespace

// [WIRE-026]
void dissect_tss(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, bool trimmed) {
  Layer header{tvb, pinfo, nullptr, nullptr, 0};
  header.item = proto_tree_add_item(tree, proto::tss, tvb, 0, -1, ENC_NA);
  header.tree = proto_item_add_subtree(header.item, subtree::tss);
  using namespace field::tss;
  header.u32(type, 0, 1);
  const bool has_ssi = header.flag(sp, 0, 1);
  header.reserved(rsvd, 0, 1);
  header.u32(an, 0, 1);
  const uint32_t domain = header.u32(sdi, 1, 3);
  int size = 4;
  if (has_ssi) {
    header.u32(ssi, size, 4);
    size += 4;
  }
  header.u32(epoch, size, 2);
  header.u64(counter, size + 2, 6);
  size += 8;
  proto_item_append_text(header.item, ", SDI %u", domain);
  col_append_fstr(pinfo->cinfo, COL_INFO, "TSS sdi=%u [encrypted]", domain);
  dissect_sealed(header, size, trimmed);
}

}  // namespace uet::dissector
