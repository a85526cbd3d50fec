// TxWindow and its pool.
#include "pds/tx/tx_window.h"

#include <gtest/gtest.h>

#include <vector>

namespace uet::pds {
namespace {

constexpr Psn kNearWrap{0xFFFF'FFFE};

class TxWindowTest : public ::testing::Test {
 protected:
  void SetUp() override { pool_.create(arena_, 4); }
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
  window_.release_if_empty(pool_);
  EXPECT_EQ(pool_.in_use(), 1u) << "PSN 0 is outstanding";
  window_.complete(Psn(0));
  EXPECT_TRUE(window_.empty());
  window_.release_if_empty(pool_);
  EXPECT_EQ(pool_.in_use(), 0u);
}

TEST_F(TxWindowTest, GrowsWithoutLosingSlots) {
  constexpr uint64_t kHeadBytes = 320;  // then slots of 32 octets [decision 15]
  window_.start(kNearWrap);
  for (uint32_t i = 0; i < 2048; ++i) {
    const Psn psn = push();
    window_[psn].bytes = static_cast<uint16_t>(i);
    if (i == 0) {
      EXPECT_EQ(pool_.in_use_bytes(), kHeadBytes + 32 * 4u);
    }
    if (i == 4) {
      EXPECT_EQ(pool_.in_use_bytes(), kHeadBytes + 32 * 16u);
    }
    if (i == 16) {
      EXPECT_EQ(pool_.in_use_bytes(), kHeadBytes + 32 * 64u);
    }
    if (i == 64) {
      EXPECT_EQ(pool_.in_use_bytes(), kHeadBytes + 32 * 256u);
    }
  }
  EXPECT_EQ(pool_.in_use_bytes(), kHeadBytes + 32 * 2048u);
  EXPECT_EQ(pool_.in_use(), 1u) << "smaller blocks went back";
  for (uint32_t i = 0; i < 2048; ++i) {
    ASSERT_EQ(window_[kNearWrap + i].bytes, i);
  }
  EXPECT_FALSE(window_.reserve(pool_)) << "there is no larger block";
  window_.abandon(pool_);
  EXPECT_EQ(pool_.in_use(), 0u);
  EXPECT_EQ(window_.next(), kNearWrap + 2048) << "PSNs are not used again";
}

// A window that empties begins again in its first slot: few packets touch few lines.
TEST_F(TxWindowTest, FewPacketsStayInTheFirstSlots) {
  window_.start(Psn(5));
  push();
  const TxSlot* const first = &window_[Psn(5)];
  push();
  for (uint32_t p = 5; p < 7; ++p) window_.complete(Psn(p));
  EXPECT_EQ(&window_[push()], first);
}

TEST_F(TxWindowTest, EmptyPoolChangesNothing) {
  TxPool pool;
  pool.create(arena_, 1);  // four blocks of each size at least
  constexpr size_t kBlocks = 4 * TxPool::kSizes;
  std::vector<TxWindow> windows(kBlocks + 1);
  for (size_t i = 0; i < kBlocks; ++i) {
    windows[i].start(Psn(0));
    EXPECT_TRUE(windows[i].reserve(pool));
  }
  windows[kBlocks].start(Psn(5));
  EXPECT_FALSE(windows[kBlocks].reserve(pool));
  EXPECT_EQ(windows[kBlocks].next(), Psn(5));
  windows[3].release_if_empty(pool);
  EXPECT_TRUE(windows[kBlocks].reserve(pool));
}

TEST(SentTickTest, SurvivesItsWrap) {
  const Instant t = Instant::from_ns((int64_t{1} << 40) - 512);
  EXPECT_EQ(SentTick::since(SentTick::of(t), t + Duration::microseconds(1024)).us(), 1024);
}

}  // namespace
}  // namespace uet::pds
