// Scatter lists: slices that are taken, and the memory of an offset. [LF-074]
#include "ses/iov.h"

#include "base/arena.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace uet::ses::test {
namespace {

class IovTest : public ::testing::Test {
 protected:
  IovTest() { EXPECT_TRUE(pool_.create(arena_, 1).ok()); }
  ~IovTest() override { iov_.release(pool_); }
  // Slices of these lengths, one behind the other in memory.
  std::vector<IoSlice> slices(std::initializer_list<uint64_t> lengths) {
    std::vector<IoSlice> all;
    const std::byte* at = octets_.data();
    for (const uint64_t length : lengths) {
      all.push_back({at, length});
      at += length;
    }
    return all;
  }
  // The pieces of that range: "place+length", places counted from the first octet.
  std::string pieces(uint64_t offset, uint64_t length) const {
    std::string all;
    iov_.for_each(offset, length, [&](const std::byte* at, uint64_t n) {
      all +=
          (all.empty() ? "" : " ") + std::to_string(at - octets_.data()) + "+" + std::to_string(n);
    });
    return all;
  }

  Arena arena_;
  LongIovs pool_;
  Iov iov_;
  std::array<std::byte, 1024> octets_{};
};

// Any part, forwards and backwards, and none of a slice without octets.
TEST_F(IovTest, ARangeIsInItsSlices) {
  ASSERT_TRUE(iov_.assign(slices({10, 0, 20, 30}), pool_).ok());
  EXPECT_EQ(iov_.bytes(), 60u);
  EXPECT_EQ(pieces(0, 60), "0+10 10+20 30+30");
  EXPECT_EQ(pieces(29, 2), "29+1 30+1");
  EXPECT_EQ(pieces(10, 20), "10+20");
  EXPECT_EQ(pieces(5, 5), "5+5");
  EXPECT_EQ(pieces(60, 0), "");
}

// [LF-074] More than four slices take a place of the pool; 64 at most.
TEST_F(IovTest, ManySlicesTakeAPlace) {
  ASSERT_TRUE(iov_.assign(slices({1, 2, 3, 4, 5}), pool_).ok());
  EXPECT_EQ(pieces(0, 15), "0+1 1+2 3+3 6+4 10+5");
  Iov other;
  EXPECT_EQ(other.assign(slices({1, 1, 1, 1, 1}), pool_).error(), Errc::again);
  EXPECT_EQ(other.bytes(), 0u);
  iov_.release(pool_);
  EXPECT_TRUE(other.assign(slices({1, 1, 1, 1, 1}), pool_).ok());
  other.release(pool_);
  const std::vector<IoSlice> most(kIovMax, IoSlice{octets_.data(), 1});
  ASSERT_TRUE(iov_.assign(most, pool_).ok());
  iov_.release(pool_);
  const std::vector<IoSlice> too_many(kIovMax + 1, IoSlice{octets_.data(), 1});
  EXPECT_EQ(iov_.assign(too_many, pool_).error(), Errc::invalid);
}

// Lengths that do not fit 64 bits are no list.
TEST_F(IovTest, ASumMustFit) {
  const std::array<IoSlice, 2> two{IoSlice{octets_.data(), UINT64_MAX}, IoSlice{octets_.data(), 1}};
  EXPECT_EQ(iov_.assign(two, pool_).error(), Errc::too_long);
  EXPECT_EQ(iov_.count(), 0u);
}

// What arrives goes to its place across slices, and what leaves is gathered from them.
TEST_F(IovTest, OctetsGoAcrossSlices) {
  const auto list = slices({2, 3, 4});
  ASSERT_TRUE(iov_.assign(list, pool_).ok());
  const std::array<std::byte, 4> source{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  iov_.scatter(1, source);
  std::array<std::byte, 9> all{};
  gather(list, all.data());
  EXPECT_EQ(all, (std::array<std::byte, 9>{std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3},
                                           std::byte{4}}));
}

}  // namespace
}  // namespace uet::ses::test
