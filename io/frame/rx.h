// Receive side of the packet-socket backend: two rings shared with the kernel, one of small slots
// for single packets and one of large slots for the super-packets of streams, handed out in the
// order in which their frames came. No system call. [decision 8]
//
// Streams gain more than the system call. On one host the kernel copies a frame into the ring on
// the sender's processor, so what was copied stays in that processor's cache. A slot is written
// again only after all others, when it is no longer in the reader's cache.
#pragma once

#include "io/frame/frame.h"
#include "io/frame/reader.h"
#include "io/frame/ring.h"
#include "io/segments.h"
#include "io/stamp_clock.h"

#include "base/packet.h"

#include <array>
#include <cstdint>
#include <span>

namespace uet::io {

struct FrameRxCounters : FrameDrops {
  uint64_t frames = 0;       // taken from the rings; a GRO super-packet is one
  uint64_t datagrams = 0;    // what receive() handed out
  uint64_t long_frames = 0;  // of the frames: longer than a packet may be
};

class FrameRx {
 public:
  struct Settings {
    FabricAddress local;            // packets to this address and port are taken...
    NativeFormat native;            // ...or, if used, of this protocol to this address
    uint32_t interface_index = 0;   // from this interface...
    uint32_t loopback_index = 0;    // ...and this one
    uint32_t packet_bytes_max = 0;  // IP packets up to this long are short, and up to kShortBytes
    uint32_t ring_bytes = 0;        // 0: kRingBytesDefault; at most kRingBytesMax
  };

  // False with errno: EPERM without CAP_NET_RAW.
  bool open(const Settings& settings);
  // Nothing may be borrowed any more.
  void close();

  // At most TxBatch::kCapacity datagrams, borrowed until the next call.
  std::span<RxDatagram> receive();

  // Readable when receive() would return something.
  const Fd& short_socket() const { return short_.socket(); }
  const Fd& long_socket() const { return long_.socket(); }
  const FrameRxCounters& counters() const { return counters_; }
  // Frames that came while their ring was full, so far.
  uint64_t dropped() const { return short_.dropped() + long_.dropped(); }

 private:
  // With any MTU, a few joined packets are short; otherwise they would use up the large slots.
  static constexpr uint32_t kShortBytes = 9216;
  static constexpr uint32_t kShortBytesMax = 1 << 14;  // longer slots for all are a waste
  static constexpr uint32_t kLongBytes = (1 << 16) + kEthernetHeader;
  static constexpr uint32_t kRingBytesDefault = 1 << 20;
  static constexpr uint32_t kRingBytesMax = 64 << 20;

  FrameRing* ring_with_next();
  void open_frame(FrameRing& ring);

  FrameRing short_;
  FrameRing long_;
  FrameReader reader_;
  uint32_t loopback_index_ = 0;
  Segments segments_;  // of the frame being cut into datagrams: the last one lent by...
  const FrameRing* cutting_ = nullptr;  // ...this ring
  StampClock clock_;                    // read with the first frame of each receive()
  std::array<RxDatagram, TxBatch::kCapacity> datagrams_{};
  FrameRxCounters counters_;
};

}  // namespace uet::io
