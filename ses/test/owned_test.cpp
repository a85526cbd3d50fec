// Receives with an owner outside SES: when the owner is asked, what is reported to it, and that no
// given or promised receive is lost. [LF-159]
#include "ses/test/shared_fixture.h"

#include <deque>

namespace uet::ses::test {
namespace {

class OwnedTest : public SharedTest, protected ReceiveOwner {
 protected:
  void SetUp() override { begin_owned(); }
  void begin_owned() {
    begin();
    close(x_);
    close(y_);
    b_->ses->close_shared(shared_, now_);
    x_ = y_ = Sharer{};
    x_.ri = kRiOfX;
    y_.ri = kRiOfY;
    shared_ = *b_->ses->open_owned(rx_size_, *this);
    open(x_);
    open(y_);
    begin_turn();
  }
  void begin_turn() { b_->ses->begin_turn(now_); }
  void end_turn() { b_->ses->end_turn(); }
  // A receive of the owner, for whatever comes.
  void own(Octets& room, uintptr_t context) { rooms_.emplace_back(&room, context); }
  Result<void> start(uint32_t claim, Octets& room, uintptr_t context, uint64_t tag = 0) {
    return b_->ses->claims().receive(shared_, claim, request_of(room, context, tag), now_);
  }

  uint32_t asked_ = 0;
  uint32_t forgotten_ = 0;
  bool is_out_of_memory_ = false;
  bool refuses_to_keep_ = false;
  uint32_t pieces_ = 1;  // that its receives are cut into
  std::vector<uint32_t> claims_;

 private:
  Asked ask(const Sought& message, ReceiveRequest& out) override {
    ++asked_;
    if (is_out_of_memory_) return Asked::later;
    if (rooms_.empty()) return Asked::unexpected;
    const auto [room, context] = rooms_.front();
    rooms_.pop_front();
    slices_.assign(pieces_, {room->data(), 1});
    slices_.back().length = room->size() - pieces_ + 1;
    for (uint32_t i = 0; i < pieces_; ++i) slices_[i].data = room->data() + i;
    out.iov = slices_;
    out.tagged = message.tagged;
    out.tag = message.envelope.tag;
    out.context.op = reinterpret_cast<void*>(context);
    return Asked::receive;
  }
  bool keep(uint32_t claim, const uint64_t*) override {
    if (refuses_to_keep_) return false;
    claims_.push_back(claim);
    return true;
  }
  void forget() override { ++forgotten_; }

  std::vector<IoSlice> slices_;
  std::deque<std::pair<Octets*, uintptr_t>> rooms_;
};

TEST_F(OwnedTest, MessagesAreAskedAboutOnce) {
  Octets rooms[3] = {Octets(10), Octets(3000), Octets(10)};
  for (uintptr_t i = 0; i < 3; ++i) own(rooms[i], 10 + i);
  const Octets longer = pattern(3000, 7);
  send(x_, pattern(5));
  send(y_, longer, 8);
  send(x_, pattern(20));
  deliver_all();
  EXPECT_EQ(told(), "X recv ok 5 #10 | recv truncated 10+10 #12; Y tagged_recv ok 3000 tag 8 #11");
  EXPECT_EQ(rooms[1], longer);
  EXPECT_EQ(asked_, 3u);
  EXPECT_EQ(b_->ses->receives_open(shared_), 0u);
  EXPECT_TRUE(is_balanced());
}

TEST_F(OwnedTest, TheOwnerClaimsKeptMessages) {
  const Octets longer = pattern(2500, 9);
  send(y_, longer);
  send(x_, pattern(4), 6);
  transmit();
  deliver(0);  // one of three packets
  ASSERT_EQ(claims_.size(), 1u);
  Octets room(2500);
  ASSERT_TRUE(start(claims_[0], room, 20).ok());
  deliver_all();
  EXPECT_EQ(told(), "Y recv ok 2500 #20");
  EXPECT_EQ(room, longer);
  ASSERT_EQ(claims_.size(), 2u);
  const Peeked seen = b_->ses->claims().look(shared_, claims_[1]);
  EXPECT_TRUE(seen.found && seen.tagged);
  EXPECT_EQ(seen.tag, 6u);
  EXPECT_EQ(seen.bytes, 4u);
  EXPECT_TRUE(b_->ses->claims().discard(shared_, claims_[1], now_));
  EXPECT_FALSE(b_->ses->claims().discard(shared_, claims_[1], now_));
  EXPECT_EQ(start(claims_[1], room, 21, 6).error(), Errc::not_found);
  EXPECT_EQ(forgotten_, 0u);
  EXPECT_TRUE(is_balanced());
}

// A message that comes at other times waits for the next turn, before all messages that come in it.
TEST_F(OwnedTest, OwnersAreAskedInTheirTurn) {
  end_turn();
  send(x_, pattern(1, 1));
  send(y_, pattern(2, 2), 5);
  deliver_all();
  EXPECT_EQ(asked_, 0u);
  Octets rooms[3] = {Octets(10), Octets(10), Octets(10)};
  for (uintptr_t i = 0; i < 3; ++i) own(rooms[i], 10 + i);
  begin_turn();
  send(x_, pattern(3, 3));
  deliver_all();
  EXPECT_EQ(told(), "X recv ok 1 #10 | recv ok 3 #12; Y tagged_recv ok 2 tag 5 #11");
  EXPECT_EQ(asked_, 3u);
  EXPECT_TRUE(is_balanced());
}

// A message does not get a receive before an earlier one for which the owner could not be asked.
TEST_F(OwnedTest, NoMessageOvertakesOneUnknownToTheOwner) {
  for (bool* const trouble : {&is_out_of_memory_, &refuses_to_keep_}) {
    *trouble = true;
    send(x_, pattern(1));
    deliver_all();
    Octets rooms[2] = {Octets(10), Octets(10)};
    if (trouble == &is_out_of_memory_) own(rooms[0], 10);
    *trouble = false;
    send(x_, pattern(2));
    deliver_all();
    EXPECT_EQ(told(), "");
    if (trouble == &refuses_to_keep_) own(rooms[0], 10);
    own(rooms[1], 11);
    begin_turn();
    EXPECT_EQ(told(), "X recv ok 1 #10 | recv ok 2 #11");
  }
  EXPECT_TRUE(is_balanced());
}

// [SES-126] It comes again, and the receive that the owner offered is given back each time.
TEST_F(OwnedTest, MessagesWithoutRoomAreForgottenByTheOwner) {
  config_.unexpected_bytes = 0;
  begin_owned();
  send(x_, pattern(100));
  transmit();
  deliver(0);
  EXPECT_EQ(asked_, 1u);
  EXPECT_EQ(forgotten_, 1u);
  EXPECT_TRUE(claims_.empty());
  Octets room(100);
  own(room, 10);
  send(x_, pattern(100));
  deliver_all();
  EXPECT_EQ(told(), "X recv ok 100 #10");
  EXPECT_TRUE(is_balanced());
}

// Nothing can be given back to the owner, so all else is there before it is asked.
TEST_F(OwnedTest, TheOwnerIsAskedLast) {
  x_.slots = 0;
  EXPECT_EQ(said(standard(request(SesOpcode::send, 4), 4)), "nack NO_RESOURCE");
  EXPECT_EQ(asked_, 0u);
  x_.slots = 1000;
  config_.rx_messages = 1;
  begin_owned();
  Octets rooms[2] = {Octets(3072), Octets(3072)};
  own(rooms[0], 10);
  wire::StandardRequest first = request(SesOpcode::send, 3072);
  EXPECT_EQ(said(standard(part(first, 0, 1024), 1024)), "accept");
  wire::StandardRequest second = first;
  second.message_id = MessageId(78);
  const uint32_t asked = asked_;
  EXPECT_NE(said(standard(part(second, 0, 1024), 1024)), "accept");
  EXPECT_EQ(asked_, asked);
}

// A receive that cannot be made is the owner's again, as failed, and the message waits for another.
TEST_F(OwnedTest, UselessReceivesFail) {
  Octets rooms[2] = {Octets(100), Octets(100)};
  pieces_ = kIovMax + 1;
  own(rooms[0], 10);
  own(rooms[1], 11);
  send(x_, pattern(70));
  deliver_all();
  EXPECT_EQ(told(), "X recv fault 0 #10");
  EXPECT_EQ(asked_, 1u);
  pieces_ = 1;
  begin_turn();
  EXPECT_EQ(told(), "X recv ok 70 #11");
  EXPECT_TRUE(is_balanced());
}

// The owner gives a receive once. So room to report its failure is booked before the owner is
// asked.
TEST_F(OwnedTest, UselessReceivesNeedRoomToFail) {
  Octets room(100);
  pieces_ = kIovMax + 1;
  own(room, 10);
  x_.slots = 1;
  send(x_, pattern(70));
  deliver_all();
  begin_turn();
  EXPECT_EQ(asked_, 0u);
  x_.slots = 2;
  begin_turn();
  EXPECT_EQ(told(), "X recv fault 0 #10");
  EXPECT_TRUE(is_balanced());
}

// As many receives have messages as there may be: the next message is kept.
TEST_F(OwnedTest, NoReceiveIsAskedForBeyondTheSize) {
  rx_size_ = 1;
  begin_owned();
  Octets rooms[2] = {Octets(3072), Octets(10)};
  own(rooms[0], 10);
  own(rooms[1], 11);
  send(x_, pattern(3000));
  transmit();
  deliver(0);  // one of three packets
  standard(request(SesOpcode::send, 4), 4);
  begin_turn();
  EXPECT_EQ(asked_, 1u);
  deliver_all();
  begin_turn();
  EXPECT_EQ(asked_, 2u);
  EXPECT_EQ(told(), "X recv ok 3000 #10 | recv ok 4 #11");
}

// The owner's own receives are not bound by that: each kept message that it names gets its receive.
TEST_F(OwnedTest, MoreKeptMessagesThanTheSizeMayBeStarted) {
  rx_size_ = 1;
  begin_owned();
  wire::StandardRequest first = request(SesOpcode::send, 3072);
  wire::StandardRequest second = first;
  second.message_id = MessageId(78);
  EXPECT_EQ(said(standard(part(first, 0, 1024), 1024)), "accept");
  EXPECT_EQ(said(standard(part(second, 0, 1024), 1024)), "accept");
  ASSERT_EQ(claims_.size(), 2u);
  Octets rooms[2] = {Octets(3072), Octets(3072)};
  EXPECT_TRUE(start(claims_[0], rooms[0], 20).ok());
  EXPECT_TRUE(start(claims_[1], rooms[1], 21).ok());
  EXPECT_EQ(b_->ses->receives_open(shared_), 2u);
  close(x_);
  EXPECT_EQ(told(), "X recv aborted 0 #20 | recv aborted 0 #21");
  EXPECT_TRUE(is_balanced());
}

// A sender with delivery-complete gets an error for a message that cannot be received after all,
// and success for a discarded one.
TEST_F(OwnedTest, RefusedMessagesFailAtTheirSender) {
  for (const bool is_refused : {true, false}) {
    claims_.clear();
    a_->completions.clear();
    const Octets data = pattern(4);
    SendRequest s = send_request(stored(data), 1);
    s.to.ri = x_.ri;
    s.flags = kOpDeliveryComplete;
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
    deliver_all();
    ASSERT_EQ(claims_.size(), 1u);
    Claims& claims = b_->ses->claims();
    EXPECT_TRUE(is_refused ? claims.refuse(shared_, claims_[0], now_)
                           : claims.discard(shared_, claims_[0], now_));
    EXPECT_FALSE(claims.look(shared_, claims_[0]).found);
    deliver_all();
    ASSERT_EQ(a_->completions.size(), 1u);
    EXPECT_EQ(a_->completions[0].ok(), !is_refused);
  }
  EXPECT_TRUE(is_balanced());
}

TEST_F(OwnedTest, ClosingGivesEverythingBack) {
  Octets room(3072);
  own(room, 10);
  EXPECT_EQ(said(standard(part(request(SesOpcode::send, 3072), 0, 1024), 1024)), "accept");
  wire::StandardRequest kept = request(SesOpcode::send, 4);
  kept.message_id = MessageId(78);
  standard(kept, 4);
  ASSERT_EQ(claims_.size(), 1u);
  close(x_);
  EXPECT_EQ(told(), "X recv aborted 0 #10");
  EXPECT_FALSE(b_->ses->claims().look(shared_, claims_[0]).found);
  close(y_);
  b_->ses->close_shared(shared_, now_);
  begin_turn();
  EXPECT_TRUE(is_balanced());
}

}  // namespace
}  // namespace uet::ses::test
