// A backend that moves batches of packets: the virtual interface below the stack, called once
// per batch. Backends know addresses, marks and octets; they know no protocol.
#pragma once

#include "base/packet.h"

#include <cstdint>
#include <functional>
#include <span>

namespace uet::io {

struct IoCaps {
  uint32_t max_datagram_bytes = 0;    // largest header + payload that leaves unfragmented
  uint32_t entropy_values = 1;        // how many different EVs reach the wire
  uint32_t burst_bytes = 0;           // packets of one length and one EV leave together up to this
                                      // many octets (GSO); 0: each by itself
  uint32_t receive_buffer_bytes = 0;  // what waits for receive() at most; 0: not known. A window
                                      // above it over all peers loses packets at the receiver.
  bool ecn = false;                   // marks can be written and read
  uint8_t ip_protocol = 0;            // packets travel as this IP protocol, behind an entropy
                                      // header; 0: over UDP [WIRE-008, WIRE-009]
};

// The network's word on an address that packets were sent to.
struct PathError {
  FabricAddress to;
  // errno: ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, EMSGSIZE, ...; 0: no error, the way has
  // changed.
  int error = 0;
  uint32_t room_bytes = 0;  // with error 0: octets under way that the way holds; 0: no limit
};

// A secure domain that is being taken out of use.
struct DomainNews {
  uint32_t sdi = 0;
  bool is_gone = false;  // true: its keys are overwritten; false: it is closing
};

// The UDP source port of a packet if the network below does not decide: the EV for the owner of
// 4793, the EV within its block of sixteen for other processes. [WIRE-007, WIRE-121]
inline uint16_t nominal_source_port(const FabricAddress& local, Entropy ev) {
  if (local.port == kUetPort) return ev.value();
  return static_cast<uint16_t>((local.port & ~15u) | (ev.value() & 15u));
}

// Takes one counter of a backend. The names are unique in the whole stack. [docs/counters.md]
using CounterSink = std::function<void(const char* name, uint64_t value)>;

class PacketIo {
 public:
  virtual IoCaps caps() const = 0;
  // The FA and port at which peers reach this backend.
  virtual FabricAddress local_address() const = 0;
  // The UDP source port that packets of this EV leave with: a seal covers it. May open a socket.
  // [TSS-022]
  virtual uint16_t source_port(Entropy ev) { return nominal_source_port(local_address(), ev); }
  // Offers every packet once, in order, and sets its fate. A refused packet never blocks later ones
  // to other destinations; order within one (destination, EV) is kept.
  virtual void send(std::span<TxPacket> packets) = 0;
  // Received packets, at most a batch; empty if there are none. Borrowed until the next receive().
  virtual std::span<RxDatagram> receive() = 0;
  // Path errors since the last call; borrowed until the next call.
  virtual std::span<const PathError> path_errors() { return {}; }
  // Secure domains that close or have closed since the last call; borrowed until the next call.
  virtual std::span<const DomainNews> domain_news() { return {}; }
  // After EMSGSIZE: octets of the IP packets that the route to an address carries, as the system
  // has it now: it may have learned that from an ICMP error, which is easy to forge. 0: not known,
  // or asked too often. May take several system calls, so for known addresses only. [LF-141]
  virtual uint32_t route_mtu(const FabricAddress&) { return 0; }
  // When receive() is to be called again although nothing arrives.
  virtual Instant deadline() const { return Instant::never(); }
  // Readable when receive() or path_errors() would return something; -1: none (simnet).
  virtual int wait_fd() const = 0;
  // A thread begins to sleep on wait_fd() (true), or woke up (false); several threads are counted.
  // While none sleeps, wait_fd() need not become readable for packets in shared memory. Memory that
  // receive() has lent is taken back.
  virtual void on_sleep(bool /*begins*/) {}
  // Makes wait_fd() readable when this descriptor is, too. False with errno.
  virtual bool watch_input(int /*fd*/) { return false; }
  // Why nothing can be sent or received any more, as errno; 0: nothing is known to be wrong. Asks
  // the system, so not for every packet. Any thread.
  virtual int failure() const { return 0; }
  // The process ends: buffered packets leave now. Packets that move afterwards are not recorded.
  virtual void finish() {}
  // Every counter of this backend and those below it, always in the same order.
  virtual void report_counters(const CounterSink&) const {}
  virtual ~PacketIo() = default;
};

}  // namespace uet::io
