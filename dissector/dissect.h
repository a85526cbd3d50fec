// SPDX-License-Identifier: GPL-2.0-or-later
// The dissectors of the headers. Each takes its header from the tvb, shows it, and notes its
// contents in the packet.
#pragma once

#include "dissector/packet.h"

namespace uet::dissector {

struct Pdc;

struct Preferences {
  int trailer = 0;  // 0: none, 1: CRC [WIRE-089]
  unsigned dscp_trimmed = 16;
  unsigned dscp_trimmed_lasthop = 18;
  Bool reassemble = true;
  const char* key_file = nullptr;
  unsigned rx_max_epoch_lifetime = 16;  // [TSS-054]
};
inline Preferences preferences;
inline dissector_handle_t udp_handle, joined_handle;

// Security header and the rest of the packet. Returns the contents that a key has opened, else
// nothing.
tvbuff_t* dissect_tss(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, const Packet& packet);

// PDS header at offset 0. Returns its size, 0 for a type that has none.
int dissect_pds(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, Packet& packet);

// SES header and extension at the offset, and where the payload is.
void dissect_ses(tvbuff_t* tvb, int offset, packet_info* pinfo, proto_tree* tree, Packet& packet);

// Makes Wireshark read packets to the receivers of a known PDC as UET, with any source port: it is
// an entropy value, and Wireshark would prefer a well-known number. [WIRE-007]
void claim_receivers(packet_info* pinfo, const Packet& packet, const Pdc& pdc);

// Whether a UDP payload of some port can only be UET. Looks at few octets.
bool looks_like_uet(tvbuff_t* tvb);

// Entry points: UDP payload; one packet of several in it; IP payload with entropy header.
int dissect_udp(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
int dissect_joined(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);
int dissect_native(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data);

}  // namespace uet::dissector
