// A peer that lost its state: what its refusals prove about the packets that are under way.
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::NackCode;
using Lines = std::vector<std::string>;

class ForgetfulPeerTest : public testing::Test {};

// [PDS-119, PDS-190] What was sent once has its own verdict coming; the next message starts a PDC
// of its own.
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
  EXPECT_EQ(b.lines(), Lines{}) << "there is nobody to send a Close to";
}

// [PDS-119, PDS-176] CLOSING names a PSN beyond all that the peer ever received, so no transmission
// of it was executed. INV_DPDCID does not say so of one that was sent twice.
TEST_F(ForgetfulPeerTest, ClosingIsAVerdictOnEveryTransmission) {
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

// [PDS-119, PDS-176] Who says CLOSING remembers what it received, so it has a word on the packets
// before the one it refused, too, however often they were sent. That word may be lost: it is asked
// for by sending them again, and nothing new is sent there. Without that, what a lost NACK would
// have shown as never executed was reported as of unknown fate.
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

// [PDS-119, PDS-148] A peer that says CLOSING and then refuses the rest for other reasons, again
// and again: within the peer time-out it has had the time to answer. Nothing is let pass, and yet
// the refusals alone would be borne for ever, because what waits for the application is no failure.
TEST_F(ForgetfulPeerTest, ClosingIsNotWaitedForForEver) {
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
TEST_F(ForgetfulPeerTest, ClosingLeavesWhatWasExecutedBefore) {
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

// [PDS-149, PDS-190] A verdict that stays away for one RTO: nobody knows. Nothing is sent
// meanwhile, and of what was sent twice nobody knows at once.
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

// [PDS-119, PDS-190] A packet of ROD that was not executed kept all behind it from being executed,
// sent again or not; of the one before it nobody knows.
TEST_F(ForgetfulPeerTest, OfRodNothingBehindARefusedPacketWasExecuted) {
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
