// READs of several packets at a target that cannot answer all of them at once, made by hand.
// [ses.md 4.2, 4.7]
#include "ses/test/target_fixture.h"

namespace uet::ses::test {
namespace {

class TargetReadTest : public TargetTest {
 protected:
  wire::StandardRequest read_of(uint64_t key, uint32_t length) {
    wire::StandardRequest h = request(SesOpcode::read, length);
    h.match_bits = key;
    return h;
  }
  // One packet of the request; it asks for `length` octets.
  std::string ask(const wire::StandardRequest& read, uint32_t offset, uint32_t length) {
    return said(standard(part(read, offset, length), 0));
  }
};

// [PDS-112, SES-076] While a PDC ends nothing goes back on it, so that its packets count as never
// arrived, however often they come.
TEST_F(TargetReadTest, APacketOfAnEndingPdcCountsAsNotReceived) {
  const Octets memory = pattern(3000);
  const wire::StandardRequest read = read_of(expose(memory), 3000);
  EXPECT_EQ(ask(read, 0, 1024), "accept");
  b_->pds.ends_returns = true;
  for (int i = 0; i < 5; ++i) EXPECT_EQ(ask(read, 1024, 1024), "drop") << i;
  EXPECT_EQ(count(Counter::rx_length_violation), 0u);
}

// [SES-074, SES-144, SES-146] A short answer goes in the ACK, with the message ID of the read, and
// is kept until the initiator clears it.
TEST_F(TargetReadTest, DataInAnAckNamesItsReadAndIsKept) {
  const Octets memory = pattern(16);
  const pds::Verdict v = standard(read_of(expose(memory), 16), 0);
  ASSERT_EQ(v.kind, pds::Verdict::Kind::respond);
  EXPECT_TRUE(v.guaranteed);
  ASSERT_EQ(v.response.next_hdr, wire::NextHeader::response_data);
  ASSERT_EQ(v.response.length, wire::ResponseData::kSize + 16);
  // Octets 8 and 9: the message ID of the read, 77; the data behind 20 octets. [WIRE-077]
  EXPECT_EQ(v.response.bytes[8], std::byte{0});
  EXPECT_EQ(v.response.bytes[9], std::byte{77});
  EXPECT_TRUE(std::equal(memory.begin(), memory.end(), v.response.bytes.begin() + 20));
}

// [SES-017, SES-146] The first packet of a long read requests one payload of octets; data that
// comes back as a message names the read as well.
TEST_F(TargetReadTest, TheFirstPacketOfAReadAsksForOnePayload) {
  const Octets memory = pattern(3000);
  const wire::StandardRequest read = read_of(expose(memory), 3000);
  EXPECT_EQ(ask(read, 0, 1024), "accept");
  b_->pds.transmit(now_);
  ASSERT_EQ(network_.size(), 1u);
  const Octets& answer = network_[0].octets;
  ASSERT_EQ(answer.size(), 20u + 1024u);
  EXPECT_EQ(answer[8], std::byte{0});
  EXPECT_EQ(answer[9], std::byte{77});
  EXPECT_TRUE(std::equal(answer.begin() + 20, answer.end(), memory.begin()));
}

// [SES-108, SES-118] A packet is refused because no place for an answer is free: the message does
// not expire meanwhile, however long that takes.
TEST_F(TargetReadTest, AReadThatIsKeptWaitingDoesNotExpire) {
  config_.return_messages = 1;
  config_.partial_message_time = Duration::seconds(60);
  start();
  const Octets memory = pattern(3000);
  const uint64_t key = expose(memory);
  const Octets landing(8);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, landing, key), now_).ok());
  deliver_all();  // A knows a way to B, by which answers come
  const wire::StandardRequest read = read_of(key, 3000);
  EXPECT_EQ(ask(read, 0, 1024), "accept");
  for (int i = 0; i < 5; ++i) {
    now_ = now_ + Duration::seconds(40);
    b_->advance(now_);
    EXPECT_EQ(ask(read, 1024, 1024), "nack NO_SES_MSG_AVAIL") << i;
  }
  deliver_all();  // the first answer leaves its place
  EXPECT_EQ(ask(read, 1024, 1024), "accept");
  EXPECT_EQ(count(Counter::rx_partial_expired), 0u);
  // It does when no packet of it comes any more.
  now_ = now_ + Duration::seconds(61);
  b_->advance(now_);
  EXPECT_EQ(count(Counter::rx_partial_expired), 1u);
}

// [T-39] A peer has at most its quota of data under way: further requests are refused for now,
// accepted when some data has arrived, and never lost. Requests of other peers are served
// meanwhile.
TEST_F(TargetReadTest, APeerHasNoMoreUnderWayThanItsQuota) {
  config_.read_quota_bytes = 4096;
  start();
  const Octets memory = pattern(9000);
  const uint64_t key = expose(memory);
  const Octets landing(8);
  ASSERT_TRUE(a_->ses->rma(a_->ep, rma_request(true, landing, key), now_).ok());
  deliver_all();  // A knows a way to B, by which answers come
  const wire::StandardRequest read = read_of(key, 8000);
  for (uint32_t i = 0; i < 4; ++i) EXPECT_EQ(ask(read, i * 1024, 1024), "accept") << i;
  EXPECT_EQ(ask(read, 4096, 1024), "nack NO_SES_MSG_AVAIL");
  EXPECT_EQ(count(Counter::read_quota), 1u);
  const PeerId a = std::exchange(from_, another_peer());
  wire::StandardRequest other = read_of(key, 1024);
  other.message_id = MessageId(78);
  EXPECT_EQ(ask(other, 0, 1024), "accept");
  from_ = a;
  deliver_all();  // the answers arrive
  EXPECT_EQ(ask(read, 4096, 1024), "accept");
  EXPECT_EQ(count(Counter::read_quota), 1u);
}

// [T-39] And no more answers than it leaves places for, however short they are.
TEST_F(TargetReadTest, APeerLeavesPlacesForAnswersToOtherPeers) {
  config_.return_messages = 8;
  start();
  const Octets memory = pattern(3000);
  const uint64_t key = expose(memory);
  const auto read = [&](uint16_t id) {
    wire::StandardRequest h = read_of(key, 100);
    h.message_id = MessageId(id);
    return ask(h, 0, 100);
  };
  for (uint16_t id = 1; id <= 4; ++id) EXPECT_EQ(read(id), "accept") << id;
  EXPECT_EQ(read(5), "nack NO_SES_MSG_AVAIL");
  EXPECT_EQ(count(Counter::read_quota), 1u);
  from_ = another_peer();
  for (uint16_t id = 6; id <= 7; ++id) EXPECT_EQ(read(id), "accept") << id;
  EXPECT_EQ(read(8), "nack NO_SES_MSG_AVAIL");
}

}  // namespace
}  // namespace uet::ses::test
