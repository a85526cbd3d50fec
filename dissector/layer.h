// SPDX-License-Identifier: GPL-2.0-or-later
// One header while it is taken apart: where it begins, the tree that shows it. Every read goes
// through tvb functions, which stop the dissection of a packet that is too short by longjmp: no
// object with a destructor may live across these calls.
#pragma once

#include "dissector/aliases.h"
#include "dissector/compat.h"
#include "dissector/experts.h"

namespace uet::dissector {

struct Layer {
  tvbuff_t* tvb = nullptr;
  packet_info* pinfo = nullptr;
  proto_tree* tree = nullptr;
  proto_item* item = nullptr;  // the line of the header itself
  int start = 0;               // offset of the header in tvb

  int remaining_after(int size) const { return tvb_reported_length_remaining(tvb, start + size); }

  // Shows octets [offset, offset + size) of the header as the field, and returns its value.
  uint32_t u32(int field, int offset, int size) const {
    uint32_t value = 0;
    proto_tree_add_item_ret_uint(tree, field, tvb, start + offset, size, ENC_BIG_ENDIAN, &value);
    alias(field, offset, size);
    return value;
  }
  uint64_t u64(int field, int offset, int size) const {
    uint64_t value = 0;
    proto_tree_add_item_ret_uint64(tree, field, tvb, start + offset, size, ENC_BIG_ENDIAN, &value);
    alias(field, offset, size);
    return value;
  }
  int32_t i16(int field, int offset) const {
    int32_t value = 0;
    proto_tree_add_item_ret_int(tree, field, tvb, start + offset, 2, ENC_BIG_ENDIAN, &value);
    return value;
  }
  bool flag(int field, int offset, int size) const {
    Bool value = 0;
    proto_tree_add_item_ret_boolean(tree, field, tvb, start + offset, size, ENC_BIG_ENDIAN, &value);
    alias(field, offset, size);
    return value;
  }
  void bytes(int field, int offset, int size) const {
    proto_tree_add_item(tree, field, tvb, start + offset, size, ENC_NA);
    alias(field, offset, size);
  }
  // The field under its alias as well, for filters only.
  void alias(int field, int offset, int size) const {
    const int other = alias_of(field);
    if (other == 0) return;
    proto_item_set_hidden(
        proto_tree_add_item(tree, other, tvb, start + offset, size, ENC_BIG_ENDIAN));
  }

  // A field that senders set to 0 and receivers ignore. [WIRE-003]
  void reserved(int field, int offset, int size) const {
    uint32_t value = 0;
    proto_item* shown = proto_tree_add_item_ret_uint(tree, field, tvb, start + offset, size,
                                                     ENC_BIG_ENDIAN, &value);
    if (value != 0) expert_add_info(pinfo, shown, &expert::reserved_bits);
  }

  // A value that the header does not carry but means.
  proto_item* derived(int field, uint32_t value) const {
    proto_item* shown = proto_tree_add_uint(tree, field, tvb, start, 0, value);
    proto_item_set_generated(shown);
    return shown;
  }

  // A rule of the header that the packet breaks. [WIRE-116, WIRE-120]
  void broken(expert_field* rule) const { expert_add_info(pinfo, item, rule); }
};

}  // namespace uet::dissector
