// Snapshots of PDCs for tools: the numbers of a waiting PDC, and which PDCs are left out.
#include "pds/test/bench.h"

#include <array>

namespace uet::pds::test {
namespace {

TEST(SnapshotTest, AnInitiatorWithoutAnswers) {
  Bench b;
  const auto sent = b.open_initiator(3);
  ASSERT_EQ(sent.size(), 3u);
  b.now = b.now + 2_ms;  // the first time-out is 5 ms
  std::array<PdcSnapshot, 4> all;
  ASSERT_EQ(b.pds->snapshot(all, b.now), 1u);
  const PdcSnapshot& s = all[0];
  EXPECT_EQ(s.id, b.own);
  EXPECT_EQ(s.peer_id, Pdcid(0));
  EXPECT_EQ(s.peer.ip[3], b.from.ip[3]);
  EXPECT_EQ(s.peer.port, kUetPort);
  EXPECT_EQ(s.state, PdcState::syn);
  EXPECT_TRUE(s.is_initiator);
  EXPECT_EQ(s.tx_base, b.start);
  EXPECT_EQ(s.tx_next, b.start + 3);
  EXPECT_EQ(s.lost, 0u);
  EXPECT_EQ(s.oldest_resends, 0u);
  // Ages are in steps of 128 ns and up to a step too much.
  EXPECT_GE(s.oldest_age, 2_ms);
  EXPECT_LE(s.oldest_age, 2_ms + Duration::nanoseconds(256));
  EXPECT_EQ(s.silent, 2_ms);
  EXPECT_EQ(s.waiting, 2_ms);
  EXPECT_EQ(s.refused, Duration());
  EXPECT_GT(s.timer, Duration());
  EXPECT_LE(s.timer, 3_ms + 1_ms);
  EXPECT_GT(s.inflight_bytes, 0u);
  EXPECT_GE(s.window_bytes, s.inflight_bytes);

  b.elapse(4_ms);  // over the time-out: sent again
  b.tx();
  ASSERT_EQ(b.pds->snapshot(all, b.now), 1u);
  EXPECT_EQ(all[0].oldest_resends, 1u);
}

TEST(SnapshotTest, ATargetWithAGap) {
  Bench b;
  b.open_target();
  b.rx(b.request(1002, false));
  b.rx(b.request(1004, false));
  std::array<PdcSnapshot, 1> all;
  ASSERT_EQ(b.pds->snapshot(all, b.now), 1u);
  EXPECT_EQ(all[0].peer_id, kPeerId);
  EXPECT_FALSE(all[0].is_initiator);
  EXPECT_EQ(all[0].state, PdcState::established);
  EXPECT_EQ(all[0].rx_cack, kFirst);
  EXPECT_EQ(all[0].rx_max, Psn(1004));
  EXPECT_EQ(all[0].out_of_order, 2u);
  EXPECT_EQ(all[0].oldest_age, Duration()) << "no packet is outstanding";
}

// Where not all fit, those are shown that something is waited for from.
TEST(SnapshotTest, BusyPdcsComeFirst) {
  Bench b;
  b.open_target();
  b.open_initiator(1);
  std::array<PdcSnapshot, 1> one;
  ASSERT_EQ(b.pds->snapshot(one, b.now), 1u);
  EXPECT_TRUE(one[0].is_initiator);
  std::array<PdcSnapshot, 4> all;
  EXPECT_EQ(b.pds->snapshot(all, b.now), 2u);
  EXPECT_EQ(b.pds->snapshot({}, b.now), 0u);
}

}  // namespace
}  // namespace uet::pds::test
