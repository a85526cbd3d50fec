// RxWindow; SackBitmap and the sweep of its base.
#include "pds/rx/rx_window.h"
#include "pds/rx/sack.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace uet::pds {
namespace {

constexpr Psn kNearWrap{0xFFFF'FFFE};

class RxWindowTest : public ::testing::Test {
 protected:
  void open(Psn first, uint32_t range = 128) {
    pool_.create(arena_, 1, RxWindow::block_bytes(range));
    window_.start(first, range);
    ASSERT_TRUE(window_.may_accept(pool_));
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
  window_.accept(pool_, Psn(100), false);
  window_.accept(pool_, Psn(102), false);
  window_.accept(pool_, Psn(105), false);
  EXPECT_EQ(picture(), "cack 100 | . # . . #");
  EXPECT_TRUE(window_.has_above());
  window_.accept(pool_, Psn(101), false);
  EXPECT_EQ(picture(), "cack 102 | . . #");
  EXPECT_FALSE(window_.all_received_below(Psn(105)));
  EXPECT_TRUE(window_.all_received_below(Psn(103)));
}

// [PDS-081] A stored response holds it as well, though everything has arrived.
TEST_F(RxWindowTest, HeldPsnHoldsTheCumulativeAck) {
  open(Psn(100));
  window_.accept(pool_, Psn(100), false);
  window_.accept(pool_, Psn(101), true);
  window_.accept(pool_, Psn(102), false);
  window_.accept(pool_, Psn(103), true);
  EXPECT_EQ(picture(), "cack 100 | H # H");
  EXPECT_TRUE(window_.all_received_below(Psn(104)));
  window_.unhold(pool_, Psn(103));
  EXPECT_EQ(picture(), "cack 100 | H # #");
  window_.unhold(pool_, Psn(101));
  EXPECT_EQ(picture(), "cack 103 |");
  window_.unhold(pool_, Psn(101));  // below the window: nothing happens
  EXPECT_FALSE(window_.has_above());
}

// [PDS 7.2] The borders of each class, across the wrap.
TEST_F(RxWindowTest, ClassesAtTheirBorders) {
  open(kNearWrap);
  window_.accept(pool_, kNearWrap, false);
  const Psn base = kNearWrap + 1;
  window_.accept(pool_, base + 3, false);
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
      window_.accept(pool_, base + i, false);
    }
    base = base + 128;
    ASSERT_EQ(window_.base(), base);
    ASSERT_FALSE(window_.has_above());
  }
}

TEST_F(RxWindowTest, ForgottenPsnMayComeAgain) {
  open(Psn(100));
  window_.accept(pool_, Psn(100), true);
  window_.forget(Psn(100));
  EXPECT_EQ(window_.classify(Psn(100)), Arrival::fresh);
}

// [PDS-V12] Packets in order need no memory; what needs it shows before it is taken.
TEST_F(RxWindowTest, HoldsMemoryOnlyAboveTheCumulativeAck) {
  open(Psn(100));
  window_.accept(pool_, Psn(100), false);
  EXPECT_EQ(pool_.in_use(), 0u);
  window_.accept(pool_, Psn(102), false);
  EXPECT_EQ(pool_.in_use(), 1u);
  RxWindow other;
  other.start(Psn(1), 128);
  EXPECT_FALSE(other.may_accept(pool_)) << "the only block is out";
  EXPECT_TRUE(window_.may_accept(pool_));
  window_.accept(pool_, Psn(101), false);
  EXPECT_EQ(picture(), "cack 102 |");
  EXPECT_EQ(pool_.in_use(), 0u);
  ASSERT_TRUE(other.may_accept(pool_));
  other.accept(pool_, Psn(1), true);
  EXPECT_EQ(other.cack_psn(), Psn(0)) << "held";
  EXPECT_EQ(pool_.in_use(), 1u);
  other.unhold(pool_, Psn(1));
  EXPECT_EQ(other.cack_psn(), Psn(1));
  EXPECT_EQ(pool_.in_use(), 0u);
}

class SackTest : public RxWindowTest {};

// [PDS-087, PDS 8.1] The base is a multiple of 8; PSNs at or below the cumulative ACK show as set.
TEST_F(SackTest, BitmapByHand) {
  open(Psn(100));
  for (uint32_t p : {100u, 101u, 103u, 106u}) window_.accept(pool_, Psn(p), false);
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
    window_.accept(pool_, Psn(p), false);
    sweep.on_request(Psn(p), window_.cack_psn());
    arrived.insert(p);
  }
  // Twice: the second SACK shows the same PSNs as the first, which may be lost.
  for (int sweeps = 0; sweeps < 2; ++sweeps) {
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
}

// [PDS-088] An ACK that names a PSN shows it.
TEST_F(SackTest, NamedPsnIsAlwaysShown) {
  open(Psn(0), 1024);
  SackSweep sweep;
  sweep.start(Psn(0));
  for (uint32_t p = 5; p < 1000; p += 3) {
    window_.accept(pool_, Psn(p), false);
    sweep.on_request(Psn(p), window_.cack_psn());
    EXPECT_TRUE(sweep.next(window_, Psn(p)).has(Psn(p))) << p;
  }
}

// [PDS-088] The same wherever the cumulative ACK stands to the multiples of 8 of the base.
TEST_F(SackTest, NamedPsnIsShownFromEveryAlignment) {
  pool_.create(arena_, 1, RxWindow::block_bytes(128));
  for (uint32_t first = 0; first < 8; ++first) {
    for (uint32_t distance = 1; distance < 100; ++distance) {
      RxWindow window;
      window.start(Psn(first), 128);
      SackSweep sweep;
      sweep.start(Psn(first));
      const Psn far = Psn(first) + distance;
      window.accept(pool_, far, false);
      sweep.on_request(far, window.cack_psn());
      EXPECT_TRUE(sweep.next(window, far).has(far)) << first << " + " << distance;
      window.release(pool_);
    }
  }
}

}  // namespace
}  // namespace uet::pds
