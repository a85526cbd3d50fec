// Congestion contexts that were idle: when they begin anew, and which base RTT they remember. By
// hand, with 100 Gbit/s and 12 us: the window begins with 225,000 octets; a base RTT of 8.192 us
// makes it 153,600, one of 10.240 us 192,000. A context may be idle for a millisecond, and a base
// RTT is remembered for a minute.
#include "pds/test/bench.h"

#include <gtest/gtest.h>

namespace uet::pds::test {
namespace {

class IdleContextTest : public ::testing::Test {
 protected:
  static Config config() {
    Config c;
    c.payload_mtu = 1024;
    c.idle_time = Duration::seconds(3600);  // PDCs stay
    return c;
  }
  static cms::Config nscc() {
    cms::Config c;
    c.mtu_bytes = 12 + 8 + 1024 + 8 + 40;
    c.base_rtt_probe = false;
    return c;
  }
  uint64_t window() const {
    PdcSnapshot s;
    EXPECT_EQ(bench_.pds->snapshot({&s, 1}, bench_.now), 1u);
    return s.window_bytes;
  }
  // The first message; its ACK comes after that time.
  void open(Duration round_trip) {
    ASSERT_EQ(bench_.open_initiator(1).size(), 1u);
    bench_.elapse(round_trip);
    bench_.rx_header(bench_.ack(bench_.start));
  }
  // The next message, of one packet, and how large the window is when it leaves.
  uint64_t window_of_next() {
    bench_.client.post(bench_.flow, ++messages_, 100);
    EXPECT_EQ(bench_.tx().size(), 1u);
    return window();
  }
  void ack_after(Duration round_trip) {
    bench_.elapse(round_trip);
    bench_.rx_header(bench_.ack(bench_.start + static_cast<int>(messages_ - 1)));
  }

  Bench bench_{config(), nscc()};
  uint32_t messages_ = 1;
};

// [CMS-008, CMS-190] After 1 ms without packets a window that losses reduced has its initial size
// again, not earlier. The base RTT stays.
TEST_F(IdleContextTest, AWindowRestartsAfterAMillisecond) {
  open(8'192_ns);
  ASSERT_EQ(window(), 153'600u);
  EXPECT_EQ(window_of_next(), 153'600u);
  wire::Nack trimmed = bench_.nack(wire::NackCode::trimmed, bench_.start + 1);
  bench_.rx_header(trimmed);
  ASSERT_EQ(bench_.tx().size(), 1u);
  ack_after(20_us);
  const uint64_t smaller = window();
  ASSERT_LT(smaller, 153'600u);
  bench_.elapse(1_ms - 1_us);
  EXPECT_EQ(window_of_next(), smaller);
  ack_after(20_us);
  const uint64_t before = window();
  ASSERT_LT(before, 153'600u);
  bench_.elapse(1_ms);
  EXPECT_EQ(window_of_next(), 153'600u);
}

// [CMS-008] A context that waits for an answer is not idle, however long it waits.
TEST_F(IdleContextTest, AContextThatWaitsForAnAnswerIsNotIdle) {
  open(8'192_ns);
  window_of_next();
  wire::Nack trimmed = bench_.nack(wire::NackCode::trimmed, bench_.start + 1);
  bench_.rx_header(trimmed);
  ASSERT_EQ(bench_.tx().size(), 1u);
  const uint64_t smaller = window();
  ASSERT_LT(smaller, 153'600u);
  bench_.elapse(900_us);
  bench_.tx();
  bench_.elapse(2_ms);
  bench_.tx();
  EXPECT_LE(window_of_next(), smaller);
}

// [CMS-008, CMS-010, CMS-011] Nor is a context whose other PDC waits for one.
TEST_F(IdleContextTest, PacketsOfAnotherPdcKeepAContextInUse) {
  open(8'192_ns);
  FabricAddress to = bench_.from;
  to.port = kUetPort;
  const PeerId peer = *bench_.peers.find_or_add(to, bench_.now);
  bench_.client.post(*bench_.pds->flow(peer, TrafficClass(0), Mode::rud, JobId(2)), 100, 100);
  ASSERT_EQ(bench_.tx().size(), 1u);
  window_of_next();
  bench_.rx_header(bench_.nack(wire::NackCode::trimmed, bench_.start + 1));
  ASSERT_EQ(bench_.tx().size(), 1u);
  ack_after(20_us);
  const uint64_t smaller = window();
  ASSERT_LT(smaller, 153'600u);
  bench_.elapse(1_ms);
  EXPECT_EQ(window_of_next(), smaller);
}

// [CMS-008, CMS-105, CMS-108, CMS-190] A base RTT counts for a minute after its measurement, in
// contexts that restart; then the path may have become longer.
TEST_F(IdleContextTest, ABaseRttExpiresAfterAMinute) {
  open(8'192_ns);
  for (int second = 10; second < 60; second += 10) {
    bench_.elapse(10_s - 10'240_ns);
    EXPECT_EQ(window_of_next(), 153'600u) << second;
    ack_after(10'240_ns);
    EXPECT_EQ(window(), 153'600u) << "it only falls";
  }
  bench_.elapse(10_s);
  EXPECT_EQ(window_of_next(), 225'000u) << "the configured one";
  ack_after(10'240_ns);
  EXPECT_EQ(window(), 192'000u);
}

// [CMS-008, CMS-105] The same in later contexts: the measurement of an earlier context counts from
// its own time, however often it is used.
TEST_F(IdleContextTest, ABaseRttOfAnEarlierContextExpires) {
  open(8'192_ns);
  const auto begin_another = [&] {
    bench_.pds->release(bench_.flow);
    bench_.pds->close_all(true, bench_.now);
    bench_.tx();
    ASSERT_EQ(bench_.pds->usage(), Usage{});
    bench_.client.messages.clear();
    bench_.client.responded.clear();
    bench_.open_initiator(1);
  };
  bench_.elapse(40_s);
  begin_another();
  EXPECT_EQ(window(), 153'600u);
  bench_.elapse(10'240_ns);
  bench_.rx_header(bench_.ack(bench_.start));
  bench_.elapse(15_s);
  begin_another();
  EXPECT_EQ(window(), 153'600u);
  bench_.elapse(10'240_ns);
  bench_.rx_header(bench_.ack(bench_.start));
  bench_.elapse(6_s);
  begin_another();
  EXPECT_EQ(window(), 225'000u) << "61 s";
}

}  // namespace
}  // namespace uet::pds::test
