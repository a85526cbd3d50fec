// Tests of Result, its macros, and assertions.
#include "base/result.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>

namespace uet {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return Errc::invalid;
  return n / 2;
}
Result<void> must_be_small(int n) {
  if (n > 10) return Errc::too_long;
  return {};
}
Result<std::string> quarter(int n) {
  UET_CHECK(must_be_small(n));
  const int h = UET_TRY(half(n));
  return std::to_string(UET_TRY(half(h)));
}

TEST(ResultTest, HoldsAValueOrAnError) {
  const Result<int> good = half(6);
  EXPECT_TRUE(good.ok());
  EXPECT_TRUE(static_cast<bool>(good));
  EXPECT_EQ(*good, 3);
  EXPECT_EQ(good.value_or(9), 3);
  const Result<int> bad = half(7);
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error(), Errc::invalid);
  EXPECT_EQ(bad.value_or(9), 9);
}

TEST(ResultTest, WithoutAValueItIsSuccessOrAnError) {
  EXPECT_TRUE(must_be_small(1).ok());
  EXPECT_FALSE(static_cast<bool>(must_be_small(11)));
  EXPECT_EQ(must_be_small(11).error(), Errc::too_long);
}

TEST(ResultTest, TryAndCheckPassErrorsOn) {
  const Result<std::string> good = quarter(8);
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(*good, "2");
  EXPECT_EQ(good->size(), 1u);
  EXPECT_EQ(quarter(7).error(), Errc::invalid);
  EXPECT_EQ(quarter(6).error(), Errc::invalid);
  EXPECT_EQ(quarter(12).error(), Errc::too_long);
}

// Counts how many of its kind are alive.
struct Witness {
  explicit Witness(int& count) : alive(&count) { ++*alive; }
  Witness(const Witness& o) : alive(o.alive) { ++*alive; }
  ~Witness() { --*alive; }
  int* alive;
};

TEST(ResultTest, CopiesMovesAndDestroysItsValueOnce) {
  int alive = 0;
  {
    const Result<Witness> first{Witness(alive)};
    EXPECT_EQ(alive, 1);
    Result<Witness> copy = first;
    EXPECT_EQ(alive, 2);
    const Result<Witness> moved = std::move(copy);
    EXPECT_EQ(alive, 3);
    const Result<Witness> failed(Errc::io);
    const Result<Witness> copied_error = failed;
    EXPECT_EQ(copied_error.error(), Errc::io);
    EXPECT_EQ(alive, 3);
  }
  EXPECT_EQ(alive, 0);
}

TEST(ResultTest, BuildsAValueInPlaceWithoutCopyOrMove) {
  struct Pinned {
    explicit Pinned(int v) : value(v) {}
    Pinned(const Pinned&) = delete;
    Pinned& operator=(const Pinned&) = delete;
    int value;
  };
  const Result<Pinned, Errc> r(InPlace{}, [] { return Pinned(7); });
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->value, 7);
}

TEST(ResultTest, EveryErrorHasAUniqueName) {
  std::set<std::string> names;
  for (int i = 0; i <= static_cast<int>(Errc::io); ++i) {
    names.insert(name(static_cast<Errc>(i)));
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(Errc::io) + 1);
  EXPECT_FALSE(names.contains("unknown error"));
  EXPECT_STREQ(name(static_cast<Errc>(200)), "unknown error");
}

TEST(ResultDeathTest, LookingForTheWrongOneAsserts) {
  EXPECT_DEATH((void)*half(7), "ok_");
  EXPECT_DEATH((void)half(6).error(), "ok_");
  EXPECT_DEATH((void)must_be_small(1).error(), "ok_");
}

TEST(AssertDeathTest, NamesTheConditionAndThePlace) {
  UET_ASSERT(1 + 1 == 2);
  EXPECT_DEATH(UET_ASSERT(1 + 1 == 3), "result_test.cpp:[0-9]+: assertion failed: 1 \\+ 1 == 3");
}

}  // namespace
}  // namespace uet
