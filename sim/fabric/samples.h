// Samples of a run over time: queues, links and windows, at intervals. Sampling changes nothing: a
// run has the same digest with and without it.
#pragma once

#include "sim/fabric/fabric.h"
#include "sim/fabric/host_loop.h"

#include <cstdint>
#include <vector>

namespace uet::sim::fabric {

struct PortSample {
  uint32_t data_bytes = 0;  // waiting or in service, to within a packet
  uint32_t sent = 0;        // packets since the run began
  uint64_t sent_bytes = 0;
};

// Over all senders with something to send or to be acknowledged: PDCs, or flows of a model.
struct WindowSample {
  uint32_t senders = 0;
  uint64_t low = 0, median = 0, high = 0;  // octets that 10, 50 and 90 % of them do not exceed
  uint64_t inflight = 0;                   // octets, mean
  uint64_t rtt_ns = 0;                     // median of senders that have one; 0: none does
};

struct Samples {
  std::vector<Picoseconds> at;
  std::vector<WindowSample> windows;  // one for each instant
  std::vector<PortSample> ports;      // all ports of the first instant, of the second, ...
  Picoseconds interval = 0;           // 0: no samples were taken
};

// Keeps at most 256 instants: when there are as many, every second one goes, and the interval
// doubles.
class Sampler {
 public:
  // interval 0: none are taken.
  explicit Sampler(Picoseconds interval) : next_(interval > 0 ? 0 : kNever) {
    samples_.interval = interval;
  }
  // When the next one is due; kNever: none is.
  Picoseconds next() const { return next_; }
  // Nothing has happened yet at or behind next(), beyond what hosts do within the latency of a
  // cable. Hosts have size() and look(host, now, senders).
  template <class Hosts>
  void take(const Fabric& fabric, const Hosts& hosts) {
    senders_.clear();
    for (uint32_t host = 0; host < hosts.size(); ++host) {
      hosts.look(host, next_, of_host_);
      senders_.insert(senders_.end(), of_host_.begin(), of_host_.end());
    }
    note(fabric);
  }

  // Those until `end`.
  Samples result(Picoseconds end) &&;

 private:
  void note(const Fabric& fabric);
  void thin(size_t ports);
  WindowSample windows() const;

  Samples samples_;
  Picoseconds next_;
  std::vector<SenderSample> senders_, of_host_;  // at this instant
};

}  // namespace uet::sim::fabric
