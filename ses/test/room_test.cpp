// Room for unexpected messages: limits for one peer, an unproven source or a claim, and which
// traffic continues while the room is full.
#include "ses/test/target_fixture.h"

namespace uet::ses::test {
namespace {

class RoomTest : public TargetTest {
 protected:
  wire::StandardRequest message(SesOpcode opcode, uint32_t length) {
    wire::StandardRequest h = request(opcode, length);
    h.message_id = MessageId(next_id_++);
    return h;
  }
  // How many messages of `bytes` octets are kept before one is not.
  int kept(uint32_t bytes, int tries, pds::Mode mode = pds::Mode::rod) {
    int accepted = 0;
    for (int i = 0; i < tries; ++i) {
      accepted += said(standard(message(SesOpcode::send, bytes), bytes, mode)).starts_with("OK");
    }
    return accepted;
  }
  uint32_t pages_held() const {
    Snapshot out;
    b_->ses->snapshot(out, now_);
    return out.kept_pages;
  }

  uint16_t next_id_ = 1;
};

// [SES-188] A peer that is out of room waits, on its own PDC; the index serves all others, and the
// same peer where a receive is posted.
TEST_F(RoomTest, OneFloodDisablesNoIndex) {
  config_.unexpected_messages = 16;
  start();
  Octets memory(100), room(100);
  const uint64_t key = expose(memory);
  EXPECT_EQ(kept(8, 20), 8);
  EXPECT_EQ(said(standard(message(SesOpcode::send, 8), 8, pds::Mode::rod)), "nack NO_RESOURCE");
  EXPECT_EQ(said(standard(write_to(key, 4), 4, pds::Mode::rod)), "accept");
  from_ = another_peer();
  EXPECT_EQ(kept(8, 2), 2) << "each peer leaves room to others";
  EXPECT_EQ(said(standard(write_to(key, 4), 4, pds::Mode::rod)), "accept");
  wire::StandardRequest tagged = message(SesOpcode::tagged_send, 50);
  tagged.match_bits = 7;
  ReceiveRequest r = receive_request(room);
  r.tagged = true;
  r.tag = 7;
  ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
  from_ = PeerId(0);
  EXPECT_EQ(said(standard(tagged, 50, pds::Mode::rod)), "accept");
  EXPECT_EQ(take(*b_), "tagged_recv ok 50 tag 7 #2");
  EXPECT_EQ(count(Counter::rx_no_room), 13u);
  EXPECT_EQ(count(Counter::rx_disabled), 0u);
}

// [SES-188] A tagged atomic without a receive cannot be kept; it does not delay other messages
// either.
TEST_F(RoomTest, AnAtomicWithoutAReceiveDisablesNoIndex) {
  Octets octets(wire::StandardRequest::kSize + wire::Atomic::kSize + 8);
  wire::StandardRequest h = message(SesOpcode::tsend_atomic, 8);
  wire::Writer w(octets);
  h.emit(w);
  EXPECT_EQ(said(give_octets(octets, wire::NextHeader::standard, pds::Mode::rod)),
            "nack NO_RESOURCE");
  wire::StandardRequest other = message(SesOpcode::tagged_send, 8);
  EXPECT_EQ(said(standard(other, 8, pds::Mode::rod)), "OK modified 8");
}

// [SES-189] A header of nearly 2 GiB takes a record and a page for its own octets, no more; one
// that can never be kept takes nothing.
TEST_F(RoomTest, AClaimedLengthTakesNoRoom) {
  config_.unexpected_bytes = 64 * 4096;
  start();
  const wire::StandardRequest huge = message(SesOpcode::send, 0x7FFF'E000);
  EXPECT_EQ(said(standard(part(huge, 0, 1024), 1024, pds::Mode::rod)), "nack NO_RESOURCE");
  EXPECT_EQ(pages_held(), 0u);
  const wire::StandardRequest large = message(SesOpcode::send, 30 * 4096);
  EXPECT_EQ(said(standard(part(large, 0, 1024), 1024, pds::Mode::rod)), "accept");
  EXPECT_EQ(pages_held(), 2u) << "a page, and one that says where it is";
  from_ = another_peer();
  EXPECT_EQ(kept(1024, 40), 31);
}

// [T-61, SES-189] An address with many ports gets three quarters of the records and of the pages;
// a message of another address finds room.
TEST_F(RoomTest, ManyPortsOfOneAddressLeaveAQuarterOfTheRoom) {
  config_.unexpected_bytes = 64 * 4096;
  for (const uint32_t bytes : {8u, 4000u}) {
    config_.unexpected_messages = bytes == 8 ? 16 : 1024;
    start();
    int taken = 0;
    for (uint16_t port = 1000; port < 1040; ++port) {
      from_ = another_peer(1, port);
      taken += kept(bytes, 8);
    }
    EXPECT_EQ(taken, bytes == 8 ? 12 : 48);
    from_ = another_peer(2);
    EXPECT_EQ(kept(bytes, 1), 1);
    EXPECT_EQ(kept(bytes, 100), bytes == 8 ? 1 : 7) << "half of what was left, in all";
  }
}

// [T-61, SES-118] The same of the places for messages that are being received.
TEST_F(RoomTest, ManyPortsOfOneAddressLeaveAQuarterOfThePlaces) {
  config_.rx_messages = 32;
  start();
  Octets memory(4000);
  const uint64_t key = expose(memory);
  const auto begins = [&] {
    wire::StandardRequest h = write_to(key, 3000);
    h.message_id = MessageId(next_id_++);
    return said(standard(part(h, 0, 1024), 1024)) == "accept";
  };
  int begun = 0;
  for (uint16_t port = 1000; port < 1040; ++port) {
    from_ = another_peer(1, port);
    begun += begins();
  }
  EXPECT_EQ(begun, 24);
  from_ = another_peer(2);
  EXPECT_TRUE(begins());
}

// [SES-189, T-01] Unproven sources leave a quarter of the room to proven ones.
TEST_F(RoomTest, StrangersLeaveAQuarter) {
  config_.unexpected_messages = 32;
  config_.rx_messages = 32;
  start();
  is_confirmed_ = false;
  int taken = 0;
  for (uint8_t i = 0; i < 100; ++i) {
    from_ = another_peer(i % 3);
    taken += kept(8, 1);
  }
  EXPECT_EQ(taken, 24);
  Octets memory(4000);
  const uint64_t key = expose(memory);
  int begun = 0;
  for (uint8_t i = 0; i < 100; ++i) {
    from_ = another_peer(i % 3);
    wire::StandardRequest h = write_to(key, 3000);
    h.message_id = MessageId(next_id_++);
    begun += said(standard(part(h, 0, 1024), 1024)) == "accept";
  }
  EXPECT_EQ(begun, 24);
  is_confirmed_ = true;
  from_ = PeerId(0);
  EXPECT_EQ(kept(8, 8), 4);
}

// [SES-189, SES-108] Two messages are half received when the room is full: on ROD the packet waits,
// on RUD the message must come again; a receive takes the received part at any time.
TEST_F(RoomTest, AHalfKeptMessageWaitsOrComesAgain) {
  config_.unexpected_bytes = 16 * 4096;
  start();
  const wire::StandardRequest a = message(SesOpcode::send, 4 * 4096);
  const wire::StandardRequest b = message(SesOpcode::send, 4 * 4096);
  const auto give = [&](const wire::StandardRequest& h, uint32_t packet, pds::Mode mode) {
    return said(standard(part(h, packet * 1024, 1024), 1024, mode));
  };
  EXPECT_EQ(give(a, 0, pds::Mode::rod), "accept");
  EXPECT_EQ(give(b, 0, pds::Mode::rud), "accept");
  EXPECT_EQ(kept(1024, 10, pds::Mode::rud), 6) << "eight pages in all";
  for (uint32_t i : {1u, 2u, 3u}) EXPECT_EQ(give(a, i, pds::Mode::rod), "accept");
  EXPECT_EQ(give(a, 4, pds::Mode::rod), "nack NO_RESOURCE");
  EXPECT_EQ(give(b, 4, pds::Mode::rud), "NO_MATCH");
  EXPECT_EQ(give(b, 5, pds::Mode::rud), "NO_MATCH");
  EXPECT_EQ(give(a, 4, pds::Mode::rod), "accept") << "the other one gave its page back";
  EXPECT_EQ(give(a, 8, pds::Mode::rod), "nack NO_RESOURCE");
  // Ten minutes later the message is still there, because its packets are requested again and
  // again.
  for (int second = 0; second < 600; ++second) {
    now_ = now_ + Duration::seconds(1);
    b_->advance(now_);
    EXPECT_EQ(give(a, 8, pds::Mode::rod), "nack NO_RESOURCE");
  }
  Octets room(4 * 4096);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  for (uint32_t i : {5u, 6u, 7u, 8u, 9u, 10u, 11u, 12u, 13u, 14u}) {
    EXPECT_EQ(give(a, i, pds::Mode::rod), "accept");
  }
  EXPECT_EQ(take(*b_), "");
  EXPECT_EQ(give(a, 15, pds::Mode::rod), "accept");
  EXPECT_EQ(take(*b_), "recv ok 16384 #2");
}

// [SES-108, SES-191] A message that is behind a packet which waits for the application does not
// expire; when nothing waits it does.
TEST_F(RoomTest, NoMessageExpiresBehindOneThatTheApplicationDelays) {
  start();
  b_->spare_slots = 0;
  Octets memory(4000);
  const uint64_t key = expose(memory);
  wire::StandardRequest first = write_to(key, 8);
  first.common.hd = true;  // it wants a completion
  first.message_id = MessageId(78);
  const auto give_first = [&] {
    next_psn_ = 1;
    in_order_ = true;
    EXPECT_EQ(said(standard(first, 8)), "nack NO_RESOURCE");
  };
  const wire::StandardRequest later = write_to(key, 3000);
  const auto give_later = [&](uint32_t offset) {
    next_psn_ = 2 + offset / 1024;
    in_order_ = false;
    EXPECT_EQ(said(standard(part(later, offset, 1024), 1024)), "accept");
  };
  give_first();
  give_later(0);
  for (int second = 0; second < 600; ++second) {
    now_ = now_ + Duration::seconds(1);
    give_first();
    b_->advance(now_);
  }
  EXPECT_EQ(count(Counter::rx_partial_expired), 0u);
  give_later(1024);
  now_ = now_ + Duration::seconds(121);
  b_->advance(now_);
  now_ = now_ + Duration::seconds(61);
  b_->advance(now_);
  EXPECT_EQ(count(Counter::rx_partial_expired), 1u);
}

// [SES-108, SES-148, SES-191] A kept message whose answer waits for its receive stops the sender's
// window: later messages do not expire, and get their full time when the answer is sent.
TEST_F(RoomTest, NothingExpiresBehindAnAnswerThatWaitsForTheApplication) {
  start();
  Octets memory(4000), room(8);
  wire::StandardRequest slow = message(SesOpcode::send, 8);
  slow.common.dc = true;
  EXPECT_EQ(said(standard(slow, 8, pds::Mode::rod)), "later");
  wire::StandardRequest h = write_to(expose(memory), 3000);
  EXPECT_EQ(said(standard(part(h, 0, 1024), 1024, pds::Mode::rod)), "accept");
  for (int second = 0; second < 150; ++second) {
    now_ = now_ + Duration::seconds(1);
    b_->advance(now_);
  }
  EXPECT_EQ(count(Counter::rx_partial_expired), 0u);
  ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  EXPECT_EQ(take(*b_), "recv ok 8 #2");
  now_ = now_ + Duration::seconds(59);
  b_->advance(now_);
  EXPECT_EQ(count(Counter::rx_partial_expired), 0u);
  EXPECT_EQ(said(standard(part(h, 1024, 1024), 1024, pds::Mode::rod)), "accept");
  now_ = now_ + Duration::seconds(121);
  b_->advance(now_);
  now_ = now_ + Duration::seconds(61);
  b_->advance(now_);
  EXPECT_EQ(count(Counter::rx_partial_expired), 1u);
}

}  // namespace
}  // namespace uet::ses::test
