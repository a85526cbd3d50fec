// Prefetches the memory of a fabric that its next events will need: in a large one the state of a
// port is in no cache when a packet arrives.
#pragma once

#include "sim/fabric/fabric.h"

#include <cstdint>

namespace uet::sim::fabric {

// Borrowed from a Fabric, for one call of next().
class FabricPrefetch {
 public:
  FabricPrefetch(const EventQueue& events, PacketPool& packets, const MappedVector<Port>& ports,
                 const Routes& routes, const Fabric::Receiver& receiver)
      : events_(events), packets_(packets), ports_(ports), routes_(routes), receiver_(receiver) {}

  // Takes a step for each of several events ahead.
  void next();

 private:
  Packet* expected(uint32_t ahead);
  void prefetch_packet(uint32_t packet);
  void prefetch_waiting(const Port& port);
  void prefetch_way(Packet& packet);
  void prefetch_next_port(Packet& packet);

  const EventQueue& events_;
  PacketPool& packets_;
  const MappedVector<Port>& ports_;
  const Routes& routes_;
  const Fabric::Receiver& receiver_;
};

}  // namespace uet::sim::fabric
