// A decoded packet as the JSON objects of the golden files, so that whole packets are compared in
// one step. Names and conventions are those of the golden files, written here by hand.
#pragma once

#include "wire/packet.h"

#include <nlohmann/json.hpp>

#include <string>

namespace uet::wire::test {

using Json = nlohmann::json;

// Everything `packet` holds: "ethernet", "ip", "udp", "entropy", "crc", "tss", "pds", "ses", "ext",
// "payload", "ciphertext", "icv", where present.
Json fields_of(const DecodedPacket& packet);

Json fields_of(const SesExtension& extension);
Json fields_of(const TssHeader& h);

}  // namespace uet::wire::test
