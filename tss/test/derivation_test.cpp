// What goes into the ciphers, against the published and derived vectors of the reference, part D:
// wire/test/data/tss-vectors.json.
#include "tss/derivation.h"

#include "wire/reader.h"
#include "wire/test/octets_of.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>

namespace uet::tss {
namespace {

using Json = nlohmann::json;
using wire::IpAddress;
using wire::TssHeader;
using wire::test::hex_of;
using wire::test::Octets;
using wire::test::octets_of;

std::string text(const Json& object, const char* field) {
  return object.contains(field) ? object.at(field).get<std::string>() : std::string();
}

uint64_t hex(const Json& object, const char* field) {
  return std::stoull(text(object, field), nullptr, 16);
}

IpAddress address_of(const std::string& digits) {
  const Octets octets = octets_of(digits);
  IpAddress address;
  address.family = octets.size() == 4 ? wire::IpFamily::v4 : wire::IpFamily::v6;
  std::memcpy(address.octets.data(), octets.data(), octets.size());
  return address;
}

TssHeader header_of(const std::string& digits) {
  const Octets octets = octets_of(digits);
  wire::Reader r(octets);
  return *TssHeader::parse(r);
}

Mode mode_of(const Json& vector) {
  const std::string mode = vector.at("mode");
  if (mode == "direct") return Mode::direct;
  return mode == "cluster" ? Mode::cluster : Mode::server;
}

class VectorTest : public ::testing::Test {
 protected:
  static Json vectors(const char* part) {
    std::ifstream file(UET_SOURCE_DIR "/wire/test/data/tss-vectors.json");
    return Json::parse(file).at(part);
  }

  // The key and the header that the derivation of a vector begins with.
  static Key key_of(const Json& vector) {
    Key key;
    key.mode = mode_of(vector);
    if (key.mode == Mode::cluster) {
      key.rekey_mask = hex(vector, "rekey_mask");
      key.rekey_shift = static_cast<uint8_t>(hex(vector, "rekey_shift"));
    }
    return key;
  }
  static TssHeader derived_header(const Json& vector) {
    TssHeader h;
    h.sp = vector.at("identity_form") == "ssi";
    if (h.sp) h.ssi = static_cast<uint32_t>(hex(vector, "identity"));
    h.tsc = hex(vector, "epoch") << 48;
    if (!text(vector, "counter").empty()) h.tsc |= hex(vector, "counter");
    return h;
  }
};

// [TSS-011, TSS-030, TSS-031, TSS-034..037]
TEST_F(VectorTest, TheInputOfTheDerivationIsThatOfEveryVector) {
  size_t compared = 0;
  for (const Json& vector : vectors("kdf")) {
    SCOPED_TRACE(vector.at("id"));
    const TssHeader header = derived_header(vector);
    const IpAddress owner = header.sp ? IpAddress::v4(0) : address_of(text(vector, "identity"));
    for (uint8_t block = 1; block <= kKdfBlocks; ++block) {
      const KdfInput input = kdf_input(key_of(vector), header, owner, block);
      EXPECT_EQ(hex_of(input.span()), vector.at("prf_input")[block - 1U]);
      ++compared;
    }
  }
  EXPECT_EQ(compared, 12U * kKdfBlocks);
}

// [TSS-038]
TEST_F(VectorTest, TheInputIsNoneOfThoseThatCirculateAndAreWrong) {
  const Json right = vectors("kdf")[0];
  const KdfInput input =
      kdf_input(key_of(right), derived_header(right), address_of(text(right, "identity")), 1);
  size_t compared = 0;
  for (const Json& vector : vectors("kdf_negative")) {
    ASSERT_EQ(vector.at("as"), right.at("id"));
    EXPECT_NE(hex_of(input.span()), vector.at("prf_input")[0]);
    ++compared;
  }
  EXPECT_EQ(compared, 3U);
}

// [TSS-011..014, TSS-018]
TEST_F(VectorTest, TheNonceIsThatOfEveryPacket) {
  size_t masked = 0;
  for (const Json& packet : vectors("packets")) {
    SCOPED_TRACE(packet.at("id"));
    Nonce nonce = raw_nonce(header_of(text(packet, "tss_header")), address_of(text(packet, "src")));
    EXPECT_EQ(hex_of(nonce), packet.at("raw_nonce"));
    const Octets mask = octets_of(text(packet, "iv_mask"));
    EXPECT_EQ(mask.empty(), packet.at("mode") == "direct");
    if (!mask.empty()) {
      apply_mask(nonce, std::span<const std::byte, kIvMaskBytes>(mask));
      ++masked;
    }
    EXPECT_EQ(hex_of(nonce), packet.at("nonce"));
  }
  EXPECT_EQ(masked, 17U);
}

// [TSS-019, TSS-020]
TEST_F(VectorTest, TheAuthenticatedDataIsThatOfEveryPacket) {
  size_t compared = 0;
  for (const Json& packet : vectors("packets")) {
    SCOPED_TRACE(packet.at("id"));
    const Octets header = octets_of(text(packet, "tss_header"));
    const Octets uet = octets_of(text(packet, "uet"));
    const size_t clear = hex(packet, "crypto_offset") - header.size();
    Aad aad(address_of(text(packet, "src")), address_of(text(packet, "dst")),
            octets_of(text(packet, "encap_header")));
    aad.add(std::span(uet).first(header.size() + clear));
    EXPECT_EQ(hex_of(aad.span()), packet.at("aad"));
    ++compared;
  }
  EXPECT_EQ(compared, 18U);
}

// [TSS-025] The checksum covers the ICV: it cannot be covered by it.
TEST(AadTest, TheChecksumOfUdpCountsAsZero) {
  Aad aad(IpAddress::v4(0x0A000001), IpAddress::v4(0x0A000002), octets_of("c24212b90044abcd"));
  EXPECT_EQ(hex_of(aad.span()), "0a0000010a000002c24212b900440000");
}

// [TSS-015] Sources that share a key and have no word of their own in the nonce would repeat it.
TEST(AllowedTest, Ipv6WithoutSsiIsForClustersOnly) {
  const TssHeader plain;
  const TssHeader with_ssi{.sp = true};
  for (const Mode mode : {Mode::direct, Mode::cluster, Mode::server, Mode::client}) {
    EXPECT_TRUE(is_allowed(mode, plain, wire::IpFamily::v4));
    EXPECT_TRUE(is_allowed(mode, with_ssi, wire::IpFamily::v6));
    EXPECT_EQ(is_allowed(mode, plain, wire::IpFamily::v6), mode == Mode::cluster);
  }
}

// [TSS-014] By address unless the domain says otherwise.
TEST(ContextTest, Ipv6WithAnSsiIsDerivedFromTheAddressUnlessTheKeySaysSsi) {
  const IpAddress owner = address_of("20010cb0000000000fc0000000000abc");
  const TssHeader header{.sp = true, .ssi = 0x0A0B0C0D, .tsc = 0x1DC0'74E5'0000'0023};
  Key key;
  key.mode = Mode::cluster;
  EXPECT_EQ(hex_of(kdf_input(key, header, owner, 1).span()),
            "01553100000000001dc0000074e520010cb0000000000fc0000000000abc0160");
  key.kdf_ssi_v6 = SsiContext::ssi;
  EXPECT_EQ(hex_of(kdf_input(key, header, owner, 1).span()), "015531001dc0000074e50a0b0c0d0160");
}

// [TSS-036] Whose key changes with the counter.
TEST(RekeyTest, OnlyClustersRekeyByTheCounter) {
  Key key;
  key.rekey_mask = 0xFF00;
  key.rekey_shift = 8;
  key.mode = Mode::cluster;
  EXPECT_EQ(rekey_of(key, 0x1234), 0x12U);
  key.rekey_mask = 0;
  EXPECT_EQ(rekey_of(key, 0x1234), 0U);
  key.rekey_mask = 0xFF00;
  key.mode = Mode::server;
  EXPECT_EQ(rekey_of(key, 0x1234), 0U);
}

}  // namespace
}  // namespace uet::tss
