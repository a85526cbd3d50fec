// Limits for an unproven source. [PDS-252, T-38]
#include "pds/door/proof.h"

#include <gtest/gtest.h>

namespace uet::pds {
namespace {

// [PDS-252] Three octets go back for each that came.
TEST(ProofPartTest, ThreeOctetsMayGoForEachReceivedOne) {
  Proof proof;
  EXPECT_FALSE(proof.spend(1));
  proof.earn(100);
  EXPECT_EQ(proof.octets(), 300u);
  EXPECT_TRUE(proof.spend(300));
  EXPECT_FALSE(proof.spend(1));
}

// [T-38] However much came, no more than 64 KiB may go at once.
TEST(ProofPartTest, TheAllowanceHasALimit) {
  Proof proof;
  for (int i = 0; i < 100; ++i) proof.earn(9000);
  proof.earn(UINT32_MAX);
  EXPECT_EQ(proof.octets(), 65536u);
  EXPECT_FALSE(proof.spend(65537));
  EXPECT_EQ(proof.octets(), 65536u);
}

// [PDS-252] A confirmation stays, whatever is spent.
TEST(ProofPartTest, AConfirmationStays) {
  Proof proof;
  EXPECT_FALSE(proof.is_confirmed());
  proof.confirm();
  proof.earn(1);
  EXPECT_TRUE(proof.spend(3));
  EXPECT_TRUE(proof.is_confirmed());
}

}  // namespace
}  // namespace uet::pds
