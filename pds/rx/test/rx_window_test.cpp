// Which PSNs have arrived, and which of them the cumulative ACK may pass. [PDS 7.2]
#include "pds/rx/rx_window.h"

#include <gtest/gtest.h>

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

// [PDS-081] A stored response holds the cumulative ACK back, although all packets have arrived.
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

}  // namespace
}  // namespace uet::pds
