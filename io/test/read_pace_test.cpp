// Streams are read in gulps, single messages and small ones at once.
#include "io/udp/read_pace.h"

#include <gtest/gtest.h>

namespace uet::io {
namespace {

constexpr uint32_t kSuper = 57'736;
constexpr uint32_t kLarge = 2 << 20;  // a buffer that no rest fills

Instant at_us(int64_t us) { return Instant::zero() + Duration::microseconds(us); }

class ReadPaceTest : public testing::Test {
 protected:
  ReadPaceTest() { pace_.configure(kLarge); }

  // Reads of two super-packets each, 20 us from one to the next, until `octets` have come.
  void stream(uint64_t octets) {
    for (uint64_t got = 0; got < octets; got += 2 * kSuper) {
      now_us_ += 20;
      pace_.on_read(2 * kSuper, true, at_us(now_us_));
    }
  }
  bool rests_after(int64_t us) const { return pace_.is_resting(at_us(now_us_ + us)); }

  ReadPace pace_;
  int64_t now_us_ = 1'000;
};

TEST_F(ReadPaceTest, AMessageOfOneMebibyteIsReadAsItComes) {
  stream((1 << 20) + 8'192);
  EXPECT_TRUE(pace_.may_be_stream());
  EXPECT_FALSE(rests_after(0));
}

TEST_F(ReadPaceTest, AStreamRestsForFortyMicroseconds) {
  stream(2 << 20);
  EXPECT_TRUE(rests_after(0));
  EXPECT_TRUE(rests_after(39));
  EXPECT_FALSE(rests_after(40));
}

TEST_F(ReadPaceTest, WaitingPacketsAreReadFirst) {
  stream(2 << 20);
  now_us_ += 40;
  pace_.on_read(4 * kSuper, false, at_us(now_us_));
  EXPECT_FALSE(rests_after(0));
  pace_.on_read(2 * kSuper, true, at_us(now_us_));
  EXPECT_TRUE(rests_after(0));
}

TEST_F(ReadPaceTest, AStreamRestsOnceWhenNothingMoreIsThere) {
  stream(2 << 20);
  now_us_ += 40;
  pace_.on_read(4 * kSuper, false, at_us(now_us_));
  pace_.on_nothing(at_us(++now_us_));
  EXPECT_TRUE(rests_after(39));
  now_us_ += 40;
  pace_.on_nothing(at_us(now_us_));
  EXPECT_FALSE(rests_after(0));
}

TEST_F(ReadPaceTest, AMessageOfOneMebibyteAfterAPauseIsReadAsItComes) {
  for (int i = 0; i < 10; ++i) {
    stream((1 << 20) + 8'192);
    EXPECT_FALSE(rests_after(0)) << i;
    now_us_ += 26;
    pace_.on_nothing(at_us(now_us_));
    EXPECT_FALSE(pace_.may_be_stream());
  }
}

TEST_F(ReadPaceTest, AShortWaitDoesNotEndAStream) {
  stream(2 << 20);
  now_us_ += 40 + 25;  // a pause begins when the rest is over
  pace_.on_nothing(at_us(now_us_));
  pace_.on_read(2 * kSuper, true, at_us(now_us_));
  EXPECT_TRUE(rests_after(0));
}

// Messages that answer each other, faster than a pause: only one of them arrives during a rest.
TEST_F(ReadPaceTest, ARestThatBringsOneMessageEndsAStream) {
  stream(2 << 20);
  now_us_ += 40;
  pace_.on_read(kSuper, true, at_us(now_us_));
  EXPECT_FALSE(rests_after(0));
  EXPECT_FALSE(pace_.may_be_stream());
}

TEST_F(ReadPaceTest, SmallReadsAreNoStream) {
  for (int i = 0; i < 1'000; ++i) pace_.on_read(ReadPace::kBulk - 1, true, at_us(++now_us_));
  EXPECT_FALSE(pace_.may_be_stream());
  EXPECT_FALSE(rests_after(0));
}

TEST_F(ReadPaceTest, ASmallReadInAStreamIsFollowedByNoRest) {
  stream(2 << 20);
  pace_.on_read(100, true, at_us(now_us_));
  EXPECT_FALSE(rests_after(0));
}

TEST_F(ReadPaceTest, NoRestFillsASmallBuffer) {
  pace_.configure(106'496);  // a stock socket
  stream(2 << 20);
  EXPECT_TRUE(rests_after(6));
  EXPECT_FALSE(rests_after(7));  // 106,496 octets at 16 a nanosecond are 6.6 us
}

}  // namespace
}  // namespace uet::io
