// Snapshots of contexts for tools. All numbers by hand: a packet of the bench has 12 + 8 + 1024
// octets, 1092 nominal ones.
#include "pds/schedule/ack_marks.h"
#include "pds/test/credit_bench.h"

#include <array>
#include <set>

namespace uet::pds::test {
namespace {

constexpr uint32_t kPacket = 12 + 8 + 1024 + 8 + 40;

Config short_packets() {
  Config c;
  c.payload_mtu = 1024;
  return c;
}

cms::Config congestion(cms::Algorithm algorithm) {
  cms::Config c;
  c.algorithm = algorithm;
  c.mtu_bytes = kPacket;
  c.base_rtt_probe = false;
  c.window_bytes_max = 100'000;
  return c;
}

ContextSnapshot only_context(const Bench& b) {
  std::array<ContextSnapshot, 2> all;
  const ContextPage page = b.pds->snapshot(all, 0);
  EXPECT_EQ(page.listed, 1u);
  EXPECT_FALSE(page.next);
  return all[0];
}

wire::Ack ack_with_mark(const Bench& b, int cack, bool is_marked) {
  wire::Ack h = b.ack(b.start + cack);
  h.m = is_marked;
  return h;
}

// The last 32 ACKs count, or all if fewer came.
TEST(ContextSnapshotTest, TheShareOfMarksIsOfTheLastAcks) {
  AckMarks marks;
  EXPECT_EQ(marks.recent_permille(), 0u) << "of none";
  marks.add(true);
  EXPECT_EQ(marks.recent_permille(), 1000u);
  for (int i = 0; i < 3; ++i) marks.add(false);
  EXPECT_EQ(marks.recent_permille(), 250u);
  for (int i = 0; i < 28; ++i) marks.add(true);
  EXPECT_EQ(marks.recent_permille(), 906u) << "29 of 32";
  for (int i = 0; i < 32; ++i) marks.add(false);
  EXPECT_EQ(marks.recent_permille(), 0u);
  EXPECT_EQ(marks.acks(), 64u);
  EXPECT_EQ(marks.marked(), 29u);
}

// Of 10 packets the first is acknowledged after 20 us with a mark, and the second without.
TEST(ContextSnapshotTest, AContextOfNscc) {
  Bench b(short_packets(), congestion(cms::Algorithm::nscc));
  ASSERT_EQ(b.open_initiator(10).size(), 10u);
  ContextSnapshot s = only_context(b);
  EXPECT_EQ(s.peer.ip[3], b.from.ip[3]);
  EXPECT_EQ(s.peer.port, kUetPort);
  EXPECT_TRUE(s.is_sprayed);
  EXPECT_EQ(s.algorithm, cms::Algorithm::nscc);
  EXPECT_EQ(s.inflight_bytes, 10u * kPacket);
  EXPECT_EQ(s.window_bytes, 100'000u);
  EXPECT_EQ(s.credit_bytes, std::nullopt);
  EXPECT_EQ(s.rtt, Duration::zero()) << "no sample";
  EXPECT_EQ(s.base_rtt, Duration::microseconds(12)) << "as configured";
  EXPECT_EQ(s.acks, 0u);
  EXPECT_EQ(s.evs, 16u);

  b.elapse(Duration::microseconds(20));
  b.rx_header(ack_with_mark(b, 0, true));
  b.rx_header(ack_with_mark(b, 1, false));
  s = only_context(b);
  EXPECT_EQ(s.inflight_bytes, 8u * kPacket);
  EXPECT_EQ(s.acks, 2u);
  EXPECT_EQ(s.marked, 1u);
  EXPECT_EQ(s.recent_ecn_permille, 500u);
  // Times of sending are kept in steps of 128 ns.
  EXPECT_GE(s.last_rtt, Duration::nanoseconds(20'000 - 128));
  EXPECT_LE(s.last_rtt, Duration::nanoseconds(20'000 + 128));
  // 12 us, plus an eighth of the difference with each of two samples: 13 and 13.875.
  EXPECT_GE(s.rtt, Duration::nanoseconds(13'875 - 32));
  EXPECT_LE(s.rtt, Duration::nanoseconds(13'875 + 32));
  EXPECT_EQ(s.base_rtt, Duration::microseconds(12));
}

// A window that is full holds back what waits. It is asked for 1128 octets, as a packet may have.
TEST(ContextSnapshotTest, AHeldBackContextIsShownAsSuch) {
  cms::Config cms = congestion(cms::Algorithm::fixed);
  cms.window_bytes_max = 4 * 1128;
  Bench b(short_packets(), cms);
  ASSERT_EQ(b.open_initiator(10).size(), 4u);
  ContextSnapshot s = only_context(b);
  EXPECT_EQ(s.algorithm, cms::Algorithm::fixed);
  EXPECT_TRUE(s.is_held_back);
  EXPECT_EQ(s.window_bytes, 4u * 1128);
  EXPECT_EQ(s.base_rtt, Duration::zero()) << "a constant window does not ask";
  b.elapse(Duration::microseconds(20));
  b.rx_header(b.ack(b.start + 3));
  b.tx();
  b.rx_header(b.ack(b.start + 7));
  b.tx();
  s = only_context(b);
  EXPECT_FALSE(s.is_held_back);
  EXPECT_EQ(s.inflight_bytes, 2u * kPacket);
}

// The base RTT of the window of before is the shortest round trip.
TEST(ContextSnapshotTest, AContextOfAimdInOrder) {
  Bench b(short_packets(), congestion(cms::Algorithm::aimd));
  ASSERT_EQ(b.open_initiator(2, Mode::rod).size(), 2u);
  ContextSnapshot s = only_context(b);
  EXPECT_FALSE(s.is_sprayed);
  EXPECT_EQ(s.lane, 1u);
  EXPECT_EQ(s.evs, 1u) << "one at a time";
  EXPECT_EQ(s.algorithm, cms::Algorithm::aimd);
  EXPECT_EQ(s.base_rtt, Duration::zero());
  b.elapse(Duration::microseconds(30));
  b.rx_header(b.ack(b.start));
  b.elapse(Duration::microseconds(30));
  b.rx_header(b.ack(b.start + 1));
  s = only_context(b);
  EXPECT_GE(s.base_rtt, Duration::nanoseconds(30'000 - 128));
  EXPECT_LE(s.base_rtt, Duration::nanoseconds(30'000 + 128));
  EXPECT_GE(s.last_rtt, Duration::nanoseconds(60'000 - 128));
}

// 150,000 octets of initial credit, less one packet that has left.
TEST(ContextSnapshotTest, AContextOfCreditHasNoWindow) {
  CreditBench b;
  b.open_initiator(1);
  ContextSnapshot s = only_context(b);
  EXPECT_EQ(s.algorithm, cms::Algorithm::rccc);
  EXPECT_EQ(s.window_bytes, 0u);
  EXPECT_EQ(s.credit_bytes, 150'000 - int64_t{kPacketBytes});
  CreditBench both(cms::Algorithm::both);
  both.open_initiator(1);
  s = only_context(both);
  EXPECT_EQ(s.algorithm, cms::Algorithm::both);
  EXPECT_GT(s.window_bytes, 0u);
  EXPECT_TRUE(s.credit_bytes);
}

// However small they are, pages have each context once.
TEST(ContextSnapshotTest, PagesHaveEachContextOnce) {
  Bench b;
  for (uint8_t host = 1; host <= 7; ++host) {
    const auto peer = b.peers.find_or_add(address(host), b.now);
    const auto flow = b.pds->flow(*peer, TrafficClass(0), Mode::rud, JobId(1));
    b.client.post(*flow, host, b.client.mtu);
  }
  b.tx();
  std::set<uint8_t> seen;
  std::array<ContextSnapshot, 3> some;
  std::optional<uint32_t> from = 0;
  uint32_t pages = 0;
  for (; from; ++pages) {
    const ContextPage page = b.pds->snapshot(some, *from);
    EXPECT_EQ(page.count, 7u);
    for (uint32_t i = 0; i < page.listed; ++i) {
      EXPECT_TRUE(seen.insert(some[i].peer.ip[3]).second);
    }
    from = page.next;
  }
  EXPECT_EQ(pages, 3u);
  EXPECT_EQ(seen.size(), 7u);
  const ContextPage beyond = b.pds->snapshot(some, 1'000'000);
  EXPECT_EQ(beyond.listed, 0u);
  EXPECT_FALSE(beyond.next);
  EXPECT_EQ(b.pds->snapshot(std::span<ContextSnapshot>{}, 0).next, 0u) << "no room for any";
}

}  // namespace
}  // namespace uet::pds::test
