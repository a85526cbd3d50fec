// Messages that a target deferred, until there is a receive for them. [ses.md 4.5]
#include "ses/deferral/deferred_messages.h"

#include "base/test/calls.h"
#include "ses/outgoing/outgoing.h"
#include "ses/test/answers.h"
#include "ses/test/parts.h"

#include <array>
#include <deque>

namespace uet::ses::test {
namespace {

using uet::test::calls;
using uet::test::Calls;
using uet::test::calls_of;

class DeferredMessagesPartTest : public PartTest {
 protected:
  DeferredMessagesPartTest() {
    calls().clear();
    answers() = {};
    Rng rng(1, 1);
    EXPECT_TRUE(deferred_.create(rng).ok());
    ep_ = &open();
    const IoSlice all{octets_.data(), octets_.size()};
    EXPECT_TRUE(receive_.memory.assign({&all, 1}, res_.receive_iovs).ok());
    receive_.multi = true;
  }
  Request request(PeerId peer, uint32_t token) const {
    Request q;
    q.peer = peer;
    q.common.job_id = kJob;
    q.buffer_offset = wire::RestartTokens{token, 0}.pack();
    q.request_length = 500;
    return q;
  }
  // The message waits.
  DeferredMessage* remember(PeerId peer, uint32_t token) {
    answers().kept = &kept_records_.emplace_back();
    const Request q = request(peer, token);
    DeferredMessage* const d = deferred_.remember(*ep_, q, {0, peer, 0, kJob});
    if (d != nullptr) deferred_.note_heard(*d);
    return d;
  }
  void end(Completion::Status status, PeerId peer) {
    ASSERT_FALSE(answers().posted.empty());
    InternalEnd done;
    done.restart = answers().posted.front();
    answers().posted.erase(answers().posted.begin());
    done.peer = peer;
    done.status = status;
    refused_ = deferred_.on_end(done);
  }

  MemoryRegions memory_;
  ArrivingMessages arriving_{res_};
  Receives receives_{res_};
  KeptMessages kept_{res_, endpoints_, arriving_};
  Outgoing outgoing_{res_, endpoints_, memory_};
  DeferredMessages deferred_{res_, endpoints_, receives_, kept_, outgoing_.posting()};
  Endpoint* ep_ = nullptr;
  PostedReceive receive_;
  std::deque<UnexpectedMessage> kept_records_;
  std::array<std::byte, 2000> octets_{};
  DeferredMessage* refused_ = nullptr;
};

// [SES-093] A message is known by the token of its initiator.
TEST_F(DeferredMessagesPartTest, AMessageIsFoundByItsToken) {
  DeferredMessage* const d = remember(peer_, 5);
  ASSERT_NE(d, nullptr);
  EXPECT_EQ(deferred_.find(*ep_, request(peer_, 5)), d);
  EXPECT_EQ(deferred_.find(*ep_, request(peer_, 6)), nullptr);
  EXPECT_EQ(deferred_.find(*ep_, request(another_peer(2), 5)), nullptr);
  EXPECT_TRUE(DeferredMessages::is_same(*d, request(peer_, 5)));
  Request longer = request(peer_, 5);
  longer.request_length = 501;
  EXPECT_FALSE(DeferredMessages::is_same(*d, longer));
  deferred_.forget(*d);
  EXPECT_EQ(deferred_.find(*ep_, request(peer_, 5)), nullptr);
  EXPECT_EQ(ep_->deferred, 0u);
}

// [SES-098, SES-099] A receive is set aside for the message, and its initiator is asked for it,
// with a token of the target.
TEST_F(DeferredMessagesPartTest, AReceiveCallsForTheMessage) {
  DeferredMessage* const d = remember(peer_, 5);
  ep_->queue->untagged.post(receive_);
  EXPECT_TRUE(deferred_.set_aside(*ep_, receive_, *d));
  EXPECT_EQ(receive_.called, d);
  EXPECT_NE(d->target_token, 0u);
  EXPECT_EQ(calls_of("send_restart"), Calls{"send_restart 5"});
  end(Completion::Status::ok, peer_);
  EXPECT_EQ(refused_, nullptr) << "it will come";
  EXPECT_EQ(deferred_.find(*ep_, request(peer_, 5)), d);
  deferred_.forget(*d);
}

// Without room for its completion nothing changes. [SES-098]
TEST_F(DeferredMessagesPartTest, WithoutRoomForACompletionNothingIsSetAside) {
  DeferredMessage* const d = remember(peer_, 5);
  answers().may_book = false;
  EXPECT_FALSE(deferred_.set_aside(*ep_, receive_, *d));
  EXPECT_EQ(receive_.called, nullptr);
  EXPECT_EQ(calls_of("send_restart"), Calls{});
  deferred_.forget(*d);
}

// The initiator has cancelled it: the receive is free for others. [SES-100]
TEST_F(DeferredMessagesPartTest, ARefusedRestartGivesTheReceiveBack) {
  DeferredMessage* const d = remember(peer_, 5);
  ep_->queue->untagged.post(receive_);
  deferred_.set_aside(*ep_, receive_, *d);
  end(Completion::Status::refused, peer_);
  ASSERT_EQ(refused_, d);
  const auto lost = deferred_.give_up(*d, Completion::Status::undeliverable);
  EXPECT_EQ(lost.receive, &receive_);
  EXPECT_EQ(lost.endpoint, ep_);
  EXPECT_FALSE(lost.was_claimed);
  EXPECT_EQ(receive_.called, nullptr);
}

// A multi-receive calls for as many octets as it has room for. [LF-096]
TEST_F(DeferredMessagesPartTest, AMultiReceiveCallsForAsMuchAsItTakes) {
  for (uint32_t token = 1; token <= 6; ++token) {
    deferred_.call_for(receive_, *remember(another_peer(static_cast<uint8_t>(token)), token));
  }
  EXPECT_EQ(receive_.called_bytes, 2000u);
  EXPECT_EQ(calls_of("send_restart").size(), 4u);
}

// [T-02] A peer gets a part of the restarts at once, and the next one when one is answered.
TEST_F(DeferredMessagesPartTest, APeerCannotTakeAllPlaces) {
  res_.config.restarts = 4;
  for (uint32_t token = 1; token <= 3; ++token) deferred_.discard(*remember(peer_, token));
  EXPECT_EQ(calls_of("send_restart").size(), 2u);
  deferred_.discard(*remember(another_peer(2), 9));
  EXPECT_EQ(calls_of("send_restart").size(), 3u);
  end(Completion::Status::ok, peer_);
  deferred_.send_calls();
  EXPECT_EQ(calls_of("send_restart").size(), 4u);
  for (uint32_t token = 1; token <= 3; ++token) {
    deferred_.forget(*deferred_.find(*ep_, request(peer_, token)));
  }
}

// [SES-101] An initiator that is silent for long will not send it again.
TEST_F(DeferredMessagesPartTest, ASilentMessageExpires) {
  DeferredMessage* const d = remember(peer_, 5);
  const Duration wait = res_.config.deferral_time * 2;
  EXPECT_EQ(deferred_.next_deadline(), res_.now + wait);
  EXPECT_EQ(deferred_.next_expired(), nullptr);
  res_.now = res_.now + wait;
  EXPECT_EQ(deferred_.next_expired(), d);
  deferred_.forget(*d);
}

// [T-02] A peer has a part of the messages that an endpoint remembers.
TEST_F(DeferredMessagesPartTest, APeerHasItsShareOfTheMessages) {
  res_.config.deferred_messages = 8;
  uint32_t kept = 0;
  while (kept < 20 && remember(peer_, kept + 1) != nullptr) ++kept;
  EXPECT_EQ(kept, 4u);
  EXPECT_NE(remember(another_peer(2), 1), nullptr);
}

}  // namespace
}  // namespace uet::ses::test
