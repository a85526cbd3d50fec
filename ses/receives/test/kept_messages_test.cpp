// Messages that found no receive: which calls find them, and how they are answered. [SES-126]
#include "ses/receives/kept_messages.h"

#include "ses/receives/test/kept.h"
#include "wire/ses.h"

namespace uet::ses::test {
namespace {

using uet::test::was_called;

class KeptMessagesTest : public ReceivesParts {
 protected:
  Request request(bool delivery_complete = false) const {
    Request q;
    q.token = {pds::PdcHandle(5), Psn(100)};
    q.request_length = 500;
    q.common.dc = delivery_complete;
    return q;
  }
  static wire::Response response_of(const pds::Verdict& v) {
    wire::Reader r(v.response.bytes);
    return wire::Response::read(r);
  }
  Peeked peek(bool claim = false) { return kept_.peek(*ep_->queue, {}, claim); }
};

// [SES-126] Receives find it until it is hidden.
TEST_F(KeptMessagesTest, AHiddenMessageIsNotFound) {
  UnexpectedMessage& u = keep(500, 1);
  EXPECT_EQ(ep_->queue->untagged.oldest_unexpected(), &u);
  EXPECT_EQ(ep_->queue->tagged.oldest_unexpected(), nullptr);
  kept_.hide(u);
  EXPECT_EQ(ep_->queue->untagged.oldest_unexpected(), nullptr);
  kept_.room().drop(u);
}

// [SES-126, SES-147] The sender hears that it lies in the overflow list, and all of its octets.
TEST_F(KeptMessagesTest, TheSenderHearsThatItIsKept) {
  UnexpectedMessage& u = keep(500, 1, false);
  u.message_id = MessageId(0x55);
  const wire::Response h = response_of(kept_.complete(u, request()));
  EXPECT_TRUE(u.is_complete);
  EXPECT_EQ(h.common.list, wire::ListCode::overflow);
  EXPECT_EQ(h.common.return_code, wire::ReturnCode::ok);
  EXPECT_EQ(h.message_id, MessageId(0x55));
  EXPECT_EQ(h.job_id, kJob);
  EXPECT_EQ(h.modified_length, 500u);
  kept_.answer(u, wire::ReturnCode::ok, 500);
  EXPECT_EQ(pds_.take(), "") << "it has its answer";
}

// [SES-148] Delivery-complete: not before a receive has it, and once.
TEST_F(KeptMessagesTest, ADeliveryCompleteMessageIsAnsweredLater) {
  UnexpectedMessage& u = keep(500, 1, false);
  EXPECT_EQ(kept_.complete(u, request(true)).kind, pds::Verdict::Kind::later);
  EXPECT_TRUE(was_called("note_owed"));
  kept_.answer(u, wire::ReturnCode::ok, 300);
  EXPECT_TRUE(was_called("note_answered"));
  EXPECT_EQ(response_of(pds_.responded).modified_length, 300u);
  kept_.answer(u, wire::ReturnCode::ok, 300);
  EXPECT_EQ(pds_.take(), "respond");
}

// [SES-148, SES-089] That of a rendezvous waits for its rest in another way.
TEST_F(KeptMessagesTest, ARendezvousIsAnsweredAtOnce) {
  UnexpectedMessage& u = keep(500, 1, false);
  Pull pull;
  u.pull = &pull;
  EXPECT_EQ(kept_.complete(u, request(true)).kind, pds::Verdict::Kind::respond);
  u.pull = nullptr;
}

// [LF-059] A peek reports the first message, which stays.
TEST_F(KeptMessagesTest, APeekReportsTheFirst) {
  EXPECT_FALSE(peek().found);
  UnexpectedMessage& u = keep(500, 1);
  u.has_data = true;
  u.header_data = 7;
  keep(600, 2);
  const Peeked seen = peek();
  ASSERT_TRUE(seen.found);
  EXPECT_EQ(seen.bytes, 500u);
  EXPECT_EQ(seen.data, 7u);
  EXPECT_EQ(seen.peer, peer_);
  EXPECT_EQ(seen.job, kJob);
  EXPECT_EQ(seen.endpoint, ep_->id);
  EXPECT_EQ(seen.claim, 0u);
  EXPECT_EQ(peek().bytes, 500u);
}

// [LF-059] Only its claim finds a claimed message.
TEST_F(KeptMessagesTest, AClaimedMessageIsFoundByItsClaim) {
  UnexpectedMessage& u = keep(500, 1);
  keep(600, 2);
  const uint32_t claim = peek(true).claim;
  EXPECT_EQ(peek().bytes, 600u);
  EXPECT_EQ(kept_.claimed(*ep_->queue, claim), &u);
  EXPECT_EQ(kept_.claimed(*ep_->queue, claim + 1), nullptr);
  EXPECT_EQ(
      kept_.claimed(*ep_->queue, kept_.room().claim_of(*ep_->queue->untagged.oldest_unexpected())),
      nullptr)
      << "it was not claimed";
  ReceiveQueue other;
  EXPECT_EQ(kept_.claimed(other, claim), nullptr);
  DeferredMessage deferred;
  u.deferred = &deferred;
  EXPECT_EQ(kept_.claimed(*ep_->queue, claim), &u);
  deferred.is_discarded = true;
  EXPECT_EQ(kept_.claimed(*ep_->queue, claim), nullptr) << "the claim has ended";
  u.deferred = nullptr;
}

}  // namespace
}  // namespace uet::ses::test
