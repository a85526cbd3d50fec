// The initiator's reaction to a ready-to-restart. [ses.md 4.5]
#include "ses/deferral/deferrals.h"

#include "ses/test/parts.h"

namespace uet::ses::test {
namespace {

using State = TxMessage::State;

class DeferralsTest : public PartTest {
 protected:
  DeferralsTest() {
    Rng rng(1, 1);
    EXPECT_TRUE(deferrals_.create(rng).ok());
    remote_.key.peer = peer_;
  }
  TxMessage& send(uint8_t theirs = kAiFull, pds::Mode mode = pds::Mode::rud) {
    message_.kind = OpKind::send;
    message_.opcode = wire::SesOpcode::send;
    message_.job = kJob;
    message_.remote = &remote_;
    message_.segment_length = 9000;
    Destination to = to_peer();
    to.capabilities = theirs;
    deferrals_.make_deferrable(open(mode), message_, to);
    return message_;
  }
  Restart order() const {
    return {.peer = peer_,
            .job = kJob,
            .initiator = to_peer().initiator_id,
            .tokens = {message_.deferral->token, 77}};
  }
  void become(State to) {
    if (message_.state == State::held) message_.become(State::queued);
    if (message_.state == State::queued && to != State::queued) message_.become(State::started);
    if (message_.state != to) message_.become(to);
  }

  Deferrals deferrals_{res_};
  Remote remote_{RemoteKey{}};
  TxMessage message_;
};

// [SES-093, SES-100]
TEST_F(DeferralsTest, SendGetsATokenTowardAPeerThatKeepsNothing) {
  const TxMessage& m = send();
  ASSERT_NE(m.deferral, nullptr);
  EXPECT_NE(m.deferral->token, 0u);
  EXPECT_EQ(m.opcode, wire::SesOpcode::deferrable_send);
}

// [SES-100]
TEST_F(DeferralsTest, SendOnRodIsAPlainOne) {
  EXPECT_EQ(send(kAiFull, pds::Mode::rod).deferral, nullptr);
}

// [SES-187]
TEST_F(DeferralsTest, SendToAPeerThatKeepsMessagesIsAPlainOne) {
  EXPECT_EQ(send(kAiFull | kHpc).deferral, nullptr);
}

// [SES-099]
TEST_F(DeferralsTest, OnlyTheTargetOfTheSendMayHaveItRestarted) {
  send();
  become(State::deferred);
  Restart other_peer = order();
  other_peer.peer = another_peer(2);
  Restart other_job = order();
  other_job.job = JobId(9);
  Restart other_initiator = order();
  ++other_initiator.initiator;
  for (const Restart& r : {other_peer, other_job, other_initiator}) {
    EXPECT_FALSE(deferrals_.restart(r).is_known);
  }
  const Deferrals::Restarted done = deferrals_.restart(order());
  EXPECT_TRUE(done.is_known);
  EXPECT_EQ(done.again, &message_);
}

// [SES-099]
TEST_F(DeferralsTest, NextAttemptShowsTheTokenOfTheTarget) {
  TxMessage& m = send();
  become(State::deferred);
  deferrals_.restart(order());
  Deferrals::begin_again(m);
  EXPECT_EQ(m.deferral->target_token, 77u);
  Deferrals::begin_again(m);  // the target was silent: starts again
  EXPECT_EQ(m.deferral->target_token, 0u);
}

// [SES-101]
TEST_F(DeferralsTest, RestartThatOvertakesTheAnswerIsNoted) {
  TxMessage& m = send();
  become(State::started);
  const Deferrals::Restarted done = deferrals_.restart(order());
  EXPECT_TRUE(done.is_known);
  EXPECT_EQ(done.again, nullptr);
  EXPECT_TRUE(m.deferral->is_granted);
}

// [SES-098, WIRE-064]
TEST_F(DeferralsTest, TokensAreTakenInEitherOrder) {
  TxMessage& m = send();
  become(State::deferred);
  Restart swapped = order();
  std::swap(swapped.tokens.initiator, swapped.tokens.target);
  EXPECT_EQ(deferrals_.restart(swapped).again, &m);
  EXPECT_EQ(m.deferral->granted_token, 77u);
}

// [SES-099]
TEST_F(DeferralsTest, RestartOfASendThatIsOverIsUnknown) {
  TxMessage& m = send();
  deferrals_.forget_token(m);
  EXPECT_FALSE(deferrals_.restart(order()).is_known);
}

}  // namespace
}  // namespace uet::ses::test
