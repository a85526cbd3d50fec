// Results of the table of decisions, in simulated time. [decision 9, LF-081]
#include "prov/uet/progress/flush_policy.h"

#include "prov/uet/progress/test/flush_world.h"

#include <gtest/gtest.h>

namespace uet::prov {
namespace {

using namespace uet::literals;
using World = test::FlushWorld;

constexpr FlushPolicy::Options kAuto{.auto_progress = true};

// FI_UET_HELPER=0, and FI_THREAD_DOMAIN with it, where there is no lock either: only FI_MORE makes
// a post wait, and no visit starts a timer.
TEST(FlushPolicyTest, WithoutHelperNothingWaits) {
  World w({}, false);
  w.round();
  for (int i = 0; i < 100; ++i) {
    for (int k = 0; k < 16; ++k) {
      w.pass(1_us);
      EXPECT_EQ(w.post(), Decision::post_unserved);
      EXPECT_EQ(w.queued, 0);
    }
    w.pass(1_us);
    w.vain();
    EXPECT_EQ(w.exchange(), Decision::came_unserved);
    w.came();
    EXPECT_EQ(w.queued, 0);
    EXPECT_EQ(w.post(World::receive()), Decision::receive);
    EXPECT_EQ(w.queued, 0);
    EXPECT_EQ(w.vain(), Decision::vain);
    w.pass(10_ms);
    w.round();
  }
  EXPECT_EQ(w.timers, 0);
  EXPECT_EQ(w.helper.rounds, 0);
}

TEST(FlushPolicyTest, FiMoreHoldsAnythingUntilACallWithoutIt) {
  for (const bool helper : {true, false}) {
    World w({}, helper);
    w.round();
    w.post(World::operation_with_more());
    w.post(World::receive(true));
    w.post(World::operation_with_more());
    EXPECT_EQ(w.queued, 3);
    w.post();
    EXPECT_EQ(w.queued, 0);
    EXPECT_EQ(w.sends, 1);
    w.post(World::operation_with_more());
    w.post(FlushPolicy::Nothing());
    EXPECT_EQ(w.queued, 0) << "the call without it was refused";
    w.post(World::operation_with_more());
    EXPECT_EQ(w.policy.posts_in_a_row(), 1u) << "they are no habit";
    w.vain();
    EXPECT_EQ(w.queued, 0);
  }
}

// With FI_PROGRESS_AUTO the application need not call: posts do not wait, and the helper runs
// whether the application is there or not.
TEST(FlushPolicyTest, AutoProgressWaitsForNoCall) {
  World w(kAuto);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(w.run(16), 0) << i;
  EXPECT_EQ(w.timers, 0);
  w.visit();
  w.helper.at = w.now;  // a packet
  w.pass(1_ns);
  EXPECT_EQ(w.helper.rounds, 2);
  EXPECT_EQ(w.helper.row, Decision::helper_idle);
}

TEST(FlushPolicyTest, PostsWithALookAfterEachLeaveAtOnce) {
  World w;
  w.begin();
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(w.run(1), 0) << i;
  EXPECT_EQ(w.sends, 1000);
}

TEST(FlushPolicyTest, PostsInRunsShareSystemCalls) {
  World w;
  w.make_post_habit(16);
  w.sends = 0;
  EXPECT_EQ(w.run(16), 13);
  EXPECT_EQ(w.sends, 3) << "the first two, and the last one with 13";
  w.sends = 0;
  EXPECT_EQ(w.run(10), 8);
  EXPECT_EQ(w.sends, 3) << "the first two, and a look with 8";
}

// A program with a window of messages takes a completion, posts the next message, and so on.
TEST(FlushPolicyTest, PostsForEarlierCompletionsShareASystemCall) {
  World w;
  w.make_post_habit(16);
  w.sends = 0;
  for (int round = 0; round < 10; ++round) {
    w.unfinished = 48;
    w.came_without_ack();
    w.post();
    for (int i = 0; i < 15; ++i) {
      w.found();
      w.post();
    }
    w.vain();
    EXPECT_EQ(w.queued, 0);
  }
  EXPECT_EQ(w.sends, 10) << "the last post of a usual run takes all along";
}

TEST(FlushPolicyTest, NoPostWaitsMoreThan20usForFurtherCompletions) {
  World w;
  w.hold_post();
  int held = 0;
  for (; w.queued > 0 && held < 100; ++held) {
    w.pass(1_us);
    w.found();
  }
  EXPECT_EQ(held, 21);
}

// A thread that sleeps does not look again by itself.
TEST(FlushPolicyTest, NoPostWaitsWhileAThreadSleeps) {
  World w;
  w.make_post_habit(16);
  w.others.thread_sleeps = true;
  EXPECT_EQ(w.run(16), 0);
}

// The application goes away: what waits leaves when the helper comes, between half an absence and a
// whole one later, and is a debt of that time: 1.875 us for each post of a run pays it.
TEST(FlushPolicyTest, HelperSendsPostsThatWaitWithoutAResult) {
  World w;
  w.hold_post();
  EXPECT_EQ(w.queued, 1);
  const Instant posted = w.now;
  w.pass(20_ms);
  EXPECT_EQ(w.queued, 0);
  EXPECT_EQ(w.helper.rounds, 1);
  w.vain();
  w.begin();
  EXPECT_EQ(w.run(16), 0);
  EXPECT_GT(w.now, posted);
}

TEST(FlushPolicyTest, AMissedReplyEndsTheHabit) {
  World w;
  w.make_reply_habit();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(w.exchange(), Decision::came_waits);
  EXPECT_EQ(w.came(), Decision::came_waits);
  EXPECT_EQ(w.queued, 1);
  EXPECT_EQ(w.vain(), Decision::vain_reply);
  EXPECT_EQ(w.queued, 1) << "the first poll that finds nothing";
  EXPECT_EQ(w.vain(), Decision::vain);
  EXPECT_EQ(w.queued, 0) << "the second one";
  for (int i = 0; i < 3; ++i) EXPECT_EQ(w.exchange(), Decision::came_no_habit);
  EXPECT_EQ(w.exchange(), Decision::came_waits);
}

// Parts of a message come one after the other: one ACK serves for all of it.
TEST(FlushPolicyTest, AnAckWaitsForTheRestOfAMessage) {
  World w;
  w.make_reply_habit();
  EXPECT_EQ(w.arriving(), Decision::vain_arriving);
  w.pass(7_us);
  EXPECT_EQ(w.vain({false, false}), Decision::vain_arriving);
  EXPECT_EQ(w.arriving(), Decision::vain_arriving) << "8 us more";
  w.pass(7_us);
  EXPECT_EQ(w.vain({false, false}), Decision::vain_arriving);
  EXPECT_EQ(w.queued, 1);
  w.sends = 0;
  EXPECT_EQ(w.exchange(), Decision::came_waits);
  EXPECT_EQ(w.queued, 0);
  EXPECT_EQ(w.sends, 1) << "with the reply";
}

// The send before ends while the reply to it arrives: its completion does not count as a message.
TEST(FlushPolicyTest, TheEndOfAnOwnOperationHoldsTheAckAndKeepsTheHabit) {
  World w;
  w.make_reply_habit();
  EXPECT_EQ(w.came_own(), Decision::came_own);
  EXPECT_EQ(w.vain({false, false}), Decision::vain_arriving);
  EXPECT_EQ(w.vain({false, false}), Decision::vain_arriving);
  EXPECT_EQ(w.queued, 1);
  EXPECT_EQ(w.exchange(), Decision::came_waits);
  EXPECT_EQ(w.came_own(true), Decision::came_no_habit) << "a peer waits for the ACK";
  EXPECT_EQ(w.queued, 0);
  w.pass(10_us);
  int held = 0;
  for (; w.came_own() == Decision::came_own && held < 100; ++held) w.pass(1_us);
  EXPECT_EQ(held, 50);
}

TEST(FlushPolicyTest, AnAckLeavesWhenNoRestFollowsFor8us) {
  World w;
  w.make_reply_habit();
  w.arriving();
  w.pass(8_us);
  EXPECT_EQ(w.vain({false, false}), Decision::vain);
  EXPECT_EQ(w.queued, 0);
}

TEST(FlushPolicyTest, AnAckThatAPeerWaitsForLeavesAtOnce) {
  World w;
  w.make_reply_habit();
  w.arriving();
  EXPECT_EQ(w.vain({true, true}), Decision::vain);
  EXPECT_EQ(w.queued, 0);
}

// Another peer that sends all the time, valid packets or not, holds up no ACK for long.
TEST(FlushPolicyTest, ArrivalsWithoutAnEndHoldNoAckForMoreThan50us) {
  World w;
  w.make_reply_habit();
  w.pass(10_us);
  int held = 0;
  for (; w.arriving() == Decision::vain_arriving && held < 100; ++held) w.pass(1_us);
  EXPECT_EQ(held, 50);
  w.pass(8_us);
  EXPECT_EQ(w.arriving(), Decision::vain_arriving) << "after a pause";
}

TEST(FlushPolicyTest, WithoutTheHabitOfRepliesNoAckWaitsForTheRest) {
  World w;
  w.begin();
  EXPECT_EQ(w.arriving(), Decision::vain);
  World alone({}, false);
  alone.make_reply_habit();
  EXPECT_EQ(alone.arriving(), Decision::vain);
}

// The ACK and the reply leave together.
TEST(FlushPolicyTest, AReplyTakesTheAckAlong) {
  World w;
  w.make_reply_habit();
  w.came();
  EXPECT_EQ(w.post(World::receive()), Decision::receive_waits);
  w.sends = 0;
  w.post();
  EXPECT_EQ(w.queued, 0);
  EXPECT_EQ(w.sends, 1);
}

// fi_cntr_wait for a value that the counter has: such a poll may be repeated without end.
TEST(FlushPolicyTest, ACounterThatIsLookedAtAgainAndAgainRunsTheEngine) {
  World w;
  w.make_reply_habit();
  EXPECT_EQ(w.came(), Decision::came_waits);
  w.rounds = 0;
  EXPECT_EQ(w.stays(), Decision::stays_reply);
  EXPECT_EQ(w.queued, 1);
  EXPECT_EQ(w.rounds, 0);
  for (int i = 1; i <= 10; ++i) {
    EXPECT_EQ(w.stays(), Decision::stays);
    EXPECT_EQ(w.queued, 0);
    EXPECT_EQ(w.rounds, i);
  }
}

// Completions that are there already need nothing received, yet their peers wait for ACKs.
TEST(FlushPolicyTest, AnApplicationThatAlwaysFindsSomethingReceivesNowAndThen) {
  World w;
  w.begin();
  w.vain();
  for (int i = 0; i < 1000; ++i) {
    w.pass(1_us);
    w.found();
  }
  EXPECT_EQ(w.rounds, 1000 / 51);
  EXPECT_EQ(w.helper.rounds, 0);
}

// The same of one that only posts: once in a millisecond.
TEST(FlushPolicyTest, AnApplicationThatOnlyPostsReceivesNowAndThen) {
  World w;
  w.begin();
  w.vain();
  for (int i = 0; i < 10000; ++i) {
    w.pass(1_us);
    w.post();
  }
  EXPECT_EQ(w.rounds, 10000 / 1001);
  EXPECT_EQ(w.helper.rounds, 0);
}

class AbsenceTest : public ::testing::Test {
 protected:
  // The time after the last visit of the application at which the helper takes over. `between` is
  // the time between visits.
  static Duration takes_over(Duration between, Duration peers_wait) {
    World w({.peers_wait = peers_wait});
    w.begin();
    for (const Instant end = w.now + 10_ms; w.now < end;) {
      w.pass(between);
      w.visit();
    }
    EXPECT_EQ(w.helper.rounds, 0) << between.us();
    const Instant last = w.now;
    const Instant due = w.helper.at;
    w.pass(10_ms);
    EXPECT_EQ(w.helper.rounds, 1);
    return due - last;
  }
};

TEST_F(AbsenceTest, HelperTakesOverWithinAMillisecondOfTheLastVisit) {
  for (const Duration between : {101_us, 200_us, 499_us, 999_us}) {
    EXPECT_LE(takes_over(between, 5_ms), 1_ms) << between.us();
    EXPECT_GT(takes_over(between, 5_ms), between <= 500_us ? 500_us : 0_us) << between.us();
  }
}

TEST_F(AbsenceTest, HelperTakesOverLaterIfTheApplicationPollsAllTheTime) {
  for (const Duration between : {1_us, 10_us, 75_us}) {
    EXPECT_LE(takes_over(between, 5_ms), 4500_us);
    EXPECT_GT(takes_over(between, 5_ms), 4200_us) << between.us();
  }
}

// The helper runs before peers resend unanswered packets.
TEST_F(AbsenceTest, HelperTakesOverBeforePeersResend) {
  EXPECT_LE(takes_over(10_us, 4500_us), 1_ms);
  EXPECT_GT(takes_over(10_us, 4501_us), 4_ms);
}

// Visits that come all the time start the timer once in 300 us, and the helper never comes.
TEST_F(AbsenceTest, FewVisitsStartTheTimer) {
  World w;
  w.begin();
  w.timers = 0;
  for (int i = 0; i < 30000; ++i) {
    w.pass(1_us);
    w.visit();
  }
  EXPECT_EQ(w.timers, 99) << "after 500 us, then each 300 us";
  EXPECT_EQ(w.helper.rounds, 0);
}

// Visits that neither post nor look keep the helper away, but not what waits.
TEST_F(AbsenceTest, VisitsSendPostsThatWaitForLong) {
  World w;
  w.hold_post();
  const Instant posted = w.now;
  for (int i = 0; i < 1000 && w.queued > 0; ++i, w.visit()) w.pass(1_us);
  EXPECT_EQ(w.queued, 0);
  EXPECT_EQ(w.helper.row, Decision::visit_late);
  EXPECT_EQ(w.helper.rounds, 0);
  EXPECT_LE(w.now - posted, 300_us);
  w.vain();
  EXPECT_EQ(w.run(16), 0) << "they waited, and no further post came";
}

// The helper sleeps until the engine's deadline; a visit that makes that earlier wakes it once, and
// what visits after that is left alone.
TEST_F(AbsenceTest, AnEarlierDeadlineWakesTheHelperOnce) {
  World w;
  w.deadline = w.now + 1_s;
  w.pass(1_ms);
  EXPECT_EQ(w.helper.row, Decision::helper_idle);
  EXPECT_EQ(w.helper.at, w.deadline);
  w.visit();
  EXPECT_EQ(w.helper.at, w.deadline) << "the deadline is the same";
  w.deadline = w.now + 100_ms;
  w.visit();
  EXPECT_EQ(w.helper.row, Decision::left_earlier);
  w.pass(1_ns);
  EXPECT_EQ(w.helper.row, Decision::visit) << "the application made a call";
  w.deadline = w.now + 10_ms;
  w.visit();
  EXPECT_EQ(w.helper.row, Decision::visit);
  EXPECT_EQ(w.helper.rounds, 1);
  w.pass(2_ms);
  EXPECT_EQ(w.helper.rounds, 2);
}

TEST_F(AbsenceTest, HelperContinuesWhilePacketsMove) {
  World w;
  w.helper.moves = true;
  w.pass(1_ms);
  EXPECT_EQ(w.helper.rounds, 2) << "at once a second time";
  EXPECT_EQ(w.helper.row, Decision::helper_idle);
}

// Threads that sleep and watch the socket run the engine when they wake up.
TEST_F(AbsenceTest, HelperLooksAfterSleepersSeldom) {
  World w;
  w.others.thread_sleeps = true;
  w.pass(100_ms);
  EXPECT_EQ(w.helper.rounds, 10) << "after 1 ms, then each 10 ms";
}

}  // namespace
}  // namespace uet::prov
