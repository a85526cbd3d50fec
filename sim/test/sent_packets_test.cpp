// The records of the packet oracle under one PDCID.
#include "sim/oracles/sent_packets.h"

#include <gtest/gtest.h>

namespace uet::sim {
namespace {

constexpr Psn kNearWrap{0xFFFF'FFFE};

class SentPacketsTest : public ::testing::Test {
 protected:
  // 0: it was not sent.
  uint64_t digest_of(Psn psn) {
    const uint64_t* const found = sent_.find(psn);
    return found == nullptr ? 0 : *found;
  }

  SentPackets sent_;
};

// Across the wrap of PSNs.
TEST_F(SentPacketsTest, EachPsnHasItsDigest) {
  EXPECT_EQ(sent_.find(kNearWrap), nullptr);
  for (int i = 0; i < 5; ++i) sent_.add(kNearWrap + i, 100 + static_cast<uint64_t>(i));
  for (int i = 0; i < 5; ++i) EXPECT_EQ(digest_of(kNearWrap + i), 100u + static_cast<uint64_t>(i));
  EXPECT_EQ(sent_.find(kNearWrap - 1), nullptr);
  EXPECT_EQ(sent_.find(kNearWrap + 5), nullptr);
}

TEST_F(SentPacketsTest, APsnThatWasPassedByCanCome) {
  sent_.add(Psn(10), 1);
  sent_.add(Psn(13), 3);
  EXPECT_EQ(digest_of(Psn(11)), 0u);
  sent_.add(Psn(11), 2);
  sent_.add(Psn(9), 4);
  EXPECT_EQ(digest_of(Psn(9)), 4u);
  EXPECT_EQ(digest_of(Psn(10)), 1u);
  EXPECT_EQ(digest_of(Psn(11)), 2u);
  EXPECT_EQ(digest_of(Psn(12)), 0u);
  EXPECT_EQ(digest_of(Psn(13)), 3u);
}

// Packets of an earlier PDC under the PDCID are still known.
TEST_F(SentPacketsTest, PdcsThatBeginElsewhereAreApart) {
  sent_.add(Psn(1000), 1);
  sent_.add(Psn(5'000'000), 2);
  sent_.add(Psn(5'000'001), 3);
  EXPECT_EQ(digest_of(Psn(1000)), 1u);
  EXPECT_EQ(digest_of(Psn(1001)), 0u);
  EXPECT_EQ(digest_of(Psn(5'000'000)), 2u);
  EXPECT_EQ(digest_of(Psn(5'000'001)), 3u);
}

// For packets that are resent from a new start.
TEST_F(SentPacketsTest, RecordsNearAPsnCanBeForgotten) {
  sent_.add(Psn(100), 1);
  for (uint32_t i = 0; i < 6; ++i) sent_.add(Psn(4'000'000 + i), 10 + i);
  sent_.forget_near(Psn(4'000'003), 2);
  EXPECT_EQ(digest_of(Psn(100)), 1u);
  EXPECT_EQ(digest_of(Psn(4'000'001)), 11u);
  EXPECT_EQ(digest_of(Psn(4'000'002)), 0u);
  EXPECT_EQ(digest_of(Psn(4'000'003)), 0u);
  EXPECT_EQ(digest_of(Psn(4'000'004)), 0u);
  EXPECT_EQ(digest_of(Psn(4'000'005)), 15u);
}

}  // namespace
}  // namespace uet::sim
