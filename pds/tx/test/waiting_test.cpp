// How long a PDC has waited, and when it clears. [PDS-148, PDS-105]
#include "pds/tx/waiting.h"
#include "pds/tx/clearing.h"

#include <gtest/gtest.h>

namespace uet::pds {
namespace {

const Instant kStart = Instant::from_ns(1'000'000'000);
constexpr Duration kSecond = Duration::seconds(1);

// [PDS-148] A refusal counts from the first one on, until something passes.
TEST(WaitingTest, RefusalsCountFromTheFirstOne) {
  Waiting waiting;
  waiting.begin(kStart);
  EXPECT_FALSE(waiting.is_refused());
  waiting.note_refused(kStart + kSecond);
  waiting.note_refused(kStart + kSecond * 3);
  EXPECT_TRUE(waiting.is_refused_for(kSecond * 2, kStart + kSecond * 3));
  EXPECT_FALSE(waiting.is_refused_for(kSecond * 2, kStart + kSecond * 2));
  waiting.begin(kStart + kSecond * 4);
  EXPECT_FALSE(waiting.is_refused());
  EXPECT_EQ(waiting.since(), kStart + kSecond * 4);
}

// [PDS-148] A peer that waits for its application may take any time.
TEST(WaitingTest, ABusyApplicationIsForgiven) {
  Waiting waiting;
  waiting.begin(kStart);
  waiting.note_refused(kStart);
  waiting.forgive();
  EXPECT_FALSE(waiting.is_refused_for(kSecond, kStart + kSecond * 100));
  EXPECT_EQ(waiting.since(), kStart);
}

// [PDS-105] A request carries the clear; without one a command goes when the time is over.
TEST(ClearingTest, ARequestCarriesTheClear) {
  Clearing clearing;
  clearing.want(kStart + kSecond);
  clearing.want(kStart + kSecond * 2);
  EXPECT_EQ(clearing.at(), kStart + kSecond);
  clearing.note_carried();
  EXPECT_FALSE(clearing.is_wanted());
  EXPECT_FALSE(clearing.is_due());
}

// [PDS-104, PDS-105]
TEST(ClearingTest, WithoutARequestACommandIsDue) {
  Clearing clearing;
  clearing.want(kStart + kSecond);
  clearing.end_wait();
  EXPECT_TRUE(clearing.is_due());
  EXPECT_FALSE(clearing.is_wanted());
  EXPECT_TRUE(clearing.at().is_never());
  clearing.note_sent();
  EXPECT_FALSE(clearing.is_due());
}

}  // namespace
}  // namespace uet::pds
