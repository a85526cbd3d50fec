// The network of a run as the network of its world: it maps ports to hosts.
#pragma once

#include "sim/world/clock.h"

#include "io/simnet/simnet.h"

#include "base/time.h"

#include <cstdint>
#include <vector>

namespace uet::sim {

static_assert(io::SimNet::kNoPort == kNobody, "so a SimNet is a Network");

class HostNetwork {
 public:
  HostNetwork(uint64_t seed, const io::SimConfig& config) : net_(seed, config) {}

  io::SimNet& net() { return net_; }
  // The port belongs to that host. A port without a host is a stranger's; take_touched() skips it.
  void assign(uint32_t port, uint32_t host) {
    if (host_of_port_.size() <= port) host_of_port_.resize(port + 1, kNobody);
    host_of_port_[port] = host;
  }

  Instant next_event() const { return net_.next_event(); }
  void advance(Instant now) { net_.advance(now); }
  uint32_t take_touched() {
    for (uint32_t port; (port = net_.take_touched()) != io::SimNet::kNoPort;) {
      if (port < host_of_port_.size() && host_of_port_[port] != kNobody) {
        return host_of_port_[port];
      }
    }
    return kNobody;
  }

 private:
  io::SimNet net_;
  std::vector<uint32_t> host_of_port_;
};

}  // namespace uet::sim
