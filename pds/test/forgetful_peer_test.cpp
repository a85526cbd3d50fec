// A peer that lost its state: what its refusals prove about the packets that are under way.
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::NackCode;
using Lines = std::vector<std::string>;

class ForgetfulPeerTest : public testing::Test {};

// [PDS-119, PDS-190] A packet that was sent once gets its own answer; the next message starts a new
// PDC.
TEST_F(ForgetfulPeerTest, ForgetfulPeerEndsThePdc) {
  Bench b;
  b.open_initiator(3);
  b.rx_header(b.ack(b.start));
  b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 1));
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 1024}, 1}}));
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.client.post(FlowId(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(1))), 2, 10);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(out[0].as<wire::Request>().syn);
  EXPECT_NE(out[0].as<wire::Request>().spdcid, b.own);

  b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 2));
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 1024}, 1}, {{1, 2048}, 1}}));
  ASSERT_EQ(b.client.failures.size(), 2u);
  EXPECT_TRUE(b.client.failures[0].not_delivered);
  EXPECT_TRUE(b.client.failures[1].not_delivered);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  EXPECT_EQ(b.lines(), Lines{}) << "the peer has no PDC to close";
}

// [PDS-119, PDS-176] CLOSING names a PSN beyond all that the peer ever received, so no transmission
// of it was executed. INV_DPDCID does not prove this for a packet that was sent twice.
TEST_F(ForgetfulPeerTest, ClosingProvesThatNoTransmissionWasExecuted) {
  for (const NackCode code : {NackCode::closing, NackCode::inv_dpdcid}) {
    SCOPED_TRACE(wire::name(code));
    Bench b;
    b.open_initiator(2);
    b.rx_header(b.ack(b.start));
    b.rx_header(b.nack(NackCode::trimmed, b.start + 1));
    EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
    b.rx_header(b.nack(code, b.start + 1));
    ASSERT_EQ(b.client.failures.size(), 1u);
    EXPECT_EQ(b.client.failures[0].not_delivered, code == NackCode::closing);
  }
}

// [PDS-119, PDS-176] A peer that answers CLOSING remembers which packets it received, so it can
// also answer for the packets before the refused one, however often they were sent. Its answer may
// be lost: the packets are sent again to get it, and nothing new is sent there. Otherwise packets
// whose NACK was lost would be reported with an unknown fate.
TEST_F(ForgetfulPeerTest, ClosingIsAskedForEveryVerdict) {
  Bench b;
  b.open_initiator(3);
  b.elapse(6_ms);
  EXPECT_EQ(b.lines().size(), 3u) << "each is sent again";
  b.rx_header(b.nack(NackCode::closing, b.start + 2));
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 2048}, 1}}));
  b.client.post(FlowId(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(1))), 2, 10);
  const auto next = b.tx();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_NE(next[0].as<wire::Request>().spdcid, b.own) << "new messages go elsewhere";

  b.elapse(11_ms);
  std::vector<std::string> again;
  for (const auto& o : b.tx()) {
    if (o.as<wire::Request>().spdcid == b.own) again.push_back(b.picture(o));
  }
  EXPECT_EQ(again, (Lines{"REQ psn +0 syn retx ar clear -1", "REQ psn +1 syn retx ar clear -2"}));
  b.rx_header(b.nack(NackCode::closing, b.start + 1));
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 1024}, 1}, {{1, 2048}, 1}}));
  for (const Failure& f : b.client.failures) EXPECT_TRUE(f.not_delivered);
  EXPECT_TRUE(b.client.closed.empty());
  b.rx_header(b.nack(NackCode::closing, b.start));
  ASSERT_EQ(b.client.failures.size(), 3u);
  EXPECT_TRUE(b.client.failures[2].not_delivered);
  EXPECT_EQ(b.client.closed, std::vector<bool>{false});
}

// [PDS-119, PDS-148] A peer answers CLOSING and then refuses the rest for other reasons again and
// again: the PDC fails after the peer time-out. Without this limit the refusals would not end,
// because a wait for the application does not count as a failure.
TEST_F(ForgetfulPeerTest, TheWaitAfterClosingEndsAfterTheTimeLimit) {
  Config config;
  config.peer_timeout = Duration::seconds(2);
  Bench b(config);
  b.open_initiator(3);
  b.rx_header(b.ack(b.start - 1, 1));
  b.rx_header(b.nack(NackCode::closing, b.start + 2));
  for (int i = 0; i < 199; ++i) {
    b.elapse(10_ms);
    b.rx_header(b.nack(NackCode::no_resource, b.start + 1));
    b.tx();
  }
  EXPECT_EQ(b.client.failed.size(), 1u);
  b.elapse(20_ms);
  EXPECT_EQ(b.client.failed.size(), 2u);
  EXPECT_FALSE(b.client.failures.back().not_delivered);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-119, PDS-176, PDS-I22] The word may be that it was executed: it counts, and then the PDC
// closes like any other.
TEST_F(ForgetfulPeerTest, ClosingLeavesEarlierPacketsPending) {
  for (const bool in_syn : {true, false}) {
    SCOPED_TRACE(in_syn);
    Bench b;
    b.open_initiator(3, Mode::rod);
    if (!in_syn) b.rx_header(b.ack(b.start));
    b.rx_header(b.nack(NackCode::closing, b.start + 2));
    EXPECT_EQ(b.lines(), Lines{});
    b.rx_header(b.ack(b.start + 1, -1));
    EXPECT_EQ(b.client.responded, (std::map<PacketName, int>{{{1, 0}, 1}, {{1, 1024}, 1}}));
    EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 2048}, 1}}));
    const std::string close_psn = std::to_string((b.start + 3).value());
    EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_CMD psn " + close_psn + " ar payload 0"}));
    b.rx_header(b.nack(NackCode::closing, b.start + 3));
    EXPECT_EQ(b.client.closed, std::vector<bool>{true});
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
}

// [PDS-149, PDS-190] If an answer does not come within one RTO, the fate is unknown. Meanwhile
// nothing is sent; the fate of a packet that was sent twice is unknown at once.
TEST_F(ForgetfulPeerTest, AForgetfulPeerIsGivenOneRtoForEachVerdict) {
  Bench b;
  b.open_initiator(4);
  b.rx_header(b.ack(b.start));
  b.rx_header(b.nack(NackCode::trimmed, b.start + 3));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +3 retx ar clear -3"}));
  b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 1));
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 1024}, 1}, {{1, 3072}, 1}}));
  b.rx_header(b.nack(NackCode::trimmed, b.start + 2));
  b.elapse(4_ms);
  EXPECT_EQ(b.client.failed.size(), 2u);
  b.elapse(2_ms);
  EXPECT_EQ(b.lines(), Lines{});
  ASSERT_EQ(b.client.failures.size(), 3u);
  EXPECT_TRUE(b.client.failures[0].not_delivered);
  EXPECT_FALSE(b.client.failures[1].not_delivered);
  EXPECT_FALSE(b.client.failures[2].not_delivered);
  EXPECT_EQ(b.pds->usage(), Usage{});
  EXPECT_EQ(b.client.closed, std::vector<bool>{false});
}

// [PDS-119, PDS-190] A ROD packet that was not executed keeps all later ones from being executed,
// sent again or not; the fate of the one before it is unknown.
TEST_F(ForgetfulPeerTest, NoRodPacketBehindARefusedOneWasExecuted) {
  Bench b;
  b.open_initiator(5, Mode::rod);
  b.rx_header(b.ack(b.start));
  b.rx_header(b.nack(NackCode::trimmed, b.start + 3));
  b.rx_header(b.nack(NackCode::trimmed, b.start + 1));
  b.lines();
  b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 2));
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{
                                 {{1, 1024}, 1}, {{1, 2048}, 1}, {{1, 3072}, 1}, {{1, 4096}, 1}}));
  ASSERT_EQ(b.client.failures.size(), 4u);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(b.client.failures[i].not_delivered) << i;
  EXPECT_FALSE(b.client.failures[3].not_delivered);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

}  // namespace
}  // namespace uet::pds::test
