// Time-outs that come too early, because a host slept or a queue was long: packets that were taken
// for lost arrive. [PDS-254, CMS-194]
#include "pds/tx/tx_slot.h"

#include "pds/test/bench.h"
#include "pds/test/rudi_bench.h"

namespace uet::pds::test {
namespace {

using namespace uet::literals;

cms::Config window_of_32() {
  cms::Config c;
  c.algorithm = cms::Algorithm::aimd;
  c.mtu_bytes = 1120;
  c.initial_window_packets = 32;
  return c;
}

Config of_1024() {
  Config c;
  c.payload_mtu = 1024;
  return c;
}

class EarlyTimeoutTest : public ::testing::Test {
 protected:
  // 32 packets whose time is over; eight of them are sent again, the window after a time-out.
  EarlyTimeoutTest() {
    EXPECT_EQ(bench_.open_initiator(100).size(), 32u);
    bench_.elapse(6_ms);
    EXPECT_EQ(bench_.lines().size(), 8u);
    EXPECT_EQ(bench_.count(Count::retx_rto), 32u);
  }
  // An ACK for the first packet, of its resend or of the first transmission.
  void acknowledge(bool of_resend) {
    wire::Ack h = bench_.ack(bench_.start);
    h.retx = of_resend;
    bench_.rx_header(h);
  }
  uint64_t in_flight() const { return bench_.pds->usage().inflight_bytes; }

  Bench bench_{of_1024(), window_of_32()};
};

// The answer is to the first transmission: all packets that waited for their resend are in flight,
// and new ones are sent.
TEST_F(EarlyTimeoutTest, AnEarlyTimeoutStopsTheResends) {
  acknowledge(false);
  EXPECT_EQ(bench_.count(Count::early_timeouts), 1u);
  for (const std::string& line : bench_.lines()) {
    EXPECT_EQ(line.find("retx"), std::string::npos) << line;
  }
  bench_.rx_header(bench_.ack(bench_.start + 31));
  const auto lines = bench_.lines();
  ASSERT_GE(lines.size(), 32u) << "the window is what it was";
  EXPECT_EQ(lines.front().find("retx"), std::string::npos);
}

// The answer is to the resend: the time-out was right.
TEST_F(EarlyTimeoutTest, AnAnswerToTheResendShowsNothing) {
  acknowledge(true);
  EXPECT_EQ(bench_.count(Count::early_timeouts), 0u);
  const auto lines = bench_.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_NE(lines.front().find("retx"), std::string::npos);
}

// A packet that waited for its resend is acknowledged: only the first transmission can have come.
TEST_F(EarlyTimeoutTest, AnAnswerBeforeTheResendShowsIt) {
  wire::Ack h = bench_.ack(bench_.start + 20);
  h.retx = true;  // says nothing about the twelve that were not sent again
  bench_.rx_header(h);
  EXPECT_EQ(bench_.count(Count::early_timeouts), 1u);
  for (const std::string& line : bench_.lines()) {
    EXPECT_EQ(line.find("retx"), std::string::npos) << line;
  }
}

// [PDS-254] As many resends as time-outs: another event shows that the packet is lost.
TEST(LostAfterTimeoutsTest, IsNoEarlyTimeout) {
  TxSlot slot;
  slot.state.set_lost(LossSign::reported);
  for (int i = 0; i < 5; ++i) {
    slot.state.count_timeout();
    slot.state.count_resend();
  }
  EXPECT_FALSE(slot.is_early_timeout(false));
  slot.state.count_timeout();
  EXPECT_TRUE(slot.is_early_timeout(false));
}

// A packet that is taken back gets a new time-out: if it was lost after all, it goes again.
TEST_F(EarlyTimeoutTest, ATakenBackPacketTimesOutAgain) {
  acknowledge(false);
  bench_.lines();
  bench_.elapse(60_ms);
  const auto lines = bench_.lines();
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(),
                          [](const std::string& line) {
                            return line.starts_with("REQ psn +1 ") &&
                                   line.find("retx") != std::string::npos;
                          }),
            1);
}

class FirstTimeOutTest : public ::testing::Test {
 protected:
  FirstTimeOutTest() { config_.rto_init = 40_ms; }
  // `packets` were sent now; they time out after 40 ms, which `cause` counts, and not before.
  static void expect_time_out(Bench& b, uint64_t packets, Count cause = Count::retx_rto) {
    b.elapse(39_ms);
    EXPECT_EQ(b.count(cause), 0u);
    b.elapse(2_ms);
    EXPECT_EQ(b.count(cause), packets);
  }
  Config config_;
};

// [PDS-140] While no round trip is known, packets may wait in a queue of a slow port.
TEST_F(FirstTimeOutTest, IsLongerThanTheOthers) {
  Bench b(config_);
  b.open_initiator(2);
  expect_time_out(b, 2);
}

// [PDS-140] It is as long for return data.
TEST_F(FirstTimeOutTest, IsLongerForReturnDataToo) {
  Bench b(config_);
  b.rx(b.request(kFirst.value()));
  for (const auto& out : b.tx()) b.own = out.as<wire::Ack>().spdcid;
  b.prove();
  b.client.messages[500] = {.bytes = 10, .next_hdr = wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(500)));
  EXPECT_EQ(b.tx().size(), 1u);
  expect_time_out(b, 1);
}

// [PDS-140, PDS-204] It is as long for RUDI.
TEST_F(FirstTimeOutTest, IsLongerForRudiToo) {
  RudiBench b(config_);
  EXPECT_EQ(b.send(1, 1).size(), 1u);
  expect_time_out(b, 1, Count::rudi_retx_rto);
}

class NextTimeOutTest : public ::testing::Test {
 protected:
  // The number of time-outs of a packet within `time` after it was sent, on a PDC with short round
  // trips. Neither the packet nor a Probe or ACK Request for it is answered.
  uint64_t timeouts_after(Duration time) {
    Bench b(config_);
    b.open_initiator(1);
    int sent = 0;
    for (; sent < 20; ++sent) {
      b.elapse(100_us);
      b.rx_header(b.ack(b.start + sent));
      b.client.post(b.flow, static_cast<uint32_t>(sent) + 2, 100);
      EXPECT_EQ(b.tx().size(), 1u);
    }
    for (Duration passed; passed < time; passed = passed + 1_ms) {
      b.elapse(1_ms);
      b.tx();
    }
    return b.count(Count::retx_rto);
  }
  NextTimeOutTest() {
    config_.rto_init = 60_ms;
    config_.rto_min = 5_ms;
    config_.tail_loss = 8_ms;
  }
  Config config_;
};

// [PDS-140] Probes ask after 8 ms whether it is lost: it may wait in a queue that was empty when it
// was sent, so it has four times as long.
TEST_F(NextTimeOutTest, LeavesTimeToProbes) {
  EXPECT_EQ(timeouts_after(31_ms), 0u);
  EXPECT_EQ(timeouts_after(33_ms), 1u);
}

// [PDS-140] No longer than the first one.
TEST_F(NextTimeOutTest, IsNoLongerThanTheFirst) {
  config_.rto_init = 20_ms;
  EXPECT_EQ(timeouts_after(19_ms), 0u);
  EXPECT_EQ(timeouts_after(21_ms), 1u);
}

// [PDS-140] A longer one that is set counts.
TEST_F(NextTimeOutTest, TheFirstTimeOutMayBeSetLonger) {
  config_.rto_min = 50_ms;
  EXPECT_EQ(timeouts_after(49_ms), 0u);
  EXPECT_EQ(timeouts_after(51_ms), 1u);
}

// [PDS-140, PDS-163] If the peer answers no Probes, time alone shows a loss.
TEST_F(NextTimeOutTest, TheFirstTimeOutIsShortWithoutProbes) {
  config_.probe = false;
  EXPECT_EQ(timeouts_after(4_ms), 0u);
  EXPECT_EQ(timeouts_after(7_ms), 1u);
}

// Each packet leaves the window once.
TEST_F(EarlyTimeoutTest, TheWindowIsEmptyInTheEnd) {
  acknowledge(false);
  bench_.rx_header(bench_.ack(bench_.start + 31));
  EXPECT_EQ(in_flight(), 0u);
}

}  // namespace
}  // namespace uet::pds::test
