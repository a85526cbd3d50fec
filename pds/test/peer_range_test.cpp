// The believed range of a peer after it refused a PSN, and the limits of numbers and clocks that
// wrap. [PDS-035, PDS-090, PDS-245, PDS-246]
#include "pds/test/bench.h"

#include "pds/tx/peer_range.h"

namespace uet::pds::test {
namespace {

using wire::NackCode;
using Lines = std::vector<std::string>;

class PeerRangeTest : public ::testing::Test {
 protected:
  static cms::Config wide() {
    cms::Config cms;
    cms.algorithm = cms::Algorithm::fixed;
    cms.initial_window_packets = 4000;
    cms.window_bytes_max = 4000 * 4300;
    return cms;
  }
  // Acknowledges by a plain ACK, up to `cack` after the start; returns the number of requests that
  // follow, including those that were set aside before.
  size_t acknowledge(Bench& b, int cack) const {
    b.rx_header(b.ack(b.start + cack));
    b.elapse(config_.nack_retx + 2_us);
    size_t requests = 0;
    for (const std::string& line : b.lines()) requests += line.starts_with("REQ") ? 1 : 0;
    return requests;
  }
  Config config_;
};

// [PDS-245] A refusal costs a round trip, and does not limit the PDC from then on: plain ACKs carry
// no MPR. 256 packets fit the window; with a range of 128 there would never be more than 128.
TEST_F(PeerRangeTest, GrowsAgainAsPlainAcksShowProgress) {
  config_.rto_init = config_.rto_max = config_.tail_loss = 1_s;  // out of the way
  config_.tx_window_packets = 256;
  Bench b(config_, wide());
  ASSERT_EQ(b.open_initiator(4000).size(), 256u);
  EXPECT_EQ(acknowledge(b, 9), 10u);  // +265 is the newest now
  b.rx_header(b.nack(NackCode::psn_oor_window, b.start + 265));
  EXPECT_EQ(acknowledge(b, 49), 0u) << "+265 lies beyond 49 + 128";
  EXPECT_EQ(acknowledge(b, 136), 0u);
  // 128 packets have passed since: the range is 256, and all 256 are outstanding again.
  EXPECT_EQ(acknowledge(b, 137), 1u + 137 + 256 - 265);
  EXPECT_EQ(acknowledge(b, 393), 256u);
  EXPECT_EQ(acknowledge(b, 393 + 256), 256u);
}

// [PDS-245] A peer that tracks no more than it said is asked for more ever more rarely.
TEST_F(PeerRangeTest, EachRefusalDoublesTheNumberThatMustPass) {
  PeerRange range;
  range.start(Psn(1000), 8);
  Psn cack(999);
  uint32_t asked = 0;
  range.on_refused();
  for (int i = 0; i < 128 * 64; ++i) {
    cack = cack + 1;
    range.on_cack(cack);
    if (range.packets() == 128) continue;
    ++asked;
    EXPECT_EQ(range.packets(), 256u) << "one unit at a time";
    range.on_refused();
    range.on_refused();  // of the same burst
    EXPECT_EQ(range.packets(), 128u);
  }
  EXPECT_EQ(asked, 6u) << "after 1, 2, 4, 8, 16 and 32 ranges";
}

// [PDS-245, PDS-035] The range grows up to the one that the peer reported, and a newly reported
// range counts at once.
TEST_F(PeerRangeTest, GrowsNoFurtherThanReported) {
  PeerRange range;
  range.start(Psn(0), 3);
  range.on_refused();
  for (uint32_t i = 0; i < 10'000; ++i) range.on_cack(Psn(i));
  EXPECT_EQ(range.packets(), 3u * 128);
  range.on_mpr(range.cack(), 2);
  EXPECT_EQ(range.packets(), 2u * 128);
  range.on_mpr(range.cack() - 1, 200);
  EXPECT_EQ(range.packets(), 2u * 128) << "overtaken";
  range.on_mpr(range.cack(), 200);
  EXPECT_EQ(range.packets(), 2u * 128) << "as old or as new as the one before";
  range.on_cack(range.cack() + 1);
  // No limit stated: a refusal limits it, and enough progress ends the limit.
  range.on_mpr(range.cack(), 0);
  EXPECT_TRUE(range.admits(range.cack() + 100'000));
  range.on_refused();
  EXPECT_FALSE(range.admits(range.cack() + 129));
  for (int i = 0; i < 10'000'000 && range.packets() != 0; ++i) range.on_cack(range.cack() + 1);
  EXPECT_TRUE(range.admits(range.cack() + 100'000));
}

// [PDS-246] With Limit_PSN_Range 0 a PDC uses its PSNs in a circle: ACKs count after 2^31 packets
// and after 2^32. Steps stand for packets here, because 2^32 packets take too long.
TEST_F(PeerRangeTest, AcksCountHoweverManyPsnsWereUsed) {
  for (const uint32_t first : {0u, 1000u, 0x7FFF'FFFFu, 0xFFFF'FFF0u}) {
    PeerRange range;
    range.start(Psn(first), 8);
    EXPECT_FALSE(range.is_below(Psn(first) - 1));
    EXPECT_TRUE(range.is_below(Psn(first) - 2)) << "never sent";
    Psn cack = Psn(first) - 1;
    for (uint64_t used = 0; used < uint64_t{1} << 34; used += 1 << 20) {
      cack = cack + (1 << 20);
      ASSERT_FALSE(range.is_below(cack)) << used;
      ASSERT_TRUE(range.on_cack(cack)) << used;
      ASSERT_FALSE(range.is_below(cack - 1000)) << "an ACK that was overtaken, after " << used;
    }
    EXPECT_TRUE(range.is_below(cack - (int64_t{1} << 30) - 1)) << "nothing is that late";
  }
}

// A process may be stopped for nearly as long as the largest PEER_TIMEOUT: afterwards the age of a
// packet is right, the packet goes again at once, and a late answer is a very long round trip.
TEST_F(PeerRangeTest, AgesAreRightAfterAStandstill) {
  config_.peer_timeout = 3600_s;
  for (const Duration stop : {1_s, 270_s, 280_s, 400_s, 549_s, 560_s, 900_s, 2000_s, 3590_s}) {
    SCOPED_TRACE(stop.ns());
    Bench b(config_);
    b.open_initiator(1);
    b.rx_header(b.ack(b.start));
    b.client.post(b.flow, 2, b.client.mtu);
    ASSERT_EQ(b.tx().size(), 1u);
    b.now = b.now + stop;  // nothing runs
    b.pds->advance(b.now);
    EXPECT_EQ(b.count(Count::retx_rto), 1u);
    EXPECT_EQ(b.lines().size(), 1u) << "sent again";

    Bench late(config_);
    late.open_initiator(1);
    late.rx_header(late.ack(late.start));
    late.client.post(late.flow, 2, late.client.mtu);
    ASSERT_EQ(late.tx().size(), 1u);
    late.now = late.now + stop;
    late.rx_header(late.ack(late.start + 1));  // the answer is read before the timers are
    late.client.post(late.flow, 3, late.client.mtu);
    ASSERT_EQ(late.tx().size(), 1u);
    late.elapse(config_.rto_max - 1_ms);
    EXPECT_EQ(late.count(Count::retx_rto), 0u) << "the round trip was long, so is the time-out";
    late.elapse(2_ms);
    EXPECT_EQ(late.count(Count::retx_rto), 1u);
  }
}

// [PDS-245, PDS-035, PDS-104] A peer that tracks 128 PSNs has answered these with responses that it
// keeps, and refused the rest: its cumulative ACK waits for our clear. Nothing is in flight that
// would bring another ACK, so the source sends its clear in an ACK Request until the cumulative ACK
// moves.
TEST_F(PeerRangeTest, PacketsSetAsideAskForTheCumulativeAck) {
  config_.probe = false;
  Bench b(config_, wide());
  ASSERT_EQ(b.open_initiator(200).size(), 200u);
  for (int i = 0; i < 128; ++i) b.rx_header(b.ack(b.start - 1, i + 1));
  for (int i = 128; i < 200; ++i) b.rx_header(b.nack(NackCode::psn_oor_window, b.start + i));
  b.elapse(config_.nack_retx + 2_us);
  const std::string newest = std::to_string((b.start + 127).value());
  EXPECT_EQ(b.lines(), (Lines{"CP CLEAR_CMD psn 0 payload " + newest,
                              "CP ACK_REQ psn " + newest + " ar payload 0"}));
  b.elapse(config_.rto_max + 1_us);
  EXPECT_EQ(b.lines(), (Lines{"CP CLEAR_CMD psn 0 payload " + newest,
                              "CP ACK_REQ psn " + newest + " ar payload 0"}))
      << "both may have been lost";
  EXPECT_EQ(acknowledge(b, 127), 72u);
  b.rx_header(b.ack(b.start + 199));
  EXPECT_EQ(b.client.responded.size(), 200u);
  b.elapse(config_.rto_max);
  EXPECT_EQ(b.count(Count::ack_requests_tx), 2u) << "nothing is left to ask for";
}

// [PDS-245, PDS-115] A peer that has no such PDC any more refuses the ACK Request; the PDC fails at
// once.
TEST_F(PeerRangeTest, TheAskedPeerMayBeGone) {
  config_.probe = false;
  Bench b(config_, wide());
  b.open_initiator(130);
  for (int i = 0; i < 128; ++i) b.rx_header(b.ack(b.start - 1, i + 1));
  for (int i = 128; i < 130; ++i) b.rx_header(b.nack(NackCode::psn_oor_window, b.start + i));
  b.elapse(config_.nack_retx + 2_us);
  EXPECT_EQ(b.lines().size(), 2u);
  b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 127));
  EXPECT_EQ(b.client.failures.size(), 2u);
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
}

}  // namespace
}  // namespace uet::pds::test
