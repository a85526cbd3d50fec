// TFC between two ends, and against a peer that a test plays. A packet of the stub has 1024 octets
// of payload, 1,092 nominal, and takes 5 cells of 256: 1,052 octets and 64 of overhead. The buffer
// of these tests has 50 cells, room for ten packets.
#include "pds/test/credit_bench.h"
#include "pds/test/pair.h"

#include "base/rng.h"

namespace uet::pds::test {
namespace {

constexpr uint32_t kCells = 5;
constexpr uint32_t kFirstCells = 50;
using Units = std::vector<uint32_t>;

constexpr uint64_t kSeed = 20261;

cms::Config tfc_cms() {
  cms::Config c = credit_cms(cms::Algorithm::tfc);
  c.tfc.first_bytes = kFirstCells * 256;
  return c;
}

// --- the source; the test plays the destination ---

class TfcSourceTest : public ::testing::Test {
 protected:
  // ACK_CC of type 1 for all up to a distance from the first PSN.
  wire::AckCc acked(int32_t last, uint32_t credit) const {
    wire::AckCc h;
    h.ack = b.ack(b.start + last);
    h.ack.type = wire::PdsType::ack_cc;
    h.mpr = 8;
    h.cc_type = wire::CcType::credit;
    h.state = wire::CreditState{.credit = credit}.pack();
    return h;
  }
  size_t requests() {
    size_t n = 0;
    for (const Bench::Out& o : b.tx()) n += wire::is_request(o.type()) ? 1 : 0;
    return n;
  }
  // ACK Requests for the last PSN that was answered, which go out within that time.
  std::vector<int> asked_within(Duration time) {
    std::vector<int> at;
    const Instant begin = b.now;
    while (b.now < begin + time) {
      b.elapse(10_us);
      for (const Bench::Out& o : b.tx()) {
        if (o.type() != wire::PdsType::control) continue;
        const auto h = o.as<wire::Control>();
        if (h.ctl_type == wire::CtlType::ack_req)
          at.push_back(static_cast<int>((b.now - begin).us()));
      }
    }
    return at;
  }

  CreditBench b{tfc_cms()};
};

// [CMS-013, CMS-146, CMS-147] The initial allocation goes out, and then only as much as is granted,
// whatever is acknowledged.
TEST_F(TfcSourceTest, OnlyCellsLetPacketsGo) {
  EXPECT_EQ(b.open_initiator(40).size(), 10u);
  b.rx_header(acked(9, kFirstCells));
  EXPECT_EQ(requests(), 0u) << "all are acknowledged, and no cell is free";
  b.rx_header(acked(9, kFirstCells + kCells - 1));
  EXPECT_EQ(requests(), 0u);
  b.rx_header(acked(9, kFirstCells + kCells));
  EXPECT_EQ(requests(), 1u);
  b.rx_header(acked(9, kFirstCells + 4 * kCells));
  EXPECT_EQ(requests(), 3u);
}

// [CMS-068, CMS-147] The packet that uses up the cells asks for an ACK.
TEST_F(TfcSourceTest, TheLastPacketWithCellsAsksForAnAck) {
  const auto out = b.open_initiator(40);
  ASSERT_EQ(out.size(), 10u);
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(out[i].as<wire::Request>().ar, i == 9) << i;
  }
}

// [T-33, CMS-022, CMS-147] Credit that the destination cannot have, and credit that runs backwards,
// change nothing but a counter.
TEST_F(TfcSourceTest, ImpossibleCreditIsCounted) {
  b.open_initiator(40);
  b.rx_header(acked(9, kFirstCells + 10 * kCells + 1));
  EXPECT_EQ(requests(), 0u);
  EXPECT_EQ(b.count(Count::credit_impossible), 1u);
  b.rx_header(acked(9, kFirstCells - 1));
  EXPECT_EQ(requests(), 0u);
  EXPECT_EQ(b.count(Count::credit_old), 1u);
  b.rx_header(acked(9, kFirstCells + 2 * kCells));
  EXPECT_EQ(requests(), 2u);
  EXPECT_EQ(b.count(Count::credit_impossible), 1u);
}

// [CMS-147] A packet that was refused gives its cells back, and takes them again when it goes
// again.
TEST_F(TfcSourceTest, ARefusedPacketGivesItsCellsBack) {
  b.open_initiator(40);
  b.rx_header(acked(0, kFirstCells));  // established; no cell is granted
  EXPECT_EQ(requests(), 0u);
  b.rx_header(b.nack(wire::NackCode::trimmed, b.start + 3));
  auto out = b.tx();
  ASSERT_EQ(out.size(), 1u) << "the packet itself, and no other in its place";
  EXPECT_EQ(out[0].as<wire::Request>().psn, b.start + 3);
  b.rx_header(acked(9, kFirstCells + 10 * kCells));
  EXPECT_EQ(requests(), 10u) << "as many as before";
}

// [CMS-147] In RUD a lost packet returns its cells to the context. The PDC of the context that
// waits longest gets them, here another one.
TEST_F(TfcSourceTest, ALostPacketReturnsItsCellsToItsContext) {
  b.open_initiator(40);
  b.rx_header(acked(0, kFirstCells));
  FabricAddress to = b.from;
  to.port = kUetPort;
  const auto peer = b.peers.find_or_add(to, b.now);
  b.client.post(*b.pds->flow(*peer, TrafficClass(0), Mode::rud, JobId(2), 0), 9, 1024);
  EXPECT_EQ(requests(), 0u);
  b.rx_header(b.nack(wire::NackCode::trimmed, b.start + 3));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_NE(out[0].as<wire::Request>().spdcid, b.own);
}

// [CMS-147] A packet whose resend is delayed returns its cells to other packets.
TEST_F(TfcSourceTest, APacketThatWaitsReturnsItsCells) {
  b.open_initiator(40);
  b.rx_header(acked(0, kFirstCells));
  b.rx_header(b.nack(wire::NackCode::no_pkt_buffer, b.start + 3));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<wire::Request>().psn, b.start + 10);
}

// [CMS-147] A ROD packet keeps its cells: later packets would fill the buffer until it comes.
TEST_F(TfcSourceTest, InOrderAPacketThatWaitsKeepsItsCells) {
  b.open_initiator(40, Mode::rod);
  b.rx_header(acked(0, kFirstCells));
  b.rx_header(b.nack(wire::NackCode::no_pkt_buffer, b.start + 3));
  EXPECT_EQ(requests(), 0u);
  std::vector<Psn> sent;
  while (sent.empty() && b.now < kBenchStart + 1_s) {
    b.elapse(100_us);
    for (const Bench::Out& o : b.tx()) {
      if (wire::is_request(o.type())) sent.push_back(o.as<wire::Request>().psn);
    }
  }
  ASSERT_FALSE(sent.empty());
  EXPECT_EQ(sent[0], b.start + 3);
}

// [CMS-147, PDS-119] A packet whose message fails is never accepted: a NOOP takes its PSN and no
// cells, and another packet gets the cells.
TEST_F(TfcSourceTest, APacketThatIsGivenUpReturnsItsCells) {
  b.open_initiator(40, Mode::rod);
  b.rx_header(acked(0, kFirstCells));
  b.rx_header(b.nack(wire::NackCode::exp_nack_err, b.start + 3));
  size_t noops = 0, others = 0;
  for (const Bench::Out& o : b.tx()) {
    if (wire::is_request(o.type())) ++others;
    if (o.type() == wire::PdsType::control) ++noops;
  }
  EXPECT_EQ(noops, 1u);
  EXPECT_EQ(others, 1u);
}

// [CMS-147] A packet counted as lost had arrived: when an ACK shows this it has its cells again,
// and the grant for it counts once.
TEST_F(TfcSourceTest, APacketTakenForLostCountsOnce) {
  b.open_initiator(40);
  b.rx_header(acked(0, kFirstCells + kCells));
  EXPECT_EQ(requests(), 1u);
  b.elapse(20_ms);  // the time-out
  EXPECT_GT(b.count(Count::retx_rto) + b.count(Count::retx_tail), 0u);
  b.rx_header(acked(10, kFirstCells + 11 * kCells));
  EXPECT_EQ(requests(), 10u);
}

// [CMS-129, CMS-147] The last ACK with credit is lost: everything is acknowledged and nothing is in
// flight. After 250 us the source asks for the last ACK, then after twice the time, and continues
// when the ACK comes.
TEST_F(TfcSourceTest, AStalledSourceAsksForItsCredit) {
  b.open_initiator(40);
  b.rx_header(acked(9, kFirstCells));
  EXPECT_EQ(requests(), 0u);
  const std::vector<int> at = asked_within(2_ms);
  ASSERT_EQ(at.size(), 3u);
  EXPECT_NEAR(at[0], 250, 10);
  EXPECT_NEAR(at[1], 750, 20);
  EXPECT_NEAR(at[2], 1750, 30);
  b.rx_header(acked(9, kFirstCells + 10 * kCells));
  EXPECT_EQ(requests(), 10u);
}

// [CMS-129] If no answer comes, a packet goes without cells: a peer that has lost the PDC refuses
// it.
TEST_F(TfcSourceTest, WithoutAnswersOnePacketGoesWithoutCells) {
  b.open_initiator(40);
  b.rx_header(acked(9, kFirstCells));
  size_t sent = 0;
  for (int i = 0; i < 800 && sent == 0; ++i) {
    b.elapse(10_us);
    sent += requests();
  }
  EXPECT_EQ(sent, 1u);
  EXPECT_EQ(b.count(Count::credit_on_trust), 1u);
}

// [CMS-148] Marks, cuts and time-outs change nothing of a context's entropy values.
TEST_F(TfcSourceTest, NoEntropyValueRests) {
  b.open_initiator(40);
  wire::AckCc marked = acked(4, kFirstCells + 5 * kCells);
  marked.ack.m = true;
  b.rx_header(marked);
  b.rx_header(b.nack(wire::NackCode::trimmed, b.start + 6));
  b.elapse(20_ms);
  ContextSnapshot context;
  ASSERT_EQ(b.pds->snapshot(std::span(&context, 1), 0).listed, 1u);
  EXPECT_EQ(context.algorithm, cms::Algorithm::tfc);
  EXPECT_GT(context.evs, 1u);
  EXPECT_EQ(context.marked, 1u);
  EXPECT_EQ(context.evs_resting, 0u);
}

// --- the destination; the test plays the source ---

class TfcDestinationTest : public ::testing::Test {
 protected:
  // The credit of each ACK that goes out now.
  std::vector<uint32_t> credits() {
    std::vector<uint32_t> all;
    for (const Bench::Out& o : b.tx()) {
      if (o.type() != wire::PdsType::ack_cc) continue;
      const auto h = o.as<wire::AckCc>();
      EXPECT_EQ(h.cc_type, wire::CcType::credit);
      all.push_back(wire::CreditState::unpack(h.state).credit);
    }
    return all;
  }
  void rx(uint32_t psn, bool retx = false) {
    wire::Request h = b.request(psn, false);
    h.retx = retx;
    b.rx(h, 1024);
  }
  void rx_ordered(uint32_t psn, bool retx = false) {
    wire::Request h = b.request(psn, false);
    h.type = wire::PdsType::rod_request;
    h.retx = retx;
    b.rx(h, 1024);
  }
  // The first packet of the peer, which has no payload and takes one cell.
  void open(Mode mode) {
    wire::Request h = b.request(kFirst.value());
    if (mode == Mode::rod) h.type = wire::PdsType::rod_request;
    b.rx(h);
    const auto out = b.tx();
    ASSERT_EQ(out.size(), 1u);
    const auto ack = out[0].as<wire::AckCc>();
    b.own = ack.ack.spdcid;
    EXPECT_EQ(wire::CreditState::unpack(ack.state).credit, kFirstCells + 1);
    b.prove(h.type);
  }

  CreditBench b{tfc_cms()};
};

// [CMS-031, CMS-146, CMS-147] ACKs report the granted credit: the initial allocation and the freed
// cells. A packet that arrives twice is freed once.
TEST_F(TfcDestinationTest, AcksReportTheFreeCells) {
  open(Mode::rud);
  rx(1001);
  EXPECT_EQ(credits(), Units({kFirstCells + 1 + kCells}));
  rx(1003);
  EXPECT_EQ(credits(), Units({kFirstCells + 1 + 2 * kCells}));
  rx(1003, true);
  EXPECT_EQ(credits(), Units({kFirstCells + 1 + 2 * kCells}));
  rx(1002, true);
  EXPECT_EQ(credits(), Units({kFirstCells + 1 + 3 * kCells}));
}

// [CMS-147] What the client refuses keeps no cell, and none is freed.
TEST_F(TfcDestinationTest, ARefusedPacketFreesNoCells) {
  open(Mode::rud);
  b.client.verdict = [](PacketName, const RxRequest&) {
    return Verdict::refused(wire::NackCode::no_resource);
  };
  rx(1001);
  EXPECT_EQ(credits(), Units{});
  b.client.verdict = {};
  rx(1001, true);
  EXPECT_EQ(credits(), Units({kFirstCells + 1 + kCells}));
}

// [CMS-147, PDS-079] In order: what waits for a gap keeps its cells until its turn.
TEST_F(TfcDestinationTest, APacketThatWaitsForItsTurnKeepsItsCells) {
  open(Mode::rod);
  rx_ordered(1002);
  rx_ordered(1003);
  for (const uint32_t credit : credits()) EXPECT_EQ(credit, kFirstCells + 1);
  rx_ordered(1001);
  const auto told = credits();
  ASSERT_FALSE(told.empty());
  EXPECT_EQ(told.back(), kFirstCells + 1 + 3 * kCells);
}

// [CMS-147, T-01] Ten packets fit behind a gap; an eleventh was not granted, and is refused.
TEST_F(TfcDestinationTest, MoreThanWasGrantedIsRefused) {
  open(Mode::rod);
  for (uint32_t psn = 1002; psn < 1012; ++psn) rx_ordered(psn);
  EXPECT_EQ(b.count(Count::cells_overrun), 0u);
  rx_ordered(1012);
  EXPECT_EQ(b.count(Count::cells_overrun), 1u);
  EXPECT_EQ(b.count(Count::nack_tx_no_pkt_buffer), 1u);
  rx_ordered(1001);
  rx_ordered(1012, true);
  EXPECT_EQ(b.count(Count::cells_overrun), 1u);
  EXPECT_EQ(credits().back(), kFirstCells + 1 + 12 * kCells);
}

// [CMS-147, PDS 13] The question for the last ACK is answered with the credit.
TEST_F(TfcDestinationTest, AnAckRequestIsAnsweredWithCredit) {
  open(Mode::rud);
  rx(1001);
  EXPECT_EQ(credits(), Units({kFirstCells + 1 + kCells}));
  b.rx_header(b.control(CtlType::ack_req, 1001));
  EXPECT_EQ(credits(), Units({kFirstCells + 1 + kCells}));
  b.rx_header(b.control(CtlType::probe, 1001, 1002));
  EXPECT_EQ(credits(), Units({kFirstCells + 1 + kCells})) << "and a Probe";
}

// [CMS-146] TFC stays off if ACKs cannot carry credit, or if the buffer has no room for a packet.
TEST(TfcConfigTest, ShortAcksOrTooSmallBuffersAreInvalid) {
  const auto made = [](Config config, const cms::Config& cms) {
    Arena arena;
    PeerTable peers;
    StubClient client;
    EXPECT_TRUE(peers.create(arena, 4, 1).ok());
    return Pds::create(arena, config, cms, peers, client, 1).ok();
  };
  EXPECT_TRUE(made(credit_pds(), tfc_cms()));
  Config mute = credit_pds();
  mute.ack_form = AckForm::by_need;
  EXPECT_FALSE(made(mute, tfc_cms()));
  cms::Config tight = tfc_cms();
  tight.tfc.first_bytes = 4 * 256;
  EXPECT_FALSE(made(credit_pds(), tight));
  tight.tfc = {.cell_bytes = 0};
  EXPECT_FALSE(made(credit_pds(), tight));
}

// --- both ends ---

class TfcPairTest : public ::testing::TestWithParam<Mode> {
 protected:
  TfcPairTest() : pair(credit_pds(), credit_pds(), kSeed, tfc_cms()), rng(kSeed, 0x746663) {}

  uint64_t resends(int side) const {
    return pair.count(side, Count::retx_rto) + pair.count(side, Count::retx_tail) +
           pair.count(side, Count::retx_ooo) + pair.count(side, Count::retx_ev);
  }

  Pair pair;
  Rng rng;
};
INSTANTIATE_TEST_SUITE_P(Modes, TfcPairTest, ::testing::Values(Mode::rud, Mode::rod));

// [CMS-146, CMS-147] Without loss there are never more than ten packets between the two, and all
// cells come back.
TEST_P(TfcPairTest, NoMoreIsInFlightThanTheBufferTakes) {
  std::map<uint32_t, int> flying;
  size_t most = 0;
  pair.fate = [&](const InPipe& p) -> Fate {
    if (p.side == 1 && wire::is_request(p.type())) flying[p.request().psn.value()] = 1;
    most = std::max(most, flying.size());
    if (p.side == 0 && p.type() == wire::PdsType::ack_cc) {
      wire::Reader r(p.octets);
      const auto h = wire::AckCc::read(r);
      std::erase_if(flying, [&](const auto& f) { return !Psn(f.first).after(h.ack.cack_psn); });
    }
    return {Pair::kDelay};
  };
  pair.side[0].client.post(pair.flow(0, GetParam()), 1, 400 * 1024);
  pair.run(50_ms);
  EXPECT_EQ(pair.side[0].client.responded.size(), 400u);
  EXPECT_EQ(most, 10u);
  EXPECT_EQ(pair.count(0, Count::credit_impossible), 0u);
  EXPECT_EQ(resends(0), 0u);
  pair.expect_all_given_back();
}

// [CMS-147] With a fifth of all packets lost, either way, every message arrives, and in the end no
// cell is missing: ten packets go at once.
TEST_P(TfcPairTest, LossCostsNoCells) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  bool is_lossy = true;
  size_t in_a_row = 0;
  pair.fate = [&](const InPipe& p) -> Fate {
    if (is_lossy && rng.chance(0.2)) return {};
    if (p.side == 1 && wire::is_request(p.type())) ++in_a_row;
    return {Pair::kDelay};
  };
  const FlowId flow = pair.flow(0, GetParam());
  pair.side[0].client.post(flow, 1, 300 * 1024);
  pair.run(60_s);
  ASSERT_EQ(pair.side[0].client.responded.size(), 300u);
  EXPECT_GT(resends(0), 10u);
  EXPECT_EQ(pair.count(1, Count::cells_overrun), 0u);
  is_lossy = false;
  in_a_row = 0;
  pair.side[0].client.post(flow, 2, 100 * 1024);
  pair.flush();
  EXPECT_EQ(in_a_row, 10u);
  pair.run(1_s);
  EXPECT_EQ(pair.side[0].client.responded.size(), 400u);
  EXPECT_EQ(pair.count(0, Count::credit_impossible), 0u);
  pair.expect_all_given_back();
}

// [CMS-147] Return data uses the cells of its direction.
TEST_P(TfcPairTest, BothDirectionsHaveCells) {
  const FlowId there = pair.flow(0, GetParam());
  const FlowId back = pair.flow(1, GetParam());
  pair.side[0].client.post(there, 1, 100 * 1024);
  pair.side[1].client.post(back, 1, 100 * 1024);
  pair.run(1_s);
  EXPECT_EQ(pair.side[0].client.responded.size(), 100u);
  EXPECT_EQ(pair.side[1].client.responded.size(), 100u);
  EXPECT_EQ(resends(0) + resends(1), 0u);
  pair.expect_all_given_back();
}

// [CMS-147] A packet that is refused for long, while later packets fill the buffer, has room when
// it comes again.
TEST_P(TfcPairTest, ARefusedPacketFindsRoom) {
  int refusals = 0;
  pair.side[1].client.verdict = [&](PacketName name, const RxRequest&) {
    const bool is_refused = name.second == 20 * 1024 && ++refusals <= 5;
    return is_refused ? Verdict::refused(wire::NackCode::no_resource) : Verdict::accepted();
  };
  pair.side[0].client.post(pair.flow(0, GetParam()), 1, 100 * 1024);
  pair.run(5_s);
  EXPECT_EQ(pair.side[0].client.responded.size(), 100u);
  EXPECT_GE(refusals, 6);
  EXPECT_EQ(pair.count(0, Count::credit_on_trust), 0u);
  EXPECT_EQ(pair.count(1, Count::cells_overrun), 0u);
  pair.expect_all_given_back();
}

// [CMS-129, CMS-147] All ACKs are lost for a while, with the credit in them: the source continues.
TEST_P(TfcPairTest, LostAcksLoseNoCredit) {
  uint32_t acks = 0;
  pair.fate = [&](const InPipe& p) -> Fate {
    if (p.side == 0 && ++acks > 3 && acks < 8) return {};
    return {Pair::kDelay};
  };
  pair.side[0].client.post(pair.flow(0, GetParam()), 1, 100 * 1024);
  pair.run(1_s);
  EXPECT_EQ(pair.side[0].client.responded.size(), 100u);
  EXPECT_EQ(pair.count(0, Count::credit_on_trust), 0u);
  pair.expect_all_given_back();
}

}  // namespace
}  // namespace uet::pds::test
