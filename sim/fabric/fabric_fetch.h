// Asks for the memory of a fabric that its next events will need: in a large one the state of a
// port is in no cache when a packet arrives.
#pragma once

#include "sim/fabric/fabric.h"

#include <cstdint>

namespace uet::sim::fabric {

class FabricFetch {
 public:
  static constexpr uint32_t kEvents = 30;  // that the calendar is to know ahead

  explicit FabricFetch(Fabric& fabric) : fabric_(fabric) {}

  // Call before each event is handled: takes a step for each of several events ahead.
  void next();

 private:
  Packet* expected(uint32_t ahead);
  void fetch_packet(uint32_t packet);
  void fetch_waiting(const Port& port);
  void fetch_way(Packet& packet);
  void fetch_next_port(Packet& packet);

  Fabric& fabric_;
};

}  // namespace uet::sim::fabric
