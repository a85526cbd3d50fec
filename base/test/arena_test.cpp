// Tests of the start-up arena.
#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

namespace uet {
namespace {

TEST(ArenaTest, ReservesNothingBeforeTheFirstAllocation) {
  const Arena arena;
  EXPECT_EQ(arena.reserved_bytes(), 0u);
  EXPECT_EQ(arena.used_bytes(), 0u);
}

TEST(ArenaTest, AllocationsAreAlignedAndDoNotOverlap) {
  Arena arena(256);
  std::vector<std::pair<std::byte*, size_t>> pieces;
  for (const size_t align : {1u, 2u, 8u, 64u, 256u, 4096u}) {
    for (const size_t bytes : {1u, 3u, 64u, 300u}) {
      auto* const at = static_cast<std::byte*>(arena.allocate(bytes, align));
      ASSERT_NE(at, nullptr);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(at) % align, 0u);
      std::memset(at, static_cast<int>(pieces.size()), bytes);
      pieces.emplace_back(at, bytes);
    }
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (size_t j = 0; j < pieces[i].second; ++j) {
      ASSERT_EQ(pieces[i].first[j], static_cast<std::byte>(i));
    }
  }
}

TEST(ArenaTest, SmallAllocationsShareABlock) {
  Arena arena(4096 + 100 * kGuardBytes);
  ASSERT_NE(arena.allocate(16, 16), nullptr);
  const size_t reserved = arena.reserved_bytes();
  for (int i = 1; i < 100; ++i) ASSERT_NE(arena.allocate(16, 16), nullptr);
  EXPECT_EQ(arena.reserved_bytes(), reserved);
  EXPECT_GE(arena.used_bytes(), 1600u);
  EXPECT_LT(arena.used_bytes(), 1700u + 100 * kGuardBytes);
}

TEST(ArenaTest, AnAllocationLargerThanABlockGetsASeparateBlock) {
  Arena arena(128);
  void* const at = arena.allocate(10000, 64);
  ASSERT_NE(at, nullptr);
  std::memset(at, 1, 10000);
  EXPECT_GE(arena.reserved_bytes(), 10000u);
}

TEST(ArenaTest, ImpossibleSizesGiveNullAndChangeNothing) {
  Arena arena;
  EXPECT_EQ(arena.allocate(SIZE_MAX), nullptr);
  EXPECT_EQ(arena.allocate(SIZE_MAX / 2 + 1), nullptr);
  EXPECT_EQ(arena.make_span<uint64_t>(SIZE_MAX / 4).data(), nullptr);
  EXPECT_EQ(arena.reserved_bytes(), 0u);
  EXPECT_NE(arena.allocate(1), nullptr);
}

TEST(ArenaTest, SpansAreValueInitialised) {
  Arena arena(64);
  for (int round = 0; round < 4; ++round) {
    const std::span<uint32_t> span = arena.make_span<uint32_t>(40);
    ASSERT_EQ(span.size(), 40u);
    for (uint32_t& v : span) {
      EXPECT_EQ(v, 0u);
      v = ~0u;
    }
  }
  EXPECT_TRUE(arena.make_span<uint32_t>(0).empty());
}

TEST(ArenaTest, DestroysObjectsInReverseOrder) {
  std::vector<int> destroyed;
  struct Witness {
    Witness(std::vector<int>& to, int its_id) : log(&to), id(its_id) {}
    ~Witness() { log->push_back(id); }
    std::vector<int>* log;
    int id;
  };
  {
    Arena arena(64);
    ASSERT_NE(arena.make<Witness>(destroyed, 1), nullptr);
    Witness* const second = arena.make<Witness>(destroyed, 2);
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(second->id, 2);
    ASSERT_NE(arena.make<Witness>(destroyed, 3), nullptr);
    EXPECT_TRUE(destroyed.empty());
  }
  EXPECT_EQ(destroyed, (std::vector<int>{3, 2, 1}));
}

TEST(ArenaTest, MakesAggregatesFromTheirMembers) {
  struct Pair {
    int a;
    int b;
  };
  Arena arena;
  const Pair* const pair = arena.make<Pair>(4, 5);
  ASSERT_NE(pair, nullptr);
  EXPECT_EQ(pair->a, 4);
  EXPECT_EQ(pair->b, 5);
}

TEST(ArenaTest, ItsMemoryCanBeUsedAgainAfterItsEnd) {
  for (int round = 0; round < 3; ++round) {
    {
      Arena arena;
      for (int i = 0; i < 10; ++i) ASSERT_NE(arena.allocate(5000), nullptr);
    }
    auto* const memory = static_cast<std::byte*>(reserve_zero_pages(1 << 20));
    ASSERT_NE(memory, nullptr);
    std::memset(memory, 1, 1 << 20);  // AddressSanitizer objects where a guard is left
    release_zero_pages(memory, 1 << 20);
  }
}

#ifdef UET_GUARDS
TEST(ArenaDeathTest, UseOfUnallocatedMemoryIsDetected) {
  Arena arena;
  auto* const small = static_cast<std::byte*>(arena.allocate(24, 8));
  (void)arena.allocate(24, 8);
  auto* const large = static_cast<std::byte*>(arena.allocate(8192));
  (void)arena.allocate(8192);
  small[23] = large[8191] = std::byte{1};
  EXPECT_DEATH(small[24] = std::byte{1}, "use-after-poison");
  EXPECT_DEATH(large[8192] = std::byte{1}, "use-after-poison");
}
#endif

TEST(ArenaDeathTest, ASealedArenaRefusesToAllocate) {
  Arena arena;
  ASSERT_NE(arena.allocate(8), nullptr);
  arena.seal();
  EXPECT_TRUE(arena.is_sealed());
  EXPECT_DEATH((void)arena.allocate(8), "is_sealed");
}

}  // namespace
}  // namespace uet
