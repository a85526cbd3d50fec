// Pages of payload that no receive waits for yet. [SES-126, SES-189]
#include "ses/receives/unexpected_pool.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace uet::ses::test {
namespace {

constexpr uint64_t kPage = UnexpectedPool::kPageBytes;
constexpr uint64_t kTable = UnexpectedPool::kFanOut;  // pages that one page of numbers names

class UnexpectedPoolTest : public ::testing::Test {
 protected:
  UnexpectedPoolTest() { EXPECT_TRUE(pool_.create(arena_, 4000 * kPage).ok()); }
  uint32_t taken() const { return pool_.pages() - pool_.free_pages(); }
  void write(PageList& list, uint64_t offset, std::vector<std::byte> octets) {
    const uint32_t missing = pool_.missing(list, offset, octets.size());
    const uint32_t before = taken();
    pool_.write(list, offset, octets);
    EXPECT_EQ(taken() - before, missing);
    EXPECT_EQ(list.held, taken());
  }
  std::vector<std::byte> read(const PageList& list, uint64_t offset, uint64_t length) {
    std::vector<std::byte> all;
    pool_.read(list, offset, length, [&](std::span<const std::byte> piece) {
      all.insert(all.end(), piece.begin(), piece.end());
    });
    return all;
  }
  // Octets that differ from those of another page.
  static std::vector<std::byte> pattern(uint64_t offset, uint64_t length) {
    std::vector<std::byte> all(length);
    for (uint64_t i = 0; i < length; ++i) all[i] = std::byte((offset + i) * 7 % 251);
    return all;
  }

  Arena arena_;
  UnexpectedPool pool_;
};

// [SES-126] Pages of octets, and those with the numbers of pages where there are more than four.
TEST_F(UnexpectedPoolTest, AMessageTakesPagesForItsNumbers) {
  EXPECT_EQ(UnexpectedPool::whole(0), 0u);
  EXPECT_EQ(UnexpectedPool::whole(1), 1u);
  EXPECT_EQ(UnexpectedPool::whole(4 * kPage), 4u);
  EXPECT_EQ(UnexpectedPool::whole(4 * kPage + 1), 6u);
  EXPECT_EQ(UnexpectedPool::whole(kTable * kPage), kTable + 1);
  EXPECT_EQ(UnexpectedPool::whole(kTable * kPage + 1), kTable + 1 + 3);
}

// [SES-189] Octets take what is missing for them, in any order, and are found again; all goes back.
TEST_F(UnexpectedPoolTest, OctetsAreFoundInAnyOrder) {
  for (const uint64_t bytes : {3 * kPage, 100 * kPage, 3000 * kPage}) {
    PageList list = UnexpectedPool::list_of(bytes);
    EXPECT_EQ(list.held, 0u);
    const std::vector<uint64_t> places{bytes - 100, kPage - 50, 0, bytes / 2};
    for (const uint64_t at : places) write(list, at, pattern(at, 100));
    for (const uint64_t at : places) EXPECT_EQ(read(list, at, 100), pattern(at, 100)) << at;
    pool_.release(list);
    EXPECT_EQ(taken(), 0u);
  }
}

// [SES-126] A whole message takes as many pages as whole() says.
TEST_F(UnexpectedPoolTest, AWholeMessageTakesThePredictedPages) {
  for (const uint64_t pages : {4u, 5u, 1500u}) {
    PageList list = UnexpectedPool::list_of(pages * kPage);
    pool_.write(list, 0, std::vector<std::byte>(pages * kPage));
    EXPECT_EQ(taken(), UnexpectedPool::whole(pages * kPage));
    pool_.release(list);
  }
  EXPECT_EQ(taken(), 0u);
}

// For simulations: pages are counted, and their octets are in one.
TEST(UnexpectedPoolOfLengthsTest, OctetsNeedNotBeKept) {
  Arena arena;
  UnexpectedPool pool;
  ASSERT_TRUE(pool.create(arena, 10 * kPage, false).ok());
  PageList list = UnexpectedPool::list_of(3 * kPage);
  pool.write(list, 0, std::vector<std::byte>(3 * kPage, std::byte{1}));
  EXPECT_EQ(pool.free_pages(), 7u);
  pool.release(list);
  EXPECT_EQ(pool.free_pages(), 10u);
}

// No room at all.
TEST(UnexpectedPoolOfNothingTest, APoolMayBeEmpty) {
  Arena arena;
  UnexpectedPool pool;
  ASSERT_TRUE(pool.create(arena, kPage - 1).ok());
  EXPECT_EQ(pool.free_pages(), 0u);
}

}  // namespace
}  // namespace uet::ses::test
