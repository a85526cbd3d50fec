// Lines of the threat list that packet delivery answers and that no other file holds: forged ACKs,
// forged closes, replays, the edge of the PSN space. The others: guard_test, trim_test, probe_test,
// secure_test, target_test. [tss.md, T-nn]
#include "pds/test/bench.h"
#include "pds/test/pair.h"

#include <set>

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

// [T-05, PDS-090] ACKs drawn at random complete exactly what they may: of what was sent, all up to
// the highest believable CACK and what was named.
TEST(ThreatTest, ForgedAcksCompleteNothingThatWasNotSent) {
  constexpr int kPackets = 24;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    Bench b;
    ASSERT_EQ(b.open_initiator(kPackets).size(), size_t{kPackets});
    std::set<int> answered;
    uint64_t dropped = 0;
    for (int i = 0; i < 20; ++i) {
      const int cack = static_cast<int>(rng.below(40)) - 14;
      const int named = static_cast<int>(rng.below(60)) - 30;
      b.rx_header(b.ack(b.start + cack, named - cack));
      if (cack < -1 || cack >= kPackets || named >= kPackets) {
        ++dropped;
      } else {
        for (int p = 0; p <= cack; ++p) answered.insert(p);
        if (named >= 0) answered.insert(named);
      }
      ASSERT_EQ(b.client.responded.size(), answered.size()) << "cack " << cack << " ack " << named;
      ASSERT_EQ(b.count(Count::drop_ack_range), dropped);
    }
    for (const int p : answered) {
      EXPECT_EQ(b.client.responded.count({1, static_cast<uint32_t>(p) * 1024}), 1u);
    }
  }
}

// [T-01] Invented sources take what PDCs there are for targets; who had one before keeps it, and
// what it sends is taken as if nothing was.
TEST(ThreatTest, AFloodOfSynsLeavesEstablishedPdcsAlone) {
  Config config;
  config.max_pdcs = 16;
  Bench b(config);
  b.client.names_are_unique = false;
  b.open_target();
  b.rx(b.request(1001, false));
  b.tx();
  for (uint32_t i = 0; i < 2000; ++i) {
    b.from = address(static_cast<uint8_t>(20 + i % 40), static_cast<uint16_t>(50000 + i));
    wire::Request syn = b.request(kFirst.value());
    syn.spdcid = Pdcid(static_cast<uint16_t>(1 + i));
    b.rx(syn);
    if (i % 100 == 0) b.tx();
  }
  b.tx();
  EXPECT_GT(b.count(Count::nack_tx_no_pdc_avail), 0u);
  EXPECT_LE(b.pds->open_pdcs(), config.max_pdcs);
  b.from = address(9, 50000);
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1002"}));
}

// [T-11, PDS-073, PDS-T15] A Close from another address, or ahead of what is missing, ends nothing.
TEST(ThreatTest, ForgedClosesEndNothing) {
  Bench b;
  b.open_target();
  b.from = address(8);
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  EXPECT_EQ(b.count(Count::drop_bad_peer), 1u);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.tx();
  b.from = address(9, 50000);
  b.rx_header(b.control(CtlType::close_cmd, 1003));
  EXPECT_EQ(b.pds->open_pdcs(), 1u) << "1001 and 1002 are missing";
  b.rx(b.request(1001, false));
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.client.delivered.size(), 3u);
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
}

// [T-11, PDS-I10] A Close Request is a hint: what was begun is finished first.
TEST(ThreatTest, AForgedCloseRequestLosesNothing) {
  Bench b;
  b.open_initiator(3);
  b.rx_header(b.ack(b.start));
  b.rx_header(b.control(CtlType::close_req, b.start.value()));
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.rx_header(b.ack(b.start + 2));
  EXPECT_EQ(b.client.responded.size(), 3u);
  EXPECT_TRUE(b.client.failures.empty());
}

// [T-12, PDS-075] All that one end sent arrives ten times more: nothing is delivered again.
TEST(ThreatTest, AReplayedCaptureDeliversNothing) {
  for (const Mode mode : {Mode::rud, Mode::rod}) {
    Pair pair;
    pair.side[0].client.post(pair.flow(0, mode), 1, 20 * 1024);
    pair.run(1_ms);
    ASSERT_EQ(pair.side[1].client.delivered.size(), 20u);
    const std::vector<InPipe> capture = pair.sent;
    for (int i = 0; i < 10; ++i) {
      for (const InPipe& p : capture) pair.inject(p.to, p.octets, p.from);
      pair.run(1_ms);
    }
    EXPECT_EQ(pair.side[1].client.delivered.size(), 20u);
    EXPECT_EQ(pair.side[1].client.order.size(), 20u);
    EXPECT_EQ(pair.side[0].client.responded.size(), 20u);
    EXPECT_GE(pair.count(1, Count::dup_below), 200u);
    pair.expect_all_given_back();
  }
}

// [T-32, PDS-030] Over the end of the PSN space, at the target.
TEST(ThreatTest, ATargetPassesTheEndOfThePsnSpace) {
  constexpr uint32_t kStart = 0xFFFF'FF00;
  Bench b;
  const auto request = [&](uint32_t i) {
    wire::Request h = b.request(kFirst.value(), i == 0);
    h.psn = Psn(kStart + i);
    h.clear_psn_offset = -1;
    return h;
  };
  b.rx(request(0));
  b.own = b.tx().at(0).as<wire::Ack>().spdcid;
  // Each pair the wrong way round, so that the window always reaches over a gap.
  for (uint32_t i = 1; i < 511; i += 2) {
    b.rx(request(i + 1));
    b.rx(request(i));
    const auto out = b.tx();
    ASSERT_FALSE(out.empty());
    EXPECT_EQ(out.back().as<wire::Ack>().cack_psn, Psn(kStart + i + 1));
  }
  EXPECT_EQ(b.client.delivered.size(), 511u);
  EXPECT_EQ(b.count(Count::nacks_tx), 0u);
}

// [T-32, PDS-030, PDS-051] And at the initiator, whom the target had begin there.
TEST(ThreatTest, AnInitiatorPassesTheEndOfThePsnSpace) {
  constexpr uint32_t kStart = 0xFFFF'FFF0;
  Bench b;
  b.sdi = 77;
  b.open_initiator(1);
  b.rx_header(b.nack(NackCode::new_start_psn, b.start, kStart));
  const auto again = b.tx();
  ASSERT_EQ(again.size(), 1u);
  ASSERT_EQ(again[0].as<wire::Request>().psn, Psn(kStart));
  b.rx_header(b.ack(Psn(kStart)));
  for (uint32_t i = 1; i < 64; ++i) {
    FabricAddress to = b.from;
    to.port = kUetPort;
    const PeerId peer = *b.peers.find_or_add(to, b.now);
    b.client.post(*b.pds->flow(peer, TrafficClass(0), Mode::rud, JobId(1), b.sdi), 1 + i, 10);
    const auto out = b.tx();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].as<wire::Request>().psn, Psn(kStart + i));
    if (i % 2 == 0) b.rx_header(b.ack(Psn(kStart + i)));
  }
  b.rx_header(b.ack(Psn(kStart + 63)));
  EXPECT_EQ(b.client.responded.size(), 64u);
  EXPECT_EQ(b.count(Count::drop_ack_range), 0u);
}

}  // namespace
}  // namespace uet::pds::test
