// A layer around a socket backend: packets to and from endpoints of this host that belong to the
// same user go through shared memory, all others through the backend. The same packets either way.
// They bypass the rules of the host's firewall for the loopback interface. [LF-142, decision 21]
#pragma once

#include "io/layer.h"
#include "io/shm/arrivals.h"
#include "io/shm/departures.h"

#include <cstdint>
#include <memory>
#include <string>

namespace uet::io {

class ShmIo final : public IoLayer {
 public:
  // Takes the backend over. On failure null, `inner` keeps the backend, and `error` says why. The
  // backend must be able to watch_input().
  static std::unique_ptr<ShmIo> open(std::unique_ptr<PacketIo>& inner, std::string* error);

  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override;
  std::span<const PathError> path_errors() override {
    const std::span<const PathError> changes = departures_->changes();
    return changes.empty() ? inner().path_errors() : changes;
  }
  void on_sleep(bool begins) override;
  void report_counters(const CounterSink& sink) const override;

  void tell_of_broken_rings(ShmBrokenSink sink) { counters_.broken_sink = sink; }
  const ShmCounters& counters() const { return counters_; }
  // Present rings to other endpoints, agreed or not.
  uint32_t departures() const { return departures_->ring_count(); }

 private:
  // While no thread sleeps, connections are looked at once in this number of calls of receive().
  static constexpr uint32_t kCallsPerLook = 64;
  // The socket is read in every call while packets use it, and in this number of further calls that
  // find nothing; then in one of kCallsPerSocket calls.
  static constexpr uint32_t kEagerCalls = 64;
  static constexpr uint32_t kCallsPerSocket = 16;
  // New connections that are accepted in one look; any user may make some.
  static constexpr uint32_t kNewcomersAtOnce = 16;

  ShmIo() = default;
  bool start(std::string& error);
  bool put(ShmDeparture& ring, TxPacket& packet);
  bool watch(int fd, uint64_t what, uint32_t events);
  void look_at_connections();
  void accept_newcomers();
  void rest_with_bell();
  std::span<RxDatagram> receive_from_socket();

  ShmCounters counters_;
  Fd epoll_;  // door, bell and connections
  Fd bell_;   // an eventfd: something lies in a ring already, or a connection waits
  ShmDoor door_;
  std::unique_ptr<ShmDepartures> departures_;
  std::unique_ptr<ShmArrivals> arrivals_;
  bool has_newcomers_ = false;  // the last look has left some
  uint32_t sleepers_ = 0;
  uint32_t calls_since_look_ = 0;
  uint32_t calls_since_socket_ = 0;
  uint32_t eager_calls_ = kEagerCalls;
};

}  // namespace uet::io
