// Derived keys against the vectors of the reference and the published CMACs of NIST.
#include "tss/kdf.h"
#include "tss/test/vectors.h"

#include <gtest/gtest.h>

namespace uet::tss::test {
namespace {

class KdfTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(kdf_.create().ok()); }

  bool set_master(const std::string& digits) {
    const Octets master = octets_of(digits);
    return kdf_.set_master(std::span<const std::byte, kSdkBytes>(master));
  }
  std::string mac(const std::string& blocks) {
    std::array<std::byte, kBlockBytes> out{};
    EXPECT_TRUE(kdf_.mac(octets_of(blocks), out));
    return hex_of(out);
  }

  Kdf kdf_;
};

// [TSS-121, TSS-133] NIST SP 800-38B, AES-256, examples of whole blocks: 16 and 64 octets. No
// derivation has an input that is padded.
TEST_F(KdfTest, TheMacIsThatOfNist) {
  ASSERT_TRUE(set_master("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"));
  EXPECT_EQ(mac("6bc1bee22e409f96e93d7e117393172a"), "28a7023f452e8f82bd4bf28d8c37c35c");
  EXPECT_EQ(mac("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
                "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"),
            "e1992190549f6ed5696a2c056c315410");
}

// A master with which the subkey of CMAC carries, and one with which it does not. The expected
// values are from Python's cryptography package.
TEST_F(KdfTest, TheSubkeyIsReducedWhenItCarries) {
  ASSERT_TRUE(set_master("0000000000000000000000000000000000000000000000000000000000000000"));
  EXPECT_EQ(mac("00000000000000000000000000000000"), "9211053c558ae90ec0af4057758c3cec");
  ASSERT_TRUE(set_master("0101010101010101010101010101010101010101010101010101010101010101"));
  EXPECT_EQ(mac("00000000000000000000000000000000"), "af9c537de153f2f35a165df63202fab0");
}

// [TSS-034..038, TSS-110..117, TSS-132] K1 to K12: SDK and IV mask. Each differs from the results
// of the wrong variants. [TSS-118..120]
TEST_F(KdfTest, KeysEqualTheVectors) {
  size_t compared = 0;
  for (const Json& vector : vectors("kdf")) {
    SCOPED_TRACE(vector.at("id"));
    const Key key = key_of(vector);
    ASSERT_TRUE(kdf_.set_master(key.secret));
    KeyMaterial made;
    ASSERT_TRUE(kdf_.derive(key, derived_header(vector), owner_of(vector), made));
    EXPECT_EQ(hex_of(made.sdk()), text(vector, "sdk"));
    EXPECT_EQ(hex_of(made.iv_mask()), text(vector, "iv_mask"));
    for (const Json& wrong : vectors("kdf_negative")) {
      EXPECT_NE(hex_of(made.sdk()), text(wrong, "sdk_not"));
    }
    ++compared;
  }
  EXPECT_EQ(compared, 12U);
}

// [TSS-136]
TEST_F(KdfTest, WithoutAMasterNothingIsDerived) {
  Key key;
  key.mode = Mode::cluster;
  KeyMaterial made;
  EXPECT_FALSE(kdf_.derive(key, TssHeader{}, IpAddress::v4(1), made));
  ASSERT_TRUE(kdf_.set_master(key.secret));
  EXPECT_TRUE(kdf_.derive(key, TssHeader{}, IpAddress::v4(1), made));
  kdf_.forget_master();
  EXPECT_FALSE(kdf_.derive(key, TssHeader{}, IpAddress::v4(1), made));
}

}  // namespace
}  // namespace uet::tss::test
