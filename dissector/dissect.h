// SPDX-License-Identifier: GPL-2.0-or-later
// The dissectors of the headers. Each takes its header from the tvb, shows it, notes in the packet
// what it said.
#pragma once

#include "dissector/packet.h"

namespace uet::dissector {

struct Preferences {
  int trailer = 0;  // 0: none, 1: CRC [WIRE-089]
  unsigned dscp_trimmed = 16;
  unsigned dscp_trimmed_lasthop = 18;
};
inline Preferences preferences;

// Security header and, since nothing decrypts here, everything behind it.
void dissect_tss(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, bool trimmed);

// PDS header at offset 0. Returns its size, 0 for a type that has none.
int dissect_pds(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, Packet& packet);

// SES header and extension at the offset, and where the payload is.
void dissect_ses(tvbuff_t* tvb, int offset, packet_info* pinfo, proto_tree* tree, Packet& packet);

// Whether a UDP payload of some port can be nothing but UET. Looks at few octets.
bool looks_like_uet(tvbuff_t* tvb);

// Entry points: UDP payload; IP payload with entropy header.
int dissect_udp(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
int dissect_native(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);

}  // namespace uet::dissector
