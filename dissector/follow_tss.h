// SPDX-License-Identifier: GPL-2.0-or-later
// Facts about sealed packets with a right ICV from other such packets: the age of their epochs, and
// repeated nonces. Draws no trees.
#pragma once

#include "dissector/decrypt.h"

namespace uet::dissector {

struct SealedNote {
  uint32_t epochs_behind = 0;  // the newest epoch of this source before
  uint32_t same_nonce_frame = 0;
  bool same_packet = false;  // in that frame: a copy; else two packets with one nonce
};

// Made in the first pass, found again in later ones; nothing for packets that are not vouched for.
const SealedNote* sealed_note_of(packet_info* pinfo, const SealedPacket& packet,
                                 const Opening& opening);

void register_sealed_history();

}  // namespace uet::dissector
