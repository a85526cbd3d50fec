// The vectors of the reference, part D (wire/test/data/tss-vectors.json), as the tests read them.
// wire/test/data/tss-vectors.json.
#pragma once

#include "tss/derivation.h"

#include "wire/reader.h"
#include "wire/test/octets_of.h"

#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <string>

namespace uet::tss::test {

using Json = nlohmann::json;
using wire::IpAddress;
using wire::TssHeader;
using wire::test::hex_of;
using wire::test::Octets;
using wire::test::octets_of;

inline Json vectors(const char* part) {
  std::ifstream file(UET_SOURCE_DIR "/wire/test/data/tss-vectors.json");
  return Json::parse(file).at(part);
}

inline std::string text(const Json& object, const char* field) {
  return object.contains(field) ? object.at(field).get<std::string>() : std::string();
}

inline uint64_t hex(const Json& object, const char* field) {
  return std::stoull(text(object, field), nullptr, 16);
}

inline IpAddress address_of(const std::string& digits) {
  const Octets octets = octets_of(digits);
  IpAddress address;
  address.family = octets.size() == 4 ? wire::IpFamily::v4 : wire::IpFamily::v6;
  std::memcpy(address.octets.data(), octets.data(), octets.size());
  return address;
}

inline TssHeader header_of(const std::string& digits) {
  const Octets octets = octets_of(digits);
  wire::Reader r(octets);
  return *TssHeader::parse(r);
}

inline Mode mode_of(const Json& vector) {
  const std::string mode = vector.at("mode");
  if (mode == "direct") return Mode::direct;
  return mode == "cluster" ? Mode::cluster : Mode::server;
}

// The key that a derivation begins with; its secret is the master.
inline Key key_of(const Json& kdf) {
  Key key;
  key.mode = mode_of(kdf);
  if (key.mode == Mode::cluster) {
    key.rekey_mask = hex(kdf, "rekey_mask");
    key.rekey_shift = static_cast<uint8_t>(hex(kdf, "rekey_shift"));
  }
  const Octets master = octets_of(text(kdf, "master"));
  std::copy(master.begin(), master.end(), key.secret.begin());
  return key;
}

// The header that the derivation of a vector begins with.
inline TssHeader derived_header(const Json& kdf) {
  TssHeader h;
  h.sp = kdf.at("identity_form") == "ssi";
  if (h.sp) h.ssi = static_cast<uint32_t>(hex(kdf, "identity"));
  h.tsc = hex(kdf, "epoch") << 48;
  if (!text(kdf, "counter").empty()) h.tsc |= hex(kdf, "counter");
  return h;
}

// The owner of the key; with an SSI the address does not count.
inline IpAddress owner_of(const Json& kdf) {
  return kdf.at("identity_form") == "ssi" ? IpAddress::v4(0x0A000001)
                                          : address_of(text(kdf, "identity"));
}

}  // namespace uet::tss::test
