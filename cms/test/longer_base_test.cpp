// LongerBase: a window that stays small raises the base RTT, and a loss may restore it.
// Packets of 1,000 octets, a base RTT of 100 us, round trips of a queue that others fill.
// [CMS-199, decision 16]
#include "cms/longer_base.h"

#include <gtest/gtest.h>

namespace uet::cms::longer_base {
namespace {

using namespace uet::literals;

constexpr uint32_t kMtu = 1000;
constexpr Duration kBase = 100_us;
// Stored round trips are whole steps of 16 us, rounded down.
constexpr Duration kLong = 1600_us;

class LongerBaseTest : public ::testing::Test {
 protected:
  // That many samples, one each 5 ms.
  void sample(int count, Duration rtt = kLong, uint64_t window = 2 * kMtu, uint32_t mtu = kMtu) {
    for (int i = 0; i < count; ++i) {
      now_ = now_ + 5_ms;
      base_rtt_ = longer_.after_sample(rtt, base_rtt_, window, mtu, now_);
    }
  }
  void lose() { base_rtt_ = longer_.after_loss(base_rtt_); }

  Instant now_ = Instant::from_ns(1'000'000'000);
  Duration base_rtt_ = kBase;
  LongerBase longer_;
};

// [CMS-199] A tiny window for half a second: the shortest round trip of that time.
TEST_F(LongerBaseTest, AfterHalfASecondOfATinyWindow) {
  sample(50);
  sample(1, kLong - 320_us);
  sample(49);
  EXPECT_EQ(base_rtt_, kBase);
  sample(1);
  EXPECT_EQ(base_rtt_, kLong - 320_us);
}

// [CMS-199] Few samples in that time may all be those of hosts that slept.
TEST_F(LongerBaseTest, NotAfterFewSamples) {
  sample(1);
  for (int i = 0; i < 63; ++i) {
    now_ = now_ + 50_ms;
    sample(1);
  }
  EXPECT_EQ(base_rtt_, kBase);
  sample(1);
  EXPECT_EQ(base_rtt_, kLong);
}

// [CMS-199] A window of eight packets is not small. One of seven is, but only after ten seconds; a
// window that grew in between begins anew.
TEST_F(LongerBaseTest, AWindowOfSevenPacketsWaitsForTenSeconds) {
  constexpr uint32_t kLongPacket = 9000;
  sample(3000, kLong, 8 * kLongPacket, kLongPacket);
  EXPECT_EQ(base_rtt_, kBase);
  sample(1900, kLong, 7 * kLongPacket, kLongPacket);
  sample(1, kLong, 8 * kLongPacket, kLongPacket);
  sample(2000, kLong, 7 * kLongPacket, kLongPacket);
  EXPECT_EQ(base_rtt_, kBase);
  sample(1, kLong, 7 * kLongPacket, kLongPacket);
  EXPECT_EQ(base_rtt_, kLong);
}

// [CMS-199] Fewer than three packets are tiny, and so are fewer than 12 KiB.
TEST_F(LongerBaseTest, ATinyWindow) {
  sample(200, kLong, 3 * 9000, 9000);
  EXPECT_EQ(base_rtt_, kBase);
  sample(1, kLong, 3 * 9000 - 1, 9000);
  EXPECT_EQ(base_rtt_, kLong);

  base_rtt_ = kBase;
  sample(200, kLong, 12 * 1024, 2000);
  EXPECT_EQ(base_rtt_, kBase);
  sample(1, kLong, 12 * 1024 - 1, 2000);
  EXPECT_EQ(base_rtt_, kLong);
}

// [CMS-199] A loss takes back what half a second has shown, whether one such time or several, and
// the samples count from there.
TEST_F(LongerBaseTest, ALossTakesItBack) {
  sample(101);
  ASSERT_EQ(base_rtt_, kLong);
  sample(101, kLong * 2);
  ASSERT_EQ(base_rtt_, kLong * 2);
  lose();
  EXPECT_EQ(base_rtt_, 96_us) << "in steps of 16 us";
  sample(100);
  lose();
  sample(63);
  EXPECT_EQ(base_rtt_, 96_us);
  sample(1);
  EXPECT_EQ(base_rtt_, kLong);
}

// [CMS-199] What ten seconds have shown stays, half seconds before them included.
TEST_F(LongerBaseTest, ALossAfterTenSecondsChangesNothing) {
  constexpr uint32_t kLongPacket = 9000;
  sample(101, kLong, 2 * kLongPacket, kLongPacket);
  ASSERT_EQ(base_rtt_, kLong);
  sample(2001, kLong * 2, 7 * kLongPacket, kLongPacket);
  ASSERT_EQ(base_rtt_, kLong * 2);
  lose();
  EXPECT_EQ(base_rtt_, kLong * 2);
}

// The base RTT never becomes shorter by a sample.
TEST_F(LongerBaseTest, NoShorterBase) {
  sample(101, 50_us);
  EXPECT_EQ(base_rtt_, kBase);
}

}  // namespace
}  // namespace uet::cms::longer_base
