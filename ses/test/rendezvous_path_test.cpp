// Rendezvous sends whose answers to reads become too long for the route. Answers that were under
// way have arrived, or an error in their place: only the target knows. [LF-141, SES-089]
#include "ses/test/rendezvous_fixture.h"

namespace uet::ses::test {
namespace {

class RendezvousPathTest : public RendezvousTest {
 protected:
  void begin(uint16_t payload) {
    config_.payload_mtu = payload;
    config_.retry_patience = Duration::seconds(60);
    start();
    receive(room_);
    send(by_rendezvous(data_));
    deliver_all_but_data();
    ASSERT_EQ(take(*a_) + take(*b_), "");
    ASSERT_GT(network_.size(), 1u);
  }
  // The rest are the answers to the reads.
  void deliver_all_but_data() {
    const auto is_other = [](const Parcel& p) { return p.is_answer || !p.is_return; };
    for (;;) {
      transmit();
      const auto next = std::find_if(network_.begin(), network_.end(), is_other);
      if (next == network_.end()) return;
      deliver(static_cast<size_t>(next - network_.begin()));
    }
  }
  void lower() {
    a_->peers[PeerId(0)].lower_payload(1024);
    a_->exchange->on_path_lowered(PeerId(0), now_);
  }

  const Octets data_ = pattern(20000);
  Octets room_ = Octets(20000);
};

TEST_F(RendezvousPathTest, AnswersThatStillPassCountAsServed) {
  begin(4096);
  lower();
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 20000 #1");
  EXPECT_EQ(take(*b_), "recv ok 20000 #2");
}

TEST_F(RendezvousPathTest, AnswersThatHadArrivedCountWhenTheTargetIsThrough) {
  begin(1024);
  while (b_->completions.empty()) {
    ASSERT_FALSE(network_.empty());
    deliver(0);
    transmit();
  }
  EXPECT_EQ(take(*b_), "recv ok 20000 #2");
  network_.clear();  // what says that they have
  a_->pds.shorten_returns();
  a_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  elapse(Duration::milliseconds(201));
  EXPECT_EQ(take(*a_), "send ok 20000 #1");
  EXPECT_EQ(a_->ses->memory().size(), 0u);
}

// Some of the answers had arrived; only the target knows which. It reads everything again, and the
// source stays until then.
TEST_F(RendezvousPathTest, AnswersThatHadNotArrivedAreReadAgain) {
  begin(4096);
  deliver(1);
  network_.clear();
  a_->pds.shorten_returns();
  a_->pds.resend_all();
  while (a_->completions.empty()) {
    transmit();
    ASSERT_FALSE(network_.empty());
    deliver(0);
  }
  EXPECT_EQ(take(*b_), "recv ok 20000 #2");
  EXPECT_EQ(take(*a_), "send ok 20000 #1");
  EXPECT_EQ(room_, data_);
}

// [LF-141] Its source has the first part of another length, too: the target reads the larger rest.
TEST_F(RendezvousPathTest, ASendThatHasNotBegunPushesLess) {
  config_.payload_mtu = 4096;
  start();
  receive(room_);
  send(by_rendezvous(data_));
  lower();
  transmit();
  ASSERT_EQ(network_.size(), 1u);
  EXPECT_LE(network_[0].octets.size(),
            1024 + wire::StandardRequest::kSize + wire::Rendezvous::kSize);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 20000 #1");
  EXPECT_EQ(take(*b_), "recv ok 20000 #2");
  EXPECT_EQ(room_, data_);
}

// [SES-157] Of packets of 1024 octets there are no smaller ones.
TEST_F(RendezvousPathTest, IfNothingPassesBothEndsGetTheReason) {
  begin(1024);
  network_.clear();
  a_->pds.shorten_returns();
  a_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(take(*b_), "recv refused UNSUPPORTED_SIZE 0 #2");
  ASSERT_EQ(a_->completions.size(), 1u);
  EXPECT_EQ(a_->completions[0].failure.reason, pds::FailureReason::too_long);
  EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
}

}  // namespace
}  // namespace uet::ses::test
