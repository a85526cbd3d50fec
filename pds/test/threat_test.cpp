// Threats that packet delivery answers and that no other file covers: forged ACKs, forged closes,
// replays, the edges of windows and of the PSN space. The rest is in guard_test, trim_test,
// probe_test, secure_test, target_test. [tss.md, T-nn]
#include "pds/door/shares.h"
#include "pds/pdc/pdc_table.h"
#include "pds/rx/rx_window.h"
#include "pds/schedule/flow.h"
#include "pds/test/bench.h"
#include "pds/test/pair.h"
#include "pds/tx/tx_window.h"

#include <set>

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

// [T-05, PDS-090] Random ACKs complete exactly the sent packets up to the highest believable CACK,
// and the named packet.
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

// [T-01] Forged sources take the free target PDCs; a source that had one before keeps it, and its
// packets are accepted as usual.
TEST(ThreatTest, AFloodOfSynsLeavesEstablishedPdcsAlone) {
  Config config;
  config.max_pdcs = 16;
  Bench b(config);
  b.client.script.names_are_unique = false;
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

// [T-38, PDS-252] A small request from a forged source asks for 1 MiB: at most three times the
// received octets go there, however long the wait. A source that proves itself gets the rest; a
// blind ACK is no proof, even with the right PDCID.
TEST(ThreatTest, AForgedReadFillsNoLink) {
  for (const bool is_heard : {false, true}) {
    Bench b;
    b.proves = false;
    constexpr size_t kCame = 12 + 8;  // octets of the request
    b.rx(b.request(kFirst.value()));
    size_t went = 0;
    for (const auto& out : b.tx()) {
      went += out.octets.size();
      b.own = out.as<wire::Ack>().spdcid;
    }
    b.client.messages[5].bytes = 1 << 20;
    b.client.messages[5].next_hdr = wire::NextHeader::response_data;
    ASSERT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(5)));
    if (is_heard) {
      b.rx(b.request(1001, false));
      EXPECT_GT(b.tx().size(), 100u);
      continue;
    }
    b.rx_header(b.ack(kFirst - 1));
    EXPECT_EQ(b.count(Count::drop_unproven), 1u);
    b.rx_header(b.ack(kFirst));  // of a packet that was never sent
    for (int i = 0; i < 61'000; ++i) {
      b.elapse(1_ms);
      for (const auto& out : b.tx()) went += out.octets.size();
    }
    EXPECT_LE(went, 3 * (kCame + 2 * 12));
    EXPECT_GE(went, kCame);
  }
}

// [T-11, PDS-073, PDS-T15] A Close from another address, or above missing packets, ends nothing.
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
  EXPECT_EQ(b.client.received.times.size(), 3u);
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
}

// [T-11, PDS-I10] A Close Request is a hint: started messages are finished first.
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

// [T-12, PDS-075] All packets of one end arrive ten more times: nothing is delivered again.
TEST(ThreatTest, AReplayedCaptureDeliversNothing) {
  for (const Mode mode : {Mode::rud, Mode::rod}) {
    Pair pair;
    pair.side[0].client.post(pair.flow(0, mode), 1, 20 * 1024);
    pair.run(1_ms);
    ASSERT_EQ(pair.side[1].client.received.times.size(), 20u);
    const std::vector<InPipe> capture = pair.sent;
    for (int i = 0; i < 10; ++i) {
      for (const InPipe& p : capture) pair.inject(p.side, p.octets, p.from);
      pair.run(1_ms);
    }
    EXPECT_EQ(pair.side[1].client.received.times.size(), 20u);
    EXPECT_EQ(pair.side[1].client.received.order.size(), 20u);
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
  EXPECT_EQ(b.client.received.times.size(), 511u);
  EXPECT_EQ(b.count(Count::nacks_tx), 0u);
}

// [T-32, PDS-030, PDS-051] The same at the initiator, after a NACK of the target with that start.
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

wire::AckCc ack_cc(const Bench& b, int cack, uint8_t mpr, uint64_t bitmap = 0) {
  wire::AckCc h;
  h.ack = b.ack(b.start + cack);
  h.ack.type = wire::PdsType::ack_cc;
  h.mpr = mpr;
  h.sack_psn_offset = 1;
  h.sack_bitmap = bitmap;
  return h;
}

// [T-07, PDS-093] A peer reports packets as received and then is silent: no answer is made up. The
// source asks it, resends missing packets, and gives it up like any silent peer.
TEST(ThreatTest, AFalseSackCompletesNothing) {
  Config config;
  config.probe = false;
  config.peer_timeout = 2_s;
  Bench b(config);
  b.client.script.sack_completes = false;
  b.open_initiator(3);
  b.rx_header(ack_cc(b, 0, 8, 0b11));
  b.elapse(20_ms);
  b.tx();
  EXPECT_EQ(b.count(Count::ack_requests_tx), 2u);
  EXPECT_EQ(b.client.responded.size(), 1u);
  b.rx_header(b.nack(NackCode::pkt_not_rcvd, b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  b.elapse(3_s);
  EXPECT_EQ(b.client.responded.size(), 1u);
  EXPECT_EQ(b.client.failed.size(), 2u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [T-31, PDS-072, PDS-074] PSNs beyond the range, or old ones, move nothing and are refused at the
// normal rate; the next PSN in order is accepted as usual.
TEST(ThreatTest, FarPsnsMoveNoWindow) {
  Config config;
  config.nacks_per_second_per_peer = 80;  // a burst of 8
  Bench b(config);
  b.open_target();
  for (int i = 0; i < 100; ++i) {
    for (const uint32_t ahead : {1025u, 40'000u, 0x7FFF'FFFFu, 0x8000'0000u, 0u - 40'000u}) {
      b.rx(b.request(kFirst.value() + ahead, false));
    }
  }
  const Lines refused = b.lines();
  EXPECT_EQ(refused.size(), 8u);
  for (const std::string& line : refused) EXPECT_EQ(line.rfind("NACK PSN_OOR_WINDOW", 0), 0u);
  EXPECT_EQ(b.count(Count::psn_beyond) + b.count(Count::psn_too_old), 500u);
  EXPECT_EQ(b.client.received.times.size(), 1u);
  EXPECT_EQ(b.pds->usage().rx_blocks, 0u);
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
}

// [T-31, PDS-035] However much a peer says that it tracks, no more is sent than our window holds;
// none stated, and hardly any, end nothing.
TEST(ThreatTest, ABogusRangeOpensNoWindowAndClosesNone) {
  constexpr int kPackets = 400;
  Config config;
  config.tx_window_packets = 16;
  Bench b(config);
  b.client.script.sack_completes = false;
  int sent = static_cast<int>(b.open_initiator(kPackets).size());
  EXPECT_EQ(sent, 16);
  int acked = 0;
  for (const uint8_t mpr : {uint8_t{255}, uint8_t{0}, uint8_t{1}, uint8_t{255}}) {
    b.rx_header(ack_cc(b, acked, mpr));
    ++acked;
    sent += static_cast<int>(b.tx().size());
    EXPECT_EQ(sent - acked, 16) << int{mpr};
  }
  while (acked < kPackets) {
    b.rx_header(ack_cc(b, acked, acked % 2 == 0 ? 1 : 0));
    ++acked;
    b.tx();
  }
  EXPECT_EQ(b.client.responded.size(), size_t{kPackets});
  EXPECT_EQ(b.client.failed.size(), 0u);
}

// [T-47, PDS-142] A peer that refuses, marks as arrived or leaves without an answer thousands of
// packets, one by one, makes us keep one timer for each PDC, and none when they are gone.
TEST(ThreatTest, OutstandingPacketsHaveNoSeparateTimers) {
  constexpr uint32_t kMessages = 4;
  constexpr uint32_t kPackets = 1000;
  Config config;
  config.pdcs_per_key = kMessages;
  config.default_mpr = config.mpr = 16;
  config.tx_window_packets = 2048;
  config.probe = false;
  config.peer_timeout = 1_s;
  cms::Config wide;
  wide.algorithm = cms::Algorithm::fixed;
  wide.window_bytes_max = uint32_t{1} << 30;
  Bench b(config, wide);
  b.client.script.sack_completes = false;
  const PeerId peer = *b.peers.find_or_add(address(9), b.now);
  const FlowId flow = *b.pds->flow(peer, TrafficClass(0), Mode::rud, JobId(1));
  for (uint32_t m = 1; m <= kMessages; ++m) b.client.post(flow, m, kPackets * b.client.mtu);
  std::map<Pdcid, Psn> first;  // by PDC
  uint32_t sent = 0;
  for (const Bench::Out& out : b.tx()) {
    const auto h = out.as<wire::Request>();
    first.emplace(h.spdcid, h.start_psn());
    ++sent;
  }
  EXPECT_EQ(sent, kMessages * kPackets);
  ASSERT_EQ(first.size(), kMessages);
  EXPECT_EQ(b.pds->usage().timers, kMessages);
  for (const auto& [own, start] : first) {
    b.own = own;
    b.rx_header(b.ack(start));
    for (uint32_t i = 1; i < kPackets; ++i) {
      b.now = b.now + 2_us;  // each has a separate deadline
      const NackCode code = i % 3 == 0 ? NackCode::no_resource : NackCode::rcvd_ses_procg;
      if (i % 3 != 1) b.rx_header(b.nack(code, start + i));
    }
    EXPECT_EQ(b.pds->usage().timers, kMessages);
  }
  for (int ms = 0; ms < 20; ++ms) {
    b.elapse(1_ms);
    b.tx();
    EXPECT_LE(b.pds->usage().timers, kMessages);
  }
  b.elapse(10_s);
  b.tx();
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [T-46] Keys that an attacker who knows the seed chose for one bucket of a table are spread under
// another seed. Each table with keys from the network has its own seed, drawn from the seed of the
// FEP.
template <class Key, class Make>
void expect_no_common_place(Make&& make) {
  constexpr uint64_t kPlaces = 256;
  const auto place = [](const Key& key, uint64_t seed) {
    return hash_of(key, seed) >> 32 & (kPlaces - 1);
  };
  std::vector<Key> keys;
  for (uint32_t i = 0; keys.size() < kPlaces; ++i) {
    ASSERT_LT(i, 1'000'000u);
    const Key key = make(i);
    if (place(key, 1) == 7) keys.push_back(key);
  }
  std::map<uint64_t, int> found;
  for (const Key& key : keys) ++found[place(key, 2)];
  // As of 256 balls in 256 boxes: 162 boxes are expected to have one, and none as many as 12.
  EXPECT_GT(found.size(), 130u);
  for (const auto& [at, count] : found) EXPECT_LT(count, 12) << at;
}

TEST(ThreatTest, CollidingKeysCollideUnderOneSeedOnly) {
  expect_no_common_place<FabricAddress>([](uint32_t i) {
    FabricAddress a = address(0);
    a.ip = {10, static_cast<uint8_t>(i >> 16), static_cast<uint8_t>(i >> 8),
            static_cast<uint8_t>(i)};
    return a;
  });
  expect_no_common_place<PeerPdcid>([](uint32_t i) {
    return PeerPdcid{PeerId(i >> 16), Pdcid(static_cast<uint16_t>(i))};
  });
  expect_no_common_place<PeerStart>([](uint32_t i) {
    return PeerStart{{PeerId(i >> 8), Pdcid(static_cast<uint16_t>(i))}, Psn(i << 16)};
  });
  expect_no_common_place<ContextKey>([](uint32_t i) {
    return ContextKey{PeerId(i >> 6), TrafficClass(static_cast<uint8_t>(i & 63))};
  });
  expect_no_common_place<Holder>([](uint32_t i) { return Holder{i >> 12, i & 4095}; });
}

// [T-57] A refusal leaves no state: no PDC, no slot, no block, no record. Pds gets all its memory
// when it is made, so nothing else can grow.
TEST(ThreatTest, BadPacketsLeaveNothingBehind) {
  Config config;
  config.max_pdcs = 32;
  config.gd_entries = 8;
  Bench b(config);
  b.client.script.check_octets = b.client.script.names_are_unique = false;
  b.open_target();
  b.rx(b.request(1001, false));
  b.tx();
  const Usage before = b.pds->usage();
  const size_t used = b.arena.used_bytes();
  b.client.verdict = [](PacketName, const RxRequest&) {
    return Verdict::refused(NackCode::no_ses_msg_avail);
  };
  Rng rng(57);
  for (uint32_t i = 0; i < 100'000; ++i) {
    b.now = b.now + 20_us;
    const bool is_known = rng.chance(0.5);
    b.from = is_known ? address(9, 50000) : address(static_cast<uint8_t>(20 + rng.below(200)));
    wire::Request h = b.request(1002 + static_cast<uint32_t>(rng.below(4000)), rng.chance(0.5));
    if (h.syn) h.psn_offset = static_cast<uint16_t>(rng.below(4096));
    if (h.syn) h.spdcid = Pdcid(static_cast<uint16_t>(100 + rng.below(60'000)));
    h.next_hdr = static_cast<wire::NextHeader>(rng.below(8));
    if (rng.chance(0.3)) h.dpdcid = Pdcid(static_cast<uint16_t>(rng.u32()));
    std::vector<std::byte> octets(h.size() + 8);
    wire::Writer w(octets);
    h.emit(w);
    if (rng.chance(0.3)) octets.resize(rng.below(octets.size()));
    b.rx_octets(std::move(octets));
    if (i % 32 == 0) b.tx();
  }
  b.tx();
  EXPECT_EQ(b.client.received.times.size(), 2u);
  EXPECT_EQ(b.arena.used_bytes(), used);
  EXPECT_EQ(b.pds->usage(), before) << "the PDC from before";
  EXPECT_GT(b.count(Count::pdc_unused), 1000u);
  EXPECT_GT(b.count(Count::drop_malformed), 1000u);
}

// [T-58, PDS-149] A PDC fails while its packets are in all possible states: under way, lost,
// delayed, SACKed, in execution, not sent. Each fails once, and later answers complete none.
TEST(ThreatTest, APacketThatFailedWithItsPdcNeverCompletes) {
  Config config;
  config.tx_window_packets = 8;
  config.probe = false;
  Bench b(config);
  b.client.script.sack_completes = false;
  b.open_initiator(12);
  b.rx_header(b.ack(b.start));
  b.tx();
  b.rx_header(b.nack(NackCode::no_ses_msg_avail, b.start + 1));
  b.rx_header(b.nack(NackCode::trimmed, b.start + 2));
  b.rx_header(ack_cc(b, 0, 8, 0b100));
  b.rx_header(b.nack(NackCode::rcvd_ses_procg, b.start + 4));
  b.rx_header(b.nack(NackCode::exp_nack_fatal, b.start + 5));
  std::map<PacketName, int> all;
  for (uint32_t p = 1; p <= 8; ++p) all[{1, p * 1024}] = 1;
  EXPECT_EQ(b.client.failed, all);
  EXPECT_EQ(b.client.aborted.size(), 1u) << "the rest of the message";

  for (int p = 1; p <= 8; ++p) {
    b.rx_header(b.nack(NackCode::exp_nack_fatal, b.start + p));
    b.rx_header(b.ack(b.start + p));
    b.rx_header(ack_cc(b, 0, 8, ~uint64_t{0}));
    b.tx();
    b.elapse(10_ms);
  }
  EXPECT_EQ(b.client.failed, all);
  EXPECT_EQ(b.client.responded.size(), 1u);
  EXPECT_EQ(b.client.aborted.size(), 1u);
  b.elapse(70_s);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [T-57, PDS-112] What the client began to track before it refused the packet keeps its PDC: were
// it dropped with the SYN, the message's place would stay taken for a PDC that is gone, once for
// each resend. A packet that left nothing there leaves nothing here either.
TEST(ThreatTest, ARefusedSynKeepsThePdcOfAMessageThatBegan) {
  for (const bool has_begun : {false, true}) {
    SCOPED_TRACE(has_begun);
    Bench b;
    b.client.script.has_open = has_begun;
    b.client.verdict = [](PacketName, const RxRequest&) {
      return Verdict::refused(NackCode::no_ses_msg_avail);
    };
    b.rx(b.request(kFirst.value()));
    const auto refusal = b.tx();
    ASSERT_EQ(refusal.size(), 1u);
    EXPECT_EQ(refusal[0].as<wire::Nack>().nack_code, NackCode::no_ses_msg_avail);
    EXPECT_EQ(b.pds->open_pdcs(), has_begun ? 1u : 0u);
    EXPECT_EQ(b.count(Count::pdc_unused), has_begun ? 0u : 1u);
    EXPECT_EQ(b.client.closed.size(), 0u);

    b.client.verdict = nullptr;
    wire::Request again = b.request(kFirst.value());
    again.retx = true;
    b.rx(again);
    const auto out = b.tx();
    ASSERT_EQ(out.size(), 1u);
    EXPECT_EQ(out[0].as<wire::Ack>().cack_psn, kFirst);
    EXPECT_EQ(out[0].as<wire::Ack>().spdcid == refusal[0].as<wire::Nack>().spdcid, has_begun);
    EXPECT_EQ(b.count(Count::pdc_opened_target), has_begun ? 1u : 2u);
    EXPECT_EQ(b.client.received.times.size(), 1u);
  }
}

}  // namespace
}  // namespace uet::pds::test
