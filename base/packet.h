// The types exchanged by the protocol stack and packet I/O: addresses, outgoing packets in batches,
// received datagrams. No protocol knowledge: bytes, where they go, and how they are marked.
#pragma once

#include "base/assert.h"
#include "base/serial.h"
#include "base/time.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace uet {

inline constexpr uint16_t kUetPort = 4793;  // [WIRE-006]

// A Fabric Address (IP) with the UDP port that its process receives on. Wherever the protocol
// keys on the FA, this pair is meant, so that two processes of one FA are two FEPs.
// Comparable byte for byte: no padding, unused octets zero.
struct FabricAddress {
  enum class Family : uint16_t {
    none = 0,
    ipv4 = 4,
    ipv6 = 6
  };

  std::array<uint8_t, 16> ip{};  // IPv4 in the first four octets
  Family family = Family::none;
  uint16_t port = kUetPort;  // host order
  uint32_t scope_id = 0;     // IPv6 link-local only

  // 192.168.1.1 is v4(0xC0A80101).
  static constexpr FabricAddress v4(uint32_t host_order, uint16_t port = kUetPort) {
    FabricAddress a;
    for (size_t i = 0; i < 4; ++i) a.ip[i] = static_cast<uint8_t>(host_order >> (24 - 8 * i));
    a.family = Family::ipv4;
    a.port = port;
    return a;
  }
  bool operator==(const FabricAddress&) const = default;
  bool valid() const { return family != Family::none; }
  uint32_t ip_length() const { return family == Family::ipv6 ? 16 : 4; }
};
static_assert(sizeof(FabricAddress) == 24);

// A piece of payload memory. It belongs to the application that posted the operation.
struct IoSlice {
  const std::byte* data = nullptr;
  uint64_t length = 0;  // octets; 64 bits because registered regions may be large
};

// What became of a packet that was offered to a backend.
enum class TxFate : uint8_t {
  sent,   // handed to the network
  later,  // no room now; offer it again
  never,  // the system refused it; `error` says why; the protocol treats it as lost
};

enum class Ecn : uint8_t {
  not_ect = 0,
  ect1 = 1,
  ect0 = 2,
  ce = 3
};

// One packet ready to leave. `header` and `slices` point into the batch; slice data points into
// user or SES memory, until detach().
struct TxPacket {
  std::byte* header = nullptr;
  const IoSlice* slices = nullptr;
  uint16_t header_bytes = 0;
  uint16_t slice_count = 0;
  uint32_t payload_bytes = 0;
  FabricAddress to;
  Entropy ev;        // picks the source port (UDP) or fills the entropy header
  uint8_t dscp = 0;  // six bits
  Ecn ecn = Ecn::not_ect;
  TxFate fate = TxFate::later;
  int error = 0;        // errno, with fate never
  uint32_t cookie = 0;  // the message it belongs to, for reporting `never`; 0: none
  uint32_t sdi = 0;     // secure domain that seals it; 0: goes in the clear

  uint32_t bytes() const { return header_bytes + payload_bytes; }
};

// What a batch begins with: answers (NACKs, ACKs, control packets), or packets with payload. A peer
// waits for payload, and an ACK behind it comes soon enough.
enum class Lead : uint8_t {
  answers,
  payload
};

// Which packets to send: any, or only those that may not wait. ACKs that no peer asked for or waits
// for may wait for some microseconds, so that fewer are sent. [PDS-083]
enum class Work : uint8_t {
  any,
  pressing
};

// Up to kCapacity packets on their way out. Made once per engine; never allocates afterwards.
// Building: begin(), write into the returned header room, add_payload() any number of times,
// then commit(). What the backend did not take stays and is offered again.
class TxBatch {
 public:
  static constexpr uint32_t kCapacity = 64;
  static constexpr uint32_t kHeaderBytes = 192;
  static constexpr uint32_t kSlices = 512;  // more than one packet can ever need
  static constexpr uint32_t kSlicesPerPacket = 80;

  uint32_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // No room for another packet of any shape.
  bool full() const { return size_ >= limit_ || slices_used_ + kSlicesPerPacket > kSlices; }
  // From now on the batch is full with `packets` packets, 1 .. kCapacity: for a card with a short
  // queue.
  void set_limit(uint32_t packets) {
    UET_ASSERT(packets >= 1 && packets <= kCapacity);
    limit_ = packets;
  }
  // Of a card with several ports: a bit for each one that takes packets now, at least one. New
  // packets get entropy values of these. [CMS-156]
  void set_free_planes(uint32_t planes) {
    UET_ASSERT(planes != 0);
    free_planes_ = planes;
  }
  uint32_t free_planes() const { return free_planes_; }

  // Room for the next packet's header: kHeaderBytes. Requires !full().
  std::span<std::byte> begin() {
    UET_ASSERT(!full());
    TxPacket& packet = packets_[size_];
    packet.header = headers_[slot(size_)].data();
    packet.slices = &slices_[slices_used_];
    packet.slice_count = 0;
    packet.payload_bytes = 0;
    return headers_[slot(size_)];
  }
  // Appends payload memory to the packet being built. The memory must stay valid until the packet
  // left or detach() ran. At most kSlicesPerPacket calls a packet.
  void add_payload(const void* data, uint32_t length) {
    if (length == 0) return;
    UET_ASSERT(slices_used_ < kSlices);
    slices_[slices_used_++] = {static_cast<const std::byte*>(data), length};
    packets_[size_].payload_bytes += length;
    ++packets_[size_].slice_count;
  }
  void commit(uint32_t header_bytes, const FabricAddress& to, Entropy ev, uint8_t dscp, Ecn ecn,
              uint32_t cookie = 0, uint32_t sdi = 0) {
    UET_ASSERT(header_bytes <= kHeaderBytes);
    TxPacket& packet = packets_[size_++];
    packet.header_bytes = static_cast<uint16_t>(header_bytes);
    packet.to = to;
    packet.ev = ev;
    packet.dscp = dscp;
    packet.ecn = ecn;
    packet.fate = TxFate::later;
    packet.error = 0;
    packet.cookie = cookie;
    packet.sdi = sdi;
    payload_bytes_ += packet.payload_bytes;
  }

  std::span<TxPacket> packets() { return {packets_.data(), size_}; }
  std::span<const TxPacket> packets() const { return {packets_.data(), size_}; }

  // Forgets the packets whose fate is not `later`, keeping order. With nothing left the batch is
  // as new.
  void compact();

  // Copies the payload of every packet still here into `bounce` (at least payload_bytes() long),
  // so that no user memory is referred to any more and completions may be reported.
  void detach(std::span<std::byte> bounce);
  uint32_t payload_bytes() const { return payload_bytes_; }  // of all packets here
  void clear() { size_ = slices_used_ = payload_bytes_ = 0; }

 private:
  uint32_t slot(uint32_t position) const { return free_[position]; }

  uint32_t size_ = 0;
  uint32_t limit_ = kCapacity;
  uint32_t free_planes_ = ~uint32_t{0};
  uint32_t slices_used_ = 0;
  uint32_t payload_bytes_ = 0;
  std::array<TxPacket, kCapacity> packets_;  // behind the last one: the one that is being built
  std::array<uint8_t, kCapacity> free_ = identity();  // header slots: [0,size) in use
  std::array<IoSlice, kSlices> slices_;
  alignas(64) std::array<std::array<std::byte, kHeaderBytes>, kCapacity> headers_;

  static constexpr std::array<uint8_t, kCapacity> identity() {
    std::array<uint8_t, kCapacity> a{};
    for (uint32_t i = 0; i < kCapacity; ++i) a[i] = static_cast<uint8_t>(i);
    return a;
  }
};

// One received datagram, from the first octet after UDP (or after the entropy header). Borrowed
// from the backend until its next receive().
struct RxDatagram {
  std::span<std::byte> bytes;
  FabricAddress from;  // port: the UDP source port as seen
  Entropy ev;          // what the sender's network saw as entropy
  uint8_t dscp = 0;
  Ecn ecn = Ecn::not_ect;
  Instant at;        // arrival, as near to the wire as the backend knows
  uint32_t sdi = 0;  // domain it was verified in; 0: in the clear; see wire::kUnverifiedSdi
};

}  // namespace uet
