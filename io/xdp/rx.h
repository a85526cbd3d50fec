// Receive side of the AF_XDP backend: frames of all queues, handed out as datagrams in the memory
// that the kernel or the driver filled. No system call, but where a driver must be woken.
// [decision 26]
#pragma once

#include "io/xdp/port.h"

#include "base/packet.h"

#include <array>
#include <cstdint>
#include <span>

namespace uet::io {

struct XdpRxCounters {
  uint64_t frames = 0;     // taken from the rings
  uint64_t malformed = 0;  // not a UDP packet after all, or a wrong checksum; dropped
  uint64_t martian = 0;    // from an address that nobody out there has; dropped
};

class XdpRx {
 public:
  // unfinished_checksums: neighbours on this host leave UDP checksums to a device that is none.
  void start(XdpPort& port, const FabricAddress& local, bool unfinished_checksums) {
    port_ = &port;
    local_ = local;
    unfinished_checksums_ = unfinished_checksums;
  }

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

  void give_back();
  void take_from(uint32_t queue);
  bool open_frame(std::span<std::byte> frame, RxDatagram& datagram);
  Instant arrival_of(std::byte* frame) const;

  XdpPort* port_ = nullptr;
  FabricAddress local_;
  bool unfinished_checksums_ = false;
  uint32_t next_queue_ = 0;  // the first to be asked
  Instant now_;              // of this receive(); zero: not read yet
  uint32_t lent_ = 0;
  uint32_t count_ = 0;
  std::array<Lent, TxBatch::kCapacity> lent_frames_{};
  std::array<RxDatagram, TxBatch::kCapacity> datagrams_{};
  XdpRxCounters counters_;
};

}  // namespace uet::io
