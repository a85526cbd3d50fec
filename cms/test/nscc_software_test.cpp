// NSCC that learns by loss, for stacks in software. The expected values are computed by hand, for
// packets of 8,192 octets and a maximum window of 2 MiB. The first window is set to 128 KiB, except
// in the tests of CMS-196. [decision 16]
#include "cms/test/nscc_testing.h"

#include "cms/nscc.h"

#include <gtest/gtest.h>

namespace uet::cms::nscc_software {
namespace {

using namespace uet::literals;

class NsccSoftwareTest : public NsccInSoftware {
 protected:
  NsccSoftwareTest() : NsccInSoftware(config()) { service_time_ = 10_us; }

  static Config config() {
    Config c = software_config();
    c.link_mbps = 10'000;
    return c;
  }
  // The configuration without a first window: the default applies.
  static Config usual() {
    Config c = config();
    c.initial_window_packets = 0;
    return c;
  }
  void lose(LossKind kind = LossKind::inferred) {
    nscc_.on_lost({.bytes = kPacket, .packets = 1, .kind = kind, .at = now_});
  }
  // Acknowledges no octets, until the mean round trip has become `rtt`.
  void delay_by(Duration rtt, int samples = 100) {
    for (int i = 0; i < samples; ++i) ack(0, rtt);
  }
  // Ends the doubling by a marked ACK; `rtt` becomes the base RTT.
  void end_doubling(Duration rtt) { ack(0, rtt, Mark::ecn); }
};

// The window doubles up to its maximum, for any link rate and any round trip.
TEST_F(NsccSoftwareTest, DoublesUntilTheMost) {
  EXPECT_EQ(window(), 128u << 10);
  round(50_us);
  EXPECT_EQ(window(), 256u << 10);
  for (int i = 0; i < 4; ++i) round(50_us);
  EXPECT_EQ(window(), 2u << 20);
}

// A sender that does not use its window does not learn about a larger one.
TEST_F(NsccSoftwareTest, DoublesOnlyAWindowInUse) {
  send(7);
  ack(7, 50_us);
  EXPECT_EQ(window(), 128u << 10);
}

// A mark ends the doubling, and so does a loss.
TEST_F(NsccSoftwareTest, DoublesUntilAMark) {
  send(16);
  ack(16, 50_us, Mark::ecn);
  EXPECT_EQ(window(), 128u << 10);
  round(52_us);
  EXPECT_LT(window(), 140u << 10);
}

// A mean delay beyond 1 ms counts as a mark, and removes the part above the target at once in a
// round trip: 1 - 0.8 (mean - 200) / mean, at least a half. Two packets stay.
TEST_F(NsccSoftwareTest, ALongQueueIsAMark) {
  round(50_us);
  ASSERT_EQ(window(), 256u << 10);
  delay_by(3_ms);
  const double before = static_cast<double>(window());
  now_ = now_ + 10_ms;
  ack(0, 3_ms);
  EXPECT_NEAR(static_cast<double>(window()), before / 2, 1300);
  for (int i = 0; i < 20; ++i) {
    now_ = now_ + 10_ms;
    ack(0, 3_ms);
  }
  EXPECT_NEAR(static_cast<double>(window()), 2 * kPacket, 1300);
}

// A destination that does not report how long packets waited there may be a busy host.
TEST_F(NsccSoftwareTest, ALongRoundTripAloneIsNoMark) {
  service_time_ = Duration::zero();
  round(50_us);
  delay_by(3_ms);
  now_ = now_ + 10_ms;
  ack(0, 3_ms);
  EXPECT_GE(window(), 256u << 10);
}

// [CMS-199] A route that has become 5 ms longer looks like a queue; when the window was tiny for 64
// samples, that is the base RTT (in steps of 16 us), and the window grows again.
TEST_F(NsccSoftwareTest, ALongerPathCountsAsAQueueForALimitedTime) {
  round(50_us);
  for (int i = 0; i < 60; ++i) {
    now_ = now_ + 10_ms;
    ack(0, 5_ms);
  }
  EXPECT_LT(window(), 3u * kPacket);
  EXPECT_EQ(nscc_.base_rtt(), 50_us);
  for (int i = 0; i < 60; ++i) {
    now_ = now_ + 10_ms;
    ack(0, 5_ms);
  }
  EXPECT_EQ(nscc_.base_rtt(), 4992_us);
  for (int i = 0; i < 100; ++i) round(5_ms);
  EXPECT_GT(window(), 64u * kPacket);
}

// [CMS-199] A loss takes the longer base RTT back.
TEST_F(NsccSoftwareTest, ALossTakesALongerBaseRttBack) {
  round(50_us);
  for (int i = 0; i < 120; ++i) {
    now_ = now_ + 10_ms;
    ack(0, 5_ms);
  }
  ASSERT_EQ(nscc_.base_rtt(), 4992_us);
  send(1);
  lose();
  EXPECT_EQ(nscc_.base_rtt(), 48_us);
}

// A few late samples, because a host slept, do not count as a queue.
TEST_F(NsccSoftwareTest, AFewLateSamplesAreNoMark) {
  round(50_us);
  const uint64_t before = window();
  for (int i = 0; i < 3; ++i) ack(0, 4_ms);
  now_ = now_ + 10_ms;
  ack(0, 52_us);
  EXPECT_GE(window(), before);
}

// The base RTT is the shortest round trip, however long that is.
TEST_F(NsccSoftwareTest, TheBaseRttIsTheShortestRoundTrip) {
  ack(0, 10_ms);
  EXPECT_EQ(nscc_.base_rtt(), 10_ms);
  ack(0, 12_ms);
  EXPECT_EQ(nscc_.base_rtt(), 10_ms);
  ack(0, 20_us);
  EXPECT_EQ(nscc_.base_rtt(), 20_us);
  EXPECT_EQ(nscc_.window_bytes_max(), 2u << 20);
}

// [CMS-194] After time-outs that came too early the window doubles on, from 16 packets to 32. With
// an answer in between they are final: 32 packets grow by an MTU in a round trip.
TEST_F(NsccSoftwareTest, DoublesOnAfterAnEarlyTimeOut) {
  send(16);
  for (int i = 0; i < 16; ++i) lose(LossKind::timeout);
  ASSERT_EQ(window(), 8u * kPacket);
  nscc_.on_early_timeouts();
  ASSERT_EQ(window(), 16u * kPacket);
  round(50_us);
  ASSERT_EQ(window(), 32u * kPacket);
  lose(LossKind::timeout);
  ack(0, 50_us);
  nscc_.on_early_timeouts();
  round(50_us);
  EXPECT_LE(window(), 34u * kPacket);
}

// With a delay of 2 us, a hundredth of the target, nearly a packet more in a round trip.
TEST_F(NsccSoftwareTest, GrowsByAPacketInARoundTrip) {
  end_doubling(100_us);
  const uint64_t before = window();
  now_ = now_ + 102_us;
  ack(16, 102_us);
  EXPECT_NEAR(static_cast<double>(window() - before), kPacket * 0.99, 90);
}

// At the target of 200 us and beyond eta alone is left: 8,192 x 0.15 = 1,229.
TEST_F(NsccSoftwareTest, GrowsLittleBehindAQueue) {
  end_doubling(100_us);
  const uint64_t before = window();
  now_ = now_ + 300_us;
  ack(16, 300_us);
  EXPECT_NEAR(static_cast<double>(window() - before), 1229, 2);
}

// Round trips of 150 us, of which 50 are a queue: a loss leaves two thirds of the window, once in a
// round trip; with a longer queue half of it.
TEST_F(NsccSoftwareTest, ALossTakesTheQueue) {
  for (const auto& [rtt, share] : {std::pair{150_us, 2.0 / 3}, std::pair{900_us, 0.5}}) {
    nscc_ = Nscc(config());
    now_ = now_ + 10_ms;
    send(16);
    ack(0, 100_us);
    delay_by(rtt);
    const double before = static_cast<double>(window());
    now_ = now_ + 10_ms;
    lose();
    EXPECT_NEAR(static_cast<double>(window()), before * share, 150);
    const uint64_t after = window();
    lose();
    EXPECT_EQ(window(), after) << "of the same round trip";
  }
}

// A queue that is shorter than it was before does not overflow: a loss costs a quarter of a packet.
TEST_F(NsccSoftwareTest, ALossWithoutAFullQueueCostsLittle) {
  send(16);
  ack(0, 100_us);
  delay_by(300_us);
  delay_by(150_us, 30);
  const uint64_t before = window();
  lose();
  EXPECT_EQ(window(), before - kPacket / 4);
}

// After time-outs the window doubles up to half of its old size.
TEST_F(NsccSoftwareTest, DoublesUpToHalfOfTheTimedOutWindow) {
  for (int i = 0; i < 4; ++i) round(50_us);
  ASSERT_EQ(window(), 2u << 20);
  send(256);
  for (int i = 0; i < 256; ++i) lose(LossKind::timeout);
  ASSERT_EQ(window(), 8u * kPacket);
  for (int i = 0; i < 4; ++i) round(52_us);
  EXPECT_EQ(window(), 1u << 20);
  round(52_us);
  EXPECT_LT(window(), (1u << 20) + 4 * kPacket);
}

// A delay of milliseconds, as after a host slept, does not reduce the window to the octets that
// arrived meanwhile.
TEST_F(NsccSoftwareTest, AHostThatSleepsCostsNothing) {
  for (int i = 0; i < 4; ++i) round(50_us);
  const uint64_t before = window();
  send(16);
  now_ = now_ + 5_ms;
  ack(1, 5_ms);
  now_ = now_ + 1_ms;
  ack(15, 5_ms);
  EXPECT_GE(window(), before);
}

// [CMS-008] After a pause it keeps the learnt window.
TEST_F(NsccSoftwareTest, KeepsItsWindowOverARest) {
  round(50_us);
  ASSERT_EQ(window(), 256u << 10);
  nscc_.begin_anew(60_us);
  EXPECT_EQ(window(), 256u << 10);
  EXPECT_EQ(nscc_.base_rtt(), 60_us);
  nscc_.begin_anew(Duration::zero());
  EXPECT_EQ(nscc_.base_rtt(), Nscc::kUnknownRtt);
}

// [CMS-196] 16 KiB of payload leave before anything is known of the way, at least three packets;
// then the window doubles.
TEST_F(NsccSoftwareTest, BeginsSmallTowardAnUnknownPeer) {
  Config c = usual();
  for (const auto& [mtu, packets] :
       {std::pair{1072u, 16u}, {8192u, 3u}, {9000u, 3u}, {30000u, 3u}}) {
    c.mtu_bytes = mtu;
    EXPECT_EQ(Nscc(c).window_bytes(), uint64_t{packets} * mtu);
  }
  nscc_ = Nscc(usual());
  round(50_us);
  EXPECT_EQ(window(), 48u << 10);
  round(50_us);
  EXPECT_EQ(window(), 96u << 10);
}

// [CMS-196] A first window that is set is that.
TEST_F(NsccSoftwareTest, AFirstWindowThatIsSetIsKept) {
  Config c = usual();
  c.initial_window_packets = 1;
  c.window_bytes_min = 2 * kPacket;
  EXPECT_EQ(Nscc(c).window_bytes(), 2u * kPacket);
  c.initial_window_packets = 40;
  EXPECT_EQ(Nscc(c).window_bytes(), 40u * kPacket);
}

// [CMS-196, CMS-008, CMS-105] A context that begins with a round trip that is known has 128 KiB,
// and so has one that rested after it measured the first.
TEST_F(NsccSoftwareTest, BeginsWithMoreTowardAPeerThatHasAnswered) {
  nscc_ = Nscc(usual());
  nscc_.begin_anew(Duration::zero());
  EXPECT_EQ(window(), 24u << 10) << "none is known";
  nscc_.begin_anew(60_us);
  EXPECT_EQ(window(), 128u << 10);
  nscc_ = Nscc(usual());
  send(1);
  ack(1, 50_us);
  ASSERT_EQ(window(), 24u << 10) << "not in use";
  nscc_.begin_anew(50_us);
  EXPECT_EQ(window(), 128u << 10);
}

// [CMS-196] After a loss or a mark a rest leaves the window as it is.
TEST_F(NsccSoftwareTest, ARestForgetsNoLoss) {
  send(16);
  for (int i = 0; i < 16; ++i) lose(LossKind::timeout);
  ASSERT_EQ(window(), 8u * kPacket);
  nscc_.begin_anew(50_us);
  EXPECT_EQ(window(), 8u * kPacket);
  nscc_ = Nscc(usual());
  send(4);
  ack(4, 50_us, Mark::ecn);
  nscc_.begin_anew(50_us);
  EXPECT_LT(window(), 40u << 10);
}

}  // namespace
}  // namespace uet::cms::nscc_software
