// SPDX-License-Identifier: GPL-2.0-or-later
// LLR, CBFC and their negotiation in captures; where they hook into Wireshark.
#pragma once

namespace uet::dissector {

void register_link();
void hand_off_link();

}  // namespace uet::dissector
