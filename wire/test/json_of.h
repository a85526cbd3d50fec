// A decoded packet as the JSON objects of the golden files, so that whole packets are compared in
// one step. Names, values and presence of fields come from the lists in wire/fields.h, so the
// golden files test these too.
#pragma once

#include "wire/packet.h"

#include <nlohmann/json.hpp>

#include <string>

namespace uet::wire::test {

using Json = nlohmann::json;

// Everything `packet` holds: "ethernet", "ip", "udp", "entropy", "crc", "tss", "pds", "ses", "ext",
// "payload", "ciphertext", "icv", where present.
Json json_of(const DecodedPacket& packet);

Json json_of(const SesExtension& extension);
Json json_of(const TssHeader& h);

}  // namespace uet::wire::test
