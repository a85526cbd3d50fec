// TxWindow, RxWindow and their pools; SackBitmap and the sweep of its base.
#include "pds/psn_window.h"
#include "pds/sack.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace uet::pds {
namespace {

constexpr Psn kNearWrap{0xFFFF'FFFE};

class TxWindowTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(pool_.create(arena_, 4).ok()); }
  Psn push() {
    EXPECT_TRUE(window_.reserve(pool_));
    const Psn psn = window_.next();
    window_.push();
    return psn;
  }
  Arena arena_;
  TxPool pool_;
  TxWindow window_;
};

// [PDS-030, PDS-032] PSNs follow each other across the wrap.
TEST_F(TxWindowTest, CountsAcrossTheWrap) {
  window_.start(kNearWrap);
  EXPECT_EQ(push(), Psn(0xFFFF'FFFE));
  EXPECT_EQ(push(), Psn(0xFFFF'FFFF));
  EXPECT_EQ(push(), Psn(0));
  EXPECT_EQ(window_.size(), 3u);
  EXPECT_TRUE(window_.contains(Psn(0)));
  EXPECT_FALSE(window_.contains(Psn(1)));
  EXPECT_FALSE(window_.contains(Psn(0xFFFF'FFFD)));
  window_.complete(Psn(0xFFFF'FFFF));
  EXPECT_EQ(window_.base(), kNearWrap);
  EXPECT_EQ(window_.find(Psn(0xFFFF'FFFF)), nullptr) << "answered";
  window_.complete(kNearWrap);
  EXPECT_EQ(window_.base(), Psn(0));
  window_.complete(Psn(0));
  EXPECT_TRUE(window_.empty());
  window_.release(pool_);
  EXPECT_EQ(pool_.in_use(), 0u);
}

TEST_F(TxWindowTest, GrowsWithoutLosingSlots) {
  window_.start(kNearWrap);
  for (uint32_t i = 0; i < 2048; ++i) {
    const Psn psn = push();
    window_[psn].rto_count = static_cast<uint8_t>(i);
    if (i == 0) {
      EXPECT_EQ(window_.capacity(), 64u);
    }
    if (i == 64) {
      EXPECT_EQ(window_.capacity(), 256u);
    }
  }
  EXPECT_EQ(window_.capacity(), 2048u);
  EXPECT_EQ(pool_.in_use(), 1u) << "smaller blocks went back";
  for (uint32_t i = 0; i < 2048; ++i) {
    ASSERT_EQ(window_[kNearWrap + i].rto_count, static_cast<uint8_t>(i));
  }
  EXPECT_FALSE(window_.reserve(pool_)) << "there is no larger block";
  window_.abandon(pool_);
  EXPECT_EQ(pool_.in_use(), 0u);
  EXPECT_EQ(window_.next(), kNearWrap + 2048) << "PSNs are not used again";
}

TEST_F(TxWindowTest, EmptyPoolChangesNothing) {
  TxPool pool;
  ASSERT_TRUE(pool.create(arena_, 1).ok());  // four blocks of each size at least
  std::vector<TxWindow> windows(17);
  for (size_t i = 0; i < 16; ++i) {
    windows[i].start(Psn(0));
    EXPECT_TRUE(windows[i].reserve(pool));
  }
  windows[16].start(Psn(5));
  EXPECT_FALSE(windows[16].reserve(pool));
  EXPECT_EQ(windows[16].next(), Psn(5));
  windows[3].release(pool);
  EXPECT_TRUE(windows[16].reserve(pool));
}

TEST(SentTickTest, SurvivesItsWrap) {
  const Instant t = Instant::from_ns((int64_t{1} << 40) - 512);
  EXPECT_EQ(SentTick::since(SentTick::of(t), t + Duration::microseconds(1024)).us(), 1024);
}

class RxWindowTest : public ::testing::Test {
 protected:
  void open(Psn first, uint32_t range = 128) {
    ASSERT_TRUE(pool_.create(arena_, 1, RxWindow::block_bytes(range)).ok());
    window_.start(first, range);
    ASSERT_TRUE(window_.reserve(pool_));
  }
  // "cack 99 | # . #": PSNs above the cumulative ACK, H: held.
  std::string picture() {
    std::string s = "cack " + std::to_string(window_.cack_psn().value()) + " |";
    for (Psn p = window_.base(); !p.after(window_.max_received()); ++p) {
      s += window_.is_held(p) ? " H" : window_.received(p) ? " #" : " .";
    }
    return s;
  }
  Arena arena_;
  BlockPool pool_;
  RxWindow window_;
};

// [PDS-034] The cumulative ACK includes its PSN and begins at Start_PSN - 1.
TEST_F(RxWindowTest, GapHoldsTheCumulativeAck) {
  open(Psn(100));
  EXPECT_EQ(picture(), "cack 99 |");
  window_.accept(Psn(100), false);
  window_.accept(Psn(102), false);
  window_.accept(Psn(105), false);
  EXPECT_EQ(picture(), "cack 100 | . # . . #");
  EXPECT_TRUE(window_.has_above());
  window_.accept(Psn(101), false);
  EXPECT_EQ(picture(), "cack 102 | . . #");
  EXPECT_FALSE(window_.all_received_below(Psn(105)));
  EXPECT_TRUE(window_.all_received_below(Psn(103)));
}

// [PDS-081] A stored response holds it as well, though everything has arrived.
TEST_F(RxWindowTest, HeldPsnHoldsTheCumulativeAck) {
  open(Psn(100));
  window_.accept(Psn(100), false);
  window_.accept(Psn(101), true);
  window_.accept(Psn(102), false);
  window_.accept(Psn(103), true);
  EXPECT_EQ(picture(), "cack 100 | H # H");
  EXPECT_TRUE(window_.all_received_below(Psn(104)));
  window_.unhold(Psn(103));
  EXPECT_EQ(picture(), "cack 100 | H # #");
  window_.unhold(Psn(101));
  EXPECT_EQ(picture(), "cack 103 |");
  window_.unhold(Psn(101));  // below the window: nothing happens
  EXPECT_FALSE(window_.has_above());
}

// [PDS 7.2] The borders of each class, across the wrap.
TEST_F(RxWindowTest, ClassesAtTheirBorders) {
  open(kNearWrap);
  window_.accept(kNearWrap, false);
  const Psn base = kNearWrap + 1;
  window_.accept(base + 3, false);
  EXPECT_EQ(window_.classify(base), Arrival::fresh);
  EXPECT_EQ(window_.classify(base + 3), Arrival::dup_window);
  EXPECT_EQ(window_.classify(base + 127), Arrival::fresh);
  EXPECT_EQ(window_.classify(base + 128), Arrival::beyond_range);
  EXPECT_EQ(window_.classify(base - 1), Arrival::dup_below);
  EXPECT_EQ(window_.classify(base - 32768), Arrival::dup_below);
  EXPECT_EQ(window_.classify(base - 32769), Arrival::too_old);
}

// [PDS-035] The whole range can be tracked, again and again.
TEST_F(RxWindowTest, TracksItsWholeRangeForever) {
  open(Psn(7));
  Psn base(7);
  for (int round = 0; round < 50; ++round) {
    for (int32_t i = 127; i >= 0; --i) {
      ASSERT_EQ(window_.classify(base + i), Arrival::fresh);
      window_.accept(base + i, false);
    }
    base = base + 128;
    ASSERT_EQ(window_.base(), base);
    ASSERT_FALSE(window_.has_above());
  }
}

TEST_F(RxWindowTest, ForgottenPsnMayComeAgain) {
  open(Psn(100));
  window_.accept(Psn(100), true);
  window_.forget(Psn(100));
  EXPECT_EQ(window_.classify(Psn(100)), Arrival::fresh);
}

TEST_F(RxWindowTest, AnswersComeLowestFirstAndOnce) {
  open(Psn(100));
  for (uint32_t p : {104u, 102u, 106u}) {
    window_.accept(Psn(p), false);
    window_.want_answer(Psn(p));
    window_.want_answer(Psn(p));
  }
  Psn psn;
  EXPECT_TRUE(window_.take_answer(psn));
  EXPECT_EQ(psn, Psn(102));
  for (uint32_t p : {100u, 101u, 103u}) window_.accept(Psn(p), false);
  EXPECT_TRUE(window_.take_answer(psn)) << "104 is covered by the cumulative ACK now";
  EXPECT_EQ(psn, Psn(106));
  EXPECT_FALSE(window_.take_answer(psn));
  window_.want_answer(Psn(100));
  EXPECT_FALSE(window_.take_answer(psn)) << "below the window: the cumulative ACK answers";
}

TEST_F(RxWindowTest, EmptyPoolChangesNothing) {
  open(Psn(100));
  RxWindow other;
  other.start(Psn(1), 128);
  EXPECT_FALSE(other.reserve(pool_));
  EXPECT_EQ(other.classify(Psn(1)), Arrival::fresh);
  window_.release(pool_);
  EXPECT_TRUE(other.reserve(pool_));
}

class SackTest : public RxWindowTest {};

// [PDS-087, PDS 8.1] The base is a multiple of 8; PSNs at or below the cumulative ACK show as set.
TEST_F(SackTest, BitmapByHand) {
  open(Psn(100));
  for (uint32_t p : {100u, 101u, 103u, 106u}) window_.accept(Psn(p), false);
  // From 96: 96..101 at or below the cumulative ACK, 102 missing, 103, 104 and 105 missing, 106.
  EXPECT_EQ(SackBitmap::of(window_, Psn(102)), (SackBitmap{Psn(96), 0b100'1011'1111}));
  EXPECT_TRUE(SackBitmap::of(window_, Psn(102)).has(Psn(106)));
  EXPECT_FALSE(SackBitmap::of(window_, Psn(102)).has(Psn(104)));
  EXPECT_FALSE(SackBitmap::of(window_, Psn(102)).has(Psn(96 + 64)));
}

// [PDS-086] Consecutive ACKs sweep over everything that arrived out of order.
TEST_F(SackTest, SweepShowsEverything) {
  open(Psn(0), 1024);
  SackSweep sweep;
  sweep.start(Psn(0));
  std::set<uint32_t> arrived;
  for (uint32_t p = 3; p < 900; p += 7) {
    window_.accept(Psn(p), false);
    sweep.on_request(Psn(p), window_.cack_psn());
    arrived.insert(p);
  }
  std::set<uint32_t> shown;
  for (int acks = 0; acks < 20; ++acks) {
    const SackBitmap s = sweep.next(window_, window_.cack_psn());
    for (uint32_t i = 0; i < 64; ++i) {
      const Psn p = s.base + i;
      if (s.has(p) && p.after(window_.cack_psn())) shown.insert(p.value());
    }
  }
  EXPECT_EQ(shown, arrived);
}

// [PDS-088] An ACK that names a PSN shows it.
TEST_F(SackTest, NamedPsnIsAlwaysShown) {
  open(Psn(0), 1024);
  SackSweep sweep;
  sweep.start(Psn(0));
  for (uint32_t p = 5; p < 1000; p += 3) {
    window_.accept(Psn(p), false);
    sweep.on_request(Psn(p), window_.cack_psn());
    EXPECT_TRUE(sweep.next(window_, Psn(p)).has(Psn(p))) << p;
  }
}

// [PDS-088] The same wherever the cumulative ACK stands to the multiples of 8 of the base.
TEST_F(SackTest, NamedPsnIsShownFromEveryAlignment) {
  ASSERT_TRUE(pool_.create(arena_, 1, RxWindow::block_bytes(128)).ok());
  for (uint32_t first = 0; first < 8; ++first) {
    for (uint32_t distance = 1; distance < 100; ++distance) {
      RxWindow window;
      window.start(Psn(first), 128);
      ASSERT_TRUE(window.reserve(pool_));
      SackSweep sweep;
      sweep.start(Psn(first));
      const Psn far = Psn(first) + distance;
      window.accept(far, false);
      sweep.on_request(far, window.cack_psn());
      EXPECT_TRUE(sweep.next(window, far).has(far)) << first << " + " << distance;
      window.release(pool_);
    }
  }
}

}  // namespace
}  // namespace uet::pds
