// TxMemory: the slot of each PSN, and what a larger block keeps.
#include "pds/tx/tx_memory.h"

#include <gtest/gtest.h>

#include <new>

namespace uet::pds {
namespace {

constexpr Psn kBeforeWrap{0xFFFF'FFFE};

class TxMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pool_.create(arena_, 4);
    ASSERT_TRUE(memory_.grow(pool_, kBeforeWrap, 15));
    memory_.set_origin(kBeforeWrap);
  }
  // The slot of that PSN is taken.
  TxSlot& take(Psn psn) { return *new (&memory_.slot(psn)) TxSlot; }

  Arena arena_;
  TxPool pool_;
  TxMemory memory_;
};

// [PDS-030] Places follow each other across the wrap of PSNs, and begin again at the end.
TEST_F(TxMemoryTest, PlacesFollowEachOtherAcrossTheWrap) {
  ASSERT_EQ(memory_.capacity(), 16u);
  for (uint32_t i = 0; i < 16; ++i) EXPECT_EQ(memory_.index(kBeforeWrap + i), i);
  EXPECT_EQ(memory_.index(kBeforeWrap + 18), 2u);
  EXPECT_EQ(&memory_.slot(kBeforeWrap + 18), &memory_.slots()[2]);
}

// Among the places the oldest comes first, wherever it stands.
TEST_F(TxMemoryTest, OrderOfPlacesBeginsAtTheBase) {
  const Arrivals::Ring ring = memory_.ring(kBeforeWrap + 5);
  EXPECT_TRUE(ring.is_before(5, 15));
  EXPECT_TRUE(ring.is_before(15, 0)) << "the place after the last one";
  EXPECT_FALSE(ring.is_before(4, 5)) << "the newest";
}

// In a larger block the oldest one stands first.
TEST_F(TxMemoryTest, LargerBlockBeginsWithTheBase) {
  for (uint32_t i = 0; i < 16; ++i) take(kBeforeWrap + i).bytes = static_cast<uint16_t>(i);
  for (uint32_t i = 16; i < 19; ++i) take(kBeforeWrap + i).bytes = static_cast<uint16_t>(i);
  ASSERT_TRUE(memory_.grow(pool_, kBeforeWrap + 3, 16));
  EXPECT_EQ(memory_.capacity(), 64u);
  EXPECT_EQ(memory_.origin(), kBeforeWrap + 3);
  for (uint32_t i = 3; i < 19; ++i) {
    EXPECT_EQ(memory_.index(kBeforeWrap + i), i - 3);
    EXPECT_EQ(memory_.slot(kBeforeWrap + i).bytes, i);
  }
  EXPECT_EQ(pool_.in_use(), 1u) << "the smaller one went back";
}

// [PDS-051] With another origin each slot has the PSN that is as far from it.
TEST_F(TxMemoryTest, AnotherOriginRenumbersAllSlots) {
  TxSlot* const third = &take(kBeforeWrap + 2);
  memory_.set_origin(kBeforeWrap + 1000);
  EXPECT_EQ(&memory_.slot(kBeforeWrap + 1002), third);
}

TEST_F(TxMemoryTest, GivesItsBlockBack) {
  EXPECT_TRUE(memory_.is_held());
  memory_.release(pool_);
  EXPECT_FALSE(memory_.is_held());
  EXPECT_EQ(memory_.capacity(), 0u);
  EXPECT_EQ(pool_.in_use(), 0u);
}

}  // namespace
}  // namespace uet::pds
