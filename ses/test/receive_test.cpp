// Receives: matching, kept messages, truncation, multi-receive, peek and claim, cancel, close.
#include "ses/test/pair.h"

namespace uet::ses::test {
namespace {

class ReceiveTest : public PairTest {
 protected:
  void send(const Octets& data, uint64_t tag = 0, uint32_t flags = 0) {
    SendRequest s = send_request(stored(data));
    s.tagged = tag != 0;
    s.tag = tag;
    s.flags = flags;
    s.data = 5;
    ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
  }
  ReceiveRequest tagged(Octets& room, uint64_t tag, uint64_t ignore = 0, uintptr_t context = 2) {
    ReceiveRequest r = receive_request(room, context);
    r.tagged = true;
    r.tag = tag;
    r.ignore = ignore;
    return r;
  }
  Result<void> post(const ReceiveRequest& r) { return b_->ses->receive(b_->ep, r, now_); }
  uint64_t count(Counter c) const { return b_->ses->counters()[c]; }
};

// [SES-119..123] Tag, ignore mask and source decide, in posting order.
TEST_F(ReceiveTest, TheFirstReceiveInPostingOrderThatFitsTakesTheMessage) {
  std::vector<Octets> rooms(5, Octets(8));
  ReceiveRequest stranger = tagged(rooms[0], 7, 0, 10);
  stranger.directed = true;
  stranger.from = PeerId(0);
  stranger.from_initiator = 555;  // another process of that FEP
  ASSERT_TRUE(post(stranger).ok());
  ASSERT_TRUE(post(tagged(rooms[1], 8, 0, 11)).ok());
  ASSERT_TRUE(post(tagged(rooms[2], 0, 0xF, 12)).ok());
  ASSERT_TRUE(post(tagged(rooms[3], 7, 0, 13)).ok());
  ReceiveRequest friendly = tagged(rooms[4], 7, 0, 14);
  friendly.directed = true;
  friendly.from = PeerId(0);
  friendly.from_initiator = a_->initiator_id;
  ASSERT_TRUE(post(friendly).ok());
  const Octets data = pattern(8);
  for (int i = 0; i < 3; ++i) send(data, 7);
  deliver_all();
  EXPECT_EQ(take(*b_),
            "tagged_recv ok 8 tag 7 #12 | tagged_recv ok 8 tag 7 #13 | "
            "tagged_recv ok 8 tag 7 #14");
  EXPECT_EQ(b_->completions.size(), 0u);
}

// [SES-124] An untagged receive never takes a tagged message, nor the reverse.
TEST_F(ReceiveTest, TaggedAndUntaggedAreSeparate) {
  Octets room(8), other(8);
  ASSERT_TRUE(post(receive_request(room)).ok());
  send(pattern(8), 9);
  deliver_all();
  EXPECT_EQ(take(*b_), "");
  ASSERT_TRUE(post(tagged(other, 9)).ok());
  EXPECT_EQ(take(*b_), "tagged_recv ok 8 tag 9 #2");
}

// [SES-126, SES-130, SES-122] Kept, answered RESPONSE OK, taken in arrival order.
TEST_F(ReceiveTest, MessagesWithoutAReceiveAreKeptInArrivalOrder) {
  for (uint8_t i = 1; i <= 3; ++i) send(pattern(3000, i), 4);
  deliver_all();
  EXPECT_EQ(take(*a_), "tagged_send ok 3000 #1 | tagged_send ok 3000 #1 | tagged_send ok 3000 #1");
  // One explicit RESPONSE OK for the octet that completes each message.
  EXPECT_EQ(a_->pds.last_answers, (std::vector<uint8_t>{1, 1, 1}));
  for (uint8_t i = 1; i <= 3; ++i) {
    Octets room(3000);
    ASSERT_TRUE(post(tagged(room, i == 2 ? 5 : 4, i == 2 ? 1 : 0)).ok());
    EXPECT_EQ(take(*b_), "tagged_recv ok 3000 tag 4 #2");
    EXPECT_EQ(room, pattern(3000, i));
  }
  EXPECT_EQ(count(Counter::rx_unexpected), 3u);
}

// [SES-125, SES-143, SES-147] List OVERFLOW and the octets kept, by hand. [WIRE-075]
TEST_F(ReceiveTest, AKeptMessageIsAnsweredWithTheOverflowList) {
  send(pattern(10));
  transmit();
  deliver(0);
  ASSERT_EQ(network_.size(), 1u);
  const Octets& o = network_[0].octets;
  ASSERT_EQ(o.size(), 12u);
  const uint8_t expected[] = {0x41, 0x01, 0, 1, 0, 0, 1, 2, 0, 0, 0, 10};
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(uint8_t(o[i]), expected[i]) << i;
}

// [SES-130] A receive posted while half of the message is here gets the received octets, and the
// rest directly.
TEST_F(ReceiveTest, AReceiveTakesOverAHalfArrivedMessage) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    start();
    Rng rng(seed);
    const Octets data = pattern(9000);
    Octets room(9000);
    send(data, 3);
    transmit();
    ASSERT_EQ(network_.size(), 9u);
    const uint64_t early = 1 + rng.below(8);
    for (uint64_t i = 0; i < early; ++i) deliver(rng.below(9 - i));
    ASSERT_TRUE(post(tagged(room, 3)).ok());
    EXPECT_EQ(take(*b_), "");
    deliver_all(&rng);
    EXPECT_EQ(take(*b_), "tagged_recv ok 9000 tag 3 #2");
    EXPECT_EQ(take(*a_), "tagged_send ok 9000 #1");
    EXPECT_EQ(room, data);
  }
}

// [SES-137, SES-139] The prefix is delivered, both lengths are reported, the send succeeds.
TEST_F(ReceiveTest, ALongerMessageIsTruncated) {
  const Octets data = pattern(5000);
  Octets room(2100), kept_room(10);
  ASSERT_TRUE(post(receive_request(room)).ok());
  send(data);
  send(data);
  deliver_all();
  EXPECT_EQ(take(*a_), "send ok 5000 #1 | send ok 5000 #1");
  EXPECT_EQ(take(*b_), "recv truncated 2100+2900 #2");
  EXPECT_TRUE(std::equal(room.begin(), room.end(), data.begin()));
  ASSERT_TRUE(post(receive_request(kept_room)).ok());
  EXPECT_EQ(take(*b_), "recv truncated 10+4990 #2");
}

// [SES-137, SES-147] The answer says how much was placed, in the expected list. Octets by hand.
TEST_F(ReceiveTest, ATruncatedMessageIsAnsweredWithThePlacedLength) {
  Octets room(4);
  ASSERT_TRUE(post(receive_request(room)).ok());
  send(pattern(10));
  transmit();
  deliver(0);
  ASSERT_EQ(network_.size(), 1u);
  const Octets& o = network_[0].octets;
  ASSERT_EQ(o.size(), 12u);
  const uint8_t expected[] = {0x01, 0x01, 0, 1, 0, 0, 1, 2, 0, 0, 0, 4};
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(uint8_t(o[i]), expected[i]) << i;
}

// [SES-138] Or refused, and the receive stays posted.
TEST_F(ReceiveTest, AnEndpointMayRefuseTruncation) {
  options_.reject_truncated = true;
  start();
  Octets room(2100);
  ASSERT_TRUE(post(receive_request(room)).ok());
  send(pattern(5000));
  deliver_all();
  EXPECT_EQ(take(*a_), "send refused TOO_LONG 0 #1");
  EXPECT_EQ(take(*b_), "");
  send(pattern(2100));
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 2100 #2");
  EXPECT_TRUE(b_->ses->idle());
}

// [SES-048, SES-148] With delivery-complete the answer waits for the receive.
TEST_F(ReceiveTest, DeliveryCompleteWaitsForTheReceive) {
  for (const size_t length : {50u, 3000u}) {
    send(pattern(length), 6, kOpDeliveryComplete);
    deliver_all();
    EXPECT_EQ(take(*a_), "");
    Octets room(3000);
    ASSERT_TRUE(post(tagged(room, 6)).ok());
    deliver_all();
    EXPECT_EQ(take(*a_), "tagged_send ok " + std::to_string(length) + " #1");
  }
}

// [LF-096] Consumed in place until fewer than multi_min octets remain.
TEST_F(ReceiveTest, AMultiReceiveIsConsumedInPlace) {
  Octets room(3000);
  ReceiveRequest r = receive_request(room);
  r.multi = true;
  r.multi_min = 500;
  ASSERT_TRUE(post(r).ok());
  const Octets first = pattern(1000, 1), second = pattern(1200, 2), third = pattern(900, 3);
  send(first);
  send(second);
  send(third);
  deliver_all();
  ASSERT_EQ(b_->completions.size(), 3u);
  EXPECT_EQ(b_->completions[1].buffer, room.data() + 1000);
  EXPECT_EQ(b_->completions[2].buffer, room.data() + 2200);
  EXPECT_EQ(take(*b_), "recv ok 1000 #2 | recv ok 1200 #2 | recv truncated 800+100 done #2");
  EXPECT_TRUE(std::equal(first.begin(), first.end(), room.begin()));
  EXPECT_TRUE(std::equal(second.begin(), second.end(), room.begin() + 1000));
  // Only the last one uses the slot of the post.
  EXPECT_EQ(b_->spare_slots, 998u);
}

// [LF-096] With multi_min octets left it is still good for a message, with one less it is not.
TEST_F(ReceiveTest, AMultiReceiveWithJustEnoughRoomContinues) {
  Octets room(1500);
  ReceiveRequest r = receive_request(room);
  r.multi = true;
  r.multi_min = 500;
  ASSERT_TRUE(post(r).ok());
  send(pattern(1000));
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 1000 #2");
  send(pattern(1));
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 1 done #2");
}

// The buffer is released with the message that completes last, not the one that arrived last.
TEST_F(ReceiveTest, TheLastCompletionReleasesAMultiReceive) {
  Octets room(4000);
  ReceiveRequest r = receive_request(room);
  r.multi = true;
  r.multi_min = 3000;
  send(pattern(2000, 1));
  transmit();
  deliver(0);  // the second packet stays behind
  const Parcel late = network_[0];
  network_.clear();
  ASSERT_TRUE(post(r).ok());
  EXPECT_EQ(take(*b_), "");
  EXPECT_FALSE(b_->ses->cancel(b_->ep, r.context.op, now_));
  network_.add(late);
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 2000 done #2");
}

// [decision 11] Kept messages wait for completion slots, and later ones do not overtake them.
TEST_F(ReceiveTest, AMultiReceiveWithoutSlotsStallsInOrder) {
  Octets room(4000);
  ReceiveRequest r = receive_request(room);
  r.multi = true;
  b_->spare_slots = 0;
  send(pattern(10, 1));
  send(pattern(20, 2));
  deliver_all();
  ASSERT_TRUE(post(r).ok());
  EXPECT_EQ(take(*b_), "");
  b_->spare_slots = 1;
  send(pattern(30, 3));
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 10 #2");
  b_->spare_slots = 10;
  elapse(Duration::milliseconds(2));
  EXPECT_EQ(take(*b_), "recv ok 20 #2 | recv ok 30 #2");
}

// [LF-059]
TEST_F(ReceiveTest, PeekShowsClaimHidesDiscardDrops) {
  Octets room(100);
  const ReceiveRequest any = tagged(room, 0, ~uint64_t{0});
  EXPECT_FALSE(b_->ses->claims().peek(b_->ep, any, false, now_).found);
  send(pattern(40, 1), 21, kOpRemoteData);
  send(pattern(50, 2), 22);
  deliver_all();
  Peeked seen = b_->ses->claims().peek(b_->ep, any, false, now_);
  EXPECT_TRUE(seen.found && seen.has_data);
  EXPECT_EQ(seen.bytes, 40u);
  EXPECT_EQ(seen.tag, 21u);
  EXPECT_EQ(seen.data, 5u);
  EXPECT_EQ(seen.initiator_id, a_->initiator_id);
  EXPECT_EQ(seen.claim, 0u);
  const uint32_t first = b_->ses->claims().peek(b_->ep, any, true, now_).claim;
  const uint32_t second = b_->ses->claims().peek(b_->ep, any, true, now_).claim;
  EXPECT_FALSE(b_->ses->claims().peek(b_->ep, any, false, now_).found);
  ASSERT_TRUE(b_->ses->claims().receive(b_->ep, second, any, now_).ok());
  EXPECT_EQ(take(*b_), "tagged_recv ok 50 tag 22 #2");
  EXPECT_TRUE(b_->ses->claims().discard(b_->ep, first, now_));
  EXPECT_FALSE(b_->ses->claims().discard(b_->ep, first, now_));
  EXPECT_EQ(b_->ses->claims().receive(b_->ep, second, any, now_).error(), Errc::not_found);
}

TEST_F(ReceiveTest, AHalfArrivedMessageCanBeClaimedAndDiscarded) {
  Octets room(5000);
  for (const bool discard : {true, false}) {
    send(pattern(4000), 21, kOpDeliveryComplete);
    transmit();
    deliver(1);
    const uint32_t claim = b_->ses->claims().peek(b_->ep, tagged(room, 21), true, now_).claim;
    ASSERT_NE(claim, 0u);
    if (discard) {
      EXPECT_TRUE(b_->ses->claims().discard(b_->ep, claim, now_));
    } else {
      EXPECT_TRUE(b_->ses->claims().receive(b_->ep, claim, tagged(room, 21), now_).ok());
    }
    deliver_all();
    EXPECT_EQ(take(*a_), "tagged_send ok 4000 #1");
    EXPECT_EQ(take(*b_), discard ? "" : "tagged_recv ok 4000 tag 21 #2");
    EXPECT_TRUE(b_->ses->idle());
  }
}

// [LF-057]
TEST_F(ReceiveTest, ACancelledReceiveTakesNothing) {
  Octets room(10), other(10);
  ASSERT_TRUE(post(receive_request(room, 31)).ok());
  ASSERT_TRUE(post(receive_request(other, 32)).ok());
  EXPECT_TRUE(b_->ses->cancel(b_->ep, reinterpret_cast<void*>(31), now_));
  EXPECT_FALSE(b_->ses->cancel(b_->ep, reinterpret_cast<void*>(31), now_));
  EXPECT_EQ(take(*b_), "recv cancelled 0 #31");
  send(pattern(10));
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 10 #32");
}

TEST_F(ReceiveTest, AMultiReceiveInUseIsCancelledAfterItsMessages) {
  Octets room(4000);
  ReceiveRequest r = receive_request(room);
  r.multi = true;
  ASSERT_TRUE(post(r).ok());
  send(pattern(2000));
  transmit();
  deliver(0);
  EXPECT_TRUE(b_->ses->cancel(b_->ep, r.context.op, now_));
  EXPECT_EQ(take(*b_), "");
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 2000 #2 | recv cancelled 0 done #2");
}

// Close ends every post; what arrives later touches nothing and is refused. [SES-177]
TEST_F(ReceiveTest, CloseAbortsReceivesAndMessagesUnderWay) {
  Octets room(4000), idle_room(10);
  ASSERT_TRUE(post(receive_request(room, 41)).ok());
  ASSERT_TRUE(post(receive_request(idle_room, 42)).ok());
  send(pattern(4000));
  send(pattern(4000), 77);  // kept, half received
  transmit();
  deliver(0);
  deliver(3);
  b_->ses->close_endpoint(b_->ep, now_);
  EXPECT_EQ(take(*b_), "recv aborted 0 #41 | recv aborted 0 #42");
  room.assign(4000, std::byte{0xEE});
  deliver_all();
  EXPECT_EQ(room, Octets(4000, std::byte{0xEE}));
  EXPECT_EQ(take(*a_), "send refused CANCELLED 0 #1 | tagged_send refused CANCELLED 0 #1");
  EXPECT_TRUE(a_->ses->idle() && b_->ses->idle());
  // The name can be used again.
  b_->open(options_);
}

// [SES-050, LF-093] Header data that the completion queue cannot carry is refused.
TEST_F(ReceiveTest, HeaderDataNeedsACompletionQueueForIt) {
  b_carries_data_ = false;
  start();
  Octets room(10);
  ASSERT_TRUE(post(receive_request(room)).ok());
  send(pattern(10), 0, kOpRemoteData);
  deliver_all();
  EXPECT_EQ(take(*a_), "send refused OP_VIOLATION 0 #1");
  EXPECT_EQ(count(Counter::rx_header_data_refused), 1u);
}

// [SES-108] If a sender disappears half-way, its receive ends after a time-out.
TEST_F(ReceiveTest, PartialMessagesExpire) {
  Octets room(4000);
  ASSERT_TRUE(post(receive_request(room)).ok());
  send(pattern(4000));
  transmit();
  deliver(0);
  network_.clear();
  now_ = now_ + Duration::seconds(59);
  b_->advance(now_);
  EXPECT_EQ(take(*b_), "");
  now_ = now_ + Duration::seconds(1);
  EXPECT_LE(b_->next_deadline(), now_);
  b_->advance(now_);
  EXPECT_EQ(take(*b_), "recv undeliverable 0 #2");
  EXPECT_EQ(count(Counter::rx_partial_expired), 1u);
  now_ = now_ + Duration::seconds(60);
  b_->advance(now_);
  EXPECT_TRUE(b_->ses->idle()) << "nothing is waited for any more";
  EXPECT_EQ(count(Counter::rx_partial_expired), 1u);
}

// [SES-107, SES-108] A late packet of an expired message is refused. If it were taken for a new
// message, the sender would believe that a message has arrived which no receive got. There is no
// time limit, because a sender may sleep in the middle of a message.
TEST_F(ReceiveTest, LatePacketsOfAnExpiredMessageAreRefused) {
  for (const int minutes : {1, 10}) {
    start();
    Octets room(4000);
    ASSERT_TRUE(post(receive_request(room)).ok());
    send(pattern(4000));
    transmit();
    deliver(0);
    for (int i = 0; i < minutes; ++i) {
      now_ = now_ + Duration::seconds(60);
      b_->advance(now_);
    }
    EXPECT_EQ(take(*b_), "recv undeliverable 0 #2");
    ASSERT_TRUE(post(receive_request(room)).ok());
    deliver_all();
    EXPECT_EQ(take(*b_), "") << "the new receive got none of it";
    EXPECT_EQ(count(Counter::rx_repeated_error), 3u);
    EXPECT_EQ(take(*a_).substr(0, 12), "send refused");
  }
}

// [SES-118] A message that was given up takes no room of other messages.
TEST_F(ReceiveTest, GivenUpMessagesMakeRoom) {
  config_.rx_messages = 2;
  start();
  std::array<Octets, 3> rooms;
  for (Octets& room : rooms) {
    room.resize(4000);
    ASSERT_TRUE(post(receive_request(room)).ok());
    send(pattern(4000));
    transmit();
    deliver(network_.size() - 4);
    network_.clear();
    now_ = now_ + Duration::seconds(60);
    b_->advance(now_);
    EXPECT_EQ(take(*b_), "recv undeliverable 0 #2");
  }
  EXPECT_EQ(count(Counter::rx_no_message_slot), 0u);
  EXPECT_EQ(count(Counter::rx_partial_expired), 3u);
}

TEST_F(ReceiveTest, PartialMessagesEndWithTheirPdc) {
  Octets room(4000);
  ASSERT_TRUE(post(receive_request(room)).ok());
  send(pattern(4000));
  send(pattern(4000), 3);
  transmit();
  deliver(0);
  deliver(3);
  b_->exchange->on_pdc_closed(pds::PdcHandle(StubPds::kTargetPdc), PeerId(0), false, now_);
  EXPECT_EQ(take(*b_), "recv undeliverable 0 #2");
  EXPECT_FALSE(b_->ses->claims().peek(b_->ep, tagged(room, 3), false, now_).found);
  EXPECT_TRUE(b_->ses->idle());
}

// [SES-009] A message belongs to its PDC: messages of other PDCs continue.
TEST_F(ReceiveTest, PartialMessagesOutliveOtherPdcs) {
  const Octets data = pattern(4000);
  Octets room(4000);
  ASSERT_TRUE(post(receive_request(room)).ok());
  send(data);
  transmit();
  deliver(0);
  b_->exchange->on_pdc_closed(pds::PdcHandle(StubPds::kTargetPdc + 1), PeerId(0), false, now_);
  EXPECT_EQ(take(*b_), "");
  EXPECT_EQ(count(Counter::rx_partial_closed), 0u);
  deliver_all();
  EXPECT_EQ(take(*b_), "recv ok 4000 #2");
  EXPECT_EQ(room, data);
}

}  // namespace
}  // namespace uet::ses::test
