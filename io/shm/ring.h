// A ring in shared memory that carries packets one way, from one writer to one reader. Neither side
// trusts the other one: each checks what it reads there, and reads it once. [LF-142]
// Cost of a short packet: three cache lines move between the processors, no system call.
// Layout: positions, cells (a packet's description and, if it is short, its octets), long packets.
#pragma once

#include "base/packet.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::io {

struct ShmCell;
struct ShmPositions;

inline constexpr uint32_t kShmCells = 512;
inline constexpr uint32_t kShmCellBytes = 256;
inline constexpr uint32_t kShmInlineBytes = 224;  // a packet up to this is in its cell
inline constexpr uint32_t kShmDataBytes = 512 * 1024;
inline constexpr uint32_t kShmPacketBytesMax = 16 * 1024;  // longer ones do not fit
inline constexpr uint32_t kShmHeadBytes = 4096;
inline constexpr size_t kShmRingBytes =
    kShmHeadBytes + size_t{kShmCells} * kShmCellBytes + kShmDataBytes;

// Writes of this thread become visible before its later reads. Needed by a reader that announces
// its sleep and then looks, and by a writer that writes and then looks.
inline void shm_fence() {
#if defined(__SANITIZE_THREAD__)
  std::atomic<uint32_t> word{0};  // ThreadSanitizer knows no fences
  word.fetch_add(1, std::memory_order_seq_cst);
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

enum class ShmPut : uint8_t {
  done,
  full,    // the reader has to read first
  broken,  // the reader wrote nonsense: nothing may be sent through the ring any more
};

class ShmRingWriter {
 public:
  // `memory`: kShmRingBytes, zero, shared with one reader.
  explicit ShmRingWriter(std::byte* memory);

  // Call before the packets of a batch: where the reader has read all, the memory that was used
  // last is used again.
  void begin();
  // Copies the packet; the reader may see it at once. `now`: CLOCK_MONOTONIC.
  ShmPut put(const TxPacket& packet, Instant now);
  // After the last packet of a batch. True: the reader sleeps and has to be woken.
  bool end();

  uint32_t written() const { return tail_; }  // packets, modulo 2^32
  uint32_t read() const { return head_; }     // of them, as known here

 private:
  bool learn_head();
  // Where a long packet of `bytes` octets goes; kNone: no room.
  uint32_t place(uint32_t bytes);

  ShmPositions& positions_;
  ShmCell* cells_;
  std::byte* data_;
  uint32_t tail_ = 0;
  uint32_t head_ = 0;
  // Position in the memory for long packets, in octets since the ring was last empty.
  uint64_t data_tail_ = 0;
  uint64_t data_head_ = 0;
  std::array<uint64_t, kShmCells> data_ends_{};  // data_tail_ behind each cell's packet
};

// The writer's description of a packet, checked. `octets` lie in the ring: the writer can change
// them.
struct ShmPacket {
  std::span<std::byte> octets;
  Instant sent;  // as the writer says
  Entropy ev;
  uint8_t dscp = 0;
  Ecn ecn = Ecn::not_ect;
  bool is_short = false;  // it is in its cell
};

enum class ShmTake : uint8_t {
  none,
  packet,
  broken,
};

class ShmRingReader {
 public:
  explicit ShmRingReader(std::byte* memory);

  // There is something to take, or nonsense.
  bool has_packet() const;
  // The next packet, if there is one. Its octets stay until release().
  ShmTake take(ShmPacket& packet);
  // All taken packets are finished: the writer may use their places again.
  void release();
  // The reader is about to sleep, or awake. Look at has_packet() after the first.
  void set_asleep(bool asleep);
  // The writer has seen that it sleeps, and wakes it.
  bool is_called() const;

 private:
  ShmPositions& positions_;
  ShmCell* cells_;
  std::byte* data_;
  uint32_t next_ = 0;
  uint32_t released_ = 0;
};

}  // namespace uet::io
