// The form of a fuzzed run's packets between the stack and the network: in the clear, or sealed
// (fuzz/stack/sealed_carrier.h).
#pragma once

#include "fuzz/stack/program.h"

#include "fep/config.h"
#include "sim/world/datagram.h"

#include <cstdint>
#include <functional>

namespace uet::tss {
class JobTable;
}

namespace uet::fuzz {

class Carrier {
 public:
  Carrier() = default;
  virtual ~Carrier() = default;
  Carrier(const Carrier&) = delete;
  Carrier& operator=(const Carrier&) = delete;

  virtual bool is_sealed() const { return false; }
  // Only an honest end can send in its own name, and its packets cannot be changed.
  virtual bool is_authentic() const { return false; }
  virtual void prepare(fep::Config&) const {}
  // The run's time, before the first end begins.
  virtual void set_clock(std::function<Instant()> /*now*/) {}
  // An end begins, or another one in its place. Null: nothing is secured.
  virtual const tss::JobTable* begin(uint32_t /*node*/) { return nullptr; }
  // Converts a node's packet for the network. The datagram is a copy of the packet.
  virtual void send(uint32_t /*node*/, TxPacket&, sim::Datagram&) {}
  // Converts a packet of the network for a node. False: the node receives nothing.
  virtual bool receive(sim::Datagram&) { return true; }
  // Converts a packet of the forger or a stranger for the network.
  virtual void forge(sim::Datagram&) {}
  // An earlier packet, perhaps changed. False: there is none.
  virtual bool replay(Program&, sim::Datagram&) { return false; }
};

}  // namespace uet::fuzz
