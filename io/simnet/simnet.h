// A network inside the process: ports joined by links with delay, rate, queues, ECN marks and
// faults, driven by simulated time and one seed. Same seed, same calls: same packets, bit for bit.
// Not a switch fabric: every pair of ports has one path, and a link at either end. Rates, queues
// and marks count datagram octets, without the headers below.
#pragma once

#include "io/fault/fault_plan.h"
#include "io/packet_io.h"
#include "io/simnet/parts.h"
#include "io/simnet/port.h"

#include "base/packet.h"
#include "base/rng.h"
#include "base/time.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace uet::io {

class SimPort;

struct SimConfig {
  uint32_t packets_max = 4096;         // in flight and waiting, over all ports
  uint32_t datagram_bytes_max = 9216;  // room of one packet; more is refused with EMSGSIZE
  uint32_t carried_bytes_max = 9216;   // octets of a packet that are carried; the rest arrives as
                                       // any octets
  uint32_t inbox_bytes_max = 4 << 20;  // waiting at a port, as a socket buffer; more is dropped
  uint32_t send_queue_bytes_max = 256 << 10;  // on an uplink with a rate; more is fate `later`
};

// Fates of the packets of one network, since it was made. Every packet offered, and every copy
// made, ends in exactly one of: delivered, the *_dropped, or is still in flight.
struct SimCounters {
  uint64_t sent = 0;        // packets accepted from senders (fate sent)
  uint64_t duplicated = 0;  // copies made
  uint64_t delivered = 0;   // handed out by receive()
  uint64_t loss_dropped = 0;
  uint64_t burst_dropped = 0;
  uint64_t blackhole_dropped = 0;
  uint64_t partition_dropped = 0;
  uint64_t corrupt_dropped = 0;  // corrupted, and the plan lets checksums catch that
  uint64_t queue_dropped = 0;    // link queue full
  uint64_t inbox_dropped = 0;    // receiver did not read
  uint64_t pool_dropped = 0;     // packets_max reached
  uint64_t no_port_dropped = 0;  // unknown address
  uint64_t reordered = 0;        // held back
  uint64_t corrupted = 0;        // bit flipped, delivered or not
  uint64_t ce_marked = 0;
  uint64_t trimmed = 0;
  uint64_t too_long = 0;     // fate never, EMSGSIZE
  uint64_t pushed_back = 0;  // fate later
  bool operator==(const SimCounters&) const = default;
  uint64_t dropped() const {
    return loss_dropped + burst_dropped + blackhole_dropped + partition_dropped + corrupt_dropped +
           queue_dropped + inbox_dropped + pool_dropped + no_port_dropped;
  }
};

// Must outlive its ports. Single thread. Memory is taken at construction and attach() only.
class SimNet {
 public:
  explicit SimNet(uint64_t seed, const SimConfig& config = {});
  ~SimNet();
  SimNet(const SimNet&) = delete;
  SimNet& operator=(const SimNet&) = delete;

  // Joins a port. The address must be valid and not attached now; attaching a detached address
  // again is a restart: packets still in flight to it arrive.
  std::unique_ptr<SimPort> attach(const FabricAddress& address);

  // The plan of every path and link without a separate one.
  void set_plan(const FaultPlan& plan) { paths_.set_plan(plan); }
  // Per-packet faults, delay and MTU from one address to another; its rate and queue are ignored.
  void set_path(const FabricAddress& from, const FabricAddress& to, const FaultPlan& plan);
  // Rate, queue limit, ECN mark and trimming of one port's link; the rest is ignored.
  void set_link(const FabricAddress& port, const FaultPlan& plan);
  // Drops everything between two addresses, both directions, until set false again.
  void set_partitioned(const FabricAddress& a, const FabricAddress& b, bool partitioned);

  // Moves time on; never backwards. Packets due by now can be received afterwards.
  void advance(Instant now);
  Instant now() const { return now_; }
  // When advance() next has something to do; never() when nothing is in flight.
  Instant next_event() const { return events_.earliest(); }
  // The index of a port for which packets or errors arrived, or whose uplink has room again, since
  // it was last taken: each once, in order of event. kNoPort when there is none.
  uint32_t take_touched() { return touched_.take(); }
  static constexpr uint32_t kNoPort = simnet::kNone;

  const SimCounters& counters() const { return counters_; }
  // Packets between send() and receive().
  uint32_t in_flight() const { return in_flight_; }

 private:
  friend class SimPort;
  static constexpr uint32_t kNone = simnet::kNone;

  void send(uint32_t port, std::span<TxPacket> packets);
  std::span<RxDatagram> receive(uint32_t port);
  void detach(uint32_t port);

  TxFate send_one(uint32_t from, TxPacket& packet);
  void launch(uint32_t from, uint32_t to, const TxPacket& packet, Instant departs);
  void put_on_path(uint32_t packet, const FaultPlan& plan, Instant departs);
  bool lost(simnet::Port& from, const FaultPlan& plan, Instant departs);
  void reached_link(uint32_t index, int64_t at_ns);
  void overflow(uint32_t index, const FaultPlan& plan, int64_t at_ns);
  void arrived(uint32_t index, int64_t at_ns);
  uint32_t route_mtu(uint32_t port, const FabricAddress& to) const;
  void report(uint32_t port, const FabricAddress& to, int error);

  void note_dropped(uint32_t packet, uint64_t& count);
  uint32_t port_for(const FabricAddress& address);
  simnet::Path& path_for(const FabricAddress& from, const FabricAddress& to);

  SimConfig config_;
  Rng rng_;
  Instant now_;
  uint32_t in_flight_ = 0;
  simnet::Events events_;
  simnet::Packets packets_;
  std::vector<std::unique_ptr<simnet::Port>> ports_;
  simnet::Directory directory_;
  simnet::Paths paths_;
  simnet::Touched touched_;
  SimCounters counters_;
};

// One port as a PacketIo. Leaving scope detaches it: packets to it are then refused.
class SimPort final : public PacketIo {
 public:
  ~SimPort() override { net_.detach(index_); }
  SimPort(const SimPort&) = delete;
  SimPort& operator=(const SimPort&) = delete;

  IoCaps caps() const override;
  FabricAddress local_address() const override;
  // Copies the octets: the batch is free afterwards. An address that was never attached is reported
  // as EHOSTUNREACH, a detached one as ECONNREFUSED, and a path for shorter packets only as
  // EMSGSIZE, all by path_errors().
  void send(std::span<TxPacket> packets) override { net_.send(index_, packets); }
  std::span<RxDatagram> receive() override { return net_.receive(index_); }
  std::span<const PathError> path_errors() override;
  uint32_t route_mtu(const FabricAddress& to) override { return net_.route_mtu(index_, to); }
  int wait_fd() const override { return -1; }
  // Something waits in receive() or path_errors().
  bool readable() const;
  // The index of this port in take_touched().
  uint32_t index() const { return index_; }

 private:
  friend class SimNet;
  SimPort(SimNet& net, uint32_t index) : net_(net), index_(index) {}
  SimNet& net_;
  uint32_t index_;
};

}  // namespace uet::io
