// Receive side of the packet-socket backend: a ring in memory shared with the kernel, so that
// looking for a packet costs a load and taking one costs no system call. Frames too long for a slot
// are read from the socket. Linux, Ethernet. [architecture 6]
#pragma once

#include "io/frame.h"
#include "io/segments.h"
#include "io/socket.h"

#include "base/packet.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace uet::io {

struct FrameRxCounters {
  uint64_t system_calls = 0;
  uint64_t frames = 0;       // taken from the ring; a GRO super-packet is one
  uint64_t datagrams = 0;    // what receive() handed out
  uint64_t long_frames = 0;  // read from the socket because they fit no slot
  uint64_t malformed = 0;    // not a UDP packet after all, or a wrong checksum; dropped
  uint64_t truncated = 0;    // too long for a slot, and the socket had no room; dropped
};

class FrameRx {
 public:
  struct Settings {
    FabricAddress local;            // packets to this address and port are taken
    uint32_t interface_index = 0;   // from this interface...
    uint32_t loopback_index = 0;    // ...and this one
    uint32_t packet_bytes_max = 0;  // IP packets up to this long fit a slot; 0: kSlotBytesMin
    uint32_t ring_bytes = 0;        // 0: kRingBytesDefault; at most kRingBytesMax
    uint32_t socket_bytes = 0;      // for frames that fit no slot; 0: the system's default
  };

  FrameRx() = default;
  ~FrameRx();
  FrameRx(const FrameRx&) = delete;
  FrameRx& operator=(const FrameRx&) = delete;

  // False with errno: EPERM without CAP_NET_RAW.
  bool open(const Settings& settings);

  // At most TxBatch::kCapacity datagrams, borrowed until the next call.
  std::span<RxDatagram> receive();

  // Readable when receive() would return something.
  const Fd& socket() const { return socket_; }
  uint32_t slot_count() const { return slot_count_; }
  const FrameRxCounters& counters() const { return counters_; }
  // Frames that came while the ring was full, so far.
  uint64_t dropped() const;

 private:
  static constexpr uint32_t kSlotBytesMin = 2048;
  static constexpr uint32_t kSlotBytesMax = 1 << 14;  // longer frames are not worth their memory
  static constexpr uint32_t kSlotHead = 128;          // the kernel's words on a frame, and Ethernet
  static constexpr uint32_t kBlockBytes = 1 << 16;
  static constexpr uint32_t kRingBytesDefault = 1 << 20;
  static constexpr uint32_t kRingBytesMax = 64 << 20;
  static constexpr uint32_t kLongBytes = (1 << 16) + 1024;  // the longest super-packet
  static constexpr uint32_t kLongFrames = 8;                // lent out by one receive()

  bool attach_filter(const Settings& settings);
  bool make_ring(const Settings& settings);
  void give_back();
  bool take_slot();
  bool take_long_frame();
  bool take_frame(std::span<std::byte> frame, const FrameOffload& offload);

  Fd socket_;
  uint32_t scope_id_ = 0;  // of link-local peers
  std::byte* ring_ = nullptr;
  size_t ring_bytes_ = 0;
  uint32_t slot_bytes_ = 0;
  std::unique_ptr<std::byte*[]> slots_;
  uint32_t slot_count_ = 0;
  uint32_t next_slot_ = 0;
  uint32_t lent_slots_ = 0;  // before next_slot_
  uint32_t lent_long_ = 0;
  std::unique_ptr<std::byte[]> long_frames_;
  Segments segments_;  // of the frame being cut into datagrams: the last one lent
  bool cutting_long_ = false;
  Instant received_at_;
  std::array<RxDatagram, TxBatch::kCapacity> datagrams_{};
  FrameRxCounters counters_;
  mutable uint64_t dropped_ = 0;
};

}  // namespace uet::io
