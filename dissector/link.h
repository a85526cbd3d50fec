// SPDX-License-Identifier: GPL-2.0-or-later
// LLR, CBFC and their negotiation in captures; where they hook into Wireshark.
#pragma once

#include "dissector/layer.h"

namespace uet::dissector {

constexpr uint32_t kUeCid = 0xFA7ACB;  // [LINK-110, LINK-141]

// A header of the link layer and its tree.
Layer link_layer(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, int start, int size,
                 const char* what);

// An organizationally specific TLV of LLDP. [LINK-141..144]
int dissect_link_tlv(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);

void register_link();
void hand_off_link();

}  // namespace uet::dissector
