// The congestion context: how much the window allows, how it grows and shrinks.
#include "cms/ccc.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

using namespace uet::literals;

constexpr uint32_t kPacket = 4000;
const Instant kStart = Instant::from_ns(1'000'000'000);

Config config() {
  Config c;
  c.algorithm = Algorithm::aimd;
  c.mtu_bytes = kPacket;
  c.initial_window_packets = 32;
  c.window_bytes_max = 100 * kPacket;
  return c;
}

class CccTest : public ::testing::Test {
 protected:
  void send(uint32_t packets) {
    for (uint32_t i = 0; i < packets; ++i) ccc_.on_sent({kPacket, Entropy(0), false, now_});
  }
  void ack(uint32_t packets, bool ecn = false, Duration rtt = 100_us) {
    for (uint32_t i = 0; i < packets; ++i) {
      ccc_.on_acked({kPacket, 1, rtt, true, ecn, Entropy(0), {}, now_});
    }
  }
  void lose(uint32_t packets, LossKind kind) {
    ccc_.on_lost({.bytes = packets * kPacket, .packets = packets, .kind = kind, .at = now_});
  }
  uint64_t window() const { return ccc_.window_bytes() / kPacket; }

  Instant now_ = kStart;
  Ccc ccc_{config()};
};

TEST_F(CccTest, AdmitsTheInitialWindowAndNoMore) {
  for (int i = 0; i < 32; ++i) {
    ASSERT_TRUE(ccc_.may_send(kPacket)) << i;
    send(1);
  }
  EXPECT_FALSE(ccc_.may_send(1));
  EXPECT_EQ(ccc_.inflight_bytes(), 32u * kPacket);
}

// [PDS-240] What is acknowledged, lost or forgotten leaves the window once: of a context with any
// algorithm, and of the AIMD window, which grows by that count.
TEST_F(CccTest, WhatIsAnsweredOrLostIsNotInFlight) {
  const auto expect_leaves = [this](auto& window) {
    for (int i = 0; i < 8; ++i) window.on_sent({kPacket, Entropy(0), false, now_});
    window.on_acked({3 * kPacket, 3, 100_us, true, false, Entropy(0), {}, now_});
    EXPECT_EQ(window.inflight_bytes(), 5u * kPacket);
    window.on_lost({.bytes = 2 * kPacket, .packets = 2, .kind = LossKind::inferred, .at = now_});
    EXPECT_EQ(window.inflight_bytes(), 3u * kPacket);
    window.on_forgotten(kPacket);
    EXPECT_EQ(window.inflight_bytes(), 2u * kPacket);
  };
  for (const Algorithm algorithm : {Algorithm::aimd, Algorithm::fixed, Algorithm::nscc}) {
    SCOPED_TRACE(static_cast<unsigned>(algorithm));
    Config c = config();
    c.algorithm = algorithm;
    Ccc context{c};
    expect_leaves(context);
  }
  AimdWindow window{config()};
  expect_leaves(window);
}

TEST_F(CccTest, OnePacketIsAlwaysAdmittedWhenNothingIsInFlight) {
  EXPECT_TRUE(ccc_.may_send(1'000'000'000));
  send(1);
  EXPECT_FALSE(ccc_.may_send(1'000'000'000));
}

TEST_F(CccTest, DoublesInARoundTripAtFirst) {
  send(32);
  ack(16);
  EXPECT_EQ(window(), 48u);
  ack(16);
  EXPECT_EQ(window(), 64u);
  send(64);
  ack(64);
  EXPECT_EQ(window(), 100u) << "the maximum";
}

TEST_F(CccTest, GrowsByOnePacketForEachWindowAcknowledgedAfterALoss) {
  send(32);
  lose(1, LossKind::trimmed);
  ack(31);
  ASSERT_EQ(window(), 17u);
  for (int round = 0; round < 10; ++round) {
    const auto n = static_cast<uint32_t>(window());
    send(n);
    ack(n);
    EXPECT_LE(window(), n + 1);
  }
  EXPECT_GE(window(), 24u);
}

TEST_F(CccTest, ALossWithoutAQueueEndsTheDoubling) {
  send(32);
  ack(1);
  lose(1, LossKind::inferred);
  const auto before = window();
  send(2);
  ack(32);
  EXPECT_LE(window(), before + 1);
}

// No packet is lost, but packets wait in a buffer.
TEST_F(CccTest, AQueueEndsTheDoubling) {
  send(32);
  ack(8, false, 100_us);
  ack(24, false, 900_us);
  EXPECT_EQ(window(), 64u) << "a busy processor may cause this delay";
  send(64);
  ack(1, false, 100_us);
  ack(63, false, 9_ms);
  EXPECT_EQ(window(), 100u) << "one packet of the round found no queue";

  Config large = config();
  large.window_bytes_max = 1000 * kPacket;
  ccc_ = Ccc(large);
  send(32);
  ack(32, false, 100_us);
  ASSERT_EQ(window(), 64u);
  send(64);
  ack(64, false, 2_ms);
  EXPECT_EQ(window(), 128u) << "all of this round did";
  send(128);
  ack(128, false, 2_ms);
  EXPECT_EQ(window(), 129u);
}

// If whole windows are lost, half of them is tried.
TEST_F(CccTest, DoublesUpToHalfOfTheTimedOutWindow) {
  send(32);
  lose(32, LossKind::timeout);
  ASSERT_EQ(window(), 8u);
  send(8);
  ack(8);
  EXPECT_EQ(window(), 16u);
  send(16);
  ack(16);
  EXPECT_EQ(window(), 17u);
}

// [PDS-240] The same after several time-outs without an answer.
TEST_F(CccTest, FurtherTimeOutsTakeNothing) {
  send(32);
  lose(16, LossKind::timeout);
  now_ = now_ + 10_ms;
  lose(16, LossKind::timeout);
  ASSERT_EQ(window(), 8u);
  send(8);
  ack(8);
  EXPECT_EQ(window(), 16u);
}

// [CMS-194] Packets that a time-out took for lost arrive: the window returns to its old size and
// doubles on. A time-out that an answer followed is not taken back.
TEST_F(CccTest, AnEarlyTimeOutIsTakenBack) {
  send(32);
  lose(32, LossKind::timeout);
  ASSERT_EQ(window(), 8u);
  ccc_.on_early_timeouts();
  EXPECT_EQ(window(), 32u);
  send(32);
  ack(32);
  EXPECT_EQ(window(), 64u);
  now_ = now_ + 10_ms;
  send(64);
  lose(64, LossKind::timeout);
  ASSERT_EQ(window(), 8u);
  send(8);
  ack(8);
  ccc_.on_early_timeouts();
  EXPECT_EQ(window(), 16u);
}

// [CMS-194] What is in flight after all takes its place in the window again, and leaves it once.
TEST_F(CccTest, PacketsInFlightAfterAllCountAgain) {
  send(32);
  lose(32, LossKind::timeout);
  ccc_.on_early_timeouts();
  ccc_.on_still_in_flight(31 * kPacket, Entropy{}, kStart, false);
  EXPECT_EQ(ccc_.inflight_bytes(), 31u * kPacket);
  EXPECT_TRUE(ccc_.may_send(kPacket));
  send(1);
  EXPECT_FALSE(ccc_.may_send(kPacket));
}

// [CMS-194] NSCC at its least window: of 3,000 and 4,160 octets that are lost it gives 3,000 and
// then 1,840. Only the first it gets back.
TEST(RefutedLossTest, GivesBackNoMoreThanItTook) {
  Config c;
  c.mtu_bytes = 4160;
  Ccc ccc(c);
  const uint64_t most = ccc.window_bytes();
  ccc.on_sent({.bytes = static_cast<uint32_t>(most), .at = kStart});
  const auto lose = [&](uint32_t bytes) {
    return ccc.on_lost({.bytes = bytes, .packets = 1, .kind = LossKind::inferred, .at = kStart});
  };
  EXPECT_TRUE(lose(static_cast<uint32_t>(most) - 9000));
  EXPECT_TRUE(lose(3000));
  ASSERT_EQ(ccc.window_bytes(), 6000u);
  EXPECT_FALSE(lose(4160));
  ASSERT_EQ(ccc.window_bytes(), 4160u);
  ccc.on_still_in_flight(4160, Entropy{}, kStart, false);
  EXPECT_EQ(ccc.window_bytes(), 4160u);
  ccc.on_still_in_flight(3000, Entropy{}, kStart, true);
  EXPECT_EQ(ccc.window_bytes(), 7160u);
}

// [CMS-105] In software no base RTT is configured: none is known before the first round trip.
TEST(BaseRttTest, IsUnknownBeforeTheFirstRoundTrip) {
  Ccc ccc(Config::software());
  EXPECT_EQ(ccc.base_rtt(), Duration::zero());
  ccc.note_base_rtt(100_us);
  EXPECT_EQ(ccc.base_rtt(), 100_us);
}

// Octets count, not packets: 128 KiB of payload in packets of any size.
TEST(FirstWindowTest, HoldsAsMuchAsAStockReceiveBuffer) {
  for (const uint32_t payload : {1024u, 2048u, 4096u, 8192u}) {
    Config c;
    c.algorithm = Algorithm::aimd;
    c.mtu_bytes = payload + 148;
    const Ccc ccc(c);
    EXPECT_EQ(ccc.window_bytes() / c.mtu_bytes * payload, 128u * 1024) << payload;
  }
}

TEST_F(CccTest, DoesNotGrowWhileTheApplicationIsTheLimit) {
  for (int i = 0; i < 1000; ++i) {
    send(4);
    ack(4);
  }
  EXPECT_EQ(window(), 32u);
}

TEST_F(CccTest, NeverExceedsTheMaximum) {
  for (int round = 0; round < 500; ++round) {
    const auto n = static_cast<uint32_t>(window());
    send(n);
    ack(n);
    ASSERT_LE(window(), 100u);
  }
  EXPECT_EQ(window(), 100u);
}

// [CMS-014] What is lost is in flight no more.
TEST_F(CccTest, HalvesOnceForAllLossesOfARound) {
  send(32);
  lose(1, LossKind::inferred);
  lose(1, LossKind::trimmed);
  EXPECT_EQ(window(), 16u);
  EXPECT_EQ(ccc_.inflight_bytes(), 30u * kPacket);
}

TEST_F(CccTest, HalvesAgainARoundTripLater) {
  send(32);
  ack(1);  // the RTT is 100 us from here
  lose(1, LossKind::trimmed);
  now_ = now_ + 99_us;
  lose(1, LossKind::refused);
  EXPECT_EQ(window(), 16u);
  now_ = now_ + 1_us;
  lose(1, LossKind::trimmed_lasthop);
  EXPECT_EQ(window(), 8u);
}

// Round trips are as short as ever: the path drops packets, and there is no queue to drain. Each
// loss takes a quarter of its packet.
TEST_F(CccTest, LossWithoutAQueueTakesLittle) {
  send(32);
  ack(1, false, 100_us);
  ack(1, false, 299_us);  // smoothed: 100 + 199 / 8, below 125
  lose(4, LossKind::inferred);
  EXPECT_EQ(ccc_.window_bytes(), 33u * kPacket);
  lose(4, LossKind::inferred);
  EXPECT_EQ(ccc_.window_bytes(), 32u * kPacket) << "each of them, whenever it is found";
}

// Where round trips are longer the window falls to what the path holds without the queue, once a
// round trip: 34 packets * 100 / 160.
TEST_F(CccTest, LossWithAQueueTakesTheQueue) {
  send(32);
  ack(1, false, 100_us);
  ack(1, false, 580_us);  // smoothed: 100 + 480 / 8
  lose(1, LossKind::inferred);
  EXPECT_EQ(ccc_.window_bytes(), 85'000u);
  now_ = now_ + 159_us;
  lose(1, LossKind::inferred);
  EXPECT_EQ(ccc_.window_bytes(), 85'000u);
}

TEST_F(CccTest, LossWithALongQueueHalves) {
  send(32);
  ack(1, false, 100_us);
  ack(1, false, 2500_us);  // smoothed: 400
  lose(1, LossKind::inferred);
  EXPECT_EQ(window(), 17u);
}

TEST_F(CccTest, LossesWithoutAQueueStopAtTheMinimum) {
  send(32);
  ack(1);
  for (int i = 0; i < 31; ++i) lose(1, LossKind::inferred);
  send(300);
  for (int i = 0; i < 300; ++i) lose(1, LossKind::inferred);
  EXPECT_EQ(window(), 8u);
}

TEST_F(CccTest, EcnHalvesLikeALoss) {
  send(32);
  ack(1, /*ecn=*/true);
  EXPECT_EQ(window(), 16u);
}

TEST_F(CccTest, TimeoutFallsToTheMinimumAndNoLower) {
  send(32);
  lose(1, LossKind::timeout);
  EXPECT_EQ(window(), 8u);
  now_ = now_ + 1_s;
  lose(1, LossKind::timeout);
  EXPECT_EQ(window(), 8u);
}

// [PDS-240]
TEST_F(CccTest, ForgottenOctetsFreeTheWindowWithoutJudgement) {
  send(32);
  ccc_.on_forgotten(32 * kPacket);
  EXPECT_EQ(ccc_.inflight_bytes(), 0u);
  EXPECT_EQ(window(), 32u);
  send(31);
  EXPECT_TRUE(ccc_.may_send(kPacket)) << "the window has room for as many again";
}

// [PDS-242]
TEST(FixedWindowTest, IgnoresLossAndEcn) {
  Config c = config();
  c.algorithm = Algorithm::fixed;
  Ccc ccc(c);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(ccc.may_send(kPacket));
    ccc.on_sent({kPacket, Entropy(0), false, kStart});
  }
  EXPECT_FALSE(ccc.may_send(kPacket));
  ccc.on_lost({.bytes = 50 * kPacket, .packets = 50, .kind = LossKind::timeout, .at = kStart});
  ccc.on_acked({50 * kPacket, 50, 1_us, true, true, Entropy(0), {}, kStart});
  EXPECT_EQ(ccc.window_bytes(), 100u * kPacket);
  EXPECT_EQ(ccc.inflight_bytes(), 0u);
}

// [CMS-015] nominal = transport size (UDP length) + 40.
TEST(NominalBytesTest, CountsTheUdpHeaderAndForty) {
  EXPECT_EQ(nominal_bytes(4152), 4152u + 8 + 40);
}

}  // namespace
}  // namespace uet::cms
