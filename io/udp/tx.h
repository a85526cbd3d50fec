// Transmit side of the UDP backend: runs of packets joined into GSO super-packets, one sendmmsg for
// each socket or a ring for all of them, and the fate of every packet.
#pragma once

#include "io/socket.h"
#include "io/udp/ring.h"
#include "io/udp/tx_sockets.h"

#include "base/packet.h"

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
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

// Room for the control messages of one message: its marks, and the length of its segments.
struct alignas(cmsghdr) TxControl {
  std::array<std::byte, CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint16_t))> bytes;
};

class UdpTx {
 public:
  static constexpr uint32_t kSuperBytesMax = 65487;  // of a GSO run; fits IPv4 and IPv6

  // See UdpTxSockets. gso: joins packets into super-packets, for as long as the system can send
  // them.
  void configure(const UdpTxSockets::Settings& settings, bool gso, int epoll, int fallback);
  // Sends to several sockets at once by this ring where it is the calling thread's; null: none.
  void use(UdpRing* ring) { ring_ = ring; }
  void adopt(uint32_t index, Fd socket) { sockets_.adopt(index, std::move(socket)); }

  // See PacketIo::send. Any number of packets.
  void send(std::span<TxPacket> packets);

  // The local port of the socket that carries this EV.
  uint16_t source_port(Entropy ev) { return sockets_.port_of(sockets_.index_of(ev)); }
  const UdpTxSockets& sockets() const { return sockets_; }
  bool gso() const { return gso_; }
  // A send met an error that the error queues explain; true once.
  bool take_error() { return std::exchange(error_seen_, false); }
  const UdpTxCounters& counters() const { return counters_; }

 private:
  static constexpr uint32_t kRuns = TxBatch::kCapacity;
  static constexpr uint32_t kVectors = 2 * TxBatch::kCapacity + TxBatch::kSlices;
  static constexpr uint32_t kSegmentsMax = 64;  // what every kernel with GSO takes
  static constexpr uint32_t kNone = UINT32_MAX;
  // A datagram that any route carries: the minimum of IPv6.
  static constexpr uint32_t kShortBytes = 1280 - 48;

  // Packets that leave as one message: equal destination and marks, equal length except for the
  // last.
  struct Run {
    uint32_t socket;
    uint32_t first;  // packet index; the others follow by Runs::next()
    uint32_t last;
    uint32_t packets;
    uint32_t bytes;
    uint32_t segment_bytes;
    uint8_t tos;
    bool closed;  // a shorter one ended it

    // Whether this packet to the same destination may be the next one of the run.
    bool takes(const TxPacket& packet, uint8_t its_tos) const;
  };
  // The packets of one chunk, sorted into runs.
  class Runs {
   public:
    void clear() { count_ = 0; }
    // The packet joins a run of its socket, or begins one.
    void add(std::span<const TxPacket> packets, uint32_t index, uint32_t socket, bool gso);
    uint32_t count() const { return count_; }
    const Run& operator[](uint32_t run) const { return runs_[run]; }
    // The next packet of its run; kNone: none.
    uint32_t next(uint32_t packet) const { return next_[packet]; }

   private:
    uint32_t count_ = 0;
    std::array<Run, kRuns> runs_{};
    std::array<uint32_t, kRuns> next_{};
  };

  // The messages of one sendmmsg, and all that their headers point at.
  class Messages {
   public:
    void clear() { count_ = vector_count_ = 0; }
    // A message for this run. It names destination and marks unless its socket favours them.
    void add(std::span<const TxPacket> packets, const Runs& runs, uint32_t run,
             const UdpTxSockets& sockets, std::byte* rooms, bool favoured);
    uint32_t count() const { return count_; }
    mmsghdr* from(uint32_t message) { return &headers_[message]; }
    // Its fate, and whether it was tried before.
    bool is_done(uint32_t message) const { return done_[message]; }
    void set_done(uint32_t message) { done_[message] = true; }
    bool was_tried(uint32_t message) { return std::exchange(tried_[message], true); }
    uint32_t run_of(uint32_t message) const { return run_[message]; }

   private:
    uint32_t count_ = 0;
    uint32_t vector_count_ = 0;
    std::array<uint32_t, kRuns> run_{};
    std::array<bool, kRuns> done_{};
    std::array<bool, kRuns> tried_{};
    std::array<mmsghdr, kRuns> headers_{};
    std::array<SockAddr, kRuns> names_{};
    std::array<TxControl, kRuns> controls_{};
    std::array<EntropyOctets, kRuns> entropy_{};
    std::array<iovec, kVectors> vectors_{};
  };

  bool has_many_sockets() const { return (used_ & (used_ - 1)) != 0; }  // in this chunk
  uint32_t take_chunk(std::span<TxPacket> packets);
  uint32_t admit(TxPacket& packet);
  // The reaction to a refusal.
  enum class Verdict : uint8_t {
    done,   // the fate of each packet is set
    again,  // try once more
    later,  // the socket is full: this message and those after it stay behind
    full,   // those after it do
  };

  void flush(std::span<TxPacket> packets, uint32_t socket);
  void flush_by_ring(std::span<TxPacket> packets);
  bool send_wave(std::span<TxPacket> packets);
  void add_messages(std::span<const TxPacket> packets, uint32_t socket);
  Verdict judge(std::span<TxPacket> packets, uint32_t message, int error);
  bool send_split(std::span<TxPacket> packets, const Run& run, int error);
  int send_alone(const TxPacket& packet, int fd, uint8_t tos);
  void set_fate(std::span<TxPacket> packets, const Run& run, TxFate fate, int error);
  void hold_from(std::span<TxPacket> packets, uint32_t message, uint32_t socket);

  UdpTxSockets sockets_;
  bool gso_ = false;
  bool error_seen_ = false;
  uint64_t used_ = 0;     // sockets with runs in this chunk
  uint64_t blocked_ = 0;  // sockets that pushed back during this send()
  Runs runs_;
  Messages messages_;
  UdpRing* ring_ = nullptr;
  std::unique_ptr<std::byte[]> rooms_;  // with CRCs: of each message, and of one sent alone
  UdpTxCounters counters_;
};

}  // namespace uet::io
