// Packets over packet sockets, below the IP stack, for the lowest latency: a few packets leave as
// whole frames, equal ones as one super-packet, and all packets arrive through a ring shared with
// the kernel. Streams, and packets without a known next hop, leave through UDP sockets, which also
// hold the ports and receive ICMP errors. The same packets on the wire as the UDP backend, with UDP
// or without; packets to us with IPv6 extension headers are not seen. Without UDP nothing is
// joined, and everything with a next hop leaves as a frame. Linux 6.2, Ethernet, CAP_NET_RAW. It
// bypasses netfilter (firewalls see and stop nothing) and IPsec. [decision 8]
#pragma once

#include "io/frame/rx.h"
#include "io/host/next_hops.h"
#include "io/packet_io.h"
#include "io/udp/udp.h"

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace uet::io {

struct FrameTxCounters {
  uint64_t frames = 0;   // sent; a super-packet is one
  uint64_t refused = 0;  // packets handed to the IP stack instead, after an error
  uint64_t later = 0;    // packets with fate later
};

class FrameIo final : public PacketIo {
 public:
  static constexpr uint32_t kRings = 2;  // packet sockets that listen
  // With fewer UDP sockets, one descriptor more than the UDP backend.
  static constexpr uint32_t kEntropyMax = 3;

  // Linux 6.2.
  static bool is_offered_by_kernel();
  // On failure null, and `error` is a sentence that names the remedy.
  static std::unique_ptr<FrameIo> open(const UdpOptions& options, std::string* error);
  ~FrameIo() override;

  IoCaps caps() const override { return udp_->caps(); }
  FabricAddress local_address() const override { return udp_->local_address(); }
  bool owns_uet_port() const { return udp_->owns_uet_port(); }
  uint16_t source_port(Entropy ev) override { return udp_->source_port(ev); }
  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override { return rx_.receive(); }
  std::span<const PathError> path_errors() override { return udp_->path_errors(); }
  uint32_t route_mtu(const FabricAddress& to) override { return udp_->route_mtu(to); }
  int wait_fd() const override { return udp_->wait_fd(); }
  bool watch_input(int fd) override { return udp_->watch_input(fd); }
  int failure() const override { return udp_->failure(); }
  void report_counters(const CounterSink& sink) const override;

  const FrameTxCounters& tx_counters() const { return tx_; }
  const FrameRxCounters& rx_counters() const { return rx_.counters(); }

 private:
  // A batch of more goes through the IP stack: for streams that is as fast.
  static constexpr uint32_t kFewPackets = 4;
  // Octets of a super-packet that every kernel with GSO accepts.
  static constexpr uint32_t kSegmentsMax = 64;
  static constexpr uint32_t kSuperBytesMax = 65487;  // behind the headers
  static constexpr uint32_t kSlicesMax = 256;
  // Fits through every path that a router may choose.
  static constexpr uint32_t kRoutedBytesMax = 1280;

  FrameIo() = default;
  bool start(const UdpOptions& options, std::string& error);
  bool open_senders();
  const NextHop* next_hop(const TxPacket& packet, Instant now);
  size_t run_length(std::span<const TxPacket> packets) const;
  bool send_frame(std::span<TxPacket> run, const NextHop& hop);
  uint32_t gather(std::span<const TxPacket> run, const NextHop& hop);
  uint32_t put_headers(std::span<const TxPacket> run, std::byte* ip);

  std::unique_ptr<UdpIo> udp_;
  NativeFormat native_;
  std::unique_ptr<NextHops> next_hops_;
  FrameRx rx_;
  uint32_t interface_index_ = 0;
  uint32_t packet_bytes_max_ = 0;  // of an IP packet: the MTU
  std::array<uint8_t, 6> mac_{};
  Fd sender_;
  Fd super_sender_;
  FrameTxCounters tx_;
  struct Parts {
    FrameOffload offload;
    std::array<std::byte, kEthernetHeader + kUdpPacketHeaderMax> headers{};
    EntropyOctets entropy{};
    std::unique_ptr<std::byte[]> room;  // for a packet with its CRC
    std::array<iovec, kSegmentsMax + kSlicesMax + 2> vectors{};
  } parts_;  // of the frame being sent
};

}  // namespace uet::io
