// Received octets of a message: forged packets that repeat some octets and leave others out, and
// packets in any order.
#include "ses/test/target_fixture.h"

#include "base/rng.h"

#include <numeric>

namespace uet::ses::test {
namespace {

class ArrivalTest : public TargetTest {
 protected:
  static constexpr uint32_t kMtu = 1024;
  static constexpr std::byte kSecret{0x5E};
  static constexpr std::byte kBlank{0xEE};

  // Packet `index` of the message that begins as `h`; all its octets are `fill`.
  std::string packet(const wire::StandardRequest& h, uint32_t index, std::byte fill) {
    const uint32_t offset = index * kMtu;
    const uint32_t length = std::min(kMtu, h.request_length - offset);
    Octets octets(wire::StandardRequest::kSize);
    wire::Writer w(octets);
    part(h, offset, length).emit(w);
    octets.insert(octets.end(), length, fill);
    return said(give_octets(octets, wire::NextHeader::standard));
  }
  wire::StandardRequest message(SesOpcode opcode, uint32_t length) {
    wire::StandardRequest h = request(opcode, length);
    h.message_id = MessageId(next_id_++);
    return h;
  }
  void post(Octets& room) {
    ASSERT_TRUE(b_->ses->receive(b_->ep, receive_request(room), now_).ok());
  }
  // Another peer's message goes through the room for kept messages, and leaves its octets there.
  void leave_secrets(uint32_t bytes) {
    const PeerId before = from_;
    from_ = another_peer();
    const wire::StandardRequest h = message(SesOpcode::send, bytes);
    for (uint32_t i = 0; i * kMtu < bytes; ++i) packet(h, i, kSecret);
    Octets room(bytes);
    post(room);
    ASSERT_EQ(take(*b_), "recv ok " + std::to_string(bytes) + " #2");
    from_ = before;
  }

  uint16_t next_id_ = 1;
};

// [SES-023, SES-190] One packet arrives twice and another one never: the octets add up, and the
// message still ends in an error.
TEST_F(ArrivalTest, ARepeatedPacketDoesNotReplaceAMissingOne) {
  for (const uint32_t twice : {0u, 1u, 3u}) {
    SCOPED_TRACE(twice);
    Octets room(4 * kMtu, kBlank);
    post(room);
    const wire::StandardRequest h = message(SesOpcode::send, 4 * kMtu);
    for (const uint32_t i : {0u, 1u, 3u}) EXPECT_EQ(packet(h, i, std::byte{1}), "accept");
    EXPECT_EQ(packet(h, twice, std::byte{2}), "OP_VIOLATION");
    EXPECT_EQ(take(*b_), "recv refused OP_VIOLATION 0 #2");
    EXPECT_EQ(room[2 * kMtu], kBlank);
  }
  EXPECT_EQ(count(Counter::rx_repeated_part), 3u);
}

// [SES-107, SES-113] The next packet is expected, but one without octets comes first: the message
// has failed by then.
TEST_F(ArrivalTest, AnExpectedPacketOfAFailedMessageGetsItsError) {
  Octets memory(5000);
  const wire::StandardRequest h = write_to(expose(memory), 4096);
  for (const uint32_t offset : {0, 1024}) {
    EXPECT_EQ(said(standard(part(h, offset, 1024), 1024)), "accept");
  }
  EXPECT_EQ(said(standard(part(h, 2048, 0), 0)), "OP_VIOLATION");
  EXPECT_EQ(said(standard(part(h, 2048, 1024), 1024)), "OP_VIOLATION");
}

// [SES-190] The same for a message that no receive waits for: its hole would show what another peer
// had sent.
TEST_F(ArrivalTest, AHoleInAKeptMessageIsNotHandedOut) {
  leave_secrets(16 * kMtu);
  const wire::StandardRequest h = message(SesOpcode::send, 8 * kMtu);
  for (const uint32_t i : {0u, 2u, 3u, 4u, 5u, 7u}) EXPECT_EQ(packet(h, i, std::byte{1}), "accept");
  EXPECT_EQ(packet(h, 4, std::byte{1}), "OP_VIOLATION");
  Octets room(8 * kMtu, kBlank);
  post(room);
  EXPECT_EQ(take(*b_), "") << "the message is gone, the receive waits for another one";
  EXPECT_EQ(room, Octets(8 * kMtu, kBlank));
}

// [SES-190] A receive takes a kept message in the middle: it gets the received octets, and nothing
// of the pages between.
TEST_F(ArrivalTest, AReceiveGetsOnlyTheReceivedOctetsOfAKeptMessage) {
  leave_secrets(16 * kMtu);
  const wire::StandardRequest h = message(SesOpcode::send, 8 * kMtu - 100);
  Octets expected(8 * kMtu - 100, kBlank);
  for (const uint32_t i : {7u, 2u, 0u, 5u}) {
    EXPECT_EQ(packet(h, i, std::byte(i + 1)), "accept");
    const size_t end = std::min<size_t>((i + 1) * kMtu, expected.size());
    std::fill(expected.begin() + i * kMtu, expected.begin() + ptrdiff_t(end), std::byte(i + 1));
  }
  Octets room(8 * kMtu - 100, kBlank);
  post(room);
  EXPECT_EQ(room, expected);
  for (const uint32_t i : {1u, 3u, 4u}) EXPECT_EQ(packet(h, i, std::byte(i + 1)), "accept");
  EXPECT_EQ(take(*b_), "");
  EXPECT_EQ(packet(h, 6, std::byte{7}), "accept");
  EXPECT_EQ(take(*b_), "recv ok 8092 #2");
  EXPECT_EQ(
      std::count(room.begin(), room.end(), kBlank) + std::count(room.begin(), room.end(), kSecret),
      0);
}

// [SES-073, SES-190] A write is reported when all its packets have arrived, not when the count of
// octets is reached.
TEST_F(ArrivalTest, AWriteWithAHoleIsNotReported) {
  Octets memory(4 * kMtu);
  wire::StandardRequest h = message(SesOpcode::write, 4 * kMtu);
  h.match_bits = expose(memory);
  h.common.hd = true;
  h.header_data = 9;
  for (const uint32_t i : {0u, 1u, 3u}) EXPECT_EQ(packet(h, i, std::byte{1}), "accept");
  EXPECT_EQ(packet(h, 1, std::byte{1}), "OP_VIOLATION");
  EXPECT_EQ(take(*b_), "");
}

// [SES-016, SES-190] The last packet comes first and claims octets of other packets.
TEST_F(ArrivalTest, ALastPacketThatIsTooLongIsRefused) {
  Octets room(3 * kMtu, kBlank);
  post(room);
  config_.payload_mtu = 2048;
  start();
  post(room);
  wire::StandardRequest h = message(SesOpcode::send, 3 * kMtu);
  EXPECT_EQ(said(standard(part(h, kMtu, 2 * kMtu), 2 * kMtu)), "accept");
  EXPECT_EQ(said(standard(part(h, kMtu, kMtu), kMtu)), "OP_VIOLATION");
  EXPECT_EQ(take(*b_), "recv refused OP_VIOLATION 0 #2");
}

// [SES-019, SES-023] In whatever order they come: the receive completes with the last one that was
// missing, posted before, in the middle or after.
TEST_F(ArrivalTest, AnyOrderCompletesWithTheLastMissingPacket) {
  config_.unexpected_bytes = 4 << 20;
  start();
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    const auto packets = static_cast<uint32_t>(2 + rng.below(seed % 10 == 0 ? 1500 : 40));
    const auto bytes = static_cast<uint32_t>((packets - 1) * kMtu + 1 + rng.below(kMtu));
    std::vector<uint32_t> order(packets);
    std::iota(order.begin(), order.end(), 0u);
    // Nearly in order, or not at all.
    const uint64_t reach = rng.chance(0.5) ? packets : 4;
    for (size_t i = 0; i + 1 < packets; ++i) {
      std::swap(order[i], order[i + rng.below(std::min<uint64_t>(reach, packets - i))]);
    }
    const wire::StandardRequest h = message(SesOpcode::send, bytes);
    Octets room(bytes, kBlank);
    const uint64_t posted_at = rng.below(packets + 1);
    for (uint32_t n = 0; n < packets; ++n) {
      if (n == posted_at) post(room);
      EXPECT_EQ(take(*b_), "") << n << " of " << packets;
      const std::string answer = packet(h, order[n], std::byte(order[n] % 200));
      ASSERT_TRUE(answer == "accept" || answer == "OK modified " + std::to_string(bytes)) << answer;
    }
    if (posted_at == packets) post(room);
    EXPECT_EQ(take(*b_), "recv ok " + std::to_string(bytes) + " #2");
    for (uint32_t i = 0; i < packets; ++i) ASSERT_EQ(room[i * kMtu], std::byte(i % 200)) << i;
  }
}

// [PDS-035, SES-190] A packet further ahead than any PDC allows must come again later: it leaves no
// state.
TEST_F(ArrivalTest, APacketFarAheadComesLater) {
  Octets room(4096 * kMtu);
  post(room);
  const wire::StandardRequest h = message(SesOpcode::send, 4096 * kMtu);
  EXPECT_EQ(packet(h, 2048, std::byte{1}), "nack NO_SES_MSG_AVAIL");
  EXPECT_EQ(packet(h, 2047, std::byte{1}), "accept");
  EXPECT_EQ(packet(h, 2048, std::byte{1}), "nack NO_SES_MSG_AVAIL");
  EXPECT_EQ(packet(h, 0, std::byte{1}), "accept");
  EXPECT_EQ(packet(h, 2048, std::byte{1}), "accept");
}

}  // namespace
}  // namespace uet::ses::test
