// A hostile host with its own address. It receives copies of packets and sends mutated copies, in
// bursts, but no SYN, RUDI request or datagram: from a new address these look like a legitimate new
// peer, as long as there is no TSS. The endpoints' oracles must hold for all its packets. [PDS 7.1]
#pragma once

#include "io/simnet/simnet.h"

#include "base/packet.h"
#include "base/rng.h"

#include <memory>

namespace uet::sim {

class Stranger {
 public:
  Stranger(io::SimNet& net, double rate, uint64_t seed);

  // A packet of an endpoint. May answer with mutations of it at once.
  void hear(const TxPacket& packet);

 private:
  io::SimNet& net_;
  std::unique_ptr<io::SimPort> port_;
  double rate_;
  Rng rng_;
};

}  // namespace uet::sim
