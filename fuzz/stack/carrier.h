// How packets of a fuzzed run go from the stack to the network and back: in the clear as they are,
// or sealed (fuzz/stack/sealed_carrier.h).
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
  // Only an honest end can speak for itself, and what it says cannot be changed.
  virtual bool is_authentic() const { return false; }
  virtual void prepare(fep::Config&) const {}
  // The run's time, before the first end begins.
  virtual void set_clock(std::function<Instant()> /*now*/) {}
  // An end begins, or another one in its place. Null: nothing is secured.
  virtual const tss::JobTable* begin(uint32_t /*node*/) { return nullptr; }
  // What a node sends becomes what the network carries. The datagram is a copy of the packet.
  virtual void send(uint32_t /*node*/, TxPacket&, sim::Datagram&) {}
  // What the network carries becomes what a node receives. False: nothing does.
  virtual bool receive(sim::Datagram&) { return true; }
  // A packet that the forger or a stranger made becomes what the network carries.
  virtual void forge(sim::Datagram&) {}
  // A packet that was sent at some time, perhaps changed. False: there is none.
  virtual bool replay(Program&, sim::Datagram&) { return false; }
};

}  // namespace uet::fuzz
