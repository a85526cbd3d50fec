// NSCC: sending, ACKs, and their effect on the window. By hand, with 100 Gb/s, 12 us, packets of
// 4,160 octets and trimming: MaxWnd 225,000; target delay 9 us; alpha 1.38667 octets for each ns;
// fi 20,800; fi_scale 0.25; eta 624.
#include "cms/test/nscc_testing.h"

#include "cms/nscc.h"

#include <gtest/gtest.h>

#include <string>

namespace uet::cms::nscc {
namespace {

using namespace uet::literals;

constexpr uint32_t kPacket = 4160;
const Instant kStart = Instant::from_ns(1'000'000'000);

Config config() {
  Config c;
  c.mtu_bytes = kPacket;
  c.link_mbps = 100'000;
  c.base_rtt = 12_us;
  return c;
}

class NsccTest : public ::testing::Test {
 protected:
  void send(uint32_t bytes = kPacket) { nscc_.on_sent({.bytes = bytes, .at = now_}); }
  // Sets the window to `bytes`, all of them in flight. The adjust period has just begun.
  void set_window(uint32_t bytes) {
    send(225'000);
    nscc_.on_lost({.bytes = 225'000 - bytes, .kind = LossKind::inferred, .at = now_});
    ASSERT_EQ(nscc_.window_bytes(), bytes);
    ASSERT_EQ(nscc_.inflight_bytes(), bytes);
  }
  // An ACK with that delay above the base RTT, after that time.
  void ack(uint32_t bytes, Duration delay, Duration after = Duration::zero(),
           Mark mark = Mark::none) {
    now_ = now_ + after;
    nscc_.on_acked(ack_of(bytes, nscc_.base_rtt() + delay, mark, now_));
  }
  void mark(Duration delay, Duration after) { ack(0, delay, after, Mark::ecn); }
  // An ACK with the requests of the destination, without an RTT.
  void ask(uint32_t bytes, uint8_t pend, bool restore = false) {
    Acked e;
    e.received_bytes = bytes;
    e.remote = {.rcv_cwnd_pend = pend, .restore_cwnd = restore, .valid = true};
    e.at = now_;
    nscc_.on_acked(e);
  }
  double window() const { return static_cast<double>(nscc_.window_bytes()); }
  // Windows are shown in whole octets; 0.1 % of the change. [CMS-064]
  void expect_window(double by_hand, const char* why = "") const {
    EXPECT_NEAR(window(), by_hand, 2 + std::abs(by_hand - 100'000) * 0.001) << why;
  }

  Instant now_ = kStart;
  Nscc nscc_{config()};
};

// --- sending ---

// [CMS-066, CMS-067] A whole packet must fit, however small the next one is.
TEST_F(NsccTest, APacketMustFit) {
  for (int i = 0; i < 54; ++i) {
    ASSERT_TRUE(nscc_.may_send(64)) << i;
    send();
  }
  EXPECT_EQ(nscc_.inflight_bytes(), 54 * 4160);
  EXPECT_FALSE(nscc_.may_send(64)) << "360 octets are left";
  send(300);
  EXPECT_EQ(nscc_.inflight_bytes(), 224'940) << "nominal octets";
}

// [CMS-066] A window of exactly one packet admits one.
TEST_F(NsccTest, AWindowOfOnePacketAdmitsOne) {
  set_window(kPacket);
  EXPECT_FALSE(nscc_.may_send(kPacket));
  ack(kPacket, 3_us);
  EXPECT_TRUE(nscc_.may_send(kPacket));
}

// [CMS-068] The packet that leaves less than a packet of room asks for an ACK, and each packet does
// while the window is below the peer's threshold for unrequested ACKs.
TEST_F(NsccTest, AsksForAnAckWhenTheWindowIsFull) {
  send(225'000 - 3 * kPacket);
  EXPECT_FALSE(nscc_.wants_ack(kPacket, 16'384));
  EXPECT_FALSE(nscc_.wants_ack(2 * kPacket, 16'384)) << "a packet of room is left";
  EXPECT_TRUE(nscc_.wants_ack(2 * kPacket + 1, 16'384));
}

// [CMS-068] The window below ACK_Gen_Trigger.
TEST_F(NsccTest, AsksForEachAckWhileTheWindowIsSmall) {
  set_window(16'384);
  ack(16'384, 3_us);
  EXPECT_FALSE(nscc_.wants_ack(1, 16'384));
  EXPECT_TRUE(nscc_.wants_ack(1, 16'385));
}

// --- ACKs ---

// [CMS-070, CMS-065] What the destination received leaves, and may be more than was in flight.
TEST_F(NsccTest, ReceivedOctetsAreNoLongerInFlight) {
  send(1000);
  Acked e;
  e.bytes = 1000;
  e.received_bytes = 1024;
  nscc_.on_acked(e);
  EXPECT_EQ(nscc_.inflight_bytes(), -24);
  EXPECT_TRUE(nscc_.may_send(kPacket));
}

// [CMS-073] Without an RTT nothing else happens, though an adjustment is due.
TEST_F(NsccTest, AnAckWithoutRttMovesNoWindow) {
  set_window(100'000);
  ack(4160, 9_us);
  now_ = now_ + 20_us;
  Acked e;
  e.received_bytes = 50'000;
  e.ecn = true;
  e.at = now_;
  nscc_.on_acked(e);
  EXPECT_EQ(nscc_.window_bytes(), 100'000u);
  EXPECT_EQ(nscc_.inflight_bytes(), 100'000 - 54'160);
}

// [CMS-074, CMS-105, CMS-108] The base RTT is the lowest sample, and MaxWnd follows it: 1.5 times
// 12,500 octets for each us.
TEST_F(NsccTest, TheBaseRttOnlyFalls) {
  send();
  ack(0, Duration::nanoseconds(-2000));
  EXPECT_EQ(nscc_.base_rtt(), 10_us);
  EXPECT_EQ(nscc_.window_bytes_max(), 187'500u);
  EXPECT_EQ(nscc_.window_bytes(), 187'500u);
  ack(0, 5_us);
  EXPECT_EQ(nscc_.base_rtt(), 10_us);
  nscc_.note_base_rtt(8_us);  // of a probe, or of an earlier context
  EXPECT_EQ(nscc_.base_rtt(), 8_us);
  EXPECT_EQ(nscc_.window_bytes_max(), 150'000u);
  nscc_.note_base_rtt(9_us);
  EXPECT_EQ(nscc_.base_rtt(), 8_us);
}

// [CMS-071, CMS-108] A round trip of zero or less is no measurement: the service time that the
// destination reports is longer.
TEST_F(NsccTest, ARoundTripOfNoTimeIsNoBaseRtt) {
  nscc_.note_base_rtt(Duration::zero());
  nscc_.note_base_rtt(Duration::nanoseconds(-5));
  EXPECT_EQ(nscc_.base_rtt(), 12_us);
}

// [CMS-076, CMS-077, CMS-083] Below the target: alpha * n * (target - delay) / cwnd, and eta when
// 12 us have passed. 1.38667 * 4160 * 6000 / 100,000 = 346.1.
TEST_F(NsccTest, RisesInProportionToTheMissingDelay) {
  set_window(100'000);
  ack(4160, 3_us, 1_us);
  EXPECT_EQ(nscc_.window_bytes(), 100'000u) << "not yet";
  ack(0, 3_us, 11_us);
  expect_window(100'000 + 346.1 + 624);
}

// [CMS-078, CMS-082] At the target and above: fi * n / cwnd = 20,800 * 4160 / 100,000 = 865.3.
TEST_F(NsccTest, RisesFairlyAtTheTarget) {
  for (const Duration delay : {9_us, 40_us}) {
    nscc_ = Nscc(config());
    now_ = kStart;
    set_window(100'000);
    ack(4160, delay, 1_us);
    ack(0, delay, 11_us);
    expect_window(100'000 + 865.3 + 624);
  }
}

// [CMS-077, CMS-083] One ns below the target there is no more fair increase: 1.38667 * 4160 /
// 100,000 = 0.06.
TEST_F(NsccTest, JustBelowTheTargetRisesByNothing) {
  set_window(100'000);
  ack(4160, 8999_ns, 1_us);
  ack(0, 8999_ns, 11_us);
  expect_window(100'000 + 0.06 + 624);
}

// [CMS-079] Marked, but without much delay: the path is to change, not the window.
TEST_F(NsccTest, AMarkWithoutDelayChangesNothing) {
  set_window(100'000);
  ack(4160, 8999_ns, 1_us, Mark::ecn);
  ack(4160, Duration::zero(), 1_us, Mark::ecn);
  ack(0, 8999_ns, 11_us, Mark::ecn);
  expect_window(100'000 + 624);
}

// [CMS-079] Though the mean delay of before is far above the target.
TEST_F(NsccTest, AMarkWithoutDelayChangesNothingAfterLongDelays) {
  set_window(100'000);
  ack(0, 40_us, 13_us);
  mark(8999_ns, 1_us);
  expect_window(100'000 + 624);
  EXPECT_GT(nscc_.mean_delay(), 30_us);
}

// [CMS-080, CMS-085] Marked and delayed: the mean delay is 18 us after one sample that is more than
// a base RTT apart; 1 - 0.8 * (18 - 9) / 18 = 0.6. With eta: 60,624.
TEST_F(NsccTest, FallsByTheShareOfTheDelayAboveTheTarget) {
  set_window(100'000);
  mark(18_us, 13_us);
  expect_window(60'000 + 624);
}

// [CMS-085, CMS-056] Never by more than a half: 1 - 0.8 * 81 / 90 = 0.28.
TEST_F(NsccTest, FallsByHalfAtMost) {
  set_window(100'000);
  mark(90_us, 13_us);
  expect_window(50'000 + 624);
}

// [CMS-085] The window falls at most once in a base RTT.
TEST_F(NsccTest, FallsOnceInABaseRtt) {
  set_window(100'000);
  mark(18_us, 12_us);
  expect_window(100'000 + 624, "12 us are not more than a base RTT since the first packet");
  mark(18_us, 1_ns);
  expect_window(60'374.4, "0.6 of it");
  mark(18_us, 11_us);
  expect_window(60'374.4);
  mark(18_us, 1_us);
  expect_window(60'374.4 + 624, "12 us");
  mark(18_us, 1_ns);
  expect_window(0.6 * 60'998.4);
}

// [CMS-085, CMS-102] The mean must be above the target, too: 13 us ago it was 0, and one of 12 us
// within 6 us counts half.
TEST_F(NsccTest, ASingleLongDelayIsNoReason) {
  set_window(100'000);
  ack(0, Duration::zero(), 13_us);
  const double before = window();
  mark(12_us, 6_us);
  EXPECT_EQ(nscc_.mean_delay(), 6_us);
  EXPECT_EQ(window(), before);
}

// [CMS-085, CMS-088] A packet remains.
TEST_F(NsccTest, FallsToAPacketAtLeast) {
  set_window(5000);
  mark(90_us, 13_us);
  expect_window(4160 + 624);
}

// [CMS-081, CMS-086, CMS-087] More than 8 packets adjust, too, without eta and without beginning a
// period: 12 us after the first packet eta is due.
TEST_F(NsccTest, EightPacketsAdjustBeforeThePeriodEnds) {
  set_window(100'000);
  ack(33'280, 9_us, 1_us);
  EXPECT_EQ(nscc_.window_bytes(), 100'000u) << "8 packets are not more than 8";
  ack(1, 9_us, 1_us);
  expect_window(100'000 + 20'800.0 * 33'281 / 100'000);  // 6,922.4
  const double before = window();
  ack(0, 9_us, 9_us);
  EXPECT_EQ(window(), before) << "11 us: all of it was used up";
  ack(0, 9_us, 1_us);
  EXPECT_NEAR(window(), before + 624, 1);
  ack(0, 9_us, 11_us);
  EXPECT_NEAR(window(), before + 624, 1) << "the next period";
  ack(0, 9_us, 1_us);
  EXPECT_NEAR(window(), before + 1248, 1);
}

// [CMS-088, CMS-086] Not above MaxWnd.
TEST_F(NsccTest, RisesToItsMostAtMost) {
  set_window(224'900);
  ack(33'281, 9_us, 1_us);
  EXPECT_EQ(nscc_.window_bytes(), 225'000u);
  ack(33'281, 9_us, 12_us);
  EXPECT_EQ(nscc_.window_bytes(), 225'000u);
}

// --- fast increase [CMS-084] ---

// [CMS-084, CMS-053, CMS-062] A whole window without delay: then a quarter of the received octets
// is added at once. Before that the increase is proportional: 1.38667 * 50,000 * 9000 = 624e6 for
// each ACK, over the window: 6,240 and 5,873.5.
TEST_F(NsccTest, RisesFastAfterAWindowWithoutDelay) {
  set_window(100'000);
  ack(50'000, Duration::zero(), 1_us);
  expect_window(106'240);
  ack(50'000, Duration::zero());
  expect_window(112'113.5, "100,000 are not more than the window");
  ack(50'000, Duration::zero());
  expect_window(112'113.5 + 12'500);
  ack(4160, Duration::zero());
  expect_window(112'113.5 + 12'500 + 1040, "each one from here on");
  ack(4160, 999_ns);
  expect_window(112'113.5 + 12'500 + 2080, "below 1 us counts as zero");
}

// [CMS-084, CMS-062] A delay of 1 us ends that, and the count restarts.
TEST_F(NsccTest, ADelayEndsTheFastIncrease) {
  set_window(50'000);
  ack(60'000, Duration::zero(), 1_us);
  const double fast = window();
  EXPECT_NEAR(fast, 65'000, 2);
  ack(1024, 1_us);
  EXPECT_EQ(window(), fast);
  ack(1024, Duration::zero());
  EXPECT_EQ(window(), fast) << "1,024 octets without delay are no window";
}

// [CMS-084, CMS-088] Not above MaxWnd, either.
TEST_F(NsccTest, RisesFastToItsMostAtMost) {
  set_window(224'000);
  ack(250'000, Duration::zero(), 1_us);
  EXPECT_EQ(nscc_.window_bytes(), 225'000u);
}

// [CMS-085, CMS-084] A decrease ends the fast increase, even if the window stays.
TEST_F(NsccTest, ADecreaseEndsTheFastIncrease) {
  set_window(50'000);
  ack(60'000, Duration::zero(), 1_us);
  mark(9_us, 1_us);
  const double before = window();
  ack(1024, Duration::zero());
  EXPECT_EQ(window(), before);
}

// --- requests of the destination [cms.md 4] ---

// [CMS-112, CMS-072] (4096 * 64) >> 7 = 2,048 off the window or the octets in flight, whichever is
// less. It needs no RTT.
TEST_F(NsccTest, TheDestinationLowersTheWindow) {
  set_window(100'000);
  ask(4096, 64);
  EXPECT_EQ(nscc_.window_bytes(), 100'000u - 4096 - 2048) << "95,904 are in flight";
  send(50'000);
  ask(4096, 127);
  EXPECT_EQ(nscc_.window_bytes(), 93'856u - 4064);
}

// [CMS-112, CMS-088] A packet remains.
TEST_F(NsccTest, TheDestinationLeavesAPacket) {
  set_window(8000);
  ask(8000, 127);
  EXPECT_EQ(nscc_.window_bytes(), kPacket);
}

// [CMS-114] 64 on all ACKs of a round trip halve the window.
TEST_F(NsccTest, APressureOf64HalvesTheWindowInARoundTrip) {
  set_window(102'400);
  for (int i = 0; i < 25; ++i) {
    send(4096);
    ask(4096, 64);
  }
  EXPECT_EQ(nscc_.window_bytes(), 51'200u);
}

// [CMS-112, CMS-072] Such an ACK causes no increase; it may cause a decrease.
TEST_F(NsccTest, NoIncreaseWhileTheDestinationIsSlow) {
  const auto acked = [&](bool ecn, Duration delay) {
    Acked e;
    e.received_bytes = 0;
    e.rtt = 12_us + delay;
    e.rtt_valid = true;
    e.ecn = ecn;
    e.remote = {.rcv_cwnd_pend = 1, .valid = true};
    e.at = now_;
    return e;
  };
  set_window(100'000);
  Acked e = acked(false, 20_us);
  e.received_bytes = 20'000;
  send(20'000);
  nscc_.on_acked(e);
  const double lowered = window();
  EXPECT_EQ(lowered, 100'000 - 156);  // 20,000 >> 7
  now_ = now_ + 13_us;
  nscc_.on_acked(acked(true, 18_us));
  // The mean was 0 after 20 us at no time, and is 18 us now.
  EXPECT_NEAR(window(), 0.6 * lowered + 624, 2);
}

// [CMS-112, CMS-113] The window of before comes back when the destination says so, once.
TEST_F(NsccTest, TheDestinationGivesTheWindowBack) {
  set_window(100'000);
  ask(10'000, 100);
  ask(10'000, 100);
  ASSERT_LT(window(), 90'000);
  ask(0, 0, true);
  EXPECT_EQ(nscc_.window_bytes(), 100'000u);
  nscc_.on_lost({.bytes = 10'000, .kind = LossKind::inferred, .at = now_});
  ask(0, 0, true);
  EXPECT_EQ(nscc_.window_bytes(), 90'000u) << "there is nothing more to restore";
}

// [CMS-113] Only with p = 0, and only as much as was taken.
TEST_F(NsccTest, NothingIsRestoredUnasked) {
  set_window(100'000);
  ask(0, 0, true);
  EXPECT_EQ(nscc_.window_bytes(), 100'000u);
  ask(10'000, 100);
  const double lowered = window();
  ask(0, 100, true);
  EXPECT_EQ(window(), lowered);
}

// [CMS-115] p = 0 alone keeps the octets to be restored; an idle context forgets them.
TEST_F(NsccTest, AnIdleContextForgetsTheOctetsToRestore) {
  set_window(100'000);
  ask(10'000, 100);
  ask(0, 0);
  ask(0, 0, true);
  EXPECT_EQ(nscc_.window_bytes(), 100'000u);
  ask(10'000, 100);
  const double lowered = window();
  nscc_.on_idle();
  ask(0, 0, true);
  EXPECT_EQ(window(), lowered);
}

// [CMS-111] An ACK of a peer without this state has no effect.
TEST_F(NsccTest, MissingFieldsOfAnAckHaveNoEffect) {
  set_window(100'000);
  Acked e;
  e.received_bytes = 10'000;
  e.remote.rcv_cwnd_pend = 100;
  e.remote.valid = false;
  e.at = now_;
  nscc_.on_acked(e);
  EXPECT_EQ(nscc_.window_bytes(), 100'000u);
}

// [CMS-008, CMS-105] After a pause the window is that of the known base RTT, here 150,000 octets
// for 8 us, or else of the configured one; earlier delays are forgotten.
TEST_F(NsccTest, RestartsAfterAPause) {
  set_window(100'000);
  ack(1'000, 20_us, 12_us);
  nscc_.note_base_rtt(4_us);
  ASSERT_GT(nscc_.mean_delay(), 0_ns);
  nscc_.on_forgotten(99'000);
  ASSERT_EQ(nscc_.inflight_bytes(), 0);
  nscc_.begin_anew(8_us);
  EXPECT_EQ(nscc_.window_bytes(), 150'000u);
  EXPECT_EQ(nscc_.base_rtt(), 8_us);
  EXPECT_EQ(nscc_.mean_delay(), 0_ns);
  nscc_.begin_anew(Duration::zero());
  EXPECT_EQ(nscc_.window_bytes(), 225'000u);
  EXPECT_EQ(nscc_.base_rtt(), 12_us);
}

// [T-35] A peer that never shows a mark, and says that all of the round trip was its own time, gets
// the largest window and no more.
TEST_F(NsccTest, APathWithoutCongestionGetsTheLargestWindow) {
  set_window(20'000);
  for (int i = 0; i < 10'000; ++i) {
    send();
    now_ = now_ + 1_us;
    Acked e;
    e.received_bytes = kPacket;
    e.rtt_valid = true;
    e.at = now_;
    nscc_.on_acked(e);
    ASSERT_LE(nscc_.window_bytes(), 225'000u) << i;
  }
  EXPECT_EQ(nscc_.window_bytes(), 225'000u);
  EXPECT_EQ(nscc_.base_rtt(), 12_us) << "a round trip of 0 ns is not used";
}

// [T-35] No two hosts are nearer than 1 us. A shorter RTT is not trusted, and a peer that reports 1
// us has a window for it: 12,500 octets, and half of that.
TEST_F(NsccTest, AFalseRoundTripLowersTheWindow) {
  nscc_.note_base_rtt(999_ns);
  nscc_.note_base_rtt(Duration::nanoseconds(-5'000));
  EXPECT_EQ(nscc_.base_rtt(), 12_us);
  EXPECT_EQ(nscc_.window_bytes(), 225'000u);
  nscc_.note_base_rtt(1_us);
  EXPECT_EQ(nscc_.window_bytes(), 18'750u);
}

}  // namespace
}  // namespace uet::cms::nscc
