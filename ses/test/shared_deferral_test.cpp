// Deferred messages and receives that several endpoints share: a receive is set aside for one of
// them with the room of its endpoint, and is free for others again if that message does not come.
// [LF-133, ses.md 4.5]
#include "ses/test/shared_fixture.h"

namespace uet::ses::test {
namespace {

class SharedDeferralTest : public SharedTest {
 protected:
  void SetUp() override {
    config_.profiles = kAiBase | kAiFull;
    config_.defer_bytes = 1000;
    SharedTest::SetUp();
  }
  void defer(const Sharer& to, const Octets& data, uintptr_t context = 1) {
    SendRequest s = send_request(stored(data), context);
    s.to.ri = to.ri;
    s.to.capabilities = kAiBase | kAiFull;
    s.to.initiator_id = 101;
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
    deliver_all();
  }
};

// [SES-098, SES-122] They are called in the order of arrival, whosever they are.
TEST_F(SharedDeferralTest, MessagesOfBothAreCalledInOrder) {
  const Octets first = pattern(5000, 1), second = pattern(4000, 2);
  Octets rooms[2] = {Octets(5000), Octets(5000)};
  defer(y_, first, 1);
  defer(x_, second, 2);
  EXPECT_EQ(count(Counter::rx_deferred), 2u);
  post(rooms[0], 10);
  post(rooms[1], 11);
  EXPECT_EQ(y_.booked + x_.booked, 2u);
  deliver_all();
  EXPECT_EQ(told(), "X recv ok 4000 #11; Y recv ok 5000 #10");
  EXPECT_EQ(rooms[0], first);
  EXPECT_EQ(count(Counter::rx_restarted), 2u);
  EXPECT_TRUE(is_balanced());
}

// [decision 11] No receive is set aside without room for its completion.
TEST_F(SharedDeferralTest, WithoutRoomNoMessageIsCalled) {
  Octets rooms[2] = {Octets(5000), Octets(5000)};
  x_.slots = 0;
  defer(x_, pattern(5000));
  post(rooms[0], 10);
  deliver_all();
  EXPECT_EQ(count(Counter::rx_restarted), 0u);
  defer(y_, pattern(2000));
  EXPECT_EQ(told(), "Y recv ok 2000 #10");
  post(rooms[1], 11);
  x_.slots = 1;
  elapse(Duration::milliseconds(2));
  EXPECT_EQ(told(), "X recv ok 5000 #11");
  EXPECT_TRUE(is_balanced());
}

// [LF-057] It is reported where its room is.
TEST_F(SharedDeferralTest, AReceiveThatIsSetAsideCanBeCancelled) {
  Octets room(5000);
  defer(y_, pattern(5000));
  post(room, 10);
  x_.slots = 0;
  EXPECT_TRUE(cancel(10).ok());
  EXPECT_EQ(told(), "Y recv cancelled 0 #10");
  EXPECT_TRUE(is_balanced());
}

// [SES-101] The sender is gone, or its endpoint: the receive is free for other messages.
TEST_F(SharedDeferralTest, AnUnusedReservedReceiveIsFreeAgain) {
  Octets room(5000);
  defer(y_, pattern(5000));
  post(room, 10);
  EXPECT_EQ(y_.booked, 1u);
  ASSERT_TRUE(a_->ses->cancel(a_->ep, reinterpret_cast<void*>(uintptr_t{1}), now_));
  deliver_all();
  EXPECT_TRUE(is_balanced());
  EXPECT_EQ(told(), "");
  defer(y_, pattern(3000), 2);
  EXPECT_EQ(told(), "Y recv ok 3000 #10");

  defer(y_, pattern(5000), 3);
  defer(x_, pattern(2500), 4);
  post(room, 11);
  EXPECT_EQ(y_.booked, 1u);
  close(y_);
  EXPECT_EQ(y_.booked, 0u);
  deliver_all();
  EXPECT_EQ(told(), "X recv ok 2500 #11");
}

// [LF-059] A claim was for that message alone: it is reported as lost, with the room it has.
TEST_F(SharedDeferralTest, AClaimedMessageThatIsLostIsReported) {
  Octets room(5000);
  defer(y_, pattern(5000));
  const ReceiveRequest r = request_of(room, 10);
  const Peeked seen = b_->ses->claims().peek(x_.id, r, true, now_);
  ASSERT_TRUE(seen.found);
  ASSERT_TRUE(b_->ses->claims().receive(shared_, seen.claim, r, now_).ok());
  close(y_);
  EXPECT_EQ(told(), "Y recv aborted 0 #10");
  EXPECT_TRUE(is_balanced());
  EXPECT_EQ(b_->ses->receives_open(shared_), 0u);
}

}  // namespace
}  // namespace uet::ses::test
