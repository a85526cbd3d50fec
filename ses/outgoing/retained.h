// Owns the payloads of an endpoint's sends that were reported as done when they were copied, until
// the peer has them: a few MiB of rooms of three lengths, taken with the first payload. Those that
// are as short as the operands of an atomic are in the InjectStore, where all operations have room.
#pragma once

#include "base/arena.h"
#include "base/assert.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace uet::ses {

inline constexpr uint32_t kRetainBytes = 64 * 1024;  // of one payload at most [LF-136]

// Rooms of one length, beside each other.
struct RoomClass {
  uint32_t bytes;
  uint32_t count;
  constexpr uint64_t total() const { return uint64_t{bytes} * count; }
};
inline constexpr std::array<RoomClass, 3> kRoomClasses{
    {{4096, 128}, {16384, 64}, {kRetainBytes, 32}}};

class RetainedPayloads {
 public:
  // Room for `bytes`, at most kRetainBytes; null when there is none now. Takes the memory of all
  // rooms from `arena` at the first call. O(1).
  std::byte* take(Arena& arena, uint64_t bytes) {
    UET_ASSERT(bytes <= kRetainBytes);
    if (memory_ == nullptr && !take_memory(arena)) return nullptr;
    for (uint32_t i = 0; i < kRoomClasses.size(); ++i) {
      if (bytes > kRoomClasses[i].bytes) continue;
      if (std::byte* const room = take_room(i)) {
        ++taken_;
        return room;
      }
    }
    return nullptr;
  }

  // Takes back what take() gave.
  void give_back(std::byte* room) {
    auto offset = static_cast<uint64_t>(room - memory_);
    UET_ASSERT(offset < kBytes && taken_ > 0);
    --taken_;
    uint32_t i = 0;
    for (; offset >= kRoomClasses[i].total(); ++i) offset -= kRoomClasses[i].total();
    auto* const freed = reinterpret_cast<Free*>(room);
    freed->next = free_[i];
    free_[i] = freed;
  }

  // More than half of the rooms are taken: somebody may soon be waiting for one.
  bool is_scarce() const { return taken_ > kRooms / 2; }

 private:
  struct Free {
    Free* next;
  };
  static constexpr uint64_t kBytes =
      kRoomClasses[0].total() + kRoomClasses[1].total() + kRoomClasses[2].total();
  static_assert(kBytes <= 4 * 1024 * 1024);
  static constexpr uint32_t kRooms =
      kRoomClasses[0].count + kRoomClasses[1].count + kRoomClasses[2].count;

  bool take_memory(Arena& arena) {
    memory_ = static_cast<std::byte*>(arena.allocate(kBytes, 64));
    return memory_ != nullptr;
  }

  // The room that was freed last, which is in the cache; else one that was never touched.
  std::byte* take_room(uint32_t i) {
    if (Free* const freed = free_[i]) {
      free_[i] = freed->next;
      return reinterpret_cast<std::byte*>(freed);
    }
    if (used_[i] == kRoomClasses[i].count) return nullptr;
    uint64_t offset = uint64_t{kRoomClasses[i].bytes} * used_[i]++;
    for (uint32_t before = 0; before < i; ++before) offset += kRoomClasses[before].total();
    return memory_ + offset;
  }

  std::byte* memory_ = nullptr;
  uint32_t taken_ = 0;  // rooms
  std::array<Free*, kRoomClasses.size()> free_{};
  std::array<uint32_t, kRoomClasses.size()> used_{};  // rooms that were ever taken
};

}  // namespace uet::ses
