// NSCC that learns by loss, where losses have other causes than a full queue: while the window
// doubles, and on ways with a round trip of 1 ms. By hand. [decision 16]
#include "cms/test/nscc_testing.h"

#include "cms/nscc.h"

#include <gtest/gtest.h>

#include <tuple>
#include <utility>

namespace uet::cms::nscc_far {
namespace {

using namespace uet::literals;

class NsccFarTest : public NsccInSoftware {
 protected:
  NsccFarTest() : NsccInSoftware(software_config()) {}
  void lose(uint32_t packets = 1) {
    for (; packets > 0; --packets) {
      nscc_.on_lost({.bytes = kPacket, .packets = 1, .kind = LossKind::inferred, .at = now_});
    }
  }
  // The window has 128 packets and does not double any more; the mean delay is `delay`.
  void reach_128_packets(Duration base, Duration delay) {
    for (int i = 0; i < 3; ++i) round(base);
    ack(0, base, Mark::ecn);
    set_delay(base, delay);
    ASSERT_NEAR(packets(), 128, 0.2);
  }
  void set_delay(Duration base, Duration delay) {
    for (int i = 0; i < 200; ++i) ack(0, base + delay);
  }
  double packets() const { return static_cast<double>(window()) / kPacket; }
};

// [CMS-197] A loss without a queue costs a quarter of its packet, and the window doubles on.
TEST_F(NsccFarTest, AFewLossesDoNotEndTheDoubling) {
  round(50_us);
  lose(2);
  EXPECT_EQ(packets(), 31.5);
  round(50_us);
  EXPECT_EQ(packets(), 62.5);
}

// [CMS-197] 31 of 128 packets are lost; the window was already reduced for seven of them. Random
// losses alone are not that many: the window is halved, and doubles no more. A sixteenth of the
// arrived packets may be lost in addition.
TEST_F(NsccFarTest, ManyLossesEndTheDoubling) {
  for (const uint32_t arrived : {0u, 24u}) {
    nscc_ = Nscc(software_config());
    for (int i = 0; i < 3; ++i) round(50_us);
    now_ = now_ + 10_ms;
    lose(28);
    EXPECT_EQ(packets(), 121);
    ack(arrived, 50_us);
    lose(3);
    if (arrived > 0) {
      EXPECT_GT(packets(), 119);
      continue;
    }
    EXPECT_NEAR(packets(), 60.25, 0.1);
    round(50_us);
    EXPECT_LT(packets(), 62);
  }
}

// [CMS-197] On a long way a loss behind a full queue leaves three quarters of the window at least,
// and a loss without a queue takes an eighth of its packet. On a short way: half, and a quarter.
TEST_F(NsccFarTest, ALossReducesTheWindowLessOnALongPath) {
  for (const auto& [base, least, share] :
       {std::tuple{1_ms, 96.0, 8.0}, std::tuple{100_us, 64.0, 4.0}}) {
    nscc_ = Nscc(software_config());
    reach_128_packets(base, 0_us);
    now_ = now_ + 100_ms;
    const double before = packets();
    lose();
    EXPECT_DOUBLE_EQ(packets(), before - 1 / share);
    nscc_ = Nscc(software_config());
    reach_128_packets(base, base * 2);
    now_ = now_ + 100_ms;
    lose();
    EXPECT_NEAR(packets(), least, 0.2);
  }
}

// [CMS-197] Many losses without a queue take half of each packet there.
TEST_F(NsccFarTest, ManyLossesTakeMore) {
  reach_128_packets(1_ms, 0_us);
  now_ = now_ + 100_ms;
  lose(40);
  const double before = packets();
  lose();
  EXPECT_DOUBLE_EQ(packets(), before - 0.5);
}

// [CMS-197] From 96 of 128 packets half of the missing 32 come back in a round trip without delay,
// where it would else be one; at the target delay of 400 us none.
TEST_F(NsccFarTest, TheWindowReturnsSoonAfterALoss) {
  for (const auto& [delay, gain] :
       {std::pair{0_us, 16.0}, std::pair{200_us, 8.0}, std::pair{400_us, 0.15}}) {
    nscc_ = Nscc(software_config());
    reach_128_packets(1_ms, 2_ms);
    now_ = now_ + 100_ms;
    lose();
    now_ = now_ + 1_ms;
    const double before = packets();
    ack(96, 1_ms + delay);
    EXPECT_NEAR(packets() - before, gain, 0.4) << delay.ns();
  }
}

// [CMS-197] A loss reduces the window, and the delay stays: for 32 round trips the delay does not
// count as a queue, and the next loss takes an eighth of its packet. Then it counts again. On a
// short path it always counts.
TEST_F(NsccFarTest, ADelayThatStaysIsNoQueueForAWhile) {
  for (const Duration base : {1_ms, 100_us}) {
    nscc_ = Nscc(software_config());
    reach_128_packets(base, base / 2);
    now_ = now_ + 100_ms;
    lose();
    const double after = packets();
    EXPECT_LT(after, 97);
    now_ = now_ + base * 4;
    lose();
    EXPECT_EQ(packets() > after - 1, base == 1_ms);
    if (base != 1_ms) continue;
    now_ = now_ + base * 45;
    lose();
    EXPECT_LT(packets(), after * 0.8);
  }
}

// [CMS-197] A delay that has grown since then is a queue.
TEST_F(NsccFarTest, ADelayThatGrowsIsAQueue) {
  reach_128_packets(1_ms, 500_us);
  now_ = now_ + 100_ms;
  lose();
  const double after = packets();
  now_ = now_ + 4_ms;
  set_delay(1_ms, 900_us);
  lose();
  EXPECT_LT(packets(), after * 0.8);
}

// [CMS-197, CMS-049] On a long way the target delay is 400 us: with 200 us the window grows by half
// a packet in a round trip. On a short way that is the target.
TEST_F(NsccFarTest, TheTargetIsLongerOnALongWay) {
  for (const auto& [base, gain] : {std::pair{1_ms, 0.5}, std::pair{700_us, 0.0}}) {
    nscc_ = Nscc(software_config());
    reach_128_packets(base, 0_us);
    now_ = now_ + base;
    const double before = packets();
    ack(128, base + 200_us);
    EXPECT_NEAR(packets() - before, gain + 0.15, 0.02);
  }
}

}  // namespace
}  // namespace uet::cms::nscc_far
