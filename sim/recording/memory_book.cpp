// Names memory, and sees whether it changed since it was last named.
#include "sim/recording/memory_book.h"

#include "base/assert.h"

#include <algorithm>

namespace uet::recording {

Pieces MemoryBook::to_be_read(std::span<const IoSlice> memory, News& news) {
  return name_all(memory, news, /*is_written=*/false);
}

Pieces MemoryBook::to_be_written(std::span<const IoSlice> memory, News& news) {
  return name_all(memory, news, /*is_written=*/true);
}

Pieces MemoryBook::name_all(std::span<const IoSlice> memory, News& news, bool is_written) {
  Pieces out;
  for (const IoSlice& slice : memory) out.all.push_back(name(slice, news, is_written));
  return out;
}

Piece MemoryBook::name(const IoSlice& slice, News& news, bool is_written) {
  if (slice.length == 0) return {Piece::kNowhere, slice.data == nullptr ? 0u : 1u, 0};
  auto above = by_address_.upper_bound(slice.data);
  UET_ASSERT(above == by_address_.end() || slice.data + slice.length <= above->first);
  uint32_t number = 0;
  if (above != by_address_.begin() &&
      slice.data < std::prev(above)->first + blocks_[std::prev(above)->second].length) {
    number = std::prev(above)->second;
  } else {
    number = add(slice, news);
  }
  Known& known = blocks_[number];
  const Piece piece{number, static_cast<uint64_t>(slice.data - known.data), slice.length};
  // Blocks do not overlap, and none grows.
  UET_ASSERT(piece.offset + piece.length <= known.length);
  if (is_written) {
    known.is_written = true;
  } else {
    note_content(slice, piece, news);
  }
  return piece;
}

uint32_t MemoryBook::add(const IoSlice& slice, News& news) {
  const auto number = static_cast<uint32_t>(blocks_.size());
  const Piece whole{number, 0, slice.length};
  blocks_.push_back({slice.data, slice.length, false, digest({slice.data, slice.length}), whole});
  by_address_[slice.data] = number;
  Block& block = news.blocks.emplace_back();
  block.number = number;
  block.alignment = static_cast<uint8_t>(reinterpret_cast<uintptr_t>(slice.data) % 16);
  block.length = slice.length;
  const auto is_first = [&](std::byte b) { return b == *slice.data; };
  const bool is_uniform = std::all_of(slice.data, slice.data + slice.length, is_first);
  block.content.assign(slice.data, slice.data + (is_uniform ? 1 : slice.length));
  return number;
}

void MemoryBook::note_content(const IoSlice& slice, const Piece& piece, News& news) {
  Known& known = blocks_[piece.block];
  const uint64_t now = digest({slice.data, slice.length});
  const bool is_same_place = known.read.offset == piece.offset && known.read.length == piece.length;
  if (is_same_place && known.read_digest == now && !known.is_written) return;
  known.read = piece;
  known.read_digest = now;
  news.contents.push_back({piece, Octets(slice.data, slice.data + slice.length)});
}

std::optional<uint64_t> MemoryBook::offset_of(const Pieces& post, const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  uint64_t before = 0;
  for (const Piece& piece : post.all) {
    if (piece.length == 0) continue;
    const std::byte* const first = blocks_[piece.block].data + piece.offset;
    if (at >= first && at < first + piece.length) {
      return before + static_cast<uint64_t>(at - first);
    }
    before += piece.length;
  }
  return {};
}

uint64_t MemoryBook::digest_of(const Pieces& post, uint64_t offset, uint64_t length) const {
  return digest_of_pieces(post, offset, length, [this](const Piece& piece) {
    return blocks_[piece.block].data + piece.offset;
  });
}

uint64_t MemoryBook::digest_of_all() const {
  uint64_t result = kDigestStart;
  for (const Known& block : blocks_) result = digest({block.data, block.length}, result);
  return result;
}

}  // namespace uet::recording
