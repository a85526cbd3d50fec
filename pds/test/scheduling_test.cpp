// The initiator's half beyond one packet: closing, choosing PDCs, sharing the batch.
// Rows of PDS 5.1, 5.3, 6 and 15.
#include "pds/test/bench.h"

#include <algorithm>

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

class SchedulingTest : public ::testing::Test {
 protected:
  Config config_;
};

// A client that says that a message is its last one is not asked for another before the next post.
TEST_F(SchedulingTest, AfterTheLastMessageNoAckIsRequested) {
  for (const bool says_last : {true, false}) {
    Bench b;
    b.client.script.says_last = says_last;
    b.open_initiator(1);
    b.rx_header(b.ack(b.start));
    for (uint32_t message = 2; message <= 4; ++message) {
      const uint32_t before = b.client.started.asked;
      b.client.post(b.flow, message, 100);
      EXPECT_EQ(b.tx().size(), 1u);
      EXPECT_EQ(b.client.started.asked - before, says_last ? 1u : 2u);
    }
    b.client.post(b.flow, 5, 100);
    b.client.post(b.flow, 6, 100);
    EXPECT_EQ(b.tx().size(), 2u);
  }
}

// [PDS-I10, PDS-I12, PDS-I13, PDS-I14, PDS-171, PDS-172] Idle close.
TEST_F(SchedulingTest, IdlePdcIsClosed) {
  Bench b;
  b.open_initiator(1);
  b.rx_header(b.ack(b.start));
  b.elapse(10_s + 1_ms);
  const std::string psn = std::to_string((b.start + 1).value());
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_CMD psn " + psn + " ar payload 0"}));
  b.elapse(6_ms);
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_CMD psn " + psn + " retx ar payload 0"}));
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.client.closed, std::vector<bool>{true});
  EXPECT_EQ(b.pds->usage(), Usage{});
  EXPECT_EQ(b.count(Count::idle_closes), 1u);
}

// [PDS-I16] An unanswered Close is repeated five times, and then the PDC is freed.
TEST_F(SchedulingTest, UnansweredCloseIsGivenUp) {
  Bench b;
  b.open_initiator(1);
  b.rx_header(b.ack(b.start));
  b.pds->close_all(false, b.now);
  const std::string close = "CP CLOSE_CMD psn " + std::to_string((b.start + 1).value());
  EXPECT_EQ(b.lines(), (Lines{close + " ar payload 0"}));
  Lines again;
  for (int i = 0; i < 1000; ++i) {
    b.elapse(1_ms);
    for (std::string& line : b.lines()) again.push_back(std::move(line));
  }
  EXPECT_EQ(again, Lines(5, close + " retx ar payload 0"));
  EXPECT_EQ(b.count(Count::close_given_up), 1u);
  EXPECT_EQ(b.client.closed, std::vector<bool>{true});
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-171, PDS-I11] What is started ends on the PDC, and only then it closes.
TEST_F(SchedulingTest, QuiesceFinishesStartedMessages) {
  Bench b;
  size_t sent = b.open_initiator(400).size();
  EXPECT_LT(sent, 400u);
  b.rx_header(b.ack(b.start));
  b.pds->close_all(false, b.now);
  for (int round = 0; round < 400 && sent < 400; ++round) {
    for (const auto& o : b.tx()) {
      ASSERT_EQ(o.type(), wire::PdsType::rud_request);
      EXPECT_EQ(o.as<wire::Request>().spdcid, b.own);
      EXPECT_EQ(o.as<wire::Request>().psn, b.start + static_cast<int32_t>(sent));
      ++sent;
    }
    b.rx_header(b.ack(b.start + static_cast<int32_t>(sent - 1)));
  }
  EXPECT_EQ(sent, 400u);
  EXPECT_EQ(b.client.responded.size(), 400u);
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_CMD psn " + std::to_string((b.start + 400).value()) +
                              " ar payload 0"}));
}

// [PDS-I15, PDS-I17]
TEST_F(SchedulingTest, ARefusedCloseAlsoEndsThePdc) {
  for (const auto& [code, clean] :
       {std::pair{NackCode::inv_dpdcid, true}, std::pair{NackCode::closing, true},
        std::pair{NackCode::closing_in_err, false}}) {
    SCOPED_TRACE(wire::name(code));
    Bench b;
    b.open_initiator(1);
    b.rx_header(b.ack(b.start));
    b.pds->close_all(false, b.now);
    EXPECT_EQ(b.lines().size(), 1u);
    b.rx_header(b.nack(code, b.start + 1));
    EXPECT_EQ(b.client.closed, std::vector<bool>{clean});
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
}

// [PDS-031, PDS-094, PDS-I10, PDS-I21, PDS-I22, PDS 13] The peer asks: in an ACK, or by Close
// Request; while in SYN it is only remembered. New messages go to another PDC at once.
TEST_F(SchedulingTest, PeerAsksForTheClose) {
  Bench b;
  b.open_initiator(2);
  b.pds->close_all(false, b.now);  // in SYN
  EXPECT_EQ(b.lines(), Lines{});
  b.client.post(FlowId(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(1))), 2, 10);
  EXPECT_EQ(b.lines().size(), 1u) << "on a PDC of its own";
  EXPECT_NE(b.client.started.pdc_of[1], b.client.started.pdc_of[2]);
  b.rx_header(b.ack(b.start));
  EXPECT_EQ(b.lines(), Lines{}) << "one request is unanswered";
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.lines().size(), 1u);
  EXPECT_EQ(b.count(Count::close_cmd_tx), 1u);

  Bench c;
  c.open_initiator(1);
  wire::Ack a = c.ack(c.start);
  a.req = wire::AckRequest::close;
  c.rx_header(a);
  EXPECT_EQ(c.count(Count::close_cmd_tx), 0u);
  EXPECT_EQ(c.lines().size(), 1u);
  EXPECT_EQ(c.count(Count::close_cmd_tx), 1u);

  Bench d;
  d.open_initiator(1);
  d.rx_header(d.ack(d.start));
  d.rx_header(d.control(CtlType::close_req, d.start.value()));
  const std::string ps = std::to_string(d.start.value());
  EXPECT_EQ(d.lines(),
            (Lines{"ACK cack " + ps + " ack " + ps,
                   "CP CLOSE_CMD psn " + std::to_string((d.start + 1).value()) + " ar payload 0"}));
}

// [PDS-015] A message that expects return data keeps the PDC.
TEST_F(SchedulingTest, OpenMessageKeepsThePdc) {
  Bench b;
  const auto peer = b.peers.find_or_add(address(9), b.now);
  const FlowId flow = *b.pds->flow(*peer, TrafficClass(0), Mode::rud, JobId(1));
  b.client.post(flow, 1, 10, true);
  const auto out = b.tx();
  b.own = out.at(0).as<wire::Request>().spdcid;
  b.start = out[0].as<wire::Request>().psn;
  b.rx_header(b.ack(b.start));
  b.elapse(30_s);
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.lines(), Lines{});
  b.pds->message_done(b.client.started.pdc_of[1]);
  EXPECT_EQ(b.lines().size(), 1u);
  EXPECT_EQ(b.count(Count::close_cmd_tx), 1u);
}

// [PDS-003, PDS-020] ROD: the successor waits until the predecessor is gone.
TEST_F(SchedulingTest, RodSuccessorWaits) {
  Bench b;
  b.open_initiator(1, Mode::rod);
  b.rx_header(b.ack(b.start));
  b.pds->close_all(false, b.now);
  b.client.post(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rod, JobId(1)), 2, 10);
  EXPECT_EQ(b.lines().size(), 1u);
  EXPECT_EQ(b.count(Count::close_cmd_tx), 1u);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.rx_header(b.ack(b.start + 1));
  const auto next = b.tx();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_TRUE(next[0].as<wire::Request>().syn);
}

// [PDS-036] Another PDC takes over before the PSN range ends.
TEST_F(SchedulingTest, PsnRangeEnds) {
  config_.psn_range_packets = 2048 + 10;
  Bench b(config_);
  b.open_initiator(11);
  EXPECT_EQ(b.count(Count::psn_range_close), 1u);
  b.rx_header(b.ack(b.start + 10));
  EXPECT_EQ(b.lines().size(), 1u);
  EXPECT_EQ(b.count(Count::close_cmd_tx), 1u);
}

// What leads a batch: an ACK that is due, or a message.
TEST_F(SchedulingTest, PayloadOrAnswersComeFirst) {
  for (const Lead lead : {Lead::answers, Lead::payload}) {
    Bench b;
    b.open_initiator(1);
    b.rx_header(b.ack(b.start));
    b.client.post(b.flow, 2, 100);
    b.rx(b.request(kFirst.value()));
    TxBatch batch;
    ASSERT_EQ(b.pds->transmit(batch, b.now, lead), 2u);
    const auto is_request = [&](size_t packet) {
      const std::byte* const header = batch.packets()[packet].header;
      return wire::is_request(wire::Prologue::of(wire::load_u16(header)).type);
    };
    EXPECT_EQ(is_request(0), lead == Lead::payload);
    EXPECT_EQ(is_request(1), lead == Lead::answers);
  }
}

// [PDS-244] Two long messages to two peers share the batches.
TEST_F(SchedulingTest, NoFlowStarves) {
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.initial_window_packets = 200;
  Bench b(config_, cms);
  for (uint8_t i = 0; i < 3; ++i) {
    const auto peer = b.peers.find_or_add(address(static_cast<uint8_t>(20 + i)), b.now);
    b.peers.add_ref(*peer);
    b.client.post(*b.pds->flow(*peer, TrafficClass(0), Mode::rud, JobId(1)), 10u + i, 1 << 20);
  }
  TxBatch batch;
  std::map<uint8_t, int> packets;
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(b.pds->transmit(batch, b.now), 64u);
    for (const TxPacket& p : batch.packets()) ++packets[p.to.ip[3]];
    batch.clear();
  }
  for (const auto& [peer, n] : packets) EXPECT_GE(n, 192 / 3 - 64) << int{peer};
  EXPECT_EQ(packets.size(), 3u);
}

// [PDS-194] Return data before the first ACK is dropped, and sent again by the peer.
TEST_F(SchedulingTest, NothingIsAcceptedInSyn) {
  Bench b;
  b.open_initiator(1);
  wire::Request h = b.request(b.start.value(), false);
  h.next_hdr = wire::NextHeader::response_data;
  b.rx(h);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_syn_state), 1u);
  // A control packet that asks for an answer hears that it came too early. [PDS-162]
  const uint32_t psn = b.start.value();
  b.rx_header(b.control(CtlType::close_req, psn));
  EXPECT_EQ(b.lines(),
            (Lines{"NACK UNEXP_EVENT psn " + std::to_string(psn) + " from own to 7 payload 0"}));
  wire::Control quiet = b.control(CtlType::clear_req, 0, psn);
  quiet.ar = false;
  b.rx_header(quiet);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_syn_state), 3u);
}

// [PDS-181] Few free PDCs: the longest idle one is closed, the busy ones stay.
TEST_F(SchedulingTest, PressureClosesTheLongestIdle) {
  config_.max_pdcs = 4;
  config_.target_floor_percent = 0;
  config_.low_water_percent = 50;
  Bench b(config_);
  b.open_initiator(1);
  b.rx_header(b.ack(b.start));
  const std::string close =
      "CP CLOSE_CMD psn " + std::to_string((b.start + 1).value()) + " ar payload 0";
  for (uint32_t job = 2; job <= 3; ++job) {
    b.client.post(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(job)), job, 10);
    const auto lines = b.lines();
    EXPECT_EQ(std::count(lines.begin(), lines.end(), close), job == 3 ? 1 : 0) << job;
  }
  EXPECT_EQ(b.count(Count::pressure_closes), 1u);
}

// Without slot memory for more a PDC waits for its ACKs.
TEST_F(SchedulingTest, SlotMemoryIsShared) {
  config_.max_pdcs = 16;
  config_.target_floor_percent = 0;
  config_.low_water_percent = 0;
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.initial_window_packets = 300;
  Bench b(config_, cms);
  std::map<uint8_t, size_t> sent;
  for (uint8_t i = 0; i < 13; ++i) {
    const auto peer = b.peers.find_or_add(address(static_cast<uint8_t>(20 + i)), b.now);
    b.client.post(*b.pds->flow(*peer, TrafficClass(0), Mode::rud, JobId(1)), 10u + i, 100 * 1024);
    for (const auto& o : b.tx()) ++sent[o.to.ip[3]];
  }
  EXPECT_EQ(sent[20], 100u);
  EXPECT_EQ(sent[32], 64u) << "four blocks of each larger size are all taken";
  EXPECT_GT(b.count(Count::slot_stalls), 0u);
  b.pds->close_all(true, b.now);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-021] No free PDC: the message waits for one.
TEST_F(SchedulingTest, WaitsForAFreePdc) {
  config_.max_pdcs = 1;
  config_.target_floor_percent = 0;
  Bench b(config_);
  b.open_initiator(1);
  b.client.post(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rod, JobId(1)), 2, 10);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_FALSE(b.pds->has_work());
  b.rx_header(b.ack(b.start));
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.lines().size(), 1u);
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.lines().size(), 1u);
  EXPECT_EQ(b.count(Count::pdc_opened_initiator), 2u);
}

// [PDS-174, PDS-149] Abort: everything is reported at once, nothing is sent.
TEST_F(SchedulingTest, AbortReportsEverything) {
  Bench b;
  const size_t sent = b.open_initiator(400).size();
  b.pds->close_all(true, b.now);
  EXPECT_LT(sent, 400u);
  EXPECT_EQ(b.client.failed.size(), sent);
  EXPECT_EQ(b.client.aborted.size(), 1u);
  EXPECT_EQ(b.client.failures[0].reason, FailureReason::aborted);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [WIRE-121] A process without port 4793 marks its SYN.
TEST_F(SchedulingTest, PrivateMarkIsSetInSyn) {
  config_.private_mark = true;
  Bench b(config_);
  EXPECT_TRUE(b.open_initiator(1).at(0).as<wire::Request>().private_mark);
  Bench plain;
  EXPECT_FALSE(plain.open_initiator(1).at(0).as<wire::Request>().private_mark);
}

// [PDS-244] Resends of requests do not keep return data to the same peer waiting: two peers that
// refuse each other's reads until their own answers are out would wait without end.
TEST_F(SchedulingTest, ReturnDataIsNotOvertakenByResends) {
  config_.payload_mtu = 1024;
  cms::Config cms;
  cms.mtu_bytes = 1024 + 104 + 40;
  cms.algorithm = cms::Algorithm::fixed;
  cms.initial_window_packets = 4;
  cms.window_bytes_max = 4 * cms.mtu_bytes;
  Bench b(config_, cms);
  const size_t window = b.open_initiator(64).size();
  ASSERT_LT(window, 8u);
  const Pdcid initiator = b.own;
  b.rx(b.request(kFirst.value()));
  for (const auto& out : b.tx()) b.own = out.as<wire::Ack>().spdcid;
  b.prove();
  b.client.messages[500] = {.bytes = 1024, .next_hdr = wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(500)));
  for (const auto& out : b.tx()) EXPECT_NE(out.type(), wire::PdsType::rud_request);
  b.elapse(6_ms);  // RTO: the whole window is to be sent again
  std::vector<bool> is_return;
  for (const auto& out : b.tx()) {
    if (out.type() != wire::PdsType::rud_request) continue;
    is_return.push_back(out.as<wire::Request>().spdcid != initiator);
  }
  std::vector<bool> expected(window, false);
  expected.front() = true;
  EXPECT_EQ(is_return, expected);
}

// A PDC with as many packets to send to a peer that tracks 128: all of those are answered,
// but the cumulative ACK never moved.
void stall(Bench& b, uint32_t packets = 200, Mode mode = Mode::rud) {
  b.open_initiator(packets, mode);
  for (int i = 0; i < 128; ++i) {
    b.rx_header(b.ack(b.start - 1, i + 1));
    b.tx();
  }
  EXPECT_EQ(b.client.responded.size(), 128u);
}

// [PDS-035, PDS-104] The last ACK, or the clear that the cumulative ACK waits for, was lost: both
// are asked for until the next packet may go.
TEST_F(SchedulingTest, ExhaustedRangeAsksForTheCumulativeAck) {
  config_.default_mpr = 1;
  Bench b(config_);
  stall(b);
  const std::string last = std::to_string((b.start + 127).value());
  const Lines asks = {"CP CLEAR_CMD psn 0 payload " + last,
                      "CP ACK_REQ psn " + last + " ar payload 0"};
  b.elapse(6_ms);
  EXPECT_EQ(b.lines(), asks);
  b.elapse(200_ms);
  EXPECT_EQ(b.lines(), asks) << "again: either may be lost";
  b.rx_header(b.ack(b.start + 127));
  EXPECT_EQ(b.lines().at(0), "REQ psn +128 clear -1");
}

// [PDS-035, PDS-104] The same when the last message ends just where the range does: the next one
// finds it exhausted, and asks at once.
TEST_F(SchedulingTest, AMessageThatFindsTheRangeExhaustedAsksForTheCumulativeAck) {
  config_.default_mpr = 1;
  Bench b(config_);
  stall(b, 128, Mode::rod);
  b.elapse(50_ms);
  EXPECT_EQ(b.lines(), Lines{}) << "no PDC waits";
  b.client.post(b.flow, 2, 100);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(1_ms);
  const std::string last = std::to_string((b.start + 127).value());
  EXPECT_EQ(b.lines(), (Lines{"CP CLEAR_CMD psn 0 payload " + last,
                              "CP ACK_REQ psn " + last + " ar payload 0"}));
  b.client.post(b.flow, 3, 100);
  b.lines();
  b.elapse(1_ms);
  EXPECT_EQ(b.lines(), Lines{}) << "it is asked for already";
  b.rx_header(b.ack(b.start + 127));
  EXPECT_EQ(b.lines().size(), 2u);
}

// [PDS-T4, PDS-119] The peer is gone: the message fails instead of waiting for a PDC.
TEST_F(SchedulingTest, ExhaustedRangeOfAPeerThatIsGoneFails) {
  config_.default_mpr = 1;
  Bench b(config_);
  stall(b);
  b.elapse(6_ms);
  b.lines();
  b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 127));
  EXPECT_EQ(b.client.aborted.size(), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});

  Bench silent(config_);
  stall(silent);
  silent.elapse(61_s);
  ASSERT_EQ(silent.client.aborted.size(), 1u);
  EXPECT_EQ(silent.client.aborted.begin()->second.reason, FailureReason::timeout);
  EXPECT_EQ(silent.pds->usage(), Usage{});
}

}  // namespace
}  // namespace uet::pds::test
