// Use of 64-bit numbers by RandomSource.
#include "base/random_source.h"

#include <gtest/gtest.h>

#include <vector>

namespace uet {
namespace {

class Chosen final : public RandomSource {
 public:
  explicit Chosen(std::vector<uint64_t> numbers) : numbers_(std::move(numbers)) {}
  uint64_t u64() override { return numbers_.at(next_++); }
  size_t drawn() const { return next_; }

 private:
  std::vector<uint64_t> numbers_;
  size_t next_ = 0;
};

TEST(RandomSourceTest, BelowScalesTheNumber) {
  Chosen source({0x8000'0000'0000'0001, 0xFFFF'FFFF'FFFF'FFFF});
  EXPECT_EQ(source.below(10), 5u);
  EXPECT_EQ(source.below(10), 9u);
  EXPECT_EQ(source.drawn(), 2u);
}

// 2^64 mod 10 is 6: products whose low half is below that are drawn again.
TEST(RandomSourceTest, BelowHasNoBias) {
  Chosen source({0, 0x4000'0000'0000'0000});
  EXPECT_EQ(source.below(10), 2u);
  EXPECT_EQ(source.drawn(), 2u);
}

TEST(RandomSourceTest, SeedsRepeat) {
  SeededRandom a(1), b(1), c(2);
  const uint64_t first = a.u64();
  EXPECT_EQ(first, b.u64());
  EXPECT_NE(first, c.u64());
  EXPECT_EQ(SeededRandom(1).u32(), static_cast<uint32_t>(first >> 32));
}

}  // namespace
}  // namespace uet
