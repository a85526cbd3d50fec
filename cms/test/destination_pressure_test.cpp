// Requests of a destination with scarce memory. By hand: marks of 1,000 and 2,270 octets, ten for
// each step of 127; base RTT 12 us.
#include "cms/destination_pressure.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

using namespace uet::literals;

class DestinationPressureTest : public ::testing::Test {
 protected:
  int pend(uint64_t occupancy) {
    pressure_.on_occupancy(occupancy, now_);
    return pressure_.feedback(now_).rcv_cwnd_pend;
  }
  bool restores(Duration after) { return pressure_.feedback(now_ + after).restore_cwnd; }

  Instant now_ = Instant::from_ns(1'000'000'000);
  DestinationPressure pressure_{1000, 2270, 12_us};
};

// [CMS-111, CMS-116] 0 below the low mark, 127 above the high one, linear between.
TEST_F(DestinationPressureTest, FollowsTheOccupancyBetweenTheMarks) {
  EXPECT_EQ(pend(0), 0);
  EXPECT_EQ(pend(1000), 0);
  EXPECT_EQ(pend(1009), 0);
  EXPECT_EQ(pend(1010), 1);
  EXPECT_EQ(pend(1640), 64);
  EXPECT_EQ(pend(2269), 126);
  EXPECT_EQ(pend(2270), 127);
  EXPECT_EQ(pend(UINT64_MAX), 127);
}

// [CMS-116] One round trip after that, windows are to be restored; then no more.
TEST_F(DestinationPressureTest, RestoresForOneRoundTrip) {
  EXPECT_FALSE(restores(0_ns)) << "there was no pressure";
  pend(1640);
  EXPECT_FALSE(restores(0_ns));
  pend(1005);
  EXPECT_TRUE(restores(0_ns));
  EXPECT_TRUE(restores(12_us - 1_ns));
  EXPECT_FALSE(restores(12_us));
}

// [CMS-116] The round trip begins with the end of the pressure, not with each report after it.
TEST_F(DestinationPressureTest, LaterReportsDoNotProlongThat) {
  pend(1640);
  pend(0);
  now_ = now_ + 10_us;
  pend(0);
  EXPECT_TRUE(restores(1_us));
  EXPECT_FALSE(restores(2_us));
}

// [CMS-116] New pressure ends it.
TEST_F(DestinationPressureTest, NewPressureEndsTheRestoring) {
  pend(1640);
  pend(0);
  EXPECT_EQ(pend(1100), 10);
  EXPECT_FALSE(restores(0_ns));
}

}  // namespace
}  // namespace uet::cms
