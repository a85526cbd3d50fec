// The limits on what strangers and peers can cause, each alone. [PDS-072, T-37, T-41, TSS-081]
#include "pds/door/shares.h"
#include "pds/door/stranger_budget.h"
#include "pds/door/trim_nacks.h"

#include "pds/test/part.h"

namespace uet::pds::part {
namespace {

Instant after(Duration time) { return kNow + time; }

// [PDS-072, T-41] A tenth of the rate at once; then as many as come in.
TEST(TokenBucketTest, ATenthOfTheRateGoesAtOnce) {
  TokenBucket bucket(kNow);
  const auto taken = [&](Instant now) {
    int count = 0;
    while (count < 1000 && bucket.take(100, now)) ++count;
    return count;
  };
  EXPECT_EQ(taken(kNow), 10);
  EXPECT_EQ(taken(after(Duration::milliseconds(9))), 0);
  EXPECT_EQ(taken(after(Duration::milliseconds(35))), 3);
  EXPECT_EQ(taken(after(Duration::seconds(60))), 10);
}

// [PDS-072, T-38] All strangers together have the rate, and each host half of it, by any port.
TEST(StrangerBudgetTest, OneHostLeavesHalf) {
  StrangerBudget budget(7);
  const auto taken = [&](uint8_t host) {
    int count = 0;
    FabricAddress from = address(host);
    while (count < 1000) {
      from.port = static_cast<uint16_t>(1000 + count);
      if (!budget.take(from, 1000, kNow)) break;
      ++count;
    }
    return count;
  };
  EXPECT_EQ(taken(1), 50);
  EXPECT_EQ(taken(1), 0);
  EXPECT_EQ(taken(2), 50);
  EXPECT_EQ(taken(3), 0) << "100 in all";
}

// [TSS-081, T-37] Each PSN once in a round trip, which is 100 us where none was measured.
TEST(TrimNacksTest, APsnHasOneNackInARoundTrip) {
  TrimNacks nacks(1000);
  const auto take = [&](uint32_t psn, Duration round_trip, Duration later) {
    return nacks.take(Pdcid(5), 1, Psn(psn), round_trip, after(later));
  };
  const Duration none = Duration::zero();
  EXPECT_TRUE(take(9, none, none));
  EXPECT_FALSE(take(9, none, Duration::microseconds(99)));
  EXPECT_TRUE(take(10, none, Duration::microseconds(99))) << "another PSN";
  EXPECT_TRUE(take(9, none, Duration::microseconds(100)));
  EXPECT_FALSE(take(9, Duration::milliseconds(2), Duration::milliseconds(2)));
  EXPECT_TRUE(take(9, Duration::milliseconds(2), Duration::microseconds(2100)));
}

// [TSS-145, T-37] A peer has a budget, whatever it names; others have their own.
TEST(TrimNacksTest, APeerHasABudget) {
  TrimNacks nacks(100);
  const auto taken = [&](uint32_t peer) {
    uint32_t count = 0;
    while (count < 60 && nacks.take(Pdcid(5), peer, Psn(peer * 1000 + count), kRto, kNow)) ++count;
    return count;
  };
  EXPECT_EQ(taken(1), 10u);
  EXPECT_EQ(taken(1), 0u);
  EXPECT_EQ(taken(2), 10u);
}

// [T-02] Jobs and domains hold what their PDCs take; in the clear there is no domain.
TEST(SharesTest, AJobHoldsWhatItsPdcsTake) {
  Arena arena;
  Shares shares;
  ASSERT_TRUE(shares.create(arena, 8, 1).ok());
  shares.take(0, JobId(1));
  shares.take(77, JobId(1));
  shares.take(77, JobId(2));
  EXPECT_EQ(shares.held({0, 1}), 1u);
  EXPECT_EQ(shares.held({77, 1}), 1u);
  EXPECT_EQ(shares.held({77}), 2u);
  EXPECT_EQ(shares.held({0}), 0u);
  shares.give_back(77, JobId(1));
  EXPECT_EQ(shares.held({77, 1}), 0u);
  EXPECT_EQ(shares.held({77}), 1u);
}

// [T-02] A peer may hold a percentage of the free PDCs and its own ones; a peer without a PDC may
// take one.
TEST(SharesTest, SomeAlwaysStayFree) {
  EXPECT_TRUE(Shares::has_room(0, 0, 50));
  EXPECT_TRUE(Shares::has_room(3, 5, 50));
  EXPECT_FALSE(Shares::has_room(4, 4, 50));
  EXPECT_TRUE(Shares::has_room(4, 4, 51));
  EXPECT_TRUE(Shares::has_room(4, 0, 100));
}

}  // namespace
}  // namespace uet::pds::part
