// Beside UDP sockets: reports without a system call that one is readable, and sends to several by
// one system call. An interface, so that the code that uses it does not depend on liburing.
// [decision 24]
#pragma once

#include "io/packet_io.h"
#include "io/socket.h"

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace uet::io {

// One message to send.
struct UdpDeparture {
  int fd = -1;
  const msghdr* message = nullptr;
  int error = 0;  // result: 0, or an errno
};

class UdpRing {
 public:
  static constexpr uint32_t kDepartures = 64;  // one send() at most
  // A thread gets the ring after this number of calls of receive() without one of another thread.
  static constexpr uint32_t kSettledCalls = 256;

  // A ring that watches this socket. On failure null, and `error` is a sentence that names the
  // remedy.
  static std::unique_ptr<UdpRing> open(const Fd& socket, uint32_t settled_calls,
                                       std::string* error);

  // Whether the ring belongs to the calling thread. All others work without it.
  virtual bool is_mine() const = 0;
  // Before each read from the socket: false when that would find nothing. True for a thread that
  // the ring does not belong to, which may get it now.
  virtual bool may_have_arrivals() = 0;
  // A read has found that nothing more waits.
  virtual void on_drained() = 0;
  // Sends each message; at most one for each socket. The memory is free again on return. False: the
  // ring cannot be used any more; messages without an error then have EAGAIN.
  virtual bool send(std::span<UdpDeparture> departures) = 0;
  virtual void report_counters(const CounterSink& sink) const = 0;
  virtual ~UdpRing() = default;
};

}  // namespace uet::io
