// A window below one packet: pauses between packets, how they grow and how they end. [CMS-195]
#include "cms/sparse_sending.h"
#include "cms/ccc.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

using namespace uet::literals;

constexpr Duration kRoundTrip = 12_us;
constexpr Entropy kMiddle{32768};  // neither longer nor shorter than the mean

Duration pause(SparseSending s, Entropy ev = kMiddle) { return s.on_sent(kRoundTrip, ev); }

// A packet leaves and is cut.
void cut(SparseSending& s) {
  s.on_sent(kRoundTrip, kMiddle);
  s.on_cut();
}

TEST(SparseSendingTest, ACutTakesAQuarter) {
  SparseSending s;
  EXPECT_FALSE(s.is_on());
  EXPECT_EQ(pause(s), 0_us);
  cut(s);
  EXPECT_TRUE(s.is_on());
  EXPECT_EQ(pause(s), 16_us);  // 12 / (3/4)
  cut(s);
  EXPECT_NEAR(static_cast<double>(pause(s).ns()), 21'333, 2);  // 12 / (9/16)
}

// The first window of many packets is cut: that says no more than one cut does.
TEST(SparseSendingTest, CutsOfOneWindowCountOnce) {
  SparseSending s;
  for (int i = 0; i < 40; ++i) s.on_cut();
  EXPECT_EQ(pause(s), 16_us);
}

TEST(SparseSendingTest, A64thOfAPacketIsTheLeast) {
  SparseSending s;
  for (int i = 0; i < 100; ++i) cut(s);
  EXPECT_EQ(pause(s), kRoundTrip * 64);
}

TEST(SparseSendingTest, EntropyValuesSpreadIt) {
  SparseSending s;
  cut(s);
  EXPECT_EQ(pause(s, Entropy(0)), 12_us);
  EXPECT_EQ(pause(s, Entropy(16384)), 14_us);
  EXPECT_EQ(pause(s, Entropy(49152)), 18_us);
}

// From 3/4: an eighth for each ACK, or a 128th for one that reports a mark.
TEST(SparseSendingTest, AnArrivingPacketEndsIt) {
  SparseSending quick;
  cut(quick);
  SparseSending slow = quick;
  quick.on_arrived(false);
  EXPECT_NEAR(static_cast<double>(pause(quick).ns()), 13'714, 2);  // 12 / (7/8)
  quick.on_arrived(false);
  EXPECT_EQ(pause(quick), 0_us);
  for (int i = 0; i < 31; ++i) slow.on_arrived(true);
  EXPECT_NEAR(static_cast<double>(pause(slow).ns()), 12'094, 2);  // 12 / (254/256)
  slow.on_arrived(true);
  EXPECT_EQ(pause(slow), 0_us);
}

class CutCccTest : public ::testing::Test {
 protected:
  static Config config(Algorithm algorithm) {
    Config c;
    c.algorithm = algorithm;
    c.trimming = true;
    c.mtu_bytes = 4160;
    c.link_mbps = 100'000;
    c.base_rtt = kRoundTrip;
    return c;
  }
  void send() { ccc_.on_sent({4160, kMiddle, false, now_}); }
  void lose(LossKind kind) { ccc_.on_lost({4160, 1, kind, kMiddle, now_, kRoundTrip, true}); }
  void send_and_lose(LossKind kind) {
    send();
    lose(kind);
  }
  void ack() { ccc_.on_acked({4160, 1, kRoundTrip, true, false, kMiddle, {}, now_}); }
  // All of the first window is lost: then the window is one packet.
  void lose_window(Ccc& ccc) {
    const auto packets = static_cast<int>(ccc.window_bytes() / 4160);
    for (int i = 0; i < packets; ++i) ccc.on_sent({4160, kMiddle, false, now_});
    for (int i = 0; i < packets; ++i) {
      ccc.on_lost({4160, 1, LossKind::inferred, kMiddle, now_, kRoundTrip, true});
    }
    ASSERT_EQ(ccc.window_bytes(), 4160u);
  }

  Instant now_ = Instant::from_ns(1'000'000'000);
  Ccc ccc_{config(Algorithm::nscc)};
};

TEST_F(CutCccTest, ACutAtTheLeastWindowMakesThemWait) {
  send_and_lose(LossKind::trimmed);
  send();
  EXPECT_LE(ccc_.earliest_send(), now_) << "the window has room for more";
  ack();
  lose_window(ccc_);
  send_and_lose(LossKind::trimmed);
  now_ = now_ + 1_ms;
  send();
  EXPECT_GT(ccc_.earliest_send(), now_ + kRoundTrip);
}

// [CMS-068] Each packet asks for an ACK as long as it is the last one for a round trip or longer,
// though the window has grown.
TEST_F(CutCccTest, AWaitingSenderAsksForEachAck) {
  constexpr uint32_t kTrigger = 16384;
  EXPECT_FALSE(ccc_.wants_ack(4160, kTrigger));
  lose_window(ccc_);
  send_and_lose(LossKind::trimmed);
  ccc_.on_still_in_flight(40'000, kMiddle, now_, true);
  ccc_.on_forgotten(40'000);
  EXPECT_TRUE(ccc_.wants_ack(4160, kTrigger));
  send();
  ASSERT_GT(ccc_.earliest_send(), now_);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(ccc_.wants_ack(4160, kTrigger));
    ack();
    send();
  }
  EXPECT_FALSE(ccc_.wants_ack(4160, kTrigger));
}

TEST_F(CutCccTest, ALossAtTheLeastWindowDoesNot) {
  lose_window(ccc_);
  for (const LossKind kind : {LossKind::timeout, LossKind::inferred, LossKind::refused}) {
    send_and_lose(kind);
    send();
    EXPECT_LE(ccc_.earliest_send(), now_);
    ack();
  }
}

// [CMS-097] Credit answers for the last hop.
TEST_F(CutCccTest, ATrimOfTheLastHopDoesNotCountWithCredit) {
  for (const bool has_credit : {false, true}) {
    Ccc ccc(config(has_credit ? Algorithm::both : Algorithm::nscc));
    lose_window(ccc);
    ccc.on_sent({4160, kMiddle, false, now_});
    ccc.on_lost({4160, 1, LossKind::trimmed_lasthop, kMiddle, now_, kRoundTrip, true});
    ccc.on_sent({4160, kMiddle, false, now_});
    EXPECT_EQ(ccc.earliest_send() > now_, !has_credit);
  }
}

}  // namespace
}  // namespace uet::cms
