// Receive side of the UDP backend: recvmmsg into large buffers, GRO super-packets cut into
// datagrams. One copy, kernel to buffer; the octets are lent to the stack from there.
#pragma once

#include "io/frame/native.h"
#include "io/segments.h"
#include "io/socket.h"
#include "io/stamp_clock.h"
#include "io/udp/read_pace.h"
#include "io/udp/ring.h"

#include "base/packet.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace uet::io {

struct UdpRxCounters {
  uint64_t system_calls = 0;
  uint64_t messages = 0;   // messages from the kernel; a GRO super-packet is one
  uint64_t datagrams = 0;  // what receive() handed out
  uint64_t truncated = 0;  // longer than any buffer, or without a whole entropy header; dropped
  uint64_t errors = 0;     // failed system calls, would-block not counted
  uint64_t bad_crc = 0;    // dropped
};

class UdpRx {
 public:
  static constexpr uint32_t kMessages = 32;  // asked for by one system call
  static constexpr uint32_t kMessageBytes = 65536;

  // Options on a bound socket: TOS reports, arrival times, and GRO where wanted and offered.
  // Allocates the buffers (2 MiB of address space; touched as used).
  struct Settings {
    bool ipv6 = false;
    bool gro = false;
    NativeFormat native = {};   // used: a raw socket, IPv4 headers come with each packet
    uint32_t buffer_bytes = 0;  // of the socket
  };
  bool attach(const Fd& socket, const Settings& settings);
  // Asks this ring before it asks the socket.
  void use(std::unique_ptr<UdpRing> ring) { ring_ = std::move(ring); }
  const UdpRing* ring() const { return ring_.get(); }

  // At most TxBatch::kCapacity datagrams; the rest of a super-packet comes with the next call
  // without a system call.
  std::span<RxDatagram> receive();

  // The socket reported an error that the error queue explains; true once.
  bool take_error() { return std::exchange(error_seen_, false); }
  const UdpRxCounters& counters() const { return counters_; }

 private:
  // Room for one recvmmsg: a buffer for each message, and for its control messages.
  class Messages {
   public:
    void allocate();
    // Makes a header ready for the next system call.
    void prepare(uint32_t message);
    mmsghdr* headers() { return headers_.data(); }
    mmsghdr& operator[](uint32_t message) { return headers_[message]; }
    std::span<std::byte> octets(uint32_t message) const {
      return {static_cast<std::byte*>(vectors_[message].iov_base), headers_[message].msg_len};
    }
    const SockAddr& from(uint32_t message) const { return names_[message]; }

   private:
    static constexpr uint32_t kControlBytes = 128;
    // Not a power of two, or the first lines of all buffers would share a cache set.
    static constexpr uint32_t kStride = kMessageBytes + 17 * 64;
    struct alignas(cmsghdr) Control {
      std::array<std::byte, kControlBytes> bytes;
    };

    std::unique_ptr<std::byte[]> memory_;
    std::array<mmsghdr, kMessages> headers_{};
    std::array<iovec, kMessages> vectors_{};
    std::array<SockAddr, kMessages> names_{};
    std::array<Control, kMessages> controls_{};
  };

  bool fill();
  bool on_empty();
  void note_read(uint32_t asked);
  void open_message(uint32_t message);
  bool take_native_headers(RxDatagram& pattern, std::span<std::byte>& octets);

  int fd_ = -1;
  Settings settings_;
  bool error_seen_ = false;
  uint32_t ask_ = 1;            // messages to ask for next: grows while all come, see fill()
  uint32_t message_count_ = 0;  // filled by the last system call
  uint32_t message_next_ = 0;   // the first of them not yet opened

  ReadPace pace_;
  Segments segments_;  // of the message being cut into datagrams

  StampClock clock_;  // read when the messages were
  Messages messages_;
  std::unique_ptr<UdpRing> ring_;
  std::array<RxDatagram, TxBatch::kCapacity> datagrams_{};
  UdpRxCounters counters_;
};

}  // namespace uet::io
