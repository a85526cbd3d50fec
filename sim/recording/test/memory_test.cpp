// The application's memory: how a recording names it, and how a replay has it again.
#include "sim/recording/memory_book.h"
#include "sim/recording/memory_image.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace uet::recording {
namespace {

class MemoryTest : public testing::Test {
 protected:
  IoSlice slice(size_t offset, size_t length) const { return {&memory_[offset], length}; }

  // The memory of a post, recorded and made again.
  Pieces post(IoSlice slice, bool is_written) {
    MemoryBook::News news;
    const std::span<const IoSlice> one(&slice, 1);
    Pieces pieces = is_written ? book_.to_be_written(one, news) : book_.to_be_read(one, news);
    contents_ = news.contents.size();
    for (const Block& block : news.blocks) EXPECT_EQ(image_.add(block), "");
    for (const Content& content : news.contents) EXPECT_EQ(image_.write(content), "");
    return pieces;
  }
  // Whether a replay finds the application's octets there.
  bool is_same(const Pieces& pieces) {
    const uint64_t length = pieces.all[0].length;
    return book_.digest_of(pieces, 0, length) == image_.digest_of(pieces, 0, length);
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(100, std::byte{7});
  MemoryBook book_;
  MemoryImage image_;
  size_t contents_ = 0;  // recorded with the last post
};

TEST_F(MemoryTest, PartsOfABlockAreTheSameMemory) {
  const Pieces whole = post(slice(0, 100), /*is_written=*/true);
  const Pieces part = post(slice(40, 10), /*is_written=*/true);
  EXPECT_EQ(part.all[0].block, whole.all[0].block);
  EXPECT_EQ(part.all[0].offset, 40u);
  EXPECT_EQ(book_.offset_of(part, &memory_[43]), 3u);
  EXPECT_EQ(book_.offset_of(part, &memory_[50]), std::nullopt);
  std::vector<IoSlice> slices;
  ASSERT_TRUE(image_.slices_of(whole, slices) && image_.slices_of(part, slices));
  EXPECT_EQ(slices[1].data, slices[0].data + 40);
}

TEST_F(MemoryTest, UnchangedMemoryIsNotRecordedAgain) {
  const Pieces pieces = post(slice(0, 100), /*is_written=*/false);
  post(slice(0, 100), /*is_written=*/false);
  EXPECT_EQ(contents_, 0u);
  memory_[99] = std::byte{8};
  EXPECT_FALSE(is_same(pieces));
  post(slice(0, 100), /*is_written=*/false);
  EXPECT_EQ(contents_, 1u);
  EXPECT_TRUE(is_same(pieces));
}

TEST_F(MemoryTest, MemoryThatMayHaveChangedIsRecordedAgain) {
  post(slice(0, 100), /*is_written=*/true);
  post(slice(0, 100), /*is_written=*/false);
  EXPECT_EQ(contents_, 1u);
}

TEST_F(MemoryTest, EmptyMemoryMakesNoBlock) {
  const Pieces null = post({nullptr, 0}, /*is_written=*/false);
  const Pieces empty = post({memory_.data(), 0}, /*is_written=*/false);
  std::vector<IoSlice> slices;
  ASSERT_TRUE(image_.slices_of(null, slices) && image_.slices_of(empty, slices));
  EXPECT_EQ(slices[0].data, nullptr);
  EXPECT_NE(slices[1].data, nullptr);
  EXPECT_EQ(slices[0].length + slices[1].length, 0u);
}

TEST_F(MemoryTest, UnknownMemoryIsRefused) {
  post(slice(0, 100), /*is_written=*/false);
  std::vector<IoSlice> slices;
  EXPECT_FALSE(image_.slices_of({{{1, 0, 1}}}, slices));
  EXPECT_FALSE(image_.slices_of({{{0, 90, 11}}}, slices));
  EXPECT_FALSE(image_.slices_of({{{0, UINT64_MAX, 2}}}, slices));
  EXPECT_FALSE(image_.slices_of({{{Piece::kNowhere, 0, 1}}}, slices));
  EXPECT_NE(image_.write({{0, 99, 2}, Octets(2)}), "");
  EXPECT_NE(image_.add({2, 0, 1, Octets(1)}), "");                  // 1 comes first
  EXPECT_NE(image_.add({1, 0, 10, Octets(9)}), "");                 // an octet is missing
  EXPECT_NE(image_.add({1, 0, UINT64_MAX, Octets(1)}), "");         // too much
  EXPECT_NE(image_.add({1, 0, uint64_t{5} << 30, Octets(1)}), "");  // too much
}

}  // namespace
}  // namespace uet::recording
