// A hostile host with an address of its own. It hears packets of others and sends them mutated
// copies, in bursts, but no SYN, RUDI request or datagram: from a new address these are what a
// legitimate new peer sends, as long as there is no TSS. Whatever it sends, the endpoints' oracles
// must hold. [PDS 7.1]
#pragma once

#include "io/simnet/simnet.h"

#include "base/packet.h"
#include "base/rng.h"

#include <memory>

namespace uet::sim {

class Stranger {
 public:
  Stranger(io::SimNet& net, double rate, uint64_t seed);

  // A packet that somebody sent. May answer with mutations of it at once.
  void hear(const TxPacket& packet);

 private:
  io::SimNet& net_;
  std::unique_ptr<io::SimPort> port_;
  double rate_;
  Rng rng_;
};

}  // namespace uet::sim
