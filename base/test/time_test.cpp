// Tests of instants and durations.
#include "base/time.h"

#include <gtest/gtest.h>

namespace uet {
namespace {

TEST(TimeTest, UnitsConvert) {
  EXPECT_EQ(Duration::microseconds(3).ns(), 3'000);
  EXPECT_EQ(Duration::milliseconds(3), 3'000_us);
  EXPECT_EQ(Duration::seconds(2), 2'000_ms);
  EXPECT_EQ(1_s, Duration::nanoseconds(1'000'000'000));
  EXPECT_EQ((1'999_ns).us(), 1);
  EXPECT_EQ((2'500_us).ms(), 2);
  EXPECT_EQ(Duration(), Duration::zero());
}

TEST(TimeTest, DurationsAddScaleAndCompare) {
  EXPECT_EQ(3_us + 4_ns, 3'004_ns);
  EXPECT_EQ(3_us - 4_us, Duration::nanoseconds(-1'000));
  EXPECT_EQ(3_us * 5, 15_us);
  EXPECT_EQ(15_us / 4, 3'750_ns);
  EXPECT_LT(1_us, 1'001_ns);
  EXPECT_LT(1'000'000_s, Duration::infinite());
}

TEST(TimeTest, InstantsDifferByDurations) {
  const Instant start = Instant::from_ns(500);
  EXPECT_EQ(start + 2_us, Instant::from_ns(2'500));
  EXPECT_EQ(start - 100_ns, Instant::from_ns(400));
  EXPECT_EQ((start + 2_us) - start, 2_us);
  EXPECT_LT(Instant::zero(), start);
}

TEST(TimeTest, AdditionSaturatesAtNever) {
  const Instant start = Instant::from_ns(500);
  EXPECT_TRUE((start + Duration::infinite()).is_never());
  EXPECT_TRUE((Instant::zero() + Duration::infinite()).is_never());
  EXPECT_TRUE((Instant::from_ns(-500) + Duration::infinite()).is_never());
  EXPECT_TRUE((Instant::never() + 1_ns).is_never());
  EXPECT_TRUE((Instant::never() + Duration::nanoseconds(-1)).is_never());
  EXPECT_TRUE((Instant::from_ns(INT64_MAX - 5) + 6_ns).is_never());
  EXPECT_FALSE((Instant::from_ns(INT64_MAX - 5) + 4_ns).is_never());
  EXPECT_EQ(start + Duration::nanoseconds(-600), Instant::from_ns(-100));
}

}  // namespace
}  // namespace uet
