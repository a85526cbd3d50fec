// Receive side of the AF_XDP backend: frames of all queues, handed out as datagrams in the memory
// that the kernel or the driver filled. No system call, but where a driver must be woken.
// [decision 26]
#pragma once

#include "io/frame/reader.h"
#include "io/xdp/port.h"

#include "base/packet.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace uet::io {

struct XdpRxCounters : FrameDrops {
  uint64_t frames = 0;  // packets taken from the rings, whether in one frame or in more
  uint64_t joined = 0;  // of them in more
};

class XdpRx {
 public:
  // checksum: of the frames of this interface. A virtual one (veth) brings packets of this host
  // with the UDP checksum that a device was to complete.
  void start(XdpPort& port, const FabricAddress& local, const NativeFormat& native,
             FrameReader::Checksum checksum);

  // At most TxBatch::kCapacity datagrams, borrowed until the next call.
  std::span<RxDatagram> receive();

  const XdpRxCounters& counters() const { return counters_; }
  // Frames that came while their queue had no room, so far.
  uint64_t dropped() const;

 private:
  struct Lent {
    uint64_t address;
    uint32_t queue;
  };

  // A packet of several frames, copied.
  static constexpr size_t kJoinedBytes = size_t{XdpPort::kPiecesMax} * XdpMemory::kFrameBytes;

  bool may_take() const {
    return count_ < datagrams_.size() && lent_ + XdpPort::kPiecesMax <= lent_frames_.size();
  }
  void give_back();
  void take_from(uint32_t queue);
  std::span<std::byte> take_packet(uint32_t queue, Instant& at);
  std::span<std::byte> join(uint32_t queue, std::span<std::byte> first);
  Instant arrival_of(std::byte* frame) const;

  XdpPort* port_ = nullptr;
  FrameReader reader_;
  FrameReader::Checksum checksum_ = FrameReader::Checksum::unknown;
  uint32_t next_queue_ = 0;  // the first to be asked
  Instant now_;              // of this receive(); zero: not read yet
  uint32_t lent_ = 0;
  uint32_t count_ = 0;
  std::array<Lent, TxBatch::kCapacity * XdpPort::kPiecesMax> lent_frames_{};
  std::unique_ptr<std::byte[]> joined_;  // a room for each datagram; none where all fit a frame
  std::array<RxDatagram, TxBatch::kCapacity> datagrams_{};
  XdpRxCounters counters_;
};

}  // namespace uet::io
