// SPDX-License-Identifier: GPL-2.0-or-later
// Tables over a whole capture: tshark -z uet,pdc, -z uet,ses and -z uet,entropy, and Wireshark's
// Statistics menu.
#pragma once

#include "dissector/packet.h"

namespace uet::dissector {

struct Note;

// Hands a packet to the tables that are open.
void tap_packet(packet_info* pinfo, const Packet& packet, const Note& note);

void register_statistics();

}  // namespace uet::dissector
