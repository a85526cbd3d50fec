// The application's memory in a replay: the blocks of the recording, with their contents.
#pragma once

#include "sim/recording/calls.h"

#include "base/packet.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace uet::recording {

class MemoryImage {
 public:
  // Both return the error in the record, or nothing.
  std::string add(const Block& block);
  std::string write(const Content& content);

  // The memory of a call. False: the pieces do not exist.
  bool slices_of(const Pieces& pieces, std::vector<IoSlice>& out) const;
  // The application may write to the memory again, and its octets change.
  void spoil(const Pieces& pieces);

  // As of MemoryBook. The pieces exist.
  std::optional<uint64_t> offset_of(const Pieces& post, const void* address) const;
  uint64_t digest_of(const Pieces& post, uint64_t offset, uint64_t length) const;
  uint64_t digest_of_all() const;

 private:
  static constexpr uint64_t kBytesMax = uint64_t{4} << 30;  // of all blocks

  struct Held {
    std::unique_ptr<std::byte[]> room;
    std::byte* data = nullptr;
    uint64_t length = 0;
  };
  bool has(const Piece& piece) const;
  std::byte* find(const Piece& piece) const { return blocks_[piece.block].data + piece.offset; }

  std::vector<Held> blocks_;
  uint64_t bytes_ = 0;
};

}  // namespace uet::recording
