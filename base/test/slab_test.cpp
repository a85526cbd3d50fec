// Tests of object pools and their handles.
#include "base/slab.h"

#include "base/rng.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

namespace uet {
namespace {

struct Item {
  explicit Item(int its_value, int* deaths = nullptr) : value(its_value), deaths_seen(deaths) {}
  ~Item() {
    if (deaths_seen != nullptr) ++*deaths_seen;
  }
  int value;
  int* deaths_seen;
};

class SlabTest : public testing::Test {
 protected:
  Arena arena_;
  Slab<Item> slab_;

  std::vector<int> values() {
    std::vector<int> seen;
    slab_.for_each([&](Item& item) { seen.push_back(item.value); });
    return seen;
  }
};

TEST_F(SlabTest, AllocatesExactlyItsCapacity) {
  ASSERT_TRUE(slab_.create(arena_, 3).ok());
  EXPECT_EQ(slab_.capacity(), 3u);
  for (int i = 0; i < 3; ++i) {
    const Item* const item = slab_.alloc(i);
    ASSERT_NE(item, nullptr);
    EXPECT_EQ(item->value, i);
  }
  EXPECT_TRUE(slab_.full());
  EXPECT_EQ(slab_.alloc(3), nullptr);
  EXPECT_EQ(slab_.size(), 3u);
  EXPECT_EQ(values(), (std::vector<int>{0, 1, 2}));
}

TEST_F(SlabTest, RefusesCapacitiesThatHandlesCannotName) {
  EXPECT_EQ(slab_.create(arena_, 0).error(), Errc::invalid);
  EXPECT_EQ(slab_.create(arena_, Slab<Item>::kCapacityMax + 1).error(), Errc::invalid);
  EXPECT_EQ(slab_.create(arena_, Room{5, 4}).error(), Errc::invalid);
  EXPECT_EQ(slab_.alloc(1), nullptr);
  EXPECT_EQ(arena_.used_bytes(), 0u);
}

TEST_F(SlabTest, AHandleFindsItsObjectUntilItIsFreed) {
  ASSERT_TRUE(slab_.create(arena_, 4).ok());
  Item* const item = slab_.alloc(9);
  const Handle<Item> handle = slab_.handle(item);
  EXPECT_TRUE(static_cast<bool>(handle));
  EXPECT_EQ(slab_.get(handle), item);
  EXPECT_EQ(slab_.get(Handle<Item>::from_word(handle.word())), item);
  slab_.free(item);
  EXPECT_EQ(slab_.get(handle), nullptr);
  EXPECT_EQ(slab_.size(), 0u);
}

TEST_F(SlabTest, TheHandleOfAFreedObjectDoesNotFindItsSuccessor) {
  ASSERT_TRUE(slab_.create(arena_, 1).ok());
  Item* const old_item = slab_.alloc(1);
  const Handle<Item> old_handle = slab_.handle(old_item);
  slab_.free(old_item);
  Item* const new_item = slab_.alloc(2);
  ASSERT_EQ(new_item, old_item);
  EXPECT_EQ(slab_.get(old_handle), nullptr);
  EXPECT_EQ(slab_.get(slab_.handle(new_item)), new_item);
}

TEST_F(SlabTest, AGenerationComesBackAfter1023ReusesAndIsNeverZero) {
  ASSERT_TRUE(slab_.create(arena_, 1).ok());
  Item* item = slab_.alloc(0);
  const Handle<Item> first = slab_.handle(item);
  for (int i = 0; i < 1022; ++i) {
    slab_.free(item);
    item = slab_.alloc(i);
    ASSERT_NE(slab_.handle(item), first);
    ASSERT_NE(slab_.handle(item).generation(), 0u);
  }
  slab_.free(item);
  EXPECT_EQ(slab_.handle(slab_.alloc(0)), first);
}

TEST_F(SlabTest, NoneAndForgedHandlesResolveToNull) {
  EXPECT_EQ(slab_.get({}), nullptr);  // before create
  ASSERT_TRUE(slab_.create(arena_, 3).ok());
  const Handle<Item> real = slab_.handle(slab_.alloc(1));
  EXPECT_FALSE(static_cast<bool>(Handle<Item>()));
  EXPECT_EQ(slab_.get({}), nullptr);
  for (uint32_t bit = 0; bit < 32; ++bit) {
    EXPECT_EQ(slab_.get(Handle<Item>::from_word(real.word() ^ (1u << bit))), nullptr) << bit;
  }
  EXPECT_EQ(slab_.get(Handle<Item>::from_word(~0u)), nullptr);
}

TEST_F(SlabTest, ReuseSoonTakesTheLastFreedSlotFirst) {
  ASSERT_TRUE(slab_.create(arena_, 4, Reuse::soon).ok());
  Item* const a = slab_.alloc(0);
  Item* const b = slab_.alloc(1);
  slab_.free(a);
  slab_.free(b);
  EXPECT_EQ(slab_.alloc(2), b);
  EXPECT_EQ(slab_.alloc(3), a);
}

TEST_F(SlabTest, ReuseLateTakesUnusedSlotsFirstAndThenTheFirstFreed) {
  ASSERT_TRUE(slab_.create(arena_, 3, Reuse::late).ok());
  Item* const a = slab_.alloc(0);
  Item* const b = slab_.alloc(1);
  slab_.free(b);
  slab_.free(a);
  Item* const c = slab_.alloc(2);
  EXPECT_TRUE(c != a && c != b);
  EXPECT_EQ(slab_.alloc(3), b);
  slab_.free(c);
  EXPECT_EQ(slab_.alloc(4), a);
  EXPECT_EQ(slab_.alloc(5), c);
  EXPECT_EQ(slab_.alloc(6), nullptr);
}

// A slot rests until 64 are free, then slots go round: few lines, and no handle is soon mistaken.
TEST_F(SlabTest, ReuseRestedTakesTheFirstFreedOnce64AreFree) {
  ASSERT_TRUE(slab_.create(arena_, 1000, Reuse::rested).ok());
  std::vector<Item*> used;
  for (int i = 0; i < 64; ++i) {
    Item* const item = slab_.alloc(i);
    EXPECT_EQ(std::count(used.begin(), used.end(), item), 0) << i;
    used.push_back(item);
    slab_.free(item);
  }
  for (int i = 0; i < 1000; ++i) {
    Item* const item = slab_.alloc(i);
    ASSERT_EQ(item, used[static_cast<size_t>(i % 64)]) << i;
    slab_.free(item);
  }
  for (int i = 0; i < 1000; ++i) ASSERT_NE(slab_.alloc(i), nullptr) << i;
  EXPECT_EQ(slab_.alloc(0), nullptr);
}

TEST_F(SlabTest, RoomGrowsWithTheObjectsAndKeepsThem) {
  constexpr uint32_t kMost = 10'000;
  constexpr size_t kEach = sizeof(Item) + sizeof(uint32_t);
  ASSERT_TRUE(slab_.create(arena_, Room{3, kMost}).ok());
  EXPECT_EQ(slab_.capacity(), kMost);
  EXPECT_EQ(arena_.used_bytes(), 3 * kEach);
  std::map<Item*, Handle<Item>> handles;
  for (uint32_t i = 0; i < kMost; ++i) {
    Item* const item = slab_.alloc(static_cast<int>(i));
    ASSERT_NE(item, nullptr);
    handles[item] = slab_.handle(item);
    // Never more than twice what is needed.
    ASSERT_LE(arena_.used_bytes(), std::max(2 * i, 3U) * kEach);
  }
  EXPECT_EQ(arena_.used_bytes(), kMost * kEach);
  EXPECT_TRUE(slab_.full());
  EXPECT_EQ(slab_.alloc(0), nullptr);
  EXPECT_EQ(handles.size(), kMost);
  for (const auto& [item, handle] : handles) ASSERT_EQ(slab_.get(handle), item);
  for (const auto& [item, handle] : handles) slab_.free(item);
  for (uint32_t i = 0; i < kMost; ++i) ASSERT_NE(slab_.alloc(0), nullptr);
  EXPECT_EQ(arena_.used_bytes(), kMost * kEach);
}

// Slots that were freed rest until as many as `first` were used, then until twice as many were.
TEST_F(SlabTest, TheFirstRoomIsUsedBeforeFreedSlotsAre) {
  ASSERT_TRUE(slab_.create(arena_, Room{4, 100}, Reuse::late).ok());
  std::set<Item*> seen;
  for (int i = 0; i < 4; ++i) {
    Item* const item = slab_.alloc(i);
    EXPECT_TRUE(seen.insert(item).second) << i;
    slab_.free(item);
  }
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(seen.contains(slab_.alloc(i))) << i;
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(seen.insert(slab_.alloc(i)).second) << i;
}

TEST_F(SlabTest, DestroysObjectsWhenFreedAndWithTheSlab) {
  int deaths = 0;
  {
    Slab<Item> slab;
    ASSERT_TRUE(slab.create(arena_, 4).ok());
    slab.free(slab.alloc(1, &deaths));
    EXPECT_EQ(deaths, 1);
    (void)slab.alloc(2, &deaths);
    (void)slab.alloc(3, &deaths);
  }
  EXPECT_EQ(deaths, 3);
}

TEST_F(SlabTest, ObjectsMayBeFreedWhileVisited) {
  ASSERT_TRUE(slab_.create(arena_, 8).ok());
  for (int i = 0; i < 8; ++i) (void)slab_.alloc(i);
  slab_.for_each([&](Item& item) {
    if (item.value % 2 == 0) slab_.free(&item);
  });
  EXPECT_EQ(values(), (std::vector<int>{1, 3, 5, 7}));
}

TEST_F(SlabTest, BehavesLikeAMapUnderRandomCalls) {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    std::printf("seed %lu\n", static_cast<unsigned long>(seed));
    Rng rng(seed);
    Slab<Item> slab;
    const Reuse reuse = seed == 1 ? Reuse::late : seed == 2 ? Reuse::soon : Reuse::rested;
    ASSERT_TRUE(slab.create(arena_, Room{5, 13}, reuse).ok());
    std::map<uint32_t, int> live;
    std::vector<Handle<Item>> gone;
    for (int i = 0; i < 4000; ++i) {
      if (rng.chance(0.5)) {
        Item* const item = slab.alloc(i);
        ASSERT_EQ(item == nullptr, live.size() == slab.capacity());
        if (item != nullptr) live[slab.handle(item).word()] = i;
      } else if (!live.empty()) {
        const auto victim = std::next(live.begin(), static_cast<long>(rng.below(live.size())));
        const auto handle = Handle<Item>::from_word(victim->first);
        ASSERT_EQ(slab.get(handle)->value, victim->second);
        slab.free(slab.get(handle));
        gone.push_back(handle);
        live.erase(victim);
      }
      ASSERT_EQ(slab.size(), live.size());
    }
    for (size_t i = gone.size() - 100; i < gone.size(); ++i) {
      if (!live.contains(gone[i].word())) {
        EXPECT_EQ(slab.get(gone[i]), nullptr);
      }
    }
  }
}

TEST_F(SlabTest, AllocAndFreeWorkOnASealedArena) {
  ASSERT_TRUE(slab_.create(arena_, 100).ok());
  arena_.seal();
  for (int i = 0; i < 1000; ++i) slab_.free(slab_.alloc(i));
  EXPECT_EQ(slab_.size(), 0u);
}

using SlabDeathTest = SlabTest;
TEST_F(SlabDeathTest, FreeingTwiceOrAForeignObjectAsserts) {
  ASSERT_TRUE(slab_.create(arena_, 4).ok());
  Item* const item = slab_.alloc(1);
  slab_.free(item);
  EXPECT_DEATH(slab_.free(item), "kLive");
  Item stranger(2);
  EXPECT_DEATH(slab_.free(&stranger), "not of this slab");
}

// 64 MiB and more are addresses at first, of which memory is made as slots are used.
class SlabInStepsTest : public testing::Test {
 protected:
  struct Big {
    std::array<std::byte, 1024> octets;
  };
  static constexpr uint32_t kCount = 65'536;

  Arena arena_{Arena::kDefaultBlockBytes, Commit::in_steps};
  Slab<Big> slab_;
};

TEST_F(SlabInStepsTest, GivesAllItsSlots) {
  ASSERT_TRUE(slab_.create(arena_, kCount).ok());
  std::vector<Handle<Big>> handles;
  for (uint32_t i = 0; i < kCount; ++i) {
    Big* const big = slab_.alloc();
    ASSERT_NE(big, nullptr) << i;
    big->octets.front() = big->octets.back() = static_cast<std::byte>(i);
    handles.push_back(slab_.handle(big));
  }
  EXPECT_EQ(slab_.alloc(), nullptr);
  for (uint32_t i = 0; i < kCount; ++i) {
    ASSERT_NE(slab_.get(handles[i]), nullptr) << i;
    ASSERT_EQ(slab_.get(handles[i])->octets.back(), static_cast<std::byte>(i));
  }
}

TEST_F(SlabInStepsTest, AHandleBeyondTheUsableSlotsFindsNothing) {
  ASSERT_TRUE(slab_.create(arena_, kCount).ok());
  ASSERT_NE(slab_.alloc(), nullptr);
  EXPECT_EQ(slab_.get(Handle<Big>(kCount - 1, 1)), nullptr);
  EXPECT_EQ(slab_.get(Handle<Big>(1, 1)), nullptr);
}

#ifndef UET_GUARDS
TEST_F(SlabInStepsTest, WithoutMemoryItGivesNullAndRecoversLater) {
  const auto child = [&] {
    if (!slab_.create(arena_, kCount).ok()) std::exit(2);
    Big* const first = slab_.alloc();
    if (first == nullptr) std::exit(3);
    rlimit data{};
    if (getrlimit(RLIMIT_DATA, &data) != 0) std::exit(4);
    const rlimit none{1, data.rlim_max};  // 0 means something else
    if (setrlimit(RLIMIT_DATA, &none) != 0) std::exit(5);
    uint32_t given = 1;
    while (slab_.alloc() != nullptr) ++given;
    if (given == kCount || slab_.size() != given) std::exit(6);
    slab_.free(first);
    if (slab_.alloc() != first) std::exit(7);
    if (setrlimit(RLIMIT_DATA, &data) != 0) std::exit(8);
    while (slab_.alloc() != nullptr) ++given;
    std::exit(given == kCount ? 0 : 9);
  };
  EXPECT_EXIT(child(), testing::ExitedWithCode(0), "");
}
#endif

}  // namespace
}  // namespace uet
