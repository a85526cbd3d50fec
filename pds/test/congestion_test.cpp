// Reports of PDS to congestion control, and how PDS obeys it: seen by the packets that leave and by
// the window of NSCC. All numbers by hand: a packet of the bench has 12 + 8 + 1024 octets, 1092
// nominal ones; a full one of that size of payload may have 1128.
#include "pds/test/rudi_bench.h"

namespace uet::pds::test {
namespace {

using wire::NackCode;

constexpr uint32_t kPacket = 12 + 8 + 1024 + 8 + 40;

class CongestionTest : public ::testing::Test {
 protected:
  // Each packet has its own EV, so that the order of arrival does not indicate a loss.
  static Config config() {
    Config c;
    c.payload_mtu = 1024;
    c.packets_per_entropy = 1;
    return c;
  }
  // 100 Gbit/s and 12 us: 150,000 octets are on the way, and the window begins with 225,000.
  static cms::Config nscc() {
    cms::Config c;
    c.mtu_bytes = kPacket;
    c.base_rtt_probe = false;
    return c;
  }
  static cms::Config probing() {
    cms::Config c = nscc();
    c.base_rtt_probe = true;
    return c;
  }
  // A window of `packets` packets, which does not grow.
  static cms::Config window_of(uint32_t packets) {
    cms::Config c = nscc();
    c.window_bytes_max = packets * kPacket;
    return c;
  }
  static wire::AckCc ack_cc(const Bench& b, int cack, wire::NsccState state) {
    wire::AckCc h;
    h.ack = b.ack(b.start + cack);
    h.ack.type = wire::PdsType::ack_cc;
    h.mpr = 8;
    h.sack_psn_offset = 1;
    state.ooo_count = 0xFFFF;
    h.state = state.pack();
    return h;
  }
  // An ACK of all packets up to `cack`; its sender reports `units` as received.
  static wire::AckCc report(const Bench& b, int cack, uint32_t units) {
    return ack_cc(b, cack, {.rcvd_bytes = units});
  }
  static uint64_t window(const Bench& b) {
    PdcSnapshot s;
    EXPECT_EQ(b.pds->snapshot({&s, 1}, b.now), 1u);
    return s.window_bytes;
  }
  // Packets that leave once that has come.
  template <class Header>
  static size_t after(Bench& b, const Header& h) {
    b.rx_header(h);
    return b.tx().size();
  }
  static uint32_t probes(Bench& b) {
    uint32_t n = 0;
    for (const Bench::Out& o : b.tx()) {
      const bool is_probe = o.type() == wire::PdsType::control &&
                            o.as<wire::Control>().ctl_type == wire::CtlType::probe;
      EXPECT_EQ(o.dscp == 46, is_probe) << "it does not stand behind data";
      n += is_probe ? 1 : 0;
    }
    return n;
  }
  // A flow toward a host, with more to send than a window admits.
  static void post(Bench& b, uint32_t handle, Mode mode, uint8_t tc = 0, uint8_t to = 9) {
    const auto peer = b.peers.find_or_add(address(to), b.now);
    const auto flow = b.pds->flow(*peer, TrafficClass(tc), mode, JobId(handle));
    b.client.post(*flow, handle, 40 * b.client.mtu);
  }
};

// --- what is in flight ---

// [CMS-042, CMS-065, CMS-066, CMS-070, CMS-030] The received count of the peer decides, in units of
// 256 octets rounded up, and not the acknowledged packets. It has received 13 units of 17,472
// octets, 3,328 octets; with the remaining 14,144 there is room for three packets.
TEST_F(CongestionTest, UnreportedOctetsAreInFlight) {
  Bench b(config(), window_of(16));
  ASSERT_EQ(b.open_initiator(100).size(), 16u);
  EXPECT_EQ(after(b, report(b, 0, 13)), 3u);
  EXPECT_EQ(after(b, report(b, 1, 5)), 0u) << "an ACK that was overtaken changes nothing";
  EXPECT_EQ(after(b, report(b, 2, 17)), 0u) << "17,420 - 1,024 + 1,092 are 16 too many";
  EXPECT_EQ(after(b, report(b, 3, 18)), 1u);
}

// [CMS-191] If a peer reports no count, acknowledged packets have arrived. If it does, its next
// report counts.
TEST_F(CongestionTest, APlainAckReportsTheAcknowledgedOctets) {
  Bench b(config(), window_of(16));
  ASSERT_EQ(b.open_initiator(100).size(), 16u);
  EXPECT_EQ(after(b, b.ack(b.start + 3)), 4u);
  EXPECT_EQ(after(b, report(b, 4, 5)), 1u);
  EXPECT_EQ(after(b, b.ack(b.start + 8)), 0u);
  EXPECT_EQ(after(b, report(b, 8, 5 + 18)), 4u) << "4,608 octets and the 188 that were more before";
}

// [CMS-198, CMS-191] A peer that claims to have received more than was sent gets no room for that.
// The packets that its ACKs acknowledge count instead, from then on: a possible count is not used
// either.
TEST_F(CongestionTest, AnImpossibleCountChangesNothing) {
  Bench b(config(), window_of(16));
  ASSERT_EQ(b.open_initiator(200).size(), 16u);
  EXPECT_EQ(after(b, report(b, -1, 70)), 0u) << "16 packets are 69 units";
  EXPECT_EQ(after(b, report(b, -1, 0x7F'FFFF)), 0u);
  EXPECT_EQ(b.count(Count::rcvd_impossible), 2u);
  EXPECT_EQ(after(b, report(b, 3, 0x7F'FFFF)), 4u);
  EXPECT_EQ(after(b, report(b, 7, 35)), 4u);
  EXPECT_EQ(after(b, report(b, 7, 104)), 0u) << "24 packets are 103 units";
  EXPECT_EQ(b.count(Count::rcvd_impossible), 5u);
  EXPECT_EQ(b.pds->usage().inflight_bytes, 16u * kPacket);
}

// [CMS-198] An impossible count of an ACK for 32 packets, which were reported before: what is in
// flight, 16 packets, is all that it can free.
TEST_F(CongestionTest, AnImpossibleCountFreesNoMoreThanIsInFlight) {
  Bench b(config(), window_of(16));
  ASSERT_EQ(b.open_initiator(200).size(), 16u);
  EXPECT_EQ(after(b, report(b, -1, 69)), 16u) << "all may have arrived";
  EXPECT_EQ(after(b, report(b, -1, 137)), 16u);
  EXPECT_EQ(after(b, report(b, 31, 0x7F'FFFF)), 16u);
  EXPECT_EQ(b.count(Count::rcvd_impossible), 1u);
}

// [CMS-042, CMS-065] A peer may claim early whatever was sent; it gets a window each time, and no
// more. When nothing is outstanding, what is in flight begins anew.
TEST_F(CongestionTest, APeerThatClaimsEarlyGetsOneWindow) {
  Bench b(config(), window_of(16));
  ASSERT_EQ(b.open_initiator(200).size(), 16u);
  EXPECT_EQ(after(b, report(b, -1, 69)), 16u);
  EXPECT_EQ(after(b, report(b, -1, 137)), 16u);
  EXPECT_EQ(after(b, report(b, 47, 205)), 16u);
  EXPECT_EQ(b.count(Count::rcvd_impossible), 0u);
}

// [CMS-069, CMS-094, CMS-096] A cut packet is in flight no more, and takes its size from the
// window: its resend waits. When another one has arrived it goes, before anything new.
TEST_F(CongestionTest, ResendsObeyTheWindowAndGoFirst) {
  Bench b(config(), window_of(16));
  ASSERT_EQ(b.open_initiator(100).size(), 16u);
  EXPECT_EQ(after(b, b.nack(NackCode::trimmed, b.start)), 0u);
  b.rx_header(b.ack(b.start - 1, 2));
  EXPECT_EQ(b.lines(), (std::vector<std::string>{"REQ psn +0 retx ar clear -1"}));
}

// [PDS-240] When a PDC fails, its octets in flight leave the window, which has room for other PDCs.
TEST_F(CongestionTest, AFailedPdcGivesItsRoomBack) {
  Bench b(config(), window_of(16));
  ASSERT_EQ(b.open_initiator(16).size(), 16u);
  post(b, 2, Mode::rud);
  ASSERT_EQ(b.tx().size(), 0u);
  b.rx_header(b.nack(NackCode::pdc_hdr_mismatch, b.start));
  EXPECT_EQ(b.tx().size(), 16u);
  EXPECT_EQ(b.pds->usage().inflight_bytes, 16u * kPacket);
}

// --- reports ---

// [CMS-019, CMS-077 .. CMS-081] One ACK acknowledges four packets and shows two more. Its round
// trip is 48 us more than 12, so that the window of 17,472 octets grows by 5 x 1,092 x 6,656 /
// 17,472 = 2,080 octets for the 26 units that have arrived, and by 0.15 x 1,092; or is halved where
// it says that the packet was marked, and then gets the latter only.
TEST_F(CongestionTest, AnAckMakesOneReport) {
  for (const bool marked : {false, true}) {
    cms::Config cms = nscc();
    cms.start_slowly = true;
    cms.initial_window_packets = 16;
    Bench b(config(), cms);
    ASSERT_EQ(b.open_initiator(100).size(), 16u);
    b.elapse(60_us);
    wire::AckCc h = report(b, 3, 26);
    h.ack.m = marked;
    h.sack_psn_offset = 2;
    h.sack_bitmap = 0b11;
    b.rx_header(h);
    EXPECT_EQ(window(b), marked ? 8'899u : 19'715u);
    EXPECT_EQ(b.pds->usage().inflight_bytes, 10u * kPacket);
  }
}

// [CMS-019, CMS-070, CMS-194] The first of 16 packets counts as lost, because a switch cut it, or
// because the peer holds many packets out of order. The window and what is in flight are 15
// packets. Before its resend may go, the packet arrives with another one, 9 units: it was in
// flight. An inferred loss cost the window nothing; a cut did, and another copy has arrived.
TEST_F(CongestionTest, APacketThatOnlySeemedLostCountsOnce) {
  cms::Config cms = window_of(16);
  cms.trimming = false;
  for (const bool is_cut : {false, true}) {
    Bench b(config(), cms);
    ASSERT_EQ(b.open_initiator(100).size(), 16u);
    b.elapse(1_us);
    wire::AckCc h = report(b, -1, 0);
    wire::NsccState state;
    state.ooo_count = 30;
    h.state = state.pack();
    h.sack_psn_offset = 2;
    h.sack_bitmap = 1;
    EXPECT_EQ(is_cut ? after(b, b.nack(NackCode::trimmed, b.start)) : after(b, h), 0u);
    EXPECT_EQ(b.count(Count::retx_ooo), is_cut ? 0u : 1u);
    EXPECT_EQ(window(b), 15u * kPacket);
    EXPECT_EQ(after(b, report(b, 1, 9)), is_cut ? 1u : 2u);
    EXPECT_EQ(window(b), (is_cut ? 15u : 16u) * kPacket);
    EXPECT_EQ(b.pds->usage().inflight_bytes, (is_cut ? 15u : 16u) * kPacket);
  }
}

// [CMS-036, CMS-071, CMS-074] A round trip of 10.24 us, of which the packet was inside the peer for
// 16 x 128 ns: 8.192 us carry 102,400 octets. Without that time it would be 128,000.
TEST_F(CongestionTest, TheTimeInsideThePeerIsSubtracted) {
  for (const uint16_t service : {uint16_t{16}, uint16_t{0}}) {
    Bench b(config(), nscc());
    b.open_initiator(2);
    EXPECT_EQ(window(b), 225'000u);
    b.elapse(10'240_ns);
    b.rx_header(ack_cc(b, 0, {.service_time = service, .rcvd_bytes = 5}));
    EXPECT_EQ(window(b), service == 16 ? 102'400u * 3 / 2 : 128'000u * 3 / 2);
  }
}

// [CMS-036] The longest time that the field can hold means "or more": the rest is no round trip of
// the network, here 9 ms less 8.4.
TEST_F(CongestionTest, ATimeThatIsTooLongToTellLeavesTheRoundTripUnknown) {
  for (const uint16_t service : {uint16_t{0xFFFE}, uint16_t{0xFFFF}}) {
    cms::Config cms = nscc();
    cms.base_rtt = 5_ms;
    cms.link_mbps = 1000;
    Bench b(config(), cms);
    b.open_initiator(2);
    b.now = b.now + 9_ms;  // no time-out is looked at
    b.rx_header(ack_cc(b, 0, {.service_time = service, .rcvd_bytes = 5}));
    EXPECT_EQ(window(b) == 937'500, service == 0xFFFF) << window(b);
  }
}

// [CMS-030, CMS-039, CMS-040, CMS-112, CMS-113] A peer that has received four units asks with 64
// for less: 17,472 - 1,024 are in flight, and 64 / 128 of what arrived is taken away. It takes that
// back.
TEST_F(CongestionTest, ThePeersOwnPressureIsHeeded) {
  Bench b(config(), window_of(16));
  ASSERT_EQ(b.open_initiator(100).size(), 16u);
  b.rx_header(ack_cc(b, 0, {.rcv_cwnd_pend = 64, .rcvd_bytes = 4}));
  EXPECT_EQ(window(b), 17'472u - 1'024 - 512);
  b.rx_header(ack_cc(b, 1, {.rc = true, .rcvd_bytes = 4}));
  EXPECT_EQ(window(b), 17'472u);
}

// [CMS-029] What follows is read as the state of NSCC only where the ACK says so.
TEST_F(CongestionTest, AnotherStateIsNotReadAsThatOfNscc) {
  for (const int type : {1, 2, 15}) {
    Bench b(config(), window_of(16));
    ASSERT_EQ(b.open_initiator(100).size(), 16u);
    wire::AckCc h = report(b, 0, 13);
    h.cc_type = static_cast<wire::CcType>(type);
    EXPECT_EQ(after(b, h), 1u) << "the packet that is acknowledged";
  }
}

// [CMS-020, CMS-025, CMS-071, CMS-094 .. CMS-098] What a NACK says: its code, and the round trip of
// the transmission that it answers, in steps of 128 ns. 8.192 us carry 102,400 octets, one step
// more carries 104,000.
TEST_F(CongestionTest, ANackReportsItsCodeAndItsRoundTrip) {
  const struct {
    NackCode code;
    int64_t ns;
    bool retx;
    uint64_t window;
  } rows[] = {
      {NackCode::trimmed, 8'192, false, 153'600 - kPacket},
      {NackCode::trimmed, 8'320, false, 156'000 - kPacket},
      {NackCode::trimmed, 8'192, true, 225'000 - kPacket},
      {NackCode::trimmed_lasthop, 8'192, false, 153'600 - kPacket},
      {NackCode::rcvr_infer_loss, 8'192, false, 153'600},
      {NackCode::rcvr_infer_loss, 8'192, true, 225'000},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(testing::Message() << wire::name(row.code) << " " << row.ns << " " << row.retx);
    Bench b(config(), nscc());
    b.open_initiator(2);
    b.elapse(Duration::nanoseconds(row.ns));
    wire::Nack h = b.nack(row.code, b.start);
    h.retx = row.retx;
    b.rx_header(h);
    EXPECT_EQ(window(b), row.window);
    EXPECT_EQ(b.pds->usage().inflight_bytes, kPacket);
  }
}

// [CMS-025, CMS-071] Of a packet that was sent twice the answer to the second measures; of one that
// was sent three times none does.
TEST_F(CongestionTest, ThePacketsRecordCountsItsTransmissions) {
  for (const int resends : {1, 2}) {
    Bench b(config(), nscc());
    b.open_initiator(2);
    for (int i = 0; i < resends; ++i) {
      EXPECT_EQ(after(b, b.nack(NackCode::rcvr_infer_loss, b.start)), 1u);
    }
    b.elapse(8'192_ns);
    wire::Ack h = b.ack(b.start);
    h.retx = true;
    b.rx_header(h);
    EXPECT_EQ(window(b), resends == 1 ? 153'600u : 225'000u);
  }
}

// --- when packets leave ---

// [CMS-017, CMS-068] The last packet that fits into the window asks for an ACK; below 16 KiB each
// packet does. The next packet is assumed to be full, so the fifteenth asks as well.
TEST_F(CongestionTest, TheLastPacketsOfAWindowAskForAnAck) {
  for (const uint32_t packets : {16u, 15u}) {
    Bench b(config(), window_of(packets));
    const auto out = b.open_initiator(100);
    ASSERT_EQ(out.size(), packets);
    for (uint32_t i = 0; i < packets; ++i) {
      EXPECT_EQ(out[i].as<wire::Request>().ar, packets == 15 || i >= 14) << i;
    }
  }
}

// [CMS-013] A window of 64 packets in a round trip of 1.024 ms is a packet every 16 us, with four
// ahead of their time; the timer of the context brings back waiting PDCs.
TEST_F(CongestionTest, PacingIsObeyed) {
  cms::Config cms = window_of(64);
  cms.algorithm = cms::Algorithm::fixed;
  cms.pacing_percent = 100;
  cms.pacing_burst_bytes = 4 * kPacket;
  Bench b(config(), cms);
  ASSERT_EQ(b.open_initiator(1).size(), 1u);
  b.elapse(1'024_us);
  b.rx_header(b.ack(b.start));
  b.client.post(b.flow, 2, 100 * b.client.mtu);
  EXPECT_EQ(b.tx().size(), 5u);
  b.elapse(15_us);
  EXPECT_EQ(b.tx().size(), 0u);
  b.elapse(3_us);
  EXPECT_EQ(b.tx().size(), 1u);
  b.elapse(160_us);
  EXPECT_EQ(b.tx().size(), 5u) << "what was not used is not saved up";
}

// [CMS-193] A window that is full holds back neither ACKs nor NACKs nor control packets, and none
// of them takes room in it; data that goes back to a peer waits like any other.
TEST_F(CongestionTest, OnlyDataIsControlled) {
  Bench b(config(), window_of(16));
  b.from = address(9);
  ASSERT_EQ(b.open_initiator(40).size(), 16u);
  b.rx(b.request(kFirst.value()));
  auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  ASSERT_EQ(out[0].type(), wire::PdsType::ack);
  b.own = out[0].as<wire::Ack>().spdcid;
  b.prove();
  wire::Request stranger = b.request(1001, false);
  stranger.dpdcid = Pdcid(4711);
  b.rx(stranger);
  wire::Control probe = b.control(wire::CtlType::probe, 1000, 1000);
  b.rx_header(probe);
  out = b.tx();
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[0].type(), wire::PdsType::nack);
  EXPECT_EQ(out[1].type(), wire::PdsType::ack_cc);
  b.client.messages[2] = {40 * b.client.mtu, 0, false, wire::NextHeader::response_data};
  EXPECT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(2)));
  EXPECT_EQ(b.tx().size(), 0u);
  EXPECT_EQ(b.pds->usage().inflight_bytes, 16u * kPacket);
}

// --- which context ---

// [CMS-001, CMS-002, CMS-003, CMS-004] A window of 16 packets for each peer and class, shared by
// all its PDCs; a separate one for each ordered flow; none for RUDI.
TEST_F(CongestionTest, PdcsTowardOnePeerAndClassShareAWindow) {
  const auto sent = [&](auto&& second) {
    Bench b(config(), window_of(16));
    b.client.script.names_are_unique = false;
    post(b, 1, Mode::rud);
    EXPECT_EQ(b.tx().size(), 16u);
    second(b);
    return b.tx().size();
  };
  EXPECT_EQ(sent([](Bench& b) { post(b, 2, Mode::rud); }), 0u);
  EXPECT_EQ(sent([](Bench& b) { post(b, 2, Mode::rud, 8); }), 16u) << "another class";
  EXPECT_EQ(sent([](Bench& b) { post(b, 2, Mode::rud, 0, 8); }), 16u) << "another peer";
  EXPECT_EQ(sent([](Bench& b) { post(b, 2, Mode::rod); }), 16u);
  EXPECT_EQ(sent([](Bench& b) { post(b, 2, Mode::rudi); }), 40u);
  EXPECT_EQ(sent([](Bench& b) {
              post(b, 2, Mode::rod);
              post(b, 3, Mode::rod);
            }),
            32u);
}

// [CMS-004, CMS-005] Room in the window of one ordered flow gives none to the other, and the PDC
// continues in the context in which it began.
TEST_F(CongestionTest, APdcStaysInItsContext) {
  Bench b(config(), window_of(16));
  post(b, 1, Mode::rod);
  ASSERT_EQ(b.tx().size(), 16u);
  post(b, 2, Mode::rod);
  for (const size_t sent : {16u, 16u, 8u}) {
    const auto out = b.tx();
    ASSERT_EQ(out.size(), sent);
    for (const Bench::Out& o : out) {
      b.own = out[0].as<wire::Request>().spdcid;
      EXPECT_EQ(o.as<wire::Request>().spdcid, b.own);
    }
    b.rx_header(b.ack(out.back().as<wire::Request>().psn));
  }
  EXPECT_EQ(b.client.responded.size(), 40u);
  EXPECT_EQ(b.pds->usage().inflight_bytes, 16u * kPacket);
}

// [CMS-008, CMS-105] The next context toward the same peer begins with the round trip that was
// measured before.
TEST_F(CongestionTest, TheRoundTripIsRememberedWithThePeer) {
  Bench b(config(), probing());
  b.open_initiator(1);
  b.elapse(8'192_ns);
  b.rx_header(b.ack(b.start));
  EXPECT_EQ(window(b), 153'600u);
  b.pds->release(b.flow);
  b.pds->close_all(true, b.now);
  b.tx();
  ASSERT_EQ(b.pds->usage(), Usage{});
  b.client.messages.clear();
  b.client.responded.clear();
  b.open_initiator(300);
  EXPECT_EQ(window(b), 153'600u);
  b.rx_header(b.ack(b.start));
  EXPECT_EQ(probes(b), 0u) << "it is known";
}

// --- the Probe for the round trip ---

// [CMS-106, CMS-108] The first ACK on a new context, while there is more to send, brings one Probe.
// Its answer after 8.192 us, of which 8 x 128 ns were spent in the peer, says that 91,200 octets
// are on the way: it is rounded up to the next 128 ns. The Probe may have overtaken packets that
// its answer does not show: nothing is lost.
TEST_F(CongestionTest, AProbeMeasuresTheRoundTripOfANewContext) {
  Bench b(config(), probing());
  ASSERT_GT(b.open_initiator(300).size(), 200u);
  b.elapse(40'960_ns);
  EXPECT_EQ(b.tx().size(), 0u) << "not before the peer has answered";
  b.rx_header(b.ack(b.start));
  const auto out = b.tx();
  ASSERT_EQ(out.at(0).type(), wire::PdsType::control);
  const auto probe = out[0].as<wire::Control>();
  ASSERT_EQ(probe.ctl_type, wire::CtlType::probe);
  EXPECT_EQ(window(b), 225'000u);
  b.elapse(8'192_ns);
  wire::AckCc h = ack_cc(b, 0, {.service_time = 8, .rcvd_bytes = 5});
  h.ack.p = true;
  h.ack.probe_opaque = probe.probe_opaque;
  b.rx_header(h);
  EXPECT_EQ(window(b), 91'200u * 3 / 2);
  EXPECT_EQ(b.count(Count::retx_tail), 0u);
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(probes(b), 0u) << "once";
}

// [CMS-106, CMS-107] None for a peer that refused one, where the round trip is known, where little
// is left to send, where they are off, or where another algorithm would not heed it.
TEST_F(CongestionTest, NoProbeWhereItIsNotWanted) {
  const auto count = [](uint32_t packets, const cms::Config& cms, auto&& before) {
    Bench b(config(), cms);
    FabricAddress to = b.from;
    to.port = kUetPort;
    before(b.peers[*b.peers.find_or_add(to, b.now)]);
    b.open_initiator(packets);
    b.rx_header(b.ack(b.start));
    return probes(b);
  };
  const auto nothing = [](Peer&) {};
  EXPECT_EQ(count(300, probing(), nothing), 1u);
  EXPECT_EQ(count(300, probing(), [](Peer& p) { p.no_probe = true; }), 0u);
  EXPECT_EQ(count(300, probing(), [](Peer& p) { p.base_rtt_ns = 9'000; }), 0u);
  EXPECT_EQ(count(200, probing(), nothing), 0u) << "all of it is in the first window";
  EXPECT_EQ(count(300, nscc(), nothing), 0u);
  cms::Config other = probing();
  other.window_bytes_max = 200 * kPacket;
  other.algorithm = cms::Algorithm::fixed;
  EXPECT_EQ(count(300, other, nothing), 0u);
}

}  // namespace
}  // namespace uet::pds::test
