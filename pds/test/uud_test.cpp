// UUD: a header of four octets, no answer, no resend, a cap on the rate. [PDS 17]
#include "pds/test/pair.h"
#include "pds/test/rudi_bench.h"

#include "pds/pdc/path_reports.h"

namespace uet::pds::test {
namespace {

class UudTest : public ::testing::Test {
 protected:
  void post(uint32_t handle, uint32_t bytes = 100) {
    b.client.post(b.flow(Mode::uud), handle, bytes);
  }
  RudiBench b;
};

// [PDS-210, WIRE-043] Type 6 (00110), next header 3 (0011), flags 0: 0x3180; 16 reserved bits.
TEST_F(UudTest, MessageIsOnePacketBehindFourOctets) {
  post(1, 100);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(hex({out[0].octets.data(), 12}), "318000000000000100000000");
  EXPECT_EQ(out[0].octets.size(), 4u + 8 + 100);
  EXPECT_EQ(out[0].to, address(9));
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-013] It is sealed under the domain of its flow.
TEST_F(UudTest, KeepsItsDomain) {
  b.sdi = 7;
  post(1);
  EXPECT_EQ(b.tx().at(0).sdi, 7u);
}

// [PDS-211] Done when it was handed over, not before: until then the batch refers to the memory.
TEST_F(UudTest, CompletesWhenTheBatchHasLeft) {
  post(1);
  TxBatch batch;
  EXPECT_EQ(b.pds->transmit(batch, b.now), 1u);
  EXPECT_TRUE(b.client.responded.empty());
  EXPECT_TRUE(b.pds->has_work());
  EXPECT_FALSE(b.pds->idle());
  batch.clear();
  EXPECT_EQ(b.pds->transmit(batch, b.now), 0u);
  EXPECT_EQ((b.client.responded[{1, 0}]), 1);
  EXPECT_FALSE(b.pds->has_work());
  EXPECT_TRUE(b.pds->idle());
}

// [PDS-211, PDS-212] Nothing is sent again, nothing is waited for, nothing can fail.
TEST_F(UudTest, NothingIsSentAgain) {
  for (uint32_t i = 1; i <= 10; ++i) post(i);
  EXPECT_EQ(b.tx().size(), 10u);
  EXPECT_TRUE(b.pds->next_deadline().is_never());
  for (int i = 0; i < 30; ++i) {
    b.pds->path_reports().on_unreachable(address(9), b.now);
    b.elapse(10_s);
  }
  EXPECT_TRUE(b.tx().empty());
  EXPECT_EQ(b.client.responded.size(), 10u);
  EXPECT_TRUE(b.client.failed.empty());
}

// [PDS-211] No answer goes out, whatever the client returns. [PDS-210] The flags have no meaning.
TEST_F(UudTest, ReceivedDatagramIsNeverAnswered) {
  std::vector<Verdict> verdicts(5);
  verdicts[1] = Verdict::refused(wire::NackCode::no_resource);
  verdicts[2] = StubClient::plain_answer();
  verdicts[3].kind = Verdict::Kind::drop;
  verdicts[4] = Verdict::deferred();
  uint32_t asked = 0;
  b.client.verdict = [&](PacketName, const RxRequest& r) {
    EXPECT_EQ(r.mode, Mode::uud);
    EXPECT_EQ(r.token.pdc, PdcHandle{});
    EXPECT_EQ(r.peer, b.peer());
    return verdicts[asked++];
  };
  for (int i = 0; i < 5; ++i) {
    auto octets = RudiBench::datagram();
    octets[1] |= std::byte{0x7F};
    b.rx_octets(octets);
  }
  EXPECT_EQ(asked, 5u);
  b.elapse(1_s);
  EXPECT_TRUE(b.tx().empty());
  EXPECT_EQ(b.count(Count::uud_rx), 5u);
}

// [PDS-V4] A datagram carries a SES request: 1, 2 or 3.
TEST_F(UudTest, MalformedDatagramsAreDropped) {
  for (const uint32_t next : {0u, 4u, 5u, 6u, 7u, 15u}) {
    auto octets = RudiBench::datagram();
    octets[0] = static_cast<std::byte>(6u << 3 | next >> 1);
    octets[1] = static_cast<std::byte>((next & 1) << 7);
    b.rx_octets(octets);
  }
  for (size_t length = 2; length < 4; ++length) {
    auto octets = RudiBench::datagram();
    octets.resize(length);
    b.rx_octets(octets);
  }
  EXPECT_EQ(b.count(Count::drop_malformed), 8u);
  EXPECT_EQ(b.count(Count::uud_rx), 0u);
}

// A flood of forged senders makes no state but entries of the peer table that can be replaced.
TEST_F(UudTest, FloodOfSourcesHoldsNothing) {
  Rng rng(9);
  for (int i = 0; i < 5000; ++i) {
    b.from = address(static_cast<uint8_t>(rng.below(256)), static_cast<uint16_t>(rng.u32()));
    b.rx_octets(RudiBench::datagram());
  }
  EXPECT_EQ(b.count(Count::uud_rx), 5000u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-212] 1000 packets a second: a burst of 64, then 16 at a time; in ten seconds at most 10,064
// and nearly as many.
TEST(UudRateTest, TheCapHoldsBackExcessDatagrams) {
  Config config;
  config.uud_packets_per_second = 1000;
  RudiBench b(config);
  const FlowId flow = b.flow(Mode::uud);
  for (uint32_t i = 1; i <= 20000; ++i) b.client.post(flow, i, 10);
  EXPECT_EQ(b.tx().size(), 64u);
  EXPECT_FALSE(b.pds->has_work());
  EXPECT_GT(b.count(Count::uud_rate_stalls), 0u);
  const Instant end = b.now + 10_s;
  uint32_t sent = 64;
  while (b.pds->next_deadline() <= end) {
    b.now = b.pds->next_deadline();
    b.pds->advance(b.now);
    EXPECT_TRUE(b.pds->has_work()) << "woken although nothing can leave";
    sent += static_cast<uint32_t>(b.tx().size());
  }
  EXPECT_LE(sent, 10'064u);
  EXPECT_GE(sent, 10'040u);
}

// [PDS-212] The rate 0 means no limit.
TEST(UudRateTest, ZeroIsNoCap) {
  Config config;
  config.uud_packets_per_second = 0;
  RudiBench b(config);
  const FlowId flow = b.flow(Mode::uud);
  for (uint32_t i = 1; i <= 5000; ++i) b.client.post(flow, i, 10);
  EXPECT_EQ(b.tx().size(), 5000u);
}

// [PDS-210 .. PDS-212] Through a pipe: lost datagrams stay lost, doubled ones arrive twice, and the
// reliable modes beside it are not held up.
TEST(UudPairTest, LostDatagramsStayLost) {
  Pair pair;
  for (auto& s : pair.side) s.client.script.names_are_unique = false;
  Rng rng(4);
  uint32_t lost = 0;
  pair.fate = [&](const InPipe& p) -> Fate {
    if (p.type() != wire::PdsType::uud_request) return {Pair::kDelay};
    if (!rng.chance(0.3)) return {Pair::kDelay};
    ++lost;
    return {};
  };
  for (uint32_t i = 1; i <= 200; ++i) {
    pair.side[0].client.post(pair.flow(0, Mode::uud), i, 50);
    pair.side[0].client.post(pair.flow(0), 1000 + i, 5000);
  }
  pair.run(Duration::seconds(2));
  uint32_t arrived = 0;
  for (uint32_t i = 1; i <= 200; ++i) {
    arrived += pair.side[1].client.received.times.contains({i, 0}) ? 1 : 0;
    EXPECT_EQ((pair.side[0].client.responded[{i, 0}]), 1);
  }
  EXPECT_GT(lost, 20u);
  EXPECT_EQ(arrived, 200 - lost);
  EXPECT_EQ(pair.side[1].client.received.bytes, uint64_t{200} * 5000 + arrived * 50);
  pair.expect_all_given_back();
}

}  // namespace
}  // namespace uet::pds::test
