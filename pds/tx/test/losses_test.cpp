// The marks of packets that are to be sent again or asked for, alone. [PDS 12]
#include "pds/tx/losses.h"

#include <gtest/gtest.h>

#include "base/arena.h"

namespace uet::pds {
namespace {

constexpr Psn kFirst(1000);

class LossesTest : public testing::Test {
 protected:
  LossesTest() {
    pool_.create(arena_, 4);
    window_.start(kFirst);
    losses_.start(kFirst, kFirst);
    for (int i = 0; i < 8; ++i) {
      EXPECT_TRUE(window_.reserve(pool_));
      window_.push();
    }
  }
  ~LossesTest() override { window_.abandon(pool_); }
  void mark(int offset) {
    const Psn psn = kFirst + offset;
    losses_.mark(window_[psn], psn);
  }
  TxSlot& slot(int offset) { return window_[kFirst + offset]; }

  Arena arena_;
  TxPool pool_;
  TxWindow window_;
  Losses losses_;
};

// [PDS-062, PDS-146] The oldest lost packet goes first, in whatever order the losses were found.
TEST_F(LossesTest, TheOldestLostPacketGoesFirst) {
  mark(5);
  mark(2);
  mark(6);
  EXPECT_EQ(losses_.lost(), 3);
  EXPECT_EQ(losses_.oldest(window_), kFirst + 2);
  losses_.unmark(slot(2));
  EXPECT_EQ(losses_.oldest(window_), kFirst + 5);
  losses_.unmark(slot(5));
  EXPECT_EQ(losses_.oldest(window_), kFirst + 6);
  losses_.unmark(slot(6));
  EXPECT_FALSE(losses_.has_lost());
}

TEST_F(LossesTest, AMarkIsTakenBackOnce) {
  mark(1);
  losses_.unmark(slot(1));
  losses_.unmark(slot(1));
  losses_.unmark(slot(3));
  EXPECT_EQ(losses_.lost(), 0);
  EXPECT_FALSE(slot(1).state.is_lost());
}

// [PDS-L6] A packet is asked for once, however often that is wanted.
TEST_F(LossesTest, AskedForTwiceCountsOnce) {
  losses_.ask(slot(0));
  losses_.ask(slot(0));
  EXPECT_TRUE(losses_.has_asked());
  losses_.unask(slot(0));
  EXPECT_FALSE(losses_.has_asked());
  EXPECT_FALSE(slot(0).state.is_ask_due());
}

TEST_F(LossesTest, AnAnsweredPacketHasNoMark) {
  mark(4);
  losses_.ask(slot(4));
  slot(4).state.refuse();
  losses_.clear_marks(slot(4));
  EXPECT_FALSE(losses_.has_lost());
  EXPECT_FALSE(losses_.has_asked());
  EXPECT_FALSE(slot(4).state.is_to_go_again() || slot(4).state.is_ask_due());
}

TEST_F(LossesTest, TheHighestArrivedPacketOnlyRises) {
  EXPECT_EQ(losses_.highest_arrived(), kFirst - 1);
  losses_.note_arrived(kFirst + 3);
  losses_.note_arrived(kFirst + 1);
  EXPECT_EQ(losses_.highest_arrived(), kFirst + 3);
  losses_.limit_arrived(kFirst + 2);
  EXPECT_EQ(losses_.highest_arrived(), kFirst + 2);
}

}  // namespace
}  // namespace uet::pds
