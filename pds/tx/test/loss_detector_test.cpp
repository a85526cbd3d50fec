// Time-outs from round trips, and which packets of a window count as lost. [PDS 12]
#include "pds/tx/loss_detector.h"

#include <gtest/gtest.h>

#include <vector>

namespace uet::pds {
namespace {

// [PDS-140] Doubling from the initial value to the cap; samples only raise it.
TEST(RtoEstimatorTest, DoublesUpToTheCap) {
  RtoEstimator e;
  const Duration init = Duration::milliseconds(5);
  const Duration max = Duration::milliseconds(200);
  std::vector<int64_t> ms;
  for (uint32_t i = 0; i < 8; ++i) ms.push_back(e.rto(init, max, i).ms());
  EXPECT_EQ(ms, (std::vector<int64_t>{5, 10, 20, 40, 80, 160, 200, 200}));
  EXPECT_EQ(e.rto(init, max, 255).ms(), 200);
  e.on_rtt(Duration::microseconds(20));
  EXPECT_EQ(e.rto(init, max, 0).ms(), 5);
  for (int i = 0; i < 100; ++i) e.on_rtt(Duration::milliseconds(30));
  // All alike: four round trips, less what rounding leaves below that.
  EXPECT_GE(e.rto(init, max, 0).ms(), 118);
  EXPECT_LE(e.rto(init, max, 0).ms(), 120);
}

// [PDS-140] After the first sample SRTT is 20 ms and RTTVAR 10 ms, of which four are less than
// three SRTT: 80 ms.
TEST(RtoEstimatorTest, FirstSampleByHand) {
  RtoEstimator e;
  e.on_rtt(Duration::milliseconds(20));
  EXPECT_EQ(e.smoothed().ms(), 20);
  EXPECT_EQ(e.rto(Duration::milliseconds(5), Duration::seconds(1), 0).ms(), 80);
}

// [PDS-140] 10 ms, then 50 ms: RTTVAR becomes (3 * 5 + 40) / 4 = 13.75 ms and SRTT
// (7 * 10 + 50) / 8 = 15 ms. Four RTTVAR are more than three SRTT: 15 + 55 = 70 ms.
TEST(RtoEstimatorTest, RoundTripsThatDifferMakeTheTimeOutLonger) {
  RtoEstimator e;
  e.on_rtt(Duration::milliseconds(10));
  e.on_rtt(Duration::milliseconds(50));
  EXPECT_EQ(e.smoothed().ms(), 15);
  EXPECT_EQ(e.rto(Duration::milliseconds(5), Duration::seconds(1), 0).ms(), 70);
}

// [PDS-140] 48 ms before the first sample. Each sample of 0.1 ms takes about a quarter of what is
// left off the deviation: ((12 * 3 + 0) / 4) = 9 ms after two samples, 4 * 9 + 0.1 = 36.1 ms.
TEST(RtoEstimatorTest, TheFirstTimeOutGivesWayToSamples) {
  const Duration min = Duration::milliseconds(5);
  const Duration max = Duration::milliseconds(200);
  RtoEstimator e(Duration::milliseconds(48));
  EXPECT_EQ(e.rto(min, max, 0).ms(), 48);
  EXPECT_EQ(e.rto(min, max, 1).ms(), 96);
  e.on_rtt(Duration::microseconds(100));
  EXPECT_EQ(e.rto(min, max, 0).us(), 48'100);
  e.on_rtt(Duration::microseconds(100));
  EXPECT_EQ(e.rto(min, max, 0).us(), 36'100);
  for (int i = 0; i < 8; ++i) e.on_rtt(Duration::microseconds(100));
  EXPECT_EQ(e.rto(min, max, 0).ms(), 5);
}

class LossDetectorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pool_.create(arena_, 4);
    window_.start(Psn(0));
  }
  void send(uint16_t ev, int64_t at_us = 0) {
    ASSERT_TRUE(window_.reserve(pool_));
    TxSlot& s = window_.push();
    s.ev = Entropy(ev);
    s.state.send();
    s.note_sent(at(at_us));
    window_.requeue(window_.next() - 1);
  }
  void sack(uint32_t psn) {
    window_[Psn(psn)].state.arrive();
    window_[Psn(psn)].state.land();
    window_.requeue(Psn(psn));
    if (psn > highest_) highest_ = psn;
  }
  static Instant at(int64_t us) { return Instant::from_ns(1'000'000'000 + us * 1000); }
  std::vector<uint32_t> infer(uint32_t threshold, LossCause want, int64_t now_us = 1000,
                              Duration time = Duration::zero()) {
    std::vector<uint32_t> lost;
    LossDetector::infer(window_, Psn(highest_), {threshold, 0, time}, at(now_us),
                        [&](Psn p, TxSlot& slot, LossCause cause) {
                          EXPECT_EQ(cause, want);
                          slot.state.land();
                          slot.state.set_lost(LossSign::reported);
                          window_.requeue(p);
                          lost.push_back(p.value());
                        });
    return lost;
  }
  void resend(uint32_t psn, int64_t at_us) {
    TxSlot& s = window_[Psn(psn)];
    s.state.set_lost(LossSign::none);
    s.state.send();
    s.state.count_resend();
    s.note_sent(at(at_us));
    window_.requeue(Psn(psn));
  }
  Arena arena_;
  TxPool pool_;
  TxWindow window_;
  uint32_t highest_ = 0;
};

// [PDS-L4] A packet overtaken on the same EV is lost; other EVs prove nothing.
TEST_F(LossDetectorTest, OvertakenOnItsOwnEv) {
  for (const int ev : {1, 2, 1, 2, 3}) send(static_cast<uint16_t>(ev));
  sack(2);
  EXPECT_EQ(infer(100, LossCause::ev_order), (std::vector<uint32_t>{0}));
  sack(4);
  EXPECT_TRUE(infer(100, LossCause::ev_order).empty());
  sack(3);
  EXPECT_EQ(infer(100, LossCause::ev_order), (std::vector<uint32_t>{1}));
}

// Whether a resent packet is lost depends on its last transmission; its own arrival shows no loss.
TEST_F(LossDetectorTest, AResendRestartsTheEvidence) {
  for (int i = 0; i < 4; ++i) send(1, 0);
  sack(1);
  EXPECT_EQ(infer(100, LossCause::ev_order), (std::vector<uint32_t>{0}));
  resend(0, 50);
  sack(2);
  EXPECT_TRUE(infer(100, LossCause::ev_order).empty()) << "2 was sent before the resend of 0";
  send(1, 60);
  sack(4);
  EXPECT_EQ(infer(100, LossCause::ev_order), (std::vector<uint32_t>{3, 0})) << "as they were sent";
  resend(3, 70);
  window_[Psn(3)].state.arrive();  // by whichever copy
  window_.requeue(Psn(3));
  send(1, 65);
  EXPECT_TRUE(infer(100, LossCause::ev_order).empty());
}

// [PDS-L3, PDS-143] Many later arrivals on other EVs make a loss; each packet once per recovery.
TEST_F(LossDetectorTest, TooManyOutOfOrder) {
  for (uint16_t ev = 0; ev < 12; ++ev) send(ev);
  for (uint32_t p = 2; p < 6; ++p) sack(p);
  EXPECT_TRUE(infer(5, LossCause::ooo_count).empty());
  sack(6);
  EXPECT_EQ(infer(5, LossCause::ooo_count, 100), (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(LossDetector::in_recovery(window_));
  resend(0, 101);
  resend(1, 101);
  sack(7);
  EXPECT_TRUE(infer(5, LossCause::ooo_count, 102).empty());
  sack(9);
  EXPECT_EQ(infer(5, LossCause::ooo_count, 103), (std::vector<uint32_t>{8}));
  for (uint32_t p = 0; p < 12; ++p) window_.complete(Psn(p));
  send(50, 200);
  EXPECT_TRUE(infer(5, LossCause::ooo_count, 201).empty());
  EXPECT_FALSE(LossDetector::in_recovery(window_)) << "everything of the recovery is answered";
}

// [PDS-L3, PDS-143] Few later arrivals, but one was sent long after; on whatever EV, and also after
// the resend.
TEST_F(LossDetectorTest, LostIfSentLongBeforeAnArrival) {
  send(1, 0);
  send(2, 50);
  send(3, 51);
  sack(1);
  EXPECT_TRUE(infer(100, LossCause::ooo_count, 90, 50_us).empty()) << "50 us are believed";
  sack(2);
  EXPECT_EQ(infer(100, LossCause::ooo_count, 91, 50_us), (std::vector<uint32_t>{0}));
  resend(0, 92);
  send(4, 140);
  sack(3);
  EXPECT_TRUE(infer(100, LossCause::ooo_count, 180, 50_us).empty());
  send(5, 143);
  sack(4);
  EXPECT_EQ(infer(100, LossCause::ooo_count, 183, 50_us), (std::vector<uint32_t>{0}));
  resend(0, 184);
  EXPECT_TRUE(infer(100, LossCause::ooo_count, 999).empty()) << "without a round trip no time";
}

TEST_F(LossDetectorTest, NothingAboveTheBaseNothingLost) {
  EXPECT_TRUE(infer(1, LossCause::ooo_count).empty());
  send(1);
  EXPECT_TRUE(infer(1, LossCause::ooo_count).empty());
}

}  // namespace
}  // namespace uet::pds
