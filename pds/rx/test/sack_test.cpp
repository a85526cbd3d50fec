// The 64 PSNs that an ACK reports, and the sweep of their base. [PDS 8.4]
#include "pds/rx/sack.h"

#include <gtest/gtest.h>

#include <set>

namespace uet::pds {
namespace {

class SackTest : public ::testing::Test {
 protected:
  void open(Psn first, uint32_t range = 128) {
    pool_.create(arena_, 1, RxWindow::block_bytes(range));
    window_.start(first, range);
  }

  Arena arena_;
  BlockPool pool_;
  RxWindow window_;
};

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
