// Queues whose receives belong to an owner outside SES. [LF-159]
#include "ses/receives/owned_receives.h"

#include "ses/receives/test/kept.h"

#include <cerrno>

namespace uet::ses::test {
namespace {

// What it answers, and how often it was asked.
class Owner final : public ReceiveOwner {
 public:
  Asked ask(const Sought& message, ReceiveRequest& out) override {
    asked.push_back(message.bytes);
    out = receive;
    return answer;
  }
  bool keep(uint32_t claim, const uint64_t* header_data) override {
    if (!may_keep) return false;
    claims.push_back(claim);
    has_data = header_data != nullptr;
    return true;
  }
  void forget() override { ++forgotten; }

  Asked answer = Asked::receive;
  bool may_keep = true;
  ReceiveRequest receive;
  std::vector<uint32_t> asked, claims;
  uint32_t forgotten = 0;
  bool has_data = false;
};

class OwnedReceivesTest : public ReceivesParts {
 protected:
  OwnedReceivesTest() {
    const ReceiveQueueId id = *endpoints_.open_shared(1);
    owned_.add(*endpoints_.get(id), owner_);
    use(id);
    slice_ = {octets_.data(), 1000};
    owner_.receive.iov = {&slice_, 1};
  }
  ~OwnedReceivesTest() override { owned_.remove(*ep_->queue); }
  PostedReceive* ask() { return owned_.ask(*ep_, {{0, peer_, 0, kJob}, 500, false}); }
  bool is_kept() const { return ep_->queue->untagged.oldest_unexpected() != nullptr; }

  Owner owner_;
  IoSlice slice_;
  OwnedReceives owned_{res_, receives_, kept_, delivery_};
};

// In its turn alone, and not about a message that would overtake another one.
TEST_F(OwnedReceivesTest, TheOwnerIsAskedInItsTurn) {
  EXPECT_FALSE(owned_.may_ask(*ep_->queue, false));
  owned_.begin_turn();
  EXPECT_TRUE(owned_.may_ask(*ep_->queue, false));
  UnexpectedMessage& u = keep(500, 1);
  EXPECT_FALSE(owned_.may_ask(*ep_->queue, false));
  EXPECT_TRUE(owned_.may_ask(*ep_->queue, true));
  kept_.hide(u);
  kept_.room().drop(u);
  owned_.end_turn();
  EXPECT_FALSE(owned_.may_ask(*ep_->queue, false));
}

// Its receive is not among those that others find.
TEST_F(OwnedReceivesTest, ItsReceiveIsForThatMessage) {
  PostedReceive* const r = ask();
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(ep_->queue->untagged.match({0, peer_, 0, kJob}), nullptr);
  EXPECT_EQ(r->room(), 1000u);
  owned_.tell_owner(*ep_->queue, false);
  EXPECT_EQ(owner_.forgotten, 0u);
  receives_.free(*ep_->queue, *r);
}

// Its queue is full, or there is no room to report: it is not asked, for it cannot take a receive
// back.
TEST_F(OwnedReceivesTest, WithoutRoomTheOwnerIsNotAsked) {
  has_room_ = false;
  EXPECT_EQ(ask(), nullptr);
  has_room_ = true;
  PostedReceive* const r = ask();
  EXPECT_EQ(ask(), nullptr) << "one at a time";
  EXPECT_EQ(owner_.asked.size(), 1u);
  receives_.free(*ep_->queue, *r);
}

// A receive that cannot be used fails, and the message waits.
TEST_F(OwnedReceivesTest, AUselessReceiveFails) {
  owner_.answer = Asked::useless;
  owner_.receive.context.op = this;
  EXPECT_EQ(ask(), nullptr);
  ASSERT_EQ(done_.size(), 1u);
  EXPECT_EQ(done_[0].local_error, EINVAL);
  EXPECT_EQ(done_[0].context.op, this);
  const std::array<IoSlice, kIovMax + 1> many{};
  owner_.answer = Asked::receive;
  owner_.receive.iov = many;
  EXPECT_EQ(ask(), nullptr);
  EXPECT_EQ(done_.at(1).local_error, EINVAL);
  EXPECT_EQ(ep_->queue->open, 0u);
}

// It has none: it keeps the message by a claim, or forgets it when it was not kept.
TEST_F(OwnedReceivesTest, TheOwnerHearsWhatBecomesOfTheMessage) {
  owner_.answer = Asked::unexpected;
  EXPECT_EQ(ask(), nullptr);
  owned_.tell_owner(*ep_->queue, false);
  EXPECT_EQ(owner_.forgotten, 1u);
  EXPECT_EQ(ask(), nullptr);
  UnexpectedMessage& u = keep(500, 1);
  u.has_data = true;
  owned_.tell_owner(*ep_->queue, false);
  EXPECT_EQ(owner_.forgotten, 1u);
  ASSERT_EQ(owner_.claims.size(), 1u);
  EXPECT_TRUE(owner_.has_data);
  EXPECT_EQ(kept_.claimed(*ep_->queue, owner_.claims[0]), &u);
  EXPECT_FALSE(is_kept()) << "no receive finds it";
  owned_.tell_owner(*ep_->queue, false);
  EXPECT_EQ(owner_.claims.size(), 1u);
}

// What came between turns is offered first, the oldest first.
TEST_F(OwnedReceivesTest, KeptMessagesAreOfferedAtTheTurn) {
  keep(500, 1);
  keep(600, 2);
  owned_.begin_turn();
  EXPECT_EQ(owner_.asked, (std::vector<uint32_t>{500, 600}));
  ASSERT_EQ(done_.size(), 2u);
  EXPECT_EQ(done_[1].bytes, 600u);
  EXPECT_FALSE(is_kept());
}

// It cannot answer now, or has no room to remember the message: the rest waits for the next turn.
TEST_F(OwnedReceivesTest, TheRestWaitsForTheNextTurn) {
  keep(500, 1);
  keep(600, 2);
  owner_.answer = Asked::later;
  owned_.begin_turn();
  EXPECT_EQ(owner_.asked.size(), 1u);
  owner_.answer = Asked::unexpected;
  owner_.may_keep = false;
  owned_.begin_turn();
  EXPECT_EQ(owner_.asked.size(), 2u);
  EXPECT_TRUE(is_kept());
  owner_.may_keep = true;
  owned_.begin_turn();
  EXPECT_EQ(owner_.claims.size(), 2u);
  EXPECT_FALSE(is_kept());
}

}  // namespace
}  // namespace uet::ses::test
