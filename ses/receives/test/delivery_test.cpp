// Receives meet kept messages, and both end early. [ses.md 6]
#include "ses/receives/delivery.h"

#include "ses/receives/test/kept.h"

namespace uet::ses::test {
namespace {

using uet::test::Calls;
using uet::test::calls_of;
using uet::test::was_called;

class DeliveryPartTest : public ReceivesParts {};

// [SES-126] A new receive takes the oldest kept message, with its octets.
TEST_F(DeliveryPartTest, AReceiveTakesTheOldestKeptMessage) {
  keep(500, 1);
  keep(600, 2);
  ASSERT_TRUE(receive().ok());
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].bytes, 500u);
  EXPECT_EQ(octets_[499], std::byte{1});
  EXPECT_EQ(octets_[500], std::byte{0});
  ASSERT_TRUE(receive().ok());
  ASSERT_EQ(done_.size(), 2u);
  EXPECT_EQ(done_[1].bytes, 600u);
  EXPECT_EQ(octets_[599], std::byte{2});
}

// [SES-137] A receive that is too short gets what fits.
TEST_F(DeliveryPartTest, AKeptMessageIsCutToItsReceive) {
  keep(500, 1);
  ASSERT_TRUE(receive(300).ok());
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, Completion::Status::truncated);
  EXPECT_EQ(done_[0].truncated_bytes, 200u);
  EXPECT_EQ(octets_[300], std::byte{0});
}

// [LF-096] A multi-receive takes one message after the other.
TEST_F(DeliveryPartTest, AMultiReceiveTakesAllThatFits) {
  for (const int fill : {1, 2, 3}) keep(300, fill);
  ASSERT_TRUE(receive(1000, nullptr, true).ok());
  ASSERT_EQ(done_.size(), 3u);
  EXPECT_EQ(octets_[899], std::byte{3});
  EXPECT_FALSE(done_[2].multi_done) << "100 octets are left";
}

// Its rest is under way: it goes straight to the receive. [SES-126]
TEST_F(DeliveryPartTest, TheRestOfAKeptMessageGoesToItsReceive) {
  UnexpectedMessage& u = keep(500, 1, false);
  RxMessage m;
  m.endpoint = ep_->id;
  m.to = RxMessage::To::unexpected;
  m.unexpected = &u;
  m.packets.note(0, 100, false);
  u.arriving = &m;
  ASSERT_TRUE(receive().ok());
  EXPECT_EQ(done_.size(), 0u);
  EXPECT_EQ(m.to, RxMessage::To::receive);
  EXPECT_EQ(m.place.room, 500u);
  EXPECT_EQ(octets_[99], std::byte{1});
  EXPECT_EQ(octets_[100], std::byte{0}) << "only octets that have arrived are copied [SES-190]";
  delivery_.fail(m, Completion::Status::undeliverable, wire::ReturnCode::undeliverable);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, Completion::Status::undeliverable);
}

// [SES-090] The pushed part is there, and the rest is still to be read.
TEST_F(DeliveryPartTest, TheRestOfARendezvousIsRead) {
  UnexpectedMessage& u = keep(500, 1);
  Pull pull;
  u.pull = &pull;
  ASSERT_TRUE(receive().ok());
  EXPECT_EQ(done_.size(), 0u);
  EXPECT_TRUE(was_called("read_rest"));
}

// [SES-148] Delivery-complete: the sender is answered when the message is placed.
TEST_F(DeliveryPartTest, AnAnswerThatWaitedIsGiven) {
  keep(500, 1).owes_answer = true;
  EXPECT_EQ(pds_.take(), "");
  ASSERT_TRUE(receive().ok());
  EXPECT_EQ(pds_.take(), "respond");
}

// Without room for its completion a message waits, and goes when there is room. [LF-096]
TEST_F(DeliveryPartTest, AMessageWaitsForRoomForItsCompletion) {
  has_room_ = false;
  for (const int fill : {1, 2}) keep(300, fill);
  ASSERT_TRUE(receive(1000, nullptr, true).ok());
  EXPECT_TRUE(delivery_.is_stalled());
  delivery_.drain_where_room();
  EXPECT_EQ(done_.size(), 0u);
  has_room_ = true;
  delivery_.drain_where_room();
  EXPECT_EQ(done_.size(), 2u);
  EXPECT_FALSE(delivery_.is_stalled());
}

// [LF-057] A receive that no message has taken is cancelled by its context.
TEST_F(DeliveryPartTest, AReceiveIsCancelled) {
  int mine = 0, other = 0;
  ASSERT_TRUE(receive(1000, &mine).ok());
  EXPECT_EQ(delivery_.cancel(*ep_->queue, &other).error(), Errc::not_found);
  EXPECT_TRUE(delivery_.cancel(*ep_->queue, &mine).ok());
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, Completion::Status::cancelled);
  keep(500, 1);
  EXPECT_EQ(done_.size(), 1u);
}

// [SES-107] A kept message that will not be completed is dropped, and its later packets get the
// code.
TEST_F(DeliveryPartTest, AKeptMessageThatFailsIsDropped) {
  UnexpectedMessage& u = keep(500, 1, false);
  RxMessage m;
  m.to = RxMessage::To::unexpected;
  m.unexpected = &u;
  u.arriving = &m;
  delivery_.fail(m, Completion::Status::undeliverable, wire::ReturnCode::undeliverable);
  EXPECT_EQ(calls_of("set_error"), Calls{"set_error UNDELIVERABLE"});
  EXPECT_EQ(m.unexpected, nullptr);
  ASSERT_TRUE(receive().ok());
  EXPECT_EQ(done_.size(), 0u);
}

// [SES-177] A closing endpoint ends its receives and drops what is kept for it.
TEST_F(DeliveryPartTest, AClosingEndpointEndsItsReceives) {
  ASSERT_TRUE(receive().ok());
  delivery_.close(*ep_);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].status, Completion::Status::aborted);
  EXPECT_TRUE(was_called("close pulls"));
}

// [LF-059] A claimed message goes to the receive that names it, or is discarded.
TEST_F(DeliveryPartTest, AClaimedMessageWaitsForItsReceive) {
  keep(500, 1);
  ReceiveRequest any;
  const Peeked peeked = kept_.peek(*ep_->queue, any, true);
  ASSERT_TRUE(peeked.found);
  ASSERT_TRUE(receive().ok());
  EXPECT_EQ(done_.size(), 0u) << "it is not there for others";
  const IoSlice slice{octets_.data() + 1000, 1000};
  ReceiveRequest claiming;
  claiming.iov = {&slice, 1};
  EXPECT_TRUE(delivery_.receive_claimed(*ep_->queue, peeked.claim, claiming).ok());
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(octets_[1499], std::byte{1});
  EXPECT_EQ(delivery_.receive_claimed(*ep_->queue, peeked.claim, claiming).error(),
            Errc::not_found);
}

}  // namespace
}  // namespace uet::ses::test
