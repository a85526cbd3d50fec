// The rows of PDS 8.2 (what makes an ACK go) and of PDS 12 (what makes a packet count as lost), one
// test each, packet by packet.
#include "pds/test/table_bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;

// A request that asks for nothing.
wire::Request quiet(const TableBench& b, uint32_t psn) {
  wire::Request h = b.request(psn, false);
  h.ar = false;
  return h;
}

struct AckRow {
  const char* id;
  void (*configure)(Config&);
  void (*happens)(TableBench&);  // request 1000 has opened the PDC
  Count trigger;
  Lines expected;
};

const AckRow kAckRows[] = {
    // [PDS-A1]
    {"A1 AR",
     [](Config&) {},
     [](TableBench& b) { b.rx(b.request(1001, false)); },
     Count::ack_ar,
     {"ACK cack 1001 ack 1001"}},
    // [PDS-A3]
    {"A3 RETX",
     [](Config&) {},
     [](TableBench& b) {
       wire::Request h = quiet(b, 1001);
       h.retx = true;
       b.rx(h);
     },
     Count::ack_retx,
     {"ACK cack 1001 ack 1001 retx"}},
    // [PDS-A4]
    {"A4 duplicate with RETX",
     [](Config&) {},
     [](TableBench& b) {
       wire::Request h = quiet(b, 1000);
       h.retx = true;
       b.rx(h);
     },
     Count::ack_duplicate,
     {"ACK cack 1000 ack 1000 retx"}},
    // [PDS-A5]
    {"A5 response that is not the default",
     [](Config&) {},
     [](TableBench& b) {
       b.client.verdict = [](PacketName, const RxRequest&) { return StubClient::plain_answer(); };
       b.rx(quiet(b, 1001));
     },
     Count::ack_response,
     {"ACK cack 1000 ack 1001 req CLEAR sack 1001 ses 12"}},
    // [PDS-A6]
    {"A6 CE",
     [](Config&) {},
     [](TableBench& b) {
       b.marks.ecn = Ecn::ce;
       b.rx(quiet(b, 1001));
     },
     Count::ack_ecn,
     {"ACK cack 1001 ack 1001 m"}},
    // [PDS-A7]
    {"A7 octets",
     [](Config& c) { c.ack_gen_trigger_bytes = 4096; },
     [](TableBench& b) {
       b.rx(quiet(b, 1001), 3000);
       EXPECT_EQ(b.lines(), Lines{});
       b.rx(quiet(b, 1002), 10);  // counts 1024
       EXPECT_EQ(b.lines(), Lines{});
       b.rx(quiet(b, 1003), 10);
     },
     Count::ack_bytes,
     {"ACK cack 1003 ack 1003"}},
    // [PDS-A8]
    {"A8 every packet",
     [](Config& c) { c.ack_per_packet = true; },
     [](TableBench& b) { b.rx(quiet(b, 1001)); },
     Count::ack_per_packet,
     {"ACK cack 1001 ack 1001"}},
    // [PDS-A9]
    {"A9 the last hole below an AR packet closes",
     [](Config&) {},
     [](TableBench& b) {
       b.rx(b.request(1003, false));
       b.lines();
       b.rx(quiet(b, 1002));
       EXPECT_EQ(b.lines(), Lines{}) << "1001 is missing";
       b.rx(quiet(b, 1001));
     },
     Count::ack_hole_closed,
     {"ACK cack 1003 ack 1001"}},
    // [PDS-A10] Taken as one that has AR.
    {"A10 NOOP, whatever its AR",
     [](Config&) {},
     [](TableBench& b) {
       wire::Control h = b.control(CtlType::noop, 1001);
       h.ar = false;
       b.rx_header(h);
     },
     Count::ack_ar,
     {"ACK cack 1001 ack 1001"}},
    // [PDS-A10]
    {"A10 ACK Request",
     [](Config&) {},
     [](TableBench& b) { b.rx_header(b.control(CtlType::ack_req, 1000)); },
     Count::ack_control,
     {"ACK cack 1000 ack 1000"}},
    // [PDS-A10]
    {"A10 Close command",
     [](Config&) {},
     [](TableBench& b) { b.rx_header(b.control(CtlType::close_cmd, 1001)); },
     Count::ack_after_close,
     {"ACK cack 1001 ack 1001"}},
};

TEST(AckTable, EachRowSendsOneAck) {
  for (const AckRow& row : kAckRows) {
    SCOPED_TRACE(row.id);
    Config config;
    row.configure(config);
    TableBench b(config);
    b.to_target();
    const uint64_t before = b.count(row.trigger);
    row.happens(b);
    EXPECT_EQ(b.lines(), row.expected);
    EXPECT_EQ(b.count(row.trigger), before + 1);
    EXPECT_EQ(b.lines(), Lines{});
  }
}

// No row applies: no packet leaves, and no timer sends one. [PDS-083]
TEST(AckTable, NoRowNoAck) {
  TableBench b;
  b.to_target();
  b.rx(quiet(b, 1001));
  b.elapse(1_s);
  EXPECT_EQ(b.lines(), Lines{});
}

// [PDS-A2] The first packet with SYN, without AR; not the next one.
TEST(AckTable, A2FirstSynIsAcked) {
  TableBench b;
  for (const uint32_t psn : {1000u, 1001u}) {
    wire::Request h = b.request(psn);
    h.ar = false;
    b.rx(h);
    EXPECT_EQ(b.lines(), psn == 1000 ? Lines{"ACK cack 1000 ack 1000"} : Lines{});
  }
  EXPECT_EQ(b.count(Count::ack_syn), 1u);
}

// [PDS-A6] Not when ACK_On_ECN is off.
TEST(AckTable, A6IsASetting) {
  Config config;
  config.ack_on_ecn = false;
  TableBench b(config);
  b.to_target();
  b.marks.ecn = Ecn::ce;
  b.rx(quiet(b, 1001));
  EXPECT_EQ(b.lines(), Lines{});
}

// [PDS-A9] Above holes that stay, each fourth arrival.
TEST(AckTable, A9EachFourthArrivalBelowAnArPacket) {
  TableBench b;
  b.to_target();
  b.rx(b.request(1100, false));  // with AR: the first arrival
  b.lines();
  std::vector<uint32_t> acked;
  for (uint32_t psn = 1010; psn < 1020; ++psn) {
    b.rx(quiet(b, psn));
    if (!b.lines().empty()) acked.push_back(psn);
  }
  EXPECT_EQ(acked, (std::vector<uint32_t>{1012, 1016}));
}

// [PDS-A10] The answer to a Probe has a special form.
TEST(AckTable, A10ProbeIsAnswered) {
  TableBench b;
  b.to_target();
  b.rx_header(b.control(CtlType::probe, 1000, 1001));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(out[0].as<wire::AckCc>().ack.p);
  EXPECT_EQ(b.count(Count::ack_probe), 1u);
}

// [PDS-A11] An ACK reports a range of half or less at once; a Close Request reports a wanted close
// at once, so it never waits for an ACK.
TEST(AckTable, A11UrgentNewsIsSentAtOnce) {
  TableBench b;
  b.to_target();
  ASSERT_TRUE(b.pds->set_mpr(4).ok());
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<wire::AckCc>().mpr, 4);
  EXPECT_EQ(b.count(Count::ack_mpr), 1u);
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_REQ psn 1000 ar payload 0"}));
}

// --- PDS 12 ---

class LossTable : public ::testing::Test {
 protected:
  // PSNs +0 to +packets-1 are out, +0 is answered.
  static void send(TableBench& b, uint32_t packets) {
    b.client.script.sack_completes = false;
    b.client.post(b.flow(), 1, packets * b.client.mtu);
    const auto out = b.tx();
    ASSERT_EQ(out.size(), packets);
    b.own = out[0].as<wire::Request>().spdcid;
    b.start = out[0].as<wire::Request>().psn;
    b.rx_header(b.ack(b.start));
  }
  // Cumulative ACK +0; bit i is +1+i.
  static void sack(TableBench& b, uint64_t bits) {
    wire::AckCc h;
    h.ack = b.ack(b.start);
    h.ack.type = wire::PdsType::ack_cc;
    h.mpr = 8;
    h.sack_psn_offset = 1;
    h.sack_bitmap = bits;
    b.rx_header(h);
  }
};

// [PDS-L1] A NACK says so.
TEST_F(LossTable, L1Nack) {
  TableBench b;
  send(b, 3);
  b.rx_header(b.nack(NackCode::trimmed, b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_EQ(b.count(Count::retx_nack), 1u);
}

// [PDS-L2] Older than the RTO, neither acked nor sacked; not a moment before.
TEST_F(LossTable, L2TimeOut) {
  TableBench b;
  send(b, 2);
  b.elapse(5_ms - 2_us);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(4_us);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_EQ(b.count(Count::retx_rto), 1u);
}

// [PDS-L3, PDS-143] As many out of order as the threshold, on EVs that prove nothing; where
// switches trim their number proves nothing, either.
TEST_F(LossTable, L3OutOfOrderCount) {
  for (const bool trimming : {false, true}) {
    Config config;
    config.packets_per_entropy = 1;
    cms::Config cms;
    cms.algorithm = cms::Algorithm::fixed;
    cms.trimming = trimming;
    cms.window_bytes_max = 10 * (12 + 44 + 4096 + 48);  // ten packets: the threshold is 15
    TableBench b(config, cms);
    send(b, 20);
    b.elapse(1_us);
    sack(b, 0x7FFE);  // +2 to +15: fourteen
    EXPECT_EQ(b.lines(), Lines{});
    sack(b, 0xFFFE);  // fifteen
    EXPECT_EQ(b.lines(), trimming ? Lines{} : (Lines{"REQ psn +1 retx ar clear -1"}));
    EXPECT_EQ(b.count(Count::retx_ooo), trimming ? 0u : 1u);
  }
}

// [PDS-L3, PDS-144] On one path three are enough. The order of a resent packet is no evidence, so
// here only the count decides.
TEST_F(LossTable, L3ThreeOnOnePath) {
  for (const uint32_t threshold : {3u, 4u}) {
    Config config;
    EXPECT_EQ(config.ooo_packets_single_path, 3u);
    config.ooo_packets_single_path = threshold;
    TableBench b(config);
    b.client.post(b.flow(Mode::rod), 1, 5 * b.client.mtu);
    const auto out = b.tx();
    b.own = out.at(0).as<wire::Request>().spdcid;
    b.start = out[0].as<wire::Request>().psn;
    b.rx_header(b.ack(b.start));
    for (const int psn : {2, 3, 4}) {
      b.rx_header(b.nack(NackCode::trimmed_lasthop, b.start + psn));  // the path stays [CMS-150]
    }
    EXPECT_EQ(b.lines().size(), 3u);
    b.elapse(1_us);
    sack(b, 0b0110);  // +2 and +3
    EXPECT_EQ(b.lines(), Lines{});
    sack(b, 0b1110);
    EXPECT_EQ(b.lines(), threshold == 3 ? Lines{"REQ psn +1 retx ar clear -1"} : Lines{});
    EXPECT_EQ(b.count(Count::retx_ooo), threshold == 3 ? 1u : 0u);
  }
}

// [PDS-L4] One that was sent later on the same EV has arrived.
TEST_F(LossTable, L4OrderOfOneEv) {
  TableBench b;
  send(b, 20);                 // the first sixteen on one EV, the rest on another
  sack(b, uint64_t{1} << 17);  // +18: the other one
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +16 retx ar clear -16", "REQ psn +17 retx ar clear -17"}));
  sack(b, (uint64_t{1} << 17) | 0b10);  // +2
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_EQ(b.count(Count::retx_ev), 3u);
}

// [PDS-L5] Nothing heard for Tail_Loss_Time with nothing more to send: a Probe.
TEST_F(LossTable, L5TailLoss) {
  Config config;
  config.tail_loss = 2_ms;  // before the RTO
  TableBench b(config);
  send(b, 2);
  b.elapse(2_ms - 2_us);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(4_us);
  EXPECT_EQ(b.lines(), (Lines{"CP PROBE psn " + b.at(1) + " ar payload " + b.at(1)}));
  EXPECT_EQ(b.count(Count::probe_tx), 1u);
}

// [PDS-L6] Sacked, unanswered, RTO over: an ACK Request, not the data.
TEST_F(LossTable, L6SackedWithoutAnAnswer) {
  TableBench b;
  send(b, 2);
  sack(b, 0b1);
  b.elapse(5_ms + 2_us);
  EXPECT_EQ(b.lines(), (Lines{"CP ACK_REQ psn " + b.at(1) + " ar payload 0"}));
  EXPECT_EQ(b.count(Count::retx_rto), 0u);
}

// [PDS-116, PDS 10.2 0x14] The peer received the request and did not keep its answer. This code
// does not report a loss: the request is sent again although a SACK showed it, and the new answer
// completes it.
TEST_F(LossTable, L6TheAnswerIsGone) {
  TableBench b;
  send(b, 2);
  sack(b, 0b1);
  b.elapse(5_ms + 2_us);
  EXPECT_EQ(b.lines(), (Lines{"CP ACK_REQ psn " + b.at(1) + " ar payload 0"}));
  b.rx_header(b.nack(NackCode::ack_with_data, b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_TRUE(b.client.failed.empty());
  const size_t answered = b.client.responded.size();
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.client.responded.size(), answered + 1);
}

}  // namespace
}  // namespace uet::pds::test
