// Packets by AF_XDP, past the kernel's IP stack in both directions: a BPF program on the interface
// passes packets for this address and port to sockets whose frames lie in memory shared with the
// driver. A UDP socket holds the port, and carries packets without a known next hop, traffic on
// this host, and packets that the program does not take. The same packets on the wire as the UDP
// backend. One process has an interface. Linux 5.11, Ethernet; CAP_NET_ADMIN, CAP_BPF, CAP_NET_RAW.
// It bypasses netfilter, IPsec, shaping, and captures of the host. [decision 26, LF-144]
#pragma once

#include "io/host/next_hops.h"
#include "io/packet_io.h"
#include "io/udp/udp.h"
#include "io/xdp/port.h"
#include "io/xdp/rx.h"
#include "io/xdp/tx.h"

#include <cstdint>
#include <memory>
#include <string>

namespace uet::io {

class XdpIo final : public PacketIo {
 public:
  // Why this process cannot have it on any interface, with the remedy; empty: it may. Attaches
  // nothing.
  static std::string why_refused();
  // On failure null, and `error` is a sentence that names the remedy.
  static std::unique_ptr<XdpIo> open(const UdpOptions& options, std::string* error);

  IoCaps caps() const override;
  FabricAddress local_address() const override { return udp_->local_address(); }
  bool owns_uet_port() const { return udp_->owns_uet_port(); }
  uint16_t source_port(Entropy ev) override { return udp_->source_port(ev); }
  // Fates: `later` when the ring is full, else `sent`. A packet that goes through the UDP sockets
  // has a fate of those. Payload that is not mapped ends the process: it is copied here.
  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override;
  std::span<const PathError> path_errors() override { return udp_->path_errors(); }
  uint32_t route_mtu(const FabricAddress& to) override { return udp_->route_mtu(to); }
  Instant deadline() const override { return again_at_; }
  int wait_fd() const override { return udp_->wait_fd(); }
  bool watch_input(int fd) override { return udp_->watch_input(fd); }
  int failure() const override { return udp_->failure(); }
  void report_counters(const CounterSink& sink) const override;

  // "generic"; "in the driver, copied", "in the driver, zero-copy".
  std::string mode_text() const { return port_.mode_text(); }
  uint32_t queue_count() const { return static_cast<uint32_t>(port_.queues().size()); }
  const XdpTxCounters& tx_counters() const { return tx_.counters(); }
  const XdpRxCounters& rx_counters() const { return rx_.counters(); }

 private:
  // If the kernel copies each frame, larger batches gain more by GSO than frames gain by bypassing
  // the IP stack. Without UDP there is no GSO.
  static constexpr uint32_t kFewPackets = 4;
  // The UDP socket is read once in this number of calls. While packets come there, it is read in
  // every other call, until this number of reads in a row found nothing.
  static constexpr uint32_t kLooksPerStackLook = 16;
  static constexpr uint32_t kStackPatience = 64;
  static constexpr Duration kMtuKept = Duration::milliseconds(100);
  // After which frames that the kernel left behind are offered again, by a device that is down.
  static constexpr Duration kRest = Duration::microseconds(100);
  static constexpr Duration kRestDown = Duration::milliseconds(10);

  XdpIo() = default;
  bool start(const UdpOptions& options, std::string& error);
  void refresh_mtu(Instant now);
  const NextHop* next_hop(const TxPacket& packet, Instant now);
  void send_frame(TxPacket& packet, const NextHop& hop);
  void flush(Instant now);
  bool is_stack_due();

  std::unique_ptr<UdpIo> udp_;
  NativeFormat native_;
  std::unique_ptr<NextHops> next_hops_;
  XdpPort port_;
  XdpRx rx_;
  XdpTx tx_;
  Interface interface_;
  struct Limit {  // of an IP packet that leaves as a frame
    uint32_t bytes = 0;
    Instant until = Instant::zero();
  } limit_;
  Instant again_at_ = Instant::never();  // flush()
  uint32_t looks_ = 0;                   // since the UDP socket was looked at
  uint32_t stack_patience_ =
      0;  // reads of the UDP socket without a packet before it is read rarely
};

}  // namespace uet::io
