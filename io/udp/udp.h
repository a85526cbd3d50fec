// Packets over ordinary UDP sockets: no privilege, every kernel. One receive socket, a transmit
// socket for each entropy value, opened when it is first used; GSO and GRO where the kernel offers
// them; system calls, or io_uring where asked for. Linux.
// Ports: the first process of a Fabric Address owns 4793; a later one owns a block of sixteen, by
// its first port, and binds of the others what it sends from.
// Or over raw sockets, as an IP protocol of its own: one process owns an address, without ports.
// [decisions 3, 8; WIRE-006, WIRE-007, WIRE-121]
#pragma once

#include "io/frame/native.h"
#include "io/host/routes.h"
#include "io/packet_io.h"
#include "io/socket.h"
#include "io/udp/ring.h"
#include "io/udp/rx.h"
#include "io/udp/tx.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace uet::io {

struct UdpOptions {
  // The local FA. Port 4793: take it, or a block when it is taken. Any other port must be a
  // multiple of 16: exactly that block, as after a restart.
  FabricAddress local;
  uint16_t port_first = 16384;  // blocks are taken from here...
  uint16_t port_last = 32767;   // ...up to here, both included; of the first 256 first
  bool strict_port = false;     // 4793 or fail
  bool leave_uet_port = false;  // a block even if 4793 is free: the peer is to be found there
  // Transmit sockets of the owner of 4793, 1 to kEntropyMax. Another process has one more, up to
  // sixteen, the first of which receives: either has eight sockets in all.
  uint32_t entropy_values = 7;
  // Asked of the system, which may grant less; 0 leaves its default.
  uint32_t receive_buffer_bytes = 4 << 20;
  uint32_t send_buffer_bytes = 4 << 20;
  uint32_t mtu_bytes = 0;  // of IP packets; 0: the one of the interface with the address
  bool gso = true;
  bool gro = true;
  bool ring = false;  // io_uring, or fail
  uint32_t ring_settled_calls = UdpRing::kSettledCalls;
  // Packets travel as this IP protocol, behind an entropy header that carries each EV: one process
  // for an address, without ports; CAP_NET_RAW. 0: over UDP. [WIRE-008, WIRE-009]
  uint8_t ip_protocol = 0;
  // With an IP protocol: each packet without a seal ends with a CRC, and one that is wrong is
  // dropped. A packet with one of these DSCPs (bit i: DSCP i) is taken without: a switch has cut
  // it, CRC and all. [WIRE-022, WIRE-089]
  bool crc = false;
  uint64_t cut_dscps = 0;
  bool deaf = false;  // drop all arrivals: another process receives packets to these ports
};

// Effect of these options on packets that travel without UDP.
inline NativeFormat native_format(const UdpOptions& options) {
  if (options.ip_protocol == 0) return {};
  return {.ip_protocol = options.ip_protocol,
          .crc = options.crc,
          .cut_dscps = options.cut_dscps,
          .local = options.local};
}

class UdpIo final : public PacketIo {
 public:
  static constexpr uint32_t kBlockPorts = 16;  // [WIRE-121]
  // Taken before the rest of the range, which firewalls of earlier set-ups do not let in.
  static constexpr uint32_t kFirstBlocks = 256;

  // Binds. On failure null, and `error` is a sentence that names the remedy.
  static std::unique_ptr<UdpIo> open(const UdpOptions& options, std::string* error);

  IoCaps caps() const override;
  FabricAddress local_address() const override { return local_; }
  // True for the process that holds 4793 of its FA: it never sets the private mark. [WIRE-121]
  bool owns_uet_port() const { return local_.port == kUetPort; }
  // That packets of this EV leave from.
  uint16_t source_port(Entropy ev) override {
    return native_.protocol != 0 ? ev.value() : tx_.source_port(ev);
  }
  bool watch_input(int fd) override;

  // Fates: EAGAIN and ENOBUFS are `later`, for the rest of that socket too; a refusal of one packet
  // by the system (EFAULT, EMSGSIZE, no route) is `never` for that packet only.
  void send(std::span<TxPacket> packets) override { tx_.send(packets); }
  std::span<RxDatagram> receive() override { return rx_.receive(); }
  // ICMP errors and local refusals. Looks at the sockets about once a clock tick (1 to 10 ms), at
  // once after a send or receive that failed.
  std::span<const PathError> path_errors() override;
  // At most kQuestionsMax a second are asked of the kernel.
  uint32_t route_mtu(const FabricAddress& to) override;
  // An epoll descriptor, level-triggered: packets waiting, or errors on any socket.
  int wait_fd() const override { return epoll_.get(); }

  // The interface is gone or down, has lost the address, or the socket is not ours any more.
  int failure() const override;
  void report_counters(const CounterSink& sink) const override;
  const UdpTxCounters& tx_counters() const { return tx_.counters(); }
  const UdpRxCounters& rx_counters() const { return rx_.counters(); }

 private:
  static constexpr uint32_t kErrors = 32;
  // For the MTU of routes, a second: forged errors cost 1 % of a processor at most.
  static constexpr uint32_t kQuestionsMax = 500;

  UdpIo() = default;
  bool bind_sockets(const UdpOptions& options, std::string& error);
  bool bind_raw(const UdpOptions& options, std::string& error);
  bool bind_whole(const UdpOptions& options, int& failure);
  bool bind_block(const UdpOptions& options, uint32_t first, uint32_t blocks, int& failure);
  uint16_t bind_free_block(const Fd& socket, uint32_t first, uint32_t blocks, int& failure) const;
  bool search_block(const UdpOptions& options, std::string& error);
  bool start(const UdpOptions& options, std::string& error);
  bool watch(int fd, uint32_t events);
  void drain_errors(const Fd& fd);
  const Fd& receive_socket() const { return owned_port_ ? owned_port_ : tx_.sockets()[0]; }

  FabricAddress local_;
  std::string interface_;  // that has the address; empty: not known
  uint32_t max_datagram_bytes_ = 0;
  uint32_t receive_buffer_bytes_ = 0;
  int64_t errors_checked_ns_ = 0;
  Fd epoll_;
  Fd owned_port_;  // 4793; a process with a block receives on its first transmit socket
  struct Native {
    uint8_t protocol = 0;
    Fd claim;  // of the address, because there are no ports: a name that one process can have
  } native_;
  UdpTx tx_;
  UdpRx rx_;
  Routes routes_;  // asked when a packet was too long for one
  struct Questions {
    int64_t since_ns = 0;
    uint32_t count = 0;
  } questions_;
  uint32_t error_count_ = 0;
  std::array<PathError, kErrors> errors_{};
};

}  // namespace uet::io
