// Transmit side of the AF_XDP backend: packets are copied into frames, headers and all, and one
// system call sends a batch of them. [decision 26]
#pragma once

#include "io/frame/native.h"
#include "io/host/next_hops.h"
#include "io/xdp/port.h"

#include "base/packet.h"
#include "base/time.h"

#include <array>
#include <cstdint>

namespace uet::io {

struct XdpTxCounters {
  uint64_t frames = 0;        // packets put into the ring, whether in one frame or in more
  uint64_t system_calls = 0;  // that made the kernel send
  uint64_t later = 0;         // fate later
  uint64_t refused = 0;       // calls that failed for another reason than a lack of room
};

class XdpTx {
 public:
  void start(XdpPort& port, const std::array<uint8_t, 6>& mac, const NativeFormat& native);

  // A frame leaves with the next flush(). `from` has the packet's source port. False: no room now.
  bool add(const TxPacket& packet, const FabricAddress& from, const NextHop& hop);
  // Sends added frames, and those that an earlier call left behind.
  void flush();
  // After flush(): the kernel has not taken all; to be called again soon.
  bool has_rest() const { return has_rest_; }
  // The interface did not take frames at the last flush().
  bool is_down() const { return is_down_; }

  const XdpTxCounters& counters() const { return counters_; }

 private:
  // Each sends 32 frames at least.
  static constexpr int kCallsPerFlush = 8;

  void reap();

  XdpPort* port_ = nullptr;
  std::array<uint8_t, 6> mac_{};
  NativeFormat native_;
  bool is_published_ = true;
  bool has_rest_ = false;
  bool is_down_ = false;
  // A slot is the frames of one packet, side by side.
  uint32_t slot_frames_ = 1;
  uint32_t free_count_ = 0;
  std::array<uint16_t, XdpPort::kTxFrames> free_{};
  std::array<uint8_t, XdpPort::kTxFrames> unsent_{};  // by slot: frames that have not left
  XdpTxCounters counters_;
};

}  // namespace uet::io
