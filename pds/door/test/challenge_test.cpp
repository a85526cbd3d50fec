// Starts that prove that a sender receives our packets. [PDS-251]
#include "pds/door/challenge.h"

#include "pds/test/part.h"

namespace uet::pds::part {
namespace {

class ChallengeTest : public testing::Test {
 protected:
  Psn ask(Instant now = kNow) {
    return challenge_.ask(address(9), kPeerId, now, [](Psn) { return false; });
  }
  bool is_answered(Psn start, Duration later = Duration::zero()) const {
    return challenge_.is_answered(address(9), kPeerId, start, kNow + later);
  }

  SeededRandom random_{1};
  Challenge challenge_{random_};
};

// [PDS-251] The start that was sent, by its sender alone.
TEST_F(ChallengeTest, AStartIsForOneSender) {
  const Psn start = ask();
  EXPECT_TRUE(is_answered(start));
  EXPECT_FALSE(is_answered(start + 1));
  EXPECT_FALSE(challenge_.is_answered(address(10), kPeerId, start, kNow));
  EXPECT_FALSE(challenge_.is_answered(address(9), Pdcid(8), start, kNow));
}

// [PDS-251] It is good for 8.6 s at least, and twice that at most.
TEST_F(ChallengeTest, AStartExpires) {
  const Psn start = ask();
  EXPECT_TRUE(is_answered(start, Duration::milliseconds(8500)));
  EXPECT_FALSE(is_answered(start, Duration::milliseconds(17200)));
}

// [PDS-251] Before the first challenge no start counts as an answer to one.
TEST_F(ChallengeTest, WithoutAChallengeNothingIsAnswered) {
  const Psn start = ask();
  Challenge fresh(random_);
  EXPECT_FALSE(fresh.is_answered(address(9), kPeerId, start, kNow));
}

// [PDS-251, PDS-176] The start of a PDC that has just closed would be taken for that PDC.
TEST_F(ChallengeTest, AStartThatATombstoneHasIsNotNamed) {
  const Psn first = ask();
  const Psn second =
      challenge_.ask(address(9), kPeerId, kNow, [&](Psn start) { return start == first; });
  EXPECT_NE(second, first);
  EXPECT_TRUE(is_answered(second));
}

// [PDS-251] After a challenge others follow for a while: packets that left before the new start
// open nothing.
TEST_F(ChallengeTest, ChallengesGoOnForAWhile) {
  EXPECT_FALSE(challenge_.is_on(false, kNow));
  EXPECT_TRUE(challenge_.is_on(true, kNow));
  ask();
  EXPECT_TRUE(challenge_.is_on(false, kNow + Duration::milliseconds(8999)));
  EXPECT_FALSE(challenge_.is_on(false, kNow + Duration::seconds(9)));
}

}  // namespace
}  // namespace uet::pds::part
