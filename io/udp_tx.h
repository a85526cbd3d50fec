// Transmit side of the UDP backend: which socket carries which EV, runs of packets joined into GSO
// super-packets, one sendmmsg for each socket, and the fate of every packet.
#pragma once

#include "io/socket.h"

#include "base/packet.h"

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace uet::io {

struct UdpTxCounters {
  uint64_t system_calls = 0;
  uint64_t messages = 0;      // taken by the kernel; a GSO super-packet is one
  uint64_t packets = 0;       // fate sent
  uint64_t later = 0;         // fate later
  uint64_t never = 0;         // fate never
  uint64_t retries = 0;       // an error of an earlier packet was in the way
  uint64_t split_runs = 0;    // super-packets refused and sent packet by packet
  uint64_t gso_disabled = 0;  // the system offers GSO but cannot do it here
  uint64_t insisted = 0;      // sockets that send short packets whatever the system says of a route
};

class UdpTx {
 public:
  static constexpr uint32_t kEntropyMax = 64;
  static constexpr uint32_t kSuperBytesMax = 65487;  // of a GSO run; fits IPv4 and IPv6

  struct Settings {
    FabricAddress local;          // what transmit sockets bind to, with a port of their own
    uint32_t entropy_values = 1;  // sockets; the EV modulo this picks one
    uint32_t send_buffer_bytes = 0;
    bool gso = true;
    uint16_t first_port = 0;  // of consecutive ones for the sockets; 0: any that are free
  };

  // Sockets not added by adopt() are opened on first use and watched by `epoll` for errors. The
  // fallback socket carries EVs whose socket cannot be opened.
  void configure(const Settings& settings, int epoll, int fallback);
  // Uses a socket that is bound already (a block's ports). It is owned from here on.
  void adopt(uint32_t index, Fd socket) { sockets_[index] = std::move(socket); }
  // Options that every sending socket needs. False with errno.
  static bool prepare(const Fd& socket, bool ipv6, uint32_t send_buffer_bytes);
  // Drops all that arrives: for sockets that nobody reads. False with errno.
  static bool deafen(const Fd& socket);

  // See PacketIo::send. Any number of packets.
  void send(std::span<TxPacket> packets);

  // The local port of the socket that carries this EV.
  uint16_t source_port(Entropy ev);
  const Fd& socket(uint32_t index) const { return sockets_[index]; }
  uint32_t entropy_values() const { return settings_.entropy_values; }
  bool gso() const { return settings_.gso; }
  // A send met an error that the error queues explain; true once.
  bool take_error() { return std::exchange(error_seen_, false); }
  const UdpTxCounters& counters() const { return counters_; }

 private:
  static constexpr uint32_t kRuns = TxBatch::kCapacity;
  static constexpr uint32_t kVectors = TxBatch::kCapacity + TxBatch::kSlices;
  static constexpr uint32_t kSegmentsMax = 64;  // what every kernel with GSO takes
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kMissesMax = 32;
  // A datagram that any route carries: that of IPv6 at its least.
  static constexpr uint32_t kShortBytes = 1280 - 48;

  // Packets that leave as one message: equal destination and marks, equal length but for the last.
  struct Run {
    uint32_t socket;
    uint32_t first;  // packet index; the others follow by next_
    uint32_t last;
    uint32_t packets;
    uint32_t bytes;
    uint32_t segment_bytes;
    uint8_t tos;
    bool closed;  // a shorter one ended it
  };
  // What a socket is connected to and marks by itself: messages for it need no route lookup in the
  // kernel, which saves about a tenth of a small message. Anything else still goes out, in full.
  struct Favourite {
    FabricAddress to;
    uint8_t tos = 0;
    uint32_t misses = 0;  // in a row, the last of them:
    FabricAddress missed_to;
    uint8_t missed_tos = 0;
  };
  struct alignas(cmsghdr) Control {
    std::array<std::byte, CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint16_t))> bytes;
  };

  uint32_t take_chunk(std::span<TxPacket> packets);
  uint32_t admit(TxPacket& packet);
  void add_to_run(std::span<TxPacket> packets, uint32_t index);
  bool joins(const Run& run, const TxPacket& to, const TxPacket& packet, uint8_t tos) const;
  void flush(std::span<TxPacket> packets, uint32_t socket);
  void build(std::span<TxPacket> packets, uint32_t run, uint32_t message);
  bool favours(uint32_t socket, const FabricAddress& to, uint8_t tos);
  void reconsider_favourite(uint32_t socket, int fd);
  void set_control(msghdr& header, Control& control, bool with_tos, uint8_t tos,
                   uint32_t segment_bytes) const;
  uint32_t gather(const TxPacket& packet, uint32_t at);
  bool send_split(std::span<TxPacket> packets, const Run& run, int error);
  int send_alone(const TxPacket& packet, int fd, uint8_t tos);
  bool insist(int fd);
  void settle(std::span<TxPacket> packets, const Run& run, TxFate fate, int error);
  void hold_from(std::span<TxPacket> packets, uint32_t message, uint32_t count);
  int fd_of(uint32_t index);

  Settings settings_;
  int epoll_ = -1;
  int fallback_ = -1;
  bool error_seen_ = false;
  uint64_t blocked_ = 0;  // sockets that pushed back during this send()
  uint64_t used_ = 0;     // sockets with runs in this chunk
  uint64_t failed_ = 0;   // sockets that could not be opened
  uint32_t run_count_ = 0;
  uint32_t vector_count_ = 0;
  std::array<Fd, kEntropyMax> sockets_;
  std::array<uint16_t, kEntropyMax> ports_{};  // 0: not yet asked for
  std::array<Favourite, kEntropyMax> favourites_;
  std::array<Run, kRuns> runs_{};
  std::array<uint32_t, kRuns> next_{};  // packet index -> next packet of its run
  std::array<uint32_t, kRuns> message_run_{};
  std::array<mmsghdr, kRuns> headers_{};
  std::array<SockAddr, kRuns> names_{};
  std::array<Control, kRuns> controls_{};
  std::array<iovec, kVectors> vectors_{};
  UdpTxCounters counters_;
};

}  // namespace uet::io
