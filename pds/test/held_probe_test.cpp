// Probes of a PDC that a window holds up. [PDS 12 L5]
#include "pds/test/probe_bench.h"

namespace uet::pds::test {
namespace {

using wire::NackCode;
using Lines = std::vector<std::string>;

// A PDC with more to send than its window lets go, established with a round trip of `rtt`: PSNs +1
// to +4 are out, +5 waits.
void hold(Bench& b, Duration rtt) {
  b.open_initiator(6);
  b.elapse(rtt);
  b.rx_header(b.ack(b.start));
  EXPECT_EQ(b.lines().size(), 1u);
}

// [PDS-145] A PDC that waits for the window may wait because of a loss: after three round trips
// without an answer it sends a Probe, again after twice as long, and missing packets go at once,
// resent or not.
TEST_F(ProbeTest, HeldPdcAsksAfterThreeRoundTrips) {
  config_.tx_window_packets = 4;
  Bench b(config_);
  hold(b, 200_us);
  b.elapse(600_us - 2_us);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(4_us);
  auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), probe_of(b, 4, 1));
  b.elapse(200_us);
  b.rx_header(answer(b, out[0], 0, 0b1110));  // 1 is missing
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_EQ(b.count(Count::retx_tail), 1u);
  // It is lost again, and nothing comes after it that could show that.
  b.elapse(600_us + 2_us);
  out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), probe_of(b, 4, 1));
  b.rx_header(answer(b, out[0], 0, 0b1110));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_EQ(b.count(Count::retx_rto), 0u);
}

// [PDS-145] The wait is three round trips, at least 100 us and at most the larger of Tail_Loss_Time
// and 1.5 round trips.
TEST_F(ProbeTest, HeldPdcWaitsAtLeastAndAtMost) {
  config_.tx_window_packets = 4;
  struct {
    Duration rtt, wait;
  } const kCases[] = {{3_us, 100_us}, {3_ms, 5_ms}, {8_ms, 12_ms}};
  for (const auto& [rtt, wait] : kCases) {
    SCOPED_TRACE(wait.ns());
    Bench b(config_);
    hold(b, rtt);
    b.elapse(wait - 3_us);
    EXPECT_EQ(b.lines(), Lines{});
    b.elapse(6_us);
    EXPECT_EQ(b.lines(), (Lines{probe_of(b, 4, 1)}));
  }
}

// [PDS-145] The answer of a peer that is 8 ms away shows what is lost if it takes less than 12 ms.
TEST_F(ProbeTest, AFarPeerMayAnswerLater) {
  config_.tx_window_packets = 4;
  const auto resends_after = [&](Duration answer_time) {
    Bench b(config_);
    hold(b, 8_ms);
    b.elapse(12_ms + 3_us);
    const auto out = b.tx();
    EXPECT_EQ(out.size(), 1u);
    EXPECT_EQ(b.picture(out[0]), probe_of(b, 4, 1));
    b.elapse(answer_time);
    b.rx_header(answer(b, out[0], 0, 0b1110));  // 1 is missing
    b.lines();
    return b.count(Count::retx_tail);
  };
  EXPECT_EQ(resends_after(12_ms - 10_us), 1u);
  EXPECT_EQ(resends_after(12_ms + 10_us), 0u);
}

// [PDS-145] There is never silence, because the peer answers other packets. Still a Probe asks when
// half of the time-out, 20.2 ms, is over, and the next one a quarter of it later. It may have
// overtaken the packets, so its answer shows no loss.
TEST_F(ProbeTest, HeldPdcAsksAtHalfOfItsTimeout) {
  config_.tx_window_packets = 4;
  config_.rto_init = 20_ms;
  Bench b(config_);
  hold(b, 200_us);
  const auto answered_for = [&](Duration time) {
    Lines all;
    for (Duration past; past < time; past = past + 50_us) {
      b.elapse(50_us);
      b.rx_header(b.ack(b.start));
      for (const std::string& line : b.lines()) all.push_back(line);
    }
    return all;
  };
  EXPECT_EQ(answered_for(9'800_us), Lines{});
  b.elapse(150_us);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), probe_of(b, 4, 1));
  b.rx_header(answer(b, out[0], 0, 0));  // all are missing
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(answered_for(4'900_us), Lines{});
  EXPECT_EQ(answered_for(300_us), (Lines{probe_of(b, 4, 1)}));
  EXPECT_EQ(b.count(Count::retx_tail) + b.count(Count::retx_rto), 0u);
}

// [PDS-145] A PDC that may send new packets learns the same from their ACKs: it sends no Probe.
TEST_F(ProbeTest, AFreePdcDoesNotAskAtHalfOfItsTimeout) {
  config_.rto_init = 20_ms;
  Bench b(config_);
  b.open_initiator(3);
  b.elapse(200_us);
  b.rx_header(b.ack(b.start));
  b.lines();
  for (int i = 0; i < 300; ++i) {
    b.elapse(50_us);
    b.rx_header(b.ack(b.start));
    EXPECT_EQ(b.lines(), Lines{});
  }
}

// [PDS-145] Pacing stops a PDC as well: a packet every 183 us, while the window has room for more.
TEST_F(ProbeTest, APacedPdcAsksAtHalfOfItsTimeout) {
  config_.rto_init = 20_ms;
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.window_bytes_max = 80 * 1092;
  cms.pacing_percent = 7;
  cms.pacing_burst_bytes = 1092;
  Bench b(config_, cms);
  ASSERT_EQ(b.open_initiator(1).size(), 1u);
  b.elapse(1'024_us);
  b.rx_header(b.ack(b.start));
  b.client.post(b.flow, 2, 100 * b.client.mtu);
  for (int i = 0; i < 220; ++i) {
    b.elapse(50_us);
    b.rx_header(b.ack(b.start));
    b.tx();
    ASSERT_LT(b.pds->usage().inflight_bytes, 70u * 1092) << "the window has room";
    if (i == 200) {
      EXPECT_EQ(b.count(Count::probe_tx), 0u);
    }
  }
  EXPECT_EQ(b.count(Count::probe_tx), 1u);
}

// The oldest packet was refused for a while: nothing is lost, and nothing is asked.
TEST_F(ProbeTest, HeldPdcDoesNotProbeForRefusedPackets) {
  config_.tx_window_packets = 4;
  config_.nack_retx = 4_ms;
  Bench b(config_);
  hold(b, 200_us);
  b.rx_header(b.nack(NackCode::no_ses_msg_avail, b.start + 1));
  b.elapse(3_ms);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::probe_tx), 0u);
}

// A peer that refuses Probes gets no earlier resends: its time-outs find the loss.
TEST_F(ProbeTest, HeldPdcDoesNotAskIfProbesAreOff) {
  config_.tx_window_packets = 4;
  config_.probe = false;
  Bench b(config_);
  hold(b, 200_us);
  b.elapse(4_ms);
  EXPECT_EQ(b.lines(), Lines{});
}

// [PDS-148] Probes of a held PDC are many in a short time: they do not end it.
TEST_F(ProbeTest, HeldPdcIsNotGivenUpByItsProbes) {
  config_ = Config::spec();
  config_.tx_window_packets = 4;
  config_.rto_init = 500_ms;
  config_.rto_max = 8_s;
  Bench b(config_);
  hold(b, 50_us);
  for (int i = 0; i < 4000; ++i) {
    b.lines();
    b.elapse(100_us);
  }
  EXPECT_EQ(b.count(Count::probe_tx), 5u);
  EXPECT_TRUE(b.client.failed.empty());
}

}  // namespace
}  // namespace uet::pds::test
