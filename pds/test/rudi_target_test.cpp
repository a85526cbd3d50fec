// RUDI at the target, and both ends through a lossy pipe. [PDS 16]
#include "pds/test/pair.h"
#include "pds/test/rudi_bench.h"

namespace uet::pds::test {
namespace {

using wire::NackCode;

class RudiTargetTest : public ::testing::Test {
 protected:
  RudiBench b;
};

// [PDS-202, PDS-200, WIRE-014] Type 5 (00101), next header 4 (0100), no flags: 0x2a00; the number;
// the SES response. The entropy value of the request.
TEST_F(RudiTargetTest, RequestIsAnsweredOnce) {
  b.rx_octets(RudiBench::request(0xDEADBEEF));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(hex(out[0].octets), "2a000000deadbeefa5a5a5a5a5a5a5a5a5a5a5a5");
  EXPECT_EQ(out[0].to, address(9));
  EXPECT_EQ(out[0].ev, Entropy(33));
  EXPECT_EQ(out[0].dscp, 46) << "no data: control traffic";
  EXPECT_EQ(out[0].ecn, Ecn::not_ect);
  b.elapse(60_s);
  EXPECT_TRUE(b.tx().empty());
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-V8] The answer, or the refusal, is sealed under the domain of the request.
TEST_F(RudiTargetTest, AnswersStayInTheDomainOfTheRequest) {
  b.sdi = 7;
  b.rx_octets(RudiBench::request(5));
  b.client.verdict = [](PacketName, const RxRequest&) {
    return Verdict::refused(NackCode::no_resource);
  };
  b.rx_octets(RudiBench::request(6));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 2u);
  for (const auto& o : out) EXPECT_EQ(o.sdi, 7u);
}

// [PDS-202] No state: the same request again is executed again, under RETX or not.
TEST_F(RudiTargetTest, DuplicateIsExecutedAgain) {
  b.rx_octets(RudiBench::request(5));
  b.rx_octets(RudiBench::request(5));
  b.rx_octets(RudiBench::request(5, 1, true));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ((b.client.received.times[{1, 0}]), 3);
  EXPECT_FALSE(out[1].as<wire::RudiResponse>().retx);
  EXPECT_TRUE(out[2].as<wire::RudiResponse>().retx);
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
}

// [PDS-200, WIRE-015] The answer reports that the request was marked.
TEST_F(RudiTargetTest, CongestionMarkIsEchoed) {
  b.marks.ecn = Ecn::ce;
  b.rx_octets(RudiBench::request(5));
  b.marks.ecn = Ecn::ect0;
  b.rx_octets(RudiBench::request(6));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_TRUE(out[0].as<wire::RudiResponse>().m);
  EXPECT_FALSE(out[1].as<wire::RudiResponse>().m);
}

// [PDS-202] Data travels inside the response, as much as a packet holds, in the class of data.
TEST_F(RudiTargetTest, DataTravelsInTheResponse) {
  b.client.mtu = 4096;
  b.client.verdict = [&](PacketName, const RxRequest&) {
    b.client.messages[77] = {4096, 0, false, wire::NextHeader::response_data};
    Verdict v;
    v.kind = Verdict::Kind::respond;
    v.answer = MessageHandle(77);
    return v;
  };
  b.rx_octets(RudiBench::request(5));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  // Type 5, next header 5 (0101): 0x2a80.
  EXPECT_EQ(hex({out[0].octets.data(), 16}), "2a800000000000050000004d00000000");
  EXPECT_EQ(out[0].octets.size(), 16u + 4096);
  EXPECT_EQ(std::memcmp(out[0].octets.data() + 16, StubClient::payload(), 4096), 0);
  EXPECT_EQ(out[0].dscp, 0);
  EXPECT_EQ((b.client.responded[{77, 0}]), 1) << "nothing is kept of it";
}

// [PDS-203, PDS-110, PDS-011] NT=1, the number, both PDCIDs 0. Type 10, flags M, RETX and NT.
TEST_F(RudiTargetTest, RefusalIsANackWithTheNumber) {
  b.client.verdict = [](PacketName, const RxRequest&) {
    return Verdict::refused(NackCode::no_ses_msg_avail);
  };
  b.marks.ecn = Ecn::ce;
  b.rx_octets(RudiBench::request(0xDEADBEEF, 1, true));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(hex(out[0].octets), "50380900deadbeef0000000000000000");
  EXPECT_EQ(out[0].ev, Entropy(33));
  EXPECT_EQ(b.count(Count::nack_tx_no_ses_msg_avail), 1u);
}

// [PDS-203, T-41] No room for answers: refused before anything is executed. [PDS-072] At most a
// tenth of what one host may cause in a second at once.
TEST(RudiTargetBoundsTest, AnswersAreBounded) {
  Config config;
  config.rudi_answers = 4;
  RudiBench b(config);
  for (uint32_t i = 0; i < 300; ++i) b.rx_octets(RudiBench::request(i));
  EXPECT_EQ((b.client.received.times[{1, 0}]), 4);
  EXPECT_EQ(b.count(Count::drop_rudi_answers_full), 296u);
  EXPECT_EQ(b.count(Count::nack_tx_no_resource), 50u);
  EXPECT_EQ(b.count(Count::drop_nack_limited), 246u);
  EXPECT_EQ(b.pds->usage().rudi_answers, 4u);
  EXPECT_EQ(b.tx().size(), 54u);
}

TEST_F(RudiTargetTest, AbortForgetsAnswers) {
  b.client.verdict = [&](PacketName, const RxRequest&) {
    b.client.messages[77] = {100, 0, false, wire::NextHeader::response_data};
    Verdict v;
    v.kind = Verdict::Kind::respond;
    v.answer = MessageHandle(77);
    return v;
  };
  b.rx_octets(RudiBench::request(5));
  b.pds->close_all(true, b.now);
  EXPECT_EQ(b.client.aborted.count(77), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-207] A switch trimmed it: the number is left, so the sender gets a NACK. [PDS-135] A trimmed
// response or datagram gets no NACK.
TEST_F(RudiTargetTest, TrimmedRequestIsNacked) {
  b.marks.dscp = 16;  // trimmed
  b.rx_octets(RudiBench::request(0x01020304));
  b.marks.dscp = 18;  // trimmed at the last hop
  b.rx_octets(RudiBench::request(0x01020305));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(hex(out[0].octets), "50080100010203040000000000000000");
  EXPECT_EQ(hex(out[1].octets), "50080200010203050000000000000000");
  EXPECT_TRUE(b.client.received.times.empty());
  b.rx_octets(RudiBench::datagram());
  auto response = RudiBench::request(1);
  response[0] = std::byte{0x2a};
  b.rx_octets(response);
  EXPECT_TRUE(b.tx().empty());
  EXPECT_EQ(b.count(Count::drop_trimmed), 2u);
}

// [PDS-V5, PDS-060, WIRE-121] RUDI is recognised before the lookup of a PDC. The mark says which
// port the sender listens on; without it the answer goes to 4793 whatever the source port.
TEST_F(RudiTargetTest, MarkedRequestIsAnsweredToItsPort) {
  b.from = address(9, 16390);
  b.rx_octets(RudiBench::request(1));
  auto marked = RudiBench::request(2);
  marked[2] |= std::byte{0x20};
  b.rx_octets(marked);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].to, address(9));
  EXPECT_EQ(out[1].to, address(9, 16384));
  EXPECT_EQ(b.count(Count::drop_no_pdc), 0u);
}

// [PDS-V4] A request carries a SES request: 1, 2 or 3. Short ones are dropped at every octet.
TEST_F(RudiTargetTest, MalformedRequestsAreDropped) {
  for (const uint32_t next : {0u, 4u, 5u, 6u, 7u, 15u}) {
    auto octets = RudiBench::request(1);
    octets[0] = static_cast<std::byte>(4u << 3 | next >> 1);
    octets[1] = static_cast<std::byte>((next & 1) << 7);
    b.rx_octets(octets);
  }
  for (size_t length = 2; length < 8; ++length) {
    auto octets = RudiBench::request(1);
    octets.resize(length);
    b.rx_octets(octets);
  }
  EXPECT_EQ(b.count(Count::drop_malformed), 12u);
  EXPECT_TRUE(b.client.received.times.empty());
  EXPECT_TRUE(b.tx().empty());
}

// [PDS-202, PDS-204] Through a pipe that loses, doubles and delays: every packet is answered
// exactly once at the initiator, and executed at least once.
TEST(RudiPairTest, EveryPacketIsAnsweredThroughLoss) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    Pair pair({}, {}, seed);
    for (auto& s : pair.side) s.client.script.names_are_unique = false;
    pair.fate = [&](const InPipe&) -> Fate {
      const auto delay = [&] { return Duration::microseconds(int64_t(5 + rng.below(200))); };
      if (rng.chance(0.2)) return {};
      if (rng.chance(0.1)) return {delay(), delay()};
      return {delay()};
    };
    for (int s = 0; s < 2; ++s) {
      for (uint32_t i = 1; i <= 20; ++i) {
        pair.side[s].client.post(pair.flow(s, Mode::rudi, i % 3 + 1), i, i * 700);
      }
    }
    pair.run(Duration::seconds(20));
    for (int s = 0; s < 2; ++s) {
      const StubClient& client = pair.side[s].client;
      uint32_t packets = 0;
      for (uint32_t i = 1; i <= 20; ++i) packets += (i * 700 + client.mtu - 1) / client.mtu;
      EXPECT_EQ(client.responded.size(), packets);
      EXPECT_TRUE(client.failed.empty());
      EXPECT_EQ(pair.side[1 - s].client.received.times.size(), packets);
      EXPECT_GT(pair.count(s, Count::rudi_retx_rto), 0u);
    }
    pair.expect_all_given_back();
  }
}

}  // namespace
}  // namespace uet::pds::test
