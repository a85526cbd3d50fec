// io_uring beside UDP sockets. A request that never ends watches the receive socket, and a flag in
// shared memory says when the kernel has noted something: a look that finds nothing costs two
// loads. Messages to any number of sockets leave by one system call. Linux 6.1. [decision 24]
#pragma once

#include "io/udp/ring.h"
#include "io/uring/owner.h"

#include <liburing.h>

#include <cstdint>
#include <span>

namespace uet::io {

struct UringCounters {
  uint64_t rx_system_calls = 0;  // to let the kernel watch on
  uint64_t tx_system_calls = 0;  // that sent
  uint64_t tx_messages = 0;      // handed to the kernel, sent or not
  uint64_t owners = 0;           // threads that used the ring, in turn
};

class Uring final : public UdpRing {
 public:
  Uring(int socket, uint32_t settled_calls) : socket_(socket), owner_(settled_calls) {}
  ~Uring() override;
  // A ring that waits for its first owner. 0 or an errno.
  int start();

  bool is_mine() const override;
  bool may_have_arrivals() override;
  void on_drained() override { has_more_ = false; }
  bool send(std::span<UdpDeparture> departures) override;
  void report_counters(const CounterSink& sink) const override;

 private:
  static constexpr uint32_t kRequests = kDepartures * 2;

  int open_ring(uint32_t flags);
  void close_ring();
  void stop_watching();
  bool change_owner();
  io_uring_sqe* add_request();
  int enter(uint32_t wait_for, uint32_t flags);
  bool watch_on();
  void reap(std::span<UdpDeparture> departures, uint32_t& unanswered);

  const int socket_;
  RingOwner owner_;
  bool is_open_ = false;
  bool is_waiting_ = false;   // for its first owner
  bool is_watching_ = false;  // the request is with the kernel
  bool is_told_ = false;      // the flag was seen, and the socket read since
  bool has_more_ = true;      // messages may wait for which the kernel set no flag
  io_uring ring_{};
  UringCounters counters_;
};

}  // namespace uet::io
