// Rendezvous sends whose target does not read: the initiator probes whether it is alive, and
// whether it knows the message. [ses.md 4.4]
#include "ses/test/rendezvous_fixture.h"

namespace uet::ses::test {
namespace {

class RendezvousProbeTest : public RendezvousTest {
 protected:
  void SetUp() override {
    config_.retry_patience = Duration::seconds(1);
    RendezvousTest::SetUp();
  }
  // The message arrives; what B sends thereupon does not, and its READ is among that.
  void lose_its_read() {
    transmit();
    deliver(0);
    transmit();
    network_.clear();
    a_->pds.resend_all();
    deliver_all();
  }
  // Nothing was heard for long: A asks. The key in the probe.
  uint64_t probe() {
    now_ = now_ + Duration::milliseconds(1001);
    a_->advance(now_);
    transmit();
    if (network_.size() != 1) return 0;
    wire::Reader r(network_[0].octets);
    wire::StandardRequest h = wire::StandardRequest::read(r);
    EXPECT_EQ(h.common.opcode, SesOpcode::no_op);
    const uint64_t key = h.match_bits;
    if (names_nothing_) h.match_bits = 0;
    wire::Writer w(network_[0].octets);
    h.emit(w);
    deliver_all();
    return key;
  }
  // B is of another implementation: it accepts every NO_OP.
  bool names_nothing_ = false;
};

// [SES-051, SES-091] Nothing is under way while the target has not read; that it still lives is
// asked for now and then, and when it does not the send fails.
TEST_F(RendezvousProbeTest, ATargetThatDoesNotReadIsAskedWhetherItLives) {
  config_.retry_patience = Duration::seconds(1);
  start();
  send(by_rendezvous(stored(pattern(5000))));
  deliver_all();
  now_ = now_ + Duration::milliseconds(999);
  a_->advance(now_);
  transmit();
  EXPECT_TRUE(network_.empty());
  now_ = now_ + Duration::milliseconds(1);
  a_->advance(now_);
  transmit();
  ASSERT_EQ(network_.size(), 1u);
  EXPECT_EQ(network_[0].octets.size(), 44u);
  EXPECT_EQ(network_[0].octets[0], std::byte{0x00});  // NO_OP
  deliver_all();
  EXPECT_EQ(take(*a_), "");
  b_->ses->close_endpoint(b_->ep, now_);
  elapse(Duration::milliseconds(1001));
  EXPECT_EQ(take(*a_), "send refused BAD_JOB_ID 0 #1");
  EXPECT_TRUE(a_->ses->idle());
}

// [SES-051, SES-091, PDS-190] A restarted target answers as well as the one that kept the message;
// but it does not know the key in the probe.
TEST_F(RendezvousProbeTest, ATargetThatForgotTheMessageIsNotWaitedFor) {
  config_.retry_patience = Duration::seconds(1);
  start();
  send(by_rendezvous(stored(pattern(5000))));
  const uint64_t key = exposed_key();
  deliver_all();
  elapse(Duration::milliseconds(1001));
  EXPECT_EQ(take(*a_), "") << "it is known";
  EXPECT_EQ(count(Counter::rx_bad_key), 0u);
  wire::StandardRequest no_op = request(SesOpcode::no_op, 0);
  EXPECT_EQ(said(standard(no_op, 0)), "accept") << "asks for nothing";
  no_op.match_bits = key;
  EXPECT_EQ(said(standard(no_op, 0)), "accept");
  from_ = another_peer();
  EXPECT_EQ(said(standard(no_op, 0)), "BAD_MKEY") << "not of this peer";
  b_ = std::make_unique<Node>(1, network_, config_, 99);
  b_->open(options_);
  elapse(Duration::milliseconds(1001));
  EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
  EXPECT_TRUE(a_->ses->idle());
  EXPECT_EQ(a_->ses->memory().size(), 0u);
}

// [SES-091] A target that has read everything does not know the message either, and its report to
// the initiator may come late.
TEST_F(RendezvousProbeTest, ATargetThatHasReadItAllMayHaveForgottenIt) {
  config_.retry_patience = Duration::seconds(1);
  start();
  const Octets data = pattern(5000);
  Octets room(5000);
  receive(room);
  send(by_rendezvous(data));
  while (b_->completions.empty()) {
    transmit();
    ASSERT_FALSE(network_.empty());
    deliver(0);
  }
  network_.clear();  // the last answers
  now_ = now_ + Duration::seconds(1);
  a_->advance(now_);
  deliver_all();
  EXPECT_EQ(count(Counter::rx_bad_key), 1u);
  EXPECT_EQ(take(*a_), "");
  a_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 5000 #1");
  EXPECT_EQ(room, data);
}

// [SES-192, SES-091] A target whose READs wait for others knows the message, and knows no other: it
// has not given up, however long it takes, and whatever our application does.
TEST_F(RendezvousProbeTest, ATargetMayWaitAsLongAsItKnowsTheMessage) {
  start();
  const Octets data = pattern(5000);
  Octets room(5000);
  receive(room);
  send(by_rendezvous(data));
  const uint64_t key = exposed_key();
  lose_its_read();
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(probe(), key);
    EXPECT_EQ(probe(), key);
    EXPECT_NE(probe(), key) << "of no message";
  }
  EXPECT_EQ(count(Counter::rx_bad_key), 4u);
  EXPECT_EQ(take(*a_), "");
  b_->pds.resend_all();
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 5000 #1");
  EXPECT_EQ(take(*b_), "recv ok 5000 #2");
  EXPECT_EQ(room, data);
}

// [SES-192, SES-091] A target that accepts every probe, as another implementation may, is given up
// after the third, also while a message of its own is kept for our application.
TEST_F(RendezvousProbeTest, ATargetThatAcceptsEveryProbeIsNotWaitedFor) {
  for (const bool is_kept : {false, true}) {
    SCOPED_TRACE(is_kept);
    start();
    const Octets first = pattern(10), data = pattern(5000);
    Octets room(5000);
    if (is_kept) {
      ASSERT_TRUE(b_->ses->send(b_->ep, send_request(first, 3), now_).ok());
      deliver_all();
      EXPECT_EQ(take(*b_), "send ok 10 #3");
    }
    receive(room);
    send(by_rendezvous(data));
    lose_its_read();
    names_nothing_ = true;
    probe();
    probe();
    EXPECT_EQ(take(*a_), "");
    probe();
    EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
    EXPECT_EQ(a_->ses->memory().size(), 0u);
  }
}

// [SES-051, SES-091, PDS-119] A probe changes nothing, so it is sent again when its PDC is lost,
// executed or not and after any number of refusals; it has no effect on the message, which is read
// as usual.
TEST_F(RendezvousProbeTest, AProbeIsSentAgainAfterItsPdcIsLost) {
  config_.retry_patience = Duration::seconds(1);
  config_.unexpected_messages = 2;  // a peer gets one of them
  const Octets data = pattern(5000);
  for (const bool was_refused : {false, true}) {
    SCOPED_TRACE(was_refused);
    start();
    Octets other(10), room(5000);
    const Octets first = pattern(10);
    if (was_refused) {
      send(send_request(first, 7));
      deliver_all();
      EXPECT_EQ(take(*a_), "send ok 10 #7");
    }
    send(by_rendezvous(data));
    deliver_all();
    if (was_refused) {
      EXPECT_EQ(count(Counter::rx_no_match), 1u);
      receive(other, 6);
      elapse(Duration::milliseconds(250));
      EXPECT_EQ(take(*b_), "recv ok 10 #6");
    }
    now_ = now_ + Duration::seconds(1);
    a_->advance(now_);
    transmit();
    ASSERT_EQ(network_.size(), 1u);
    EXPECT_EQ(network_[0].octets[0], std::byte{0x00});  // NO_OP
    deliver(0);
    network_.clear();  // its answer
    a_->pds.fail_flow(0, {.reason = pds::FailureReason::nack, .nack = wire::NackCode::inv_dpdcid},
                      now_);
    EXPECT_EQ(take(*a_), "");
    deliver_all();
    receive(room);
    deliver_all();
    EXPECT_EQ(take(*a_), "send ok 5000 #1");
    EXPECT_EQ(take(*b_), "recv ok 5000 #2");
    EXPECT_EQ(room, data);
  }
}

}  // namespace
}  // namespace uet::ses::test
