// Records of an endpoint about its remote endpoints: they and their flows are freed after a long
// idle time, when the room is needed, or with their peer.
#include "ses/test/pair.h"

#include "ses/counters.h"

namespace uet::ses::test {
namespace {

using Flows = std::vector<uint32_t>;

class RemotesTest : public PairTest {
 protected:
  // To a resource index of B; only kRi has an endpoint.
  Result<Taken> send_to(uint16_t ri, uintptr_t context = 1, JobId job = {}) {
    SendRequest s = send_request(stored(pattern(10)), context);
    s.to.ri = ResourceIndex(ri);
    s.to.job = job;
    return a_->ses->send(a_->ep, s, now_);
  }
  // Posted and through, at B or refused by it.
  void finish(uint16_t ri) {
    ASSERT_TRUE(send_to(ri).ok());
    deliver_all();
    ASSERT_EQ(a_->completions.size(), 1u);
    a_->completions.clear();
  }
  const Flows& released() const { return a_->pds.asked.released; }
};

class IdleRemotesTest : public RemotesTest {
 protected:
  void SetUp() override {
    config_.idle_time = Duration::seconds(1);
    start();
  }
};

// [PDS-247]
TEST_F(IdleRemotesTest, AFlowThatWasIdleForLongIsGivenBack) {
  finish(kRi.value());
  elapse(Duration::milliseconds(900));
  EXPECT_EQ(released(), Flows{});
  elapse(Duration::milliseconds(101));
  EXPECT_EQ(released(), Flows{0});
  EXPECT_TRUE(a_->next_deadline().is_never());
  finish(kRi.value());  // over a new one
  elapse(Duration::milliseconds(1001));
  EXPECT_EQ(released(), (Flows{0, 1}));
}

// [PDS-247] Each message restarts the idle time, and an unanswered one keeps the record in use.
TEST_F(IdleRemotesTest, UsedRecordsStay) {
  finish(kRi.value());
  elapse(Duration::milliseconds(700));
  ASSERT_TRUE(send_to(kRi.value()).ok());
  transmit();
  network_.clear();
  now_ = now_ + Duration::seconds(5);
  a_->advance(now_);
  EXPECT_EQ(released(), Flows{});
  a_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 10 #1");
  elapse(Duration::milliseconds(999));
  EXPECT_EQ(released(), Flows{});
  elapse(Duration::milliseconds(2));
  EXPECT_EQ(released(), Flows{0});
}

// [PDS-247] Two remote endpoints share the flow: it is freed with the one that was used last.
TEST_F(IdleRemotesTest, AFlowStaysAsLongAsARecordUsesIt) {
  finish(kRi.value());
  elapse(Duration::milliseconds(600));
  finish(kRi.value() + 1);
  elapse(Duration::milliseconds(600));
  EXPECT_EQ(released(), Flows{});
  EXPECT_FALSE(a_->next_deadline().is_never());
  elapse(Duration::milliseconds(401));
  EXPECT_EQ(released(), Flows{0});
}

// [PDS-247]
TEST_F(RemotesTest, WhenThereIsNoRoomTheLongestIdlePairMakesIt) {
  config_.remotes = 2;
  start();
  for (uint16_t ri = kRi.value(); ri < kRi.value() + 5; ++ri) finish(ri);
  EXPECT_EQ(released(), Flows{}) << "one flow serves them all";
  finish(kRi.value());
}

TEST_F(RemotesTest, WithAllPairsInUseAPostIsToComeAgain) {
  config_.remotes = 2;
  start();
  ASSERT_TRUE(send_to(kRi.value(), 1).ok());
  ASSERT_TRUE(send_to(kRi.value(), 2).ok());
  ASSERT_TRUE(send_to(kRi.value() + 1, 3).ok());
  EXPECT_EQ(send_to(kRi.value() + 2, 4).error(), Errc::again);
  deliver_all();
  a_->completions.clear();
  finish(kRi.value() + 2);
}

// [PDS-013] Jobs have separate flows here. PDS has no more flows, so an idle record frees one.
TEST_F(RemotesTest, WithoutAnotherFlowAnIdlePairGivesItsOwn) {
  finish(kRi.value());
  a_->pds.flows_max = 1;
  EXPECT_EQ(send_to(kRi.value(), 2, JobId(5)).error(), Errc::again);
  EXPECT_EQ(released(), Flows{0});
  EXPECT_TRUE(send_to(kRi.value(), 2, JobId(5)).ok());
  EXPECT_EQ(send_to(kRi.value(), 3, JobId(6)).error(), Errc::again) << "that one is in use";
  EXPECT_EQ(released(), Flows{0});
}

TEST_F(RemotesTest, MoreFlowsThanAreAllowedAreToComeAgain) {
  for (uint32_t job = 1; job <= config_.flows; ++job) {
    ASSERT_TRUE(send_to(kRi.value(), job, JobId(job)).ok()) << job;
  }
  EXPECT_EQ(send_to(kRi.value(), 99, JobId(99)).error(), Errc::again);
  deliver_all();
  EXPECT_EQ(a_->completions.size(), config_.flows);
}

// [PDS-247]
TEST_F(RemotesTest, AnIdlePairOfAForgottenPeerIsReleasedAtOnce) {
  finish(kRi.value());
  finish(kRi.value() + 1);
  ASSERT_TRUE(send_to(kRi.value(), 3, JobId(5)).ok());
  deliver_all();
  a_->ses->forget(PeerId(0), now_);
  EXPECT_EQ(released().size(), 2u);
  a_->ses->forget(PeerId(0), now_);
  EXPECT_EQ(released().size(), 2u);
}

// [PDS-247] What is in flight ends first.
TEST_F(RemotesTest, ABusyPairOfAForgottenPeerIsReleasedAfterItsLastMessage) {
  ASSERT_TRUE(send_to(kRi.value()).ok());
  transmit();
  a_->ses->forget(PeerId(0), now_);
  EXPECT_EQ(released(), Flows{});
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 10 #1");
  EXPECT_EQ(released(), Flows{0});
}

TEST_F(RemotesTest, ARecordThatIsUsedAgainIsNotForgotten) {
  ASSERT_TRUE(send_to(kRi.value(), 1).ok());
  transmit();
  a_->ses->forget(PeerId(0), now_);
  ASSERT_TRUE(send_to(kRi.value(), 2).ok());
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 10 #1 | send ok 10 #2");
  EXPECT_EQ(released(), Flows{});
}

}  // namespace
}  // namespace uet::ses::test
