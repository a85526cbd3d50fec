// Reserved memory: zero, on a page, and none of it taken before it is used.
#include "base/zero_pages.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace uet {
namespace {

TEST(ZeroPagesTest, BeginOnAPageAndAreZero) {
  constexpr size_t kBytes = 5 * kPageBytes;
  auto* const memory = static_cast<std::byte*>(reserve_zero_pages(kBytes));
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % kPageBytes, 0u);
  for (size_t i = 0; i < kBytes; ++i) {
    ASSERT_EQ(memory[i], std::byte{0}) << i;
    memory[i] = std::byte{0xFF};
  }
  release_zero_pages(memory, kBytes);
}

TEST(ZeroPagesTest, ImpossibleSizesGiveNull) {
  EXPECT_EQ(reserve_zero_pages(0), nullptr);
  EXPECT_EQ(reserve_zero_pages(SIZE_MAX), nullptr);
  EXPECT_EQ(reserve_zero_pages(SIZE_MAX / 2 + 1), nullptr);
}

}  // namespace
}  // namespace uet
