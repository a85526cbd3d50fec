// Opens the sealed packets of a capture with the lines of a key file or of a key log.
#pragma once

#include "tools/pcap/packet_keys.h"

#include "wire/packet.h"

#include <vector>

namespace uet::tools {

enum class Opening : uint8_t {
  not_sealed,  // or its ICV was cut off
  no_key,      // none of its secure domain and association number
  refused,     // with no key the ICV is right
  opened,
};

// The contents of a sealed packet, from the PDS header on, go to `content`. `packet` is the result
// of wire::decode, from the IP header or before on, and the octets that it views are still there.
Opening unseal(PacketKeys& keys, const wire::DecodedPacket& packet,
               std::vector<std::byte>& content);
// The headers and the payload of `packet` are those of the content from here on, which they view.
void show_content(wire::DecodedPacket& packet, const std::vector<std::byte>& content);
// Both.
Opening unseal_headers(PacketKeys& keys, wire::DecodedPacket& packet,
                       std::vector<std::byte>& content);

}  // namespace uet::tools
