// Tests of the seeded hash and the fixed-capacity map.
#include "base/hash_map.h"

#include "base/rng.h"
#include "base/serial.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

namespace uet {
namespace {

// A key whose hash the test chooses: the upper half of the 64 bits decides.
struct Chosen {
  uint32_t id;
  uint32_t hash;
  bool operator==(const Chosen&) const = default;
};
uint64_t hash_of(Chosen key, uint64_t) { return uint64_t{key.hash} << 32; }

TEST(HashTest, FlippingAnyBitOfTheKeyOrTheSeedFlipsAboutHalfOfTheHash) {
  std::printf("seed 5\n");
  Rng rng(5);
  for (int bit = 0; bit < 192; ++bit) {
    int flipped = 0;
    for (int i = 0; i < 64; ++i) {
      std::array<uint64_t, 3> in = {rng.u64(), rng.u64(), rng.u64()};
      const uint64_t before = hash64(in[0], in[1], in[2]);
      in[static_cast<size_t>(bit) / 64] ^= uint64_t{1} << (bit % 64);
      flipped += std::popcount(before ^ hash64(in[0], in[1], in[2]));
    }
    EXPECT_NEAR(flipped, 64 * 32, 300) << bit;  // more than nine standard deviations
  }
}

TEST(HashTest, CountingKeysDoNotCollide) {
  std::set<uint32_t> upper_halves;
  for (uint64_t key = 0; key < 10000; ++key) {
    upper_halves.insert(static_cast<uint32_t>(hash64(key, 77) >> 32));
  }
  EXPECT_GE(upper_halves.size(), 9997u);  // 10^8 / 2^33 collisions are expected
}

// [T-46]
TEST(HashTest, KeysThatCollideForOneSeedDoNotForAnother) {
  std::map<uint64_t, uint64_t> by_bucket;
  int pairs = 0;
  int still_equal = 0;
  for (uint64_t key = 0; key < 2000; ++key) {
    const auto [at, is_new] = by_bucket.emplace(hash64(key, 1) >> 54, key);
    if (is_new) continue;
    ++pairs;
    still_equal += hash64(key, 2) >> 54 == hash64(at->second, 2) >> 54;
  }
  EXPECT_GT(pairs, 500);
  EXPECT_LT(still_equal, 20);
}

TEST(HashTest, OctetStringsDifferByContentAndLength) {
  std::set<uint64_t> hashes;
  const std::array<std::byte, 40> zeros{};
  for (size_t n = 0; n <= zeros.size(); ++n) hashes.insert(hash64(std::span(zeros).first(n), 9));
  for (size_t i = 0; i < zeros.size(); ++i) {
    auto bytes = zeros;
    bytes[i] = std::byte{1};
    hashes.insert(hash64(bytes, 9));
  }
  EXPECT_EQ(hashes.size(), 81u);
  EXPECT_NE(hash64(zeros, 9), hash64(zeros, 10));
}

TEST(HashTest, StrongTypesHashLikeTheirValues) {
  EXPECT_EQ(uet::hash_of(Pdcid(7), 3), uet::hash_of(uint16_t{7}, 3));
  EXPECT_NE(uet::hash_of(Psn(7), 3), uet::hash_of(Psn(8), 3));
}

class HashMapTest : public testing::Test {
 protected:
  Arena arena_;
};

TEST_F(HashMapTest, FindsInsertedKeys) {
  HashMap<Pdcid, int> map;
  ASSERT_TRUE(map.create(arena_, 10, 1).ok());
  EXPECT_EQ(map.find(Pdcid(1)), nullptr);
  const Result<int*> inserted = map.insert(Pdcid(1), 100);
  ASSERT_TRUE(inserted.ok());
  EXPECT_EQ(**inserted, 100);
  EXPECT_EQ(map.find(Pdcid(1)), *inserted);
  EXPECT_EQ(map.find(Pdcid(2)), nullptr);
  EXPECT_EQ(map.size(), 1u);
}

TEST_F(HashMapTest, AKeyIsInsertedOnce) {
  HashMap<uint32_t, int> map;
  ASSERT_TRUE(map.create(arena_, 10, 1).ok());
  ASSERT_TRUE(map.insert(1, 100).ok());
  EXPECT_EQ(map.insert(1, 200).error(), Errc::exists);
  EXPECT_EQ(*map.find(1), 100);
  EXPECT_EQ(map.size(), 1u);
}

TEST_F(HashMapTest, AFullMapRefusesAndStaysAsItIs) {
  HashMap<uint32_t, int> map;
  EXPECT_EQ(map.insert(1, 1).error(), Errc::again);  // before create
  EXPECT_EQ(map.find(1), nullptr);
  EXPECT_FALSE(map.erase(1));
  EXPECT_EQ(map.create(arena_, 0, 1).error(), Errc::invalid);
  EXPECT_EQ(map.create(arena_, (1u << 29) + 1, 1).error(), Errc::invalid);
  ASSERT_TRUE(map.create(arena_, 3, 1).ok());
  for (uint32_t key = 0; key < 3; ++key) ASSERT_TRUE(map.insert(key, 0).ok());
  EXPECT_TRUE(map.full());
  EXPECT_EQ(map.insert(3, 0).error(), Errc::again);
  EXPECT_EQ(map.insert(2, 0).error(), Errc::exists);
  EXPECT_EQ(map.size(), 3u);
  EXPECT_TRUE(map.erase(0));
  EXPECT_TRUE(map.insert(3, 0).ok());
}

TEST_F(HashMapTest, ErasingInsideARunKeepsTheRestReachable) {
  // 5 keys, 8 slots. Homes 6 6 7 6 0: the run wraps, and 'e' sits at home behind strangers.
  for (uint32_t victim = 0; victim < 5; ++victim) {
    SCOPED_TRACE(victim);
    HashMap<Chosen, char> map;
    ASSERT_TRUE(map.create(arena_, 5, 0).ok());
    const std::array<Chosen, 5> keys = {{{0, 6}, {1, 6}, {2, 7}, {3, 6}, {4, 0}}};
    for (const Chosen key : keys) {
      ASSERT_TRUE(map.insert(key, static_cast<char>('a' + key.id)).ok());
    }
    EXPECT_TRUE(map.erase(keys[victim]));
    EXPECT_FALSE(map.erase(keys[victim]));
    for (const Chosen key : keys) {
      const char* const found = map.find(key);
      if (key.id == victim) {
        EXPECT_EQ(found, nullptr);
      } else {
        ASSERT_NE(found, nullptr);
        EXPECT_EQ(*found, static_cast<char>('a' + key.id));
      }
    }
  }
}

TEST_F(HashMapTest, KeysWithEqualHashesAreDistinguished) {
  HashMap<Chosen, int> map;
  ASSERT_TRUE(map.create(arena_, 8, 0).ok());
  for (uint32_t id = 0; id < 8; ++id) ASSERT_TRUE(map.insert({id, 3}, static_cast<int>(id)).ok());
  for (uint32_t id = 0; id < 8; ++id) EXPECT_EQ(*map.find({id, 3}), static_cast<int>(id));
  EXPECT_EQ(map.find({8, 3}), nullptr);
}

TEST_F(HashMapTest, GrowingKeepsThePairs) {
  HashMap<uint32_t, uint32_t> map;
  ASSERT_TRUE(map.create(arena_, 2, 1).ok());
  uint32_t next = 0;
  for (int round = 0; round < 8; ++round) {
    while (!map.full()) {
      ASSERT_TRUE(map.insert(next, next * 2).ok());
      ++next;
    }
    const uint32_t capacity = map.capacity();
    ASSERT_TRUE(map.grow(arena_, 33).ok());
    EXPECT_EQ(map.capacity(), capacity + 33);
    for (uint32_t key = 0; key < next; ++key) ASSERT_EQ(*map.find(key), key * 2);
  }
  EXPECT_EQ(map.grow(arena_, ~0u).error(), Errc::invalid);
  EXPECT_EQ(map.size(), next);
}

TEST_F(HashMapTest, TheOrderOfIterationIsTheSameForTheSameSeedAndCalls) {
  const auto order = [&](uint64_t seed) {
    HashMap<uint32_t, int> map;
    EXPECT_TRUE(map.create(arena_, 100, seed).ok());
    for (uint32_t key = 0; key < 100; ++key) EXPECT_TRUE(map.insert(key, 0).ok());
    for (uint32_t key = 0; key < 100; key += 3) EXPECT_TRUE(map.erase(key));
    std::vector<uint32_t> keys;
    map.for_each([&](const uint32_t& key, int&) { keys.push_back(key); });
    return keys;
  };
  EXPECT_EQ(order(1).size(), 66u);
  EXPECT_EQ(order(1), order(1));
  EXPECT_NE(order(1), order(2));
}

TEST_F(HashMapTest, BehavesLikeAMapUnderRandomCalls) {
  for (const uint64_t seed : {1u, 2u, 3u}) {
    std::printf("seed %lu\n", static_cast<unsigned long>(seed));
    Rng rng(seed);
    HashMap<uint32_t, uint32_t> map;
    ASSERT_TRUE(map.create(arena_, 48, seed).ok());  // 64 slots, three quarters in use
    std::map<uint32_t, uint32_t> model;
    for (uint32_t i = 0; i < 5000; ++i) {
      const auto key = static_cast<uint32_t>(rng.below(96));
      if (rng.chance(0.6)) {
        const bool is_fresh = model.size() < 48 && !model.contains(key);
        ASSERT_EQ(map.insert(key, i).ok(), is_fresh);
        if (is_fresh) model[key] = i;
      } else {
        ASSERT_EQ(map.erase(key), model.erase(key) == 1);
      }
      ASSERT_EQ(map.size(), model.size());
      const auto probe = static_cast<uint32_t>(rng.below(96));
      const uint32_t* const found = map.find(probe);
      ASSERT_EQ(found != nullptr, model.contains(probe));
      if (found != nullptr) {
        ASSERT_EQ(*found, model[probe]);
      }
    }
    std::map<uint32_t, uint32_t> seen;
    map.for_each([&](const uint32_t& key, uint32_t& value) { seen[key] = value; });
    EXPECT_EQ(seen, model);
  }
}

}  // namespace
}  // namespace uet
