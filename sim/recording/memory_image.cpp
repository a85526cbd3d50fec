// Blocks of memory made from their records.
#include "sim/recording/memory_image.h"

#include "sim/recording/memory_book.h"

#include <algorithm>

namespace uet::recording {

std::string MemoryImage::add(const Block& block) {
  if (block.number != blocks_.size()) return "blocks of memory do not count up";
  const bool is_uniform = block.content.size() == 1;
  if (block.length == 0 || (!is_uniform && block.content.size() != block.length)) {
    return "a block of memory has another length than its content";
  }
  if (block.length > kBytesMax - bytes_) return "it has too much memory";
  bytes_ += block.length;
  Held& held = blocks_.emplace_back();
  constexpr uint64_t kAlignment = 16;
  held.room = std::make_unique<std::byte[]>(block.length + 2 * kAlignment);
  const auto address = reinterpret_cast<uintptr_t>(held.room.get());
  held.data = held.room.get() + (kAlignment - address % kAlignment) + block.alignment;
  held.length = block.length;
  if (is_uniform) {
    std::fill_n(held.data, block.length, block.content[0]);
  } else {
    std::copy(block.content.begin(), block.content.end(), held.data);
  }
  return {};
}

std::string MemoryImage::write(const Content& content) {
  if (!has(content.piece) || content.octets.size() != content.piece.length) {
    return "it writes to memory that does not exist";
  }
  if (content.piece.length == 0) return {};
  std::copy(content.octets.begin(), content.octets.end(), find(content.piece));
  return {};
}

bool MemoryImage::has(const Piece& piece) const {
  if (piece.block == Piece::kNowhere) return piece.length == 0 && piece.offset <= 1;
  if (piece.block >= blocks_.size()) return false;
  const uint64_t length = blocks_[piece.block].length;
  return piece.offset <= length && piece.length <= length - piece.offset;
}

bool MemoryImage::slices_of(const Pieces& pieces, std::vector<IoSlice>& out) const {
  static constexpr std::byte kSomewhere{};
  for (const Piece& piece : pieces.all) {
    if (!has(piece)) return false;
    if (piece.block == Piece::kNowhere) {
      out.push_back({piece.offset == 0 ? nullptr : &kSomewhere, 0});
    } else {
      out.push_back({find(piece), piece.length});
    }
  }
  return true;
}

void MemoryImage::spoil(const Pieces& pieces) {
  for (const Piece& piece : pieces.all) {
    if (piece.length != 0) std::fill_n(find(piece), piece.length, std::byte{0xee});
  }
}

std::optional<uint64_t> MemoryImage::offset_of(const Pieces& post, const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  uint64_t before = 0;
  for (const Piece& piece : post.all) {
    if (piece.length != 0 && at >= find(piece) && at < find(piece) + piece.length) {
      return before + static_cast<uint64_t>(at - find(piece));
    }
    before += piece.length;
  }
  return {};
}

uint64_t MemoryImage::digest_of(const Pieces& post, uint64_t offset, uint64_t length) const {
  return digest_of_pieces(post, offset, length, [this](const Piece& piece) { return find(piece); });
}

uint64_t MemoryImage::digest_of_all() const {
  uint64_t result = kDigestStart;
  for (const Held& block : blocks_) result = digest({block.data, block.length}, result);
  return result;
}

}  // namespace uet::recording
