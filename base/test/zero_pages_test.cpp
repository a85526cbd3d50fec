// Reserved memory: zero, on a page, and without memory before its first use.
#include "base/zero_pages.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

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

TEST(ZeroPagesTest, CommittedPagesOfReservedAddressesAreZeroAndUsable) {
  constexpr size_t kBytes = 8 * kPageBytes;
  auto* const memory = static_cast<std::byte*>(reserve_addresses(kBytes));
  ASSERT_NE(memory, nullptr);
  ASSERT_TRUE(commit_zero_pages(memory, 3 * kPageBytes));
  for (size_t i = 0; i < 3 * kPageBytes; ++i) {
    ASSERT_EQ(memory[i], std::byte{0}) << i;
    memory[i] = std::byte{0xFF};
  }
  ASSERT_TRUE(commit_zero_pages(memory + 3 * kPageBytes, kPageBytes));
  memory[3 * kPageBytes] = std::byte{1};
  EXPECT_EQ(memory[2 * kPageBytes], std::byte{0xFF}) << "what was usable stays";
  release_zero_pages(memory, kBytes);
}

uint32_t pages_taken(void* memory, uint32_t pages) {
  std::vector<unsigned char> is_there(pages);
  if (mincore(memory, pages * kPageBytes, is_there.data()) != 0) return UINT32_MAX;
  uint32_t taken = 0;
  for (const unsigned char there : is_there) taken += there & 1;
  return taken;
}

TEST(ZeroPagesTest, MemoryForImmediateUseTakesItsPagesAtOnce) {
  constexpr uint32_t kPages = 6;
  auto* const memory = static_cast<std::byte*>(reserve_zero_pages(kPages * kPageBytes));
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(pages_taken(memory, kPages), 0u);
  write_first(memory + 100, 1);
  EXPECT_EQ(pages_taken(memory, kPages), 1u);
  write_first(memory + kPageBytes - 8, 2 * kPageBytes);
  EXPECT_EQ(pages_taken(memory, kPages), 3u);
  write_first(memory + 4 * kPageBytes - 1, 2);
  EXPECT_EQ(pages_taken(memory, kPages), 5u);
  for (size_t i = 0; i < kPages * kPageBytes; ++i) ASSERT_EQ(memory[i], std::byte{0});
  release_zero_pages(memory, kPages * kPageBytes);
}

// The limits below are the process's, so each test runs in a child.
#ifndef UET_GUARDS

constexpr size_t kMany = size_t{1} << 30;

void limit_data(size_t bytes) {
  const rlimit limit{bytes, RLIM_INFINITY};
  if (setrlimit(RLIMIT_DATA, &limit) != 0) std::exit(2);
}

// Exit status of a process that may not lock that much memory.
constexpr int kMayNot = 77;
bool may_lock(size_t bytes) {
  return mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

// RLIMIT_DATA counts the memory that a system without overcommit counts. [decision 15]
TEST(ZeroPagesDeathTest, AddressesAreNotMemoryBeforeTheyAreCommitted) {
  const auto child = [] {
    limit_data(256 << 20);
    if (reserve_zero_pages(kMany) != nullptr) std::exit(3);
    auto* const memory = static_cast<std::byte*>(reserve_addresses(kMany));
    if (memory == nullptr) std::exit(4);
    if (commit_zero_pages(memory, kMany)) std::exit(5);
    if (!commit_zero_pages(memory, 1 << 20)) std::exit(6);
    memory[(1 << 20) - 1] = std::byte{1};
    std::exit(0);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}

TEST(ZeroPagesDeathTest, LockingFutureMemoryLocksUsedPagesOnly) {
  const auto child = [] {
    if (mlockall(MCL_FUTURE) != 0) std::exit(kMayNot);
    auto* const memory = static_cast<unsigned char*>(reserve_zero_pages(kMany));
    if (memory == nullptr) std::exit(may_lock(kMany) ? 3 : kMayNot);
    memory[5 * kPageBytes] = 1;
    std::vector<unsigned char> resident(16);
    if (mincore(memory, 16 * kPageBytes, resident.data()) != 0) std::exit(4);
    for (size_t i = 0; i < resident.size(); ++i) {
      if ((resident[i] & 1) != (i == 5)) std::exit(5);
    }
    std::exit(0);
  };
  const auto is_good = [](int status) {
    return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == kMayNot);
  };
  EXPECT_EXIT(child(), is_good, "");
}

#endif

}  // namespace
}  // namespace uet
