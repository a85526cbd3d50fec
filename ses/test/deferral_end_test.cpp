// Deferrable sends that end early: cancelled, closed, refused, lost, discarded; and receives that
// do not take them as they are. [ses.md 4.5]
#include "ses/test/deferral_fixture.h"

namespace uet::ses::test {
namespace {

class DeferralEndTest : public DeferralTest {
 protected:
  // A's send waits at B.
  void send_and_wait(const Octets& data, uintptr_t context = 1, uint64_t tag = 0) {
    send(deferrable(stored(data), context, tag));
    deliver_all();
    ASSERT_EQ(take(*a_), "");
  }
};

// [LF-058, SES-099] A deferred send can be cancelled; when the target requests it, it learns that
// the send is gone, and the receive is free for other messages.
TEST_F(DeferralEndTest, ACancelledSendFreesItsReceive) {
  send_and_wait(pattern(3000));
  EXPECT_TRUE(cancel(*a_, 1));
  EXPECT_FALSE(cancel(*a_, 1));
  EXPECT_EQ(take(*a_), "send cancelled 0 #1");
  EXPECT_TRUE(a_->ses->idle());
  Octets room(3000);
  receive(room);
  deliver_all();
  EXPECT_EQ(a_->ses->counters()[Counter::rx_restart_refused], 1u);
  EXPECT_EQ(b_->pds.last_answers, (std::vector<uint8_t>{0x18}));  // OP_VIOLATION
  EXPECT_EQ(take(*b_), "");
  const Octets data = pattern(1200, 9);
  send(deferrable(data));
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 1200 #1");
  EXPECT_EQ(take(*b_), "recv ok 1200 #2");
  EXPECT_TRUE(is_forgotten());
}

// [SES-122] A receive that was freed takes messages kept meanwhile, and otherwise stands behind
// receives posted meanwhile.
TEST_F(DeferralEndTest, AFreedReceiveGetsKeptMessages) {
  send_and_wait(pattern(3000));
  EXPECT_TRUE(cancel(*a_, 1));
  Octets room(3000), later(3000);
  receive(room, 2);
  send(deferrable(stored(pattern(10)), 3));  // a plain one, kept: the receive is set aside
  a_->pds.transmit(now_);
  while (!network_.empty() && network_.back().to == 1) deliver(network_.size() - 1);
  EXPECT_EQ(take(*b_), "");
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 10 #2");
  EXPECT_EQ(take(*a_), "send cancelled 0 #1 | send ok 10 #3");
  // Once more with nothing kept but a second receive.
  send_and_wait(pattern(3000), 4);
  EXPECT_TRUE(cancel(*a_, 4));
  receive(room, 5);
  receive(later, 6);
  deliver_all();
  send(deferrable(stored(pattern(10)), 7));
  send(deferrable(stored(pattern(20)), 8));
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 10 #6 | recv ok 20 #5");
}

// [LF-057] A receive that was set aside can be cancelled at any moment; the message for it finds
// the next one or waits again.
TEST_F(DeferralEndTest, AReceiveSetAsideCanBeCancelled) {
  for (uint32_t steps = 0; steps < 4; ++steps) {
    SCOPED_TRACE(testing::Message() << "after " << steps);
    start();
    const Octets data = pattern(3000);
    Octets room(3000), next(3000);
    send_and_wait(data);
    receive(room, 2);
    b_->pds.transmit(now_);
    for (uint32_t i = 0; i < steps && !network_.empty(); ++i) {
      deliver(0);
      transmit();
    }
    if (!cancel(*b_, 2)) {
      EXPECT_EQ(steps, 3u);  // its first packet has arrived
      continue;
    }
    EXPECT_EQ(take(*b_), "recv cancelled 0 #2");
    deliver_all();
    EXPECT_EQ(take(*a_), "");
    EXPECT_EQ(room, Octets(3000));
    receive(next, 3);
    elapse(Duration::seconds(6));
    EXPECT_EQ(take(*a_), "send ok 3000 #1");
    EXPECT_EQ(take(*b_), "recv ok 3000 #3");
    EXPECT_EQ(next, data);
    EXPECT_TRUE(is_forgotten());
  }
}

// [SES-177, PDS-182] Either end may close its endpoint at any moment.
TEST_F(DeferralEndTest, EndpointsCloseAtAnyMoment) {
  const Octets data = pattern(9000);
  for (const bool closes_target : {true, false}) {
    for (uint32_t steps = 0; steps < 40; ++steps) {
      SCOPED_TRACE(testing::Message() << closes_target << " after " << steps);
      start();
      Octets room(9000);
      a_->pds.window = 3;
      a_->pds.allows_void_resend = b_->pds.allows_void_resend = true;
      send(deferrable(data));
      for (uint32_t i = 0; i < steps; ++i) {
        if (i == 9) receive(room);
        transmit();
        if (!network_.empty()) deliver(0);
      }
      Node& closing = closes_target ? *b_ : *a_;
      const size_t before = closing.completions.size();
      const bool is_posted = !closes_target || steps > 9;
      closing.ses->close_endpoint(closing.ep, now_);
      EXPECT_EQ(closing.completions.size(), is_posted ? 1u : before);
      if (before == 0 && is_posted) {
        EXPECT_EQ(closing.completions[0].status, Completion::Status::aborted);
      }
      deliver_all();
      EXPECT_TRUE(closing.ses->idle());
      elapse(Duration::seconds(11));  // the other side learns it in the end
      if (closes_target) {
        EXPECT_EQ(a_->completions.size(), 1u);
      } else if (steps <= 9) {
        EXPECT_EQ(b_->completions.size(), 0u);  // the receive, if any, is free for others
      }
      EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
    }
  }
}

// [PDS-149] A silent target makes the send start again and fail, and a silent initiator frees the
// receive.
TEST_F(DeferralEndTest, APeerThatIsGoneEndsTheWaiting) {
  const pds::Failure silence{.reason = pds::FailureReason::timeout};
  send_and_wait(pattern(3000));
  now_ = now_ + Duration::milliseconds(5001);
  a_->advance(now_);
  transmit();
  network_.clear();
  a_->pds.fail_flow(0, silence, now_);
  EXPECT_EQ(take(*a_), "send undeliverable 0 #1");
  EXPECT_TRUE(a_->ses->idle());
  Octets room(3000);
  receive(room);
  transmit();
  network_.clear();
  b_->pds.fail_flow(0, silence, now_);
  EXPECT_EQ(take(*b_), "");
  send(deferrable(stored(pattern(100))));
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 100 #2");
  EXPECT_TRUE(is_forgotten());
}

// [SES-101] A ready-to-restart is accepted but never obeyed: the receive is set aside until a
// time-out.
TEST_F(DeferralEndTest, AReceiveIsSetAsideUntilATimeOut) {
  send_and_wait(pattern(3000));
  Octets room(3000);
  receive(room);
  b_->pds.transmit(now_);
  deliver(0);
  transmit();
  // The answer arrives, the message itself does not: A is stopped.
  for (size_t i = network_.size(); i-- != 0;) {
    if (network_[i].is_answer) deliver(i);
  }
  network_.clear();
  now_ = now_ + Duration::seconds(10);
  b_->advance(now_);
  EXPECT_EQ(count(Counter::rx_deferred_expired), 1u);
  EXPECT_EQ(take(*b_), "");
  a_->pds.resend_all();  // it starts again, and finds the receive by matching
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 3000 #1");
  EXPECT_EQ(take(*b_), "recv ok 3000 #2");
  EXPECT_EQ(count(Counter::rx_restart_stray), 1u);
  EXPECT_TRUE(is_forgotten());
}

// [PDS-190] The PDC of a deferred message may end before its last packet is answered: the target
// took no part of it. A ready-to-restart goes again on the next PDC.
TEST_F(DeferralEndTest, LostPdcsDoNotEndTheSend) {
  const pds::Failure lost{.reason = pds::FailureReason::closed};
  const Octets data = pattern(9000);
  Octets room(9000);
  a_->pds.window = 3;
  send(deferrable(data));
  transmit();
  deliver(0);
  deliver(network_.size() - 1);  // one answer
  network_.clear();
  a_->pds.fail_flow(0, lost, now_);
  EXPECT_EQ(take(*a_), "");
  EXPECT_EQ(a_->ses->counters()[Counter::tx_deferred], 1u);
  receive(room);
  transmit();
  network_.clear();
  b_->pds.fail_flow(0, lost, now_);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 9000 #1");
  EXPECT_EQ(take(*b_), "recv ok 9000 #2");
  EXPECT_EQ(room, data);
}

// [SES-137, SES-138] A receive that is too short gets the beginning, or refuses the message when it
// comes again and is then free for others.
TEST_F(DeferralEndTest, ATooLongMessageIsCutOrRefused) {
  for (const bool rejects : {false, true}) {
    options_.reject_truncated = rejects;
    start();
    const Octets data = pattern(3000);
    Octets room(1000);
    send_and_wait(data);
    receive(room);
    deliver_all();
    if (!rejects) {
      EXPECT_EQ(take(*a_), "send ok 3000 #1");
      EXPECT_EQ(take(*b_), "recv truncated 1000+2000 #2");
      EXPECT_TRUE(std::equal(room.begin(), room.end(), data.begin()));
      continue;
    }
    EXPECT_EQ(take(*a_), "send refused TOO_LONG 0 #1");
    EXPECT_EQ(take(*b_), "");
    send(deferrable(stored(pattern(1000, 5))));
    deliver_all();
    EXPECT_EQ(take(*b_), "recv ok 1000 #2");
  }
}

// [LF-059] One that waits is peeked in full length, claimed for a receive, or discarded, which lets
// its send end.
TEST_F(DeferralEndTest, OneThatWaitsIsPeekedClaimedAndDiscarded) {
  const Octets data = pattern(3000);
  SendRequest s = deferrable(data, 11, 7);
  s.flags = kOpRemoteData;
  s.data = 99;
  send(s);
  send_and_wait(data, 12, 7);
  Octets room(3000);
  ReceiveRequest filter = receive_request(room);
  filter.tagged = true;
  filter.tag = 7;
  const Peeked first = b_->ses->claims().peek(b_->ep, filter, true, now_);
  EXPECT_TRUE(first.found);
  EXPECT_EQ(first.bytes, 3000u);
  EXPECT_TRUE(first.has_data);
  EXPECT_EQ(first.data, 99u);
  const Peeked second = b_->ses->claims().peek(b_->ep, filter, true, now_);
  EXPECT_TRUE(second.found && !second.has_data);
  // A send that starts again still waits for the claim, whatever is posted meanwhile.
  Octets stranger(3000);
  receive(stranger, 3, 7);
  elapse(Duration::seconds(6));
  EXPECT_EQ(take(*b_), "");
  EXPECT_TRUE(b_->ses->claims().discard(b_->ep, first.claim, now_));
  EXPECT_FALSE(b_->ses->claims().discard(b_->ep, first.claim, now_));
  EXPECT_TRUE(b_->ses->claims().receive(b_->ep, second.claim, filter, now_).ok());
  EXPECT_EQ(b_->ses->claims().receive(b_->ep, second.claim, filter, now_).error(), Errc::not_found);
  deliver_all();
  EXPECT_EQ(take(*a_), "tagged_send ok 3000 #11 | tagged_send ok 3000 #12");
  EXPECT_EQ(take(*b_), "tagged_recv ok 3000 tag 7 #2");
  EXPECT_EQ(room, data);
  EXPECT_EQ(stranger, Octets(3000));
  EXPECT_TRUE(is_forgotten());
}

// [LF-059] A claim is for one message: when that will not come, its receive ends in error.
TEST_F(DeferralEndTest, AClaimEndsWithItsMessage) {
  send_and_wait(pattern(3000));
  Octets room(3000);
  const ReceiveRequest filter = receive_request(room);
  const Peeked seen = b_->ses->claims().peek(b_->ep, filter, true, now_);
  EXPECT_TRUE(cancel(*a_, 1));
  EXPECT_TRUE(b_->ses->claims().receive(b_->ep, seen.claim, filter, now_).ok());
  deliver_all();
  EXPECT_EQ(take(*b_), "recv undeliverable 0 #2");
  EXPECT_TRUE(is_forgotten());
}

// [LF-096, SES-099] A multi-receive calls no more messages than fill it, and takes them in order of
// arrival.
TEST_F(DeferralEndTest, AMultiReceiveCallsMessagesThatFillIt) {
  std::vector<Octets> data;
  for (uint8_t i = 0; i < 6; ++i) data.push_back(pattern(2000, i));
  for (uintptr_t i = 0; i < 6; ++i) send(deferrable(data[i], 10 + i));
  send(deferrable(stored(pattern(100)), 16));  // a plain one, kept behind them
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 100 #16");
  Octets room(7000);
  ReceiveRequest r = receive_request(room);
  r.multi = true;
  r.multi_min = 1000;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  deliver_all();
  // The kept one, and three of those called; 7000 - 6100 are less than 1000.
  EXPECT_EQ(take(*b_), "recv ok 100 #2 | recv ok 2000 #2 | recv ok 2000 #2 | recv ok 2000 done #2");
  EXPECT_EQ(a_->completions.size(), 3u);
  EXPECT_EQ(b_->ses->counters()[Counter::rx_deferred], 7u);  // the fourth once more
  a_->completions.clear();
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  deliver_all();
  EXPECT_EQ(a_->completions.size(), 3u);
  EXPECT_TRUE(is_forgotten());
}

// [LF-096, SES-099] It calls no more messages either if it could not take a kept message at once
// because the completion queue was full.
TEST_F(DeferralEndTest, AMultiReceiveThatWasStalledCallsForNoMore) {
  std::vector<Octets> data;
  for (uint8_t i = 0; i < 6; ++i) data.push_back(pattern(2000, i));
  for (uintptr_t i = 0; i < 4; ++i) send(deferrable(data[i], 10 + i));
  send(deferrable(stored(pattern(100)), 16));  // a plain one, kept among them
  for (uintptr_t i = 4; i < 6; ++i) send(deferrable(data[i], 10 + i));
  deliver_all();
  Octets room(7000);
  ReceiveRequest r = receive_request(room);
  r.multi = true;
  r.multi_min = 1000;
  b_->spare_slots = 0;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  b_->spare_slots = 1;
  now_ = now_ + Duration::milliseconds(1);
  b_->advance(now_);
  EXPECT_EQ(take(*b_), "recv ok 100 #2");
  network_.clear();
  b_->pds.transmit(now_);
  EXPECT_EQ(network_.size(), 4u) << "ready-to-restarts: 8000 octets fill it";
}

// [SES-101, LF-096] Called messages may not come; then other messages get the room when they start
// again.
TEST_F(DeferralEndTest, AMultiReceiveIsNotHeldUpByOneThatDoesNotCome) {
  send_and_wait(pattern(4000), 11);
  send_and_wait(pattern(4000, 7), 12);
  Octets room(4000);
  ReceiveRequest r = receive_request(room);
  r.multi = true;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  EXPECT_TRUE(cancel(*a_, 11));
  EXPECT_EQ(take(*a_), "send cancelled 0 #11");
  deliver_all();
  EXPECT_EQ(take(*b_), "");
  elapse(Duration::seconds(6));
  EXPECT_EQ(take(*a_), "send ok 4000 #12");
  EXPECT_EQ(take(*b_), "recv ok 4000 done #2");
  EXPECT_EQ(room, pattern(4000, 7));
  EXPECT_TRUE(is_forgotten());
}

// At most `restarts` ready-to-restarts are in flight; each answer sends the next one, so nothing is
// polled. Polling would wake the endpoint each millisecond until the first was answered.
TEST_F(DeferralEndTest, ReadyToRestartsTakeTurns) {
  config_.restarts = 1;
  config_.rendezvous_reads = 1;
  start();
  std::vector<Octets> data, rooms(6, Octets(1500));
  for (uint8_t i = 0; i < 6; ++i) data.push_back(pattern(1500, i));
  for (uintptr_t i = 0; i < 6; ++i) send(deferrable(data[i], 10 + i));
  deliver_all();
  for (uintptr_t i = 0; i < 6; ++i) receive(rooms[i], 20 + i);
  EXPECT_GT(b_->next_deadline() - now_, Duration::seconds(1)) << "an answer wakes the others";
  transmit();
  EXPECT_EQ(network_.size(), 1u);
  deliver_all();
  EXPECT_EQ(a_->completions.size(), 6u);
  EXPECT_EQ(rooms, data);
  EXPECT_TRUE(is_forgotten());
}

// [LF-060] What comes behind a fence waits for one that waits.
TEST_F(DeferralEndTest, AFenceWaitsForDeferredSends) {
  const Octets data = pattern(3000), last = pattern(10);
  Octets room(3000), second(10);
  send_and_wait(data);
  SendRequest fenced = deferrable(last, 5, 8);
  fenced.flags = kOpFence;
  send(fenced);
  receive(second, 6, 8);
  deliver_all();
  EXPECT_EQ(take(*b_), "");
  receive(room);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 3000 #1 | tagged_send ok 10 #5");
  EXPECT_EQ(take(*b_), "recv ok 3000 #2 | tagged_recv ok 10 tag 8 #6");
}

}  // namespace
}  // namespace uet::ses::test
