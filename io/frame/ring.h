// A ring in memory shared with the kernel, into which it puts whole frames of a range of lengths:
// looking for one costs a load, taking one no system call. Linux, Ethernet. [decision 8]
#pragma once

#include "io/frame/frame.h"
#include "io/socket.h"

#include "base/packet.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct tpacket2_hdr;

namespace uet::io {

class FrameRing {
 public:
  struct Settings {
    FabricAddress local;           // packets to this address are taken...
    uint8_t ip_protocol = 0;       // ...of this protocol; 0: of UDP, to the port of the address
    uint32_t interface_index = 0;  // from this interface...
    uint32_t loopback_index = 0;   // ...and this one
    uint32_t frame_bytes_min = 0;  // frames from this length, Ethernet header included...
    uint32_t frame_bytes_max = 0;  // ...to this one
    uint32_t ring_bytes = 0;       // about; a slot at least
  };
  // Lent until give_back().
  struct Frame {
    std::span<std::byte> octets;  // none when it is damaged
    FrameOffload offload;
    uint32_t interface_index = 0;
  };

  FrameRing() = default;
  ~FrameRing() { close(); }
  FrameRing(const FrameRing&) = delete;
  FrameRing& operator=(const FrameRing&) = delete;

  // Makes the ring; no frame comes before listen(). False with errno: EPERM without CAP_NET_RAW.
  // The kernel takes its time: 10 ms and more.
  bool open(const Settings& settings);
  // The kernel asks the ring that listens last first. False with errno.
  bool listen();
  // Closes both; takes as long as open(), and lent packets are gone.
  void close();

  // take() has a frame to lend. After this returns a frame of another ring, earlier frames of this
  // ring are visible.
  bool has_frame() const;
  // When the kernel put it there, by the clock of the wall, which all rings share and which may be
  // set back: a number that only grows in the meantime. Only with has_frame().
  uint64_t arrived_at() const;
  // Only with has_frame().
  Frame take();
  // All that was lent but the last `kept`.
  void give_back(uint32_t kept);

  // Readable while a frame waits.
  const Fd& socket() const { return socket_; }
  uint32_t slot_count() const { return slot_count_; }
  // Frames that came while the ring was full, so far.
  uint64_t dropped() const;

 private:
  static constexpr uint32_t kSlotHead = 128;  // the kernel's words on a frame
  static constexpr uint32_t kBlockBytesMin = 1 << 16;
  static constexpr uint32_t kSlotsPerBlock = 4;  // at least; what is left of a block is lost

  bool attach_filter(const Settings& settings);
  bool make_slots(const Settings& settings);
  tpacket2_hdr& next() const;

  Fd socket_;
  uint16_t ether_type_ = 0;
  std::byte* memory_ = nullptr;
  size_t memory_bytes_ = 0;
  uint32_t slot_bytes_ = 0;
  std::unique_ptr<std::byte*[]> slots_;
  uint32_t slot_count_ = 0;
  uint32_t next_ = 0;
  uint32_t lent_ = 0;  // before next_
  mutable uint64_t dropped_ = 0;
};

}  // namespace uet::io
