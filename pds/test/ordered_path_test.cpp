// The one entropy value of an ordered PDC: what changes it, and when. 16 values; the round trip is
// the configured one of 12 us, so that 10 of them are 120 us.
#include "pds/test/bench.h"

#include <gtest/gtest.h>

#include <set>

namespace uet::pds::test {
namespace {

using wire::NackCode;

constexpr uint32_t kValues = 16;

class OrderedPathTest : public ::testing::Test {
 protected:
  static cms::Config selection() {
    cms::Config c;
    c.algorithm = cms::Algorithm::fixed;
    c.entropy_values = kValues;
    c.base_rtt_probe = false;
    return c;
  }
  // Packet +0 is answered, so that the PDC is open; nothing is outstanding.
  void open() {
    const auto out = bench_.open_initiator(1, Mode::rod);
    ASSERT_EQ(out.size(), 1u);
    ev_ = out[0].ev;
    next_ = 1;
    ack(0);
  }
  // Sends `packets` packets, all under one EV, which is returned.
  Entropy send(uint32_t packets) {
    bench_.client.post(bench_.flow, ++messages_, packets * bench_.client.mtu);
    const auto out = bench_.tx();
    EXPECT_EQ(out.size(), packets);
    for (const Bench::Out& o : out) EXPECT_EQ(o.ev, out[0].ev);
    next_ += static_cast<int>(packets);
    return out.at(0).ev;
  }
  void ack(int cack, bool marked = false) {
    wire::Ack h = bench_.ack(bench_.start + cack);
    h.m = marked;
    bench_.rx_header(h);
  }
  void nack(NackCode code, int psn, bool marked) {
    wire::Nack h = bench_.nack(code, bench_.start + psn);
    h.m = marked;
    bench_.rx_header(h);
  }
  void ack_all() { ack(next_ - 1); }

  Bench bench_{Config{}, selection()};
  uint32_t messages_ = 1;
  int next_ = 0;  // the packet that was not sent yet
  Entropy ev_;
};

// [CMS-150, PDS-004] Without congestion the EV stays, also while idle.
TEST_F(OrderedPathTest, OneEvAsLongAsNothingIsWrong) {
  open();
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(send(3), ev_);
    ack_all();
  }
}

// [CMS-150] A mark changes the EV of what follows, and another one not before 10 round trips.
TEST_F(OrderedPathTest, AMarkChangesTheEntropyValueOnceInTenRoundTrips) {
  open();
  EXPECT_EQ(send(8), ev_);
  ack(1, true);
  const Entropy second = send(2);
  EXPECT_NE(second, ev_);
  ack(next_ - 2, true);
  bench_.elapse(Duration::microseconds(119));
  EXPECT_EQ(send(2), second);
  ack(next_ - 2, true);
  EXPECT_EQ(send(2), second) << "119 us";
  bench_.elapse(Duration::microseconds(100));
  ack(next_ - 2, true);
  EXPECT_NE(send(1), second);
}

// [CMS-150, PDS-004] What was marked too soon changes the EV when nothing is outstanding.
TEST_F(OrderedPathTest, AMarkChangesItWhileIdle) {
  open();
  send(8);
  ack(1, true);
  const Entropy second = send(2);
  ack(next_ - 2, true);
  EXPECT_EQ(send(1), second);
  ack_all();
  const Entropy third = send(1);
  EXPECT_NE(third, second);
  ack_all();
  EXPECT_EQ(send(1), third) << "once";
}

// [CMS-150, PDS-004] Packets that have arrived and have no answer yet are outstanding: they keep it
// though nothing is in flight.
TEST_F(OrderedPathTest, PacketsWithoutAnAnswerKeepIt) {
  bench_.client.script.sack_completes = false;
  open();
  send(8);
  ack(1, true);
  const Entropy second = send(3);
  ack(next_ - 3, true);  // too soon for another one
  wire::AckCc h;
  h.ack = bench_.ack(bench_.start + (next_ - 3));
  h.ack.type = wire::PdsType::ack_cc;
  h.mpr = 128;
  h.sack_psn_offset = 1;
  h.sack_bitmap = 0b11;
  bench_.rx_header(h);
  EXPECT_EQ(send(1), second);
  ack_all();
  EXPECT_NE(send(1), second) << "nothing is outstanding";
}

// [CMS-150, CMS-163] Packets that are cut on the last hop, marked ones, too, change nothing.
TEST_F(OrderedPathTest, TrimsOfTheLastHopChangeNothing) {
  open();
  EXPECT_EQ(send(8), ev_);
  nack(NackCode::trimmed_lasthop, 1, true);
  const auto again = bench_.tx();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].ev, ev_);
  ack(2, true);
  EXPECT_EQ(send(1), ev_);
  ack_all();
  EXPECT_EQ(send(1), ev_);
}

// [CMS-150, CMS-023] A packet that is cut before it does, and so does a loss: it goes again on
// another path.
TEST_F(OrderedPathTest, OtherLossesChangeIt) {
  open();
  EXPECT_EQ(send(1), ev_);
  nack(NackCode::trimmed, 1, false);
  auto again = bench_.tx();
  ASSERT_EQ(again.size(), 1u);
  const Entropy second = again[0].ev;
  EXPECT_NE(second, ev_);
  ack_all();
  EXPECT_EQ(send(1), second);
  for (int i = 0; i < 200 && bench_.count(Count::retx_rto) == 0; ++i) bench_.elapse(1_ms);
  ASSERT_EQ(bench_.count(Count::retx_rto), 1u);
  again = bench_.tx();
  ASSERT_FALSE(again.empty());
  EXPECT_NE(again.back().ev, second);
}

// [PDS-144] Packets of two paths arrive in any order: arrivals on the second path are no evidence
// about the first. With one EV three later ones are enough.
TEST_F(OrderedPathTest, TwoPathsMayReorder) {
  for (const bool changes : {false, true}) {
    SCOPED_TRACE(changes);
    Bench b(Config{}, selection());
    auto out = b.open_initiator(1, Mode::rod);
    b.rx_header(b.ack(b.start));
    b.client.post(b.flow, 2, 2 * b.client.mtu);
    out = b.tx();
    ASSERT_EQ(out.size(), 2u);
    wire::Ack h = b.ack(b.start + 1);
    h.m = changes;
    b.rx_header(h);
    b.client.post(b.flow, 3, 4 * b.client.mtu);
    EXPECT_EQ(b.tx().at(0).ev != out[1].ev, changes);
    b.elapse(1_us);
    wire::AckCc sack;
    sack.ack = b.ack(b.start + 1);
    sack.ack.type = wire::PdsType::ack_cc;
    sack.mpr = 8;
    sack.sack_psn_offset = 2;
    sack.sack_bitmap = 0b0111;  // +3 to +5: the one before them is missing
    b.rx_header(sack);
    EXPECT_EQ(b.tx().size(), changes ? 0u : 1u);
  }
}

// [CMS-150] The 256th ordered flow toward a peer shares the context of the first one: it keeps the
// EV while that has packets on their way.
TEST_F(OrderedPathTest, FlowsOfOneLaneShareTheEv) {
  open();
  const auto peer = bench_.peers.find_or_add(address(9, kUetPort), bench_.now);
  FlowId last;
  for (uint32_t job = 2; job <= 256; ++job) {
    last = *bench_.pds->flow(*peer, TrafficClass(0), Mode::rod, JobId(job));
  }
  send(8);
  ack(1, true);
  const Entropy second = send(2);
  ack(next_ - 2, true);  // too soon
  const auto of_last = [&](uint32_t message) {
    bench_.client.post(last, message, 10);
    return bench_.tx().at(0).ev;
  };
  EXPECT_EQ(of_last(100), second);
}

// [CMS-004] Each of 16 ordered flows toward a peer has a different value.
TEST_F(OrderedPathTest, FlowsTakeDifferentEvs) {
  std::set<uint32_t> values;
  const auto peer = bench_.peers.find_or_add(address(9), bench_.now);
  for (uint32_t job = 1; job <= kValues; ++job) {
    bench_.client.post(*bench_.pds->flow(*peer, TrafficClass(0), Mode::rod, JobId(job)), 100 + job,
                       10);
  }
  for (const Bench::Out& o : bench_.tx()) values.insert(o.ev.value() % kValues);
  EXPECT_EQ(values.size(), kValues);
}

}  // namespace
}  // namespace uet::pds::test
