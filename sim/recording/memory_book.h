// The application's memory in a recording: blocks, each with a number, found by address. Memory
// that is named for the first time becomes a block with its present contents.
#pragma once

#include "sim/recording/calls.h"

#include "base/packet.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace uet::recording {

class MemoryBook {
 public:
  // Records to write before the call that names the memory.
  struct News {
    std::vector<Block> blocks;
    std::vector<Content> contents;
  };

  // The memory of a call that only reads it.
  Pieces to_be_read(std::span<const IoSlice> memory, News& news);
  // The memory of a call after which it may be written at any time.
  Pieces to_be_written(std::span<const IoSlice> memory, News& news);

  // Where an address lies in the memory of a post; nothing: not there.
  std::optional<uint64_t> offset_of(const Pieces& post, const void* address) const;
  // A digest of `length` octets of the post's memory, or of as many as there are, from `offset` on.
  uint64_t digest_of(const Pieces& post, uint64_t offset, uint64_t length) const;
  // A digest of all blocks.
  uint64_t digest_of_all() const;

 private:
  struct Known {
    const std::byte* data = nullptr;
    uint64_t length = 0;
    bool is_written = false;  // by the FabricEndpoint, perhaps
    uint64_t read_digest = 0;
    Piece read;  // octets that the digest covers
  };

  Pieces name_all(std::span<const IoSlice> memory, News& news, bool is_written);
  Piece name(const IoSlice& slice, News& news, bool is_written);
  uint32_t add(const IoSlice& slice, News& news);
  void note_content(const IoSlice& slice, const Piece& piece, News& news);

  std::vector<Known> blocks_;
  std::map<const std::byte*, uint32_t> by_address_;  // of the first octet
};

// The digest of octets of a post's memory, which `find` gives piece by piece.
template <class Find>
uint64_t digest_of_pieces(const Pieces& post, uint64_t offset, uint64_t length, Find find) {
  uint64_t result = kDigestStart;
  for (const Piece& piece : post.all) {
    const uint64_t skipped = offset < piece.length ? offset : piece.length;
    const uint64_t left = piece.length - skipped;
    const uint64_t taken = length < left ? length : left;
    offset -= skipped;
    length -= taken;
    if (taken != 0) result = digest({find(piece) + skipped, taken}, result);
  }
  return result;
}

}  // namespace uet::recording
