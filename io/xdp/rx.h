// Receive side of the AF_XDP backend: frames of all queues, handed out as datagrams in the memory
// that the kernel or the driver filled. No system call, but where a driver must be woken.
// [decision 26]
#pragma once

#include "io/xdp/port.h"

#include "base/packet.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace uet::io {

struct XdpRxCounters {
  uint64_t frames = 0;     // packets taken from the rings, whether in one frame or in more
  uint64_t joined = 0;     // of them in more
  uint64_t malformed = 0;  // not a UDP packet after all, or a wrong checksum; dropped
  uint64_t martian = 0;    // from an address that no host out there has; dropped
};

class XdpRx {
 public:
  // unfinished_checksums: the interface is virtual (veth), so packets of this host arrive with the
  // UDP checksum that a device was to complete.
  void start(XdpPort& port, const FabricAddress& local, bool unfinished_checksums);

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
  bool open_frame(std::span<std::byte> frame, RxDatagram& datagram);
  Instant arrival_of(std::byte* frame) const;

  XdpPort* port_ = nullptr;
  FabricAddress local_;
  bool unfinished_checksums_ = false;
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
