// Inputs of the ciphers, against the published and derived vectors of the reference, part D:
// wire/test/data/tss-vectors.json.
#include "tss/derivation.h"

#include "tss/test/vectors.h"

#include <gtest/gtest.h>

namespace uet::tss::test {
namespace {

// [TSS-011, TSS-030, TSS-031, TSS-034..037]
TEST(VectorTest, TheInputOfTheDerivationIsThatOfEveryVector) {
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
TEST(VectorTest, TheInputDiffersFromKnownWrongVariants) {
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
TEST(VectorTest, TheNonceIsThatOfEveryPacket) {
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

// [TSS-019, TSS-020, TSS-023]
TEST(VectorTest, TheAuthenticatedDataIsThatOfEveryPacket) {
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

// [TSS-025] The checksum of UDP covers the ICV, so the ICV cannot cover the checksum.
TEST(AadTest, TheChecksumOfUdpCountsAsZero) {
  Aad aad(IpAddress::v4(0x0A000001), IpAddress::v4(0x0A000002), octets_of("c24212b90044abcd"));
  EXPECT_EQ(hex_of(aad.span()), "0a0000010a000002c24212b900440000");
}

// [TSS-015] Sources that share a key and have no separate word in the nonce would repeat it.
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

// [TSS-036] The owner of the key changes with the counter.
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
}  // namespace uet::tss::test
