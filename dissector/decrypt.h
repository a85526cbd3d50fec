// SPDX-License-Identifier: GPL-2.0-or-later
// Opens sealed packets with the keys that are known, by libgcrypt. Draws no trees.
#pragma once

#include "dissector/keys.h"
#include "dissector/packet.h"

#include "tss/derivation.h"

namespace uet::dissector {

enum class Verdict : uint8_t {
  no_key,      // none for the domain and association number, or none that may be used
  bad,         // there are keys, and the ICV is right with none of them
  good,        // the ICV is right
  unverified,  // decrypted; the ICV is not there to be checked
};

// A packet from the security header on. The spans are of the capture.
struct SealedPacket {
  wire::IpAddress source, destination;
  std::array<std::byte, 8> transport{};  // entropy header or UDP header
  uint32_t transport_bytes = 0;
  wire::TssHeader header;
  std::span<const std::byte> header_octets;
  std::span<const std::byte> content;  // behind the header; of the ICV nothing
  std::span<const std::byte> icv;      // empty when it is cut off
};

using Sdk = std::array<std::byte, tss::kSdkBytes>;

struct Opening {
  Verdict verdict = Verdict::no_key;
  const KnownKey* key = nullptr;
  Sdk sdk{};
  tss::Nonce nonce{};
  uint32_t clear_bytes = 0;  // of the content
  uint32_t rekey = 0;
};

// `plaintext` has room for the content and holds it decrypted when the verdict is good or
// unverified. The choice among keys is kept with the packet, for later passes.
Opening open_sealed(packet_info* pinfo, const SealedPacket& packet, std::span<std::byte> plaintext);

void register_decryption();

}  // namespace uet::dissector
