// Two fabric endpoints joined by a pipe without cost (sim/world/pipe.h): what is left is the stack
// itself. For uet_perf and the allocation test.
#pragma once

#include "fep/derive.h"
#include "fep/fabric_endpoint.h"

#include "sim/world/pipe.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace uet::perf {

// In what the flows of a pair differ.
enum class Spread : uint8_t {
  jobs,   // one peer, an endpoint and a JobID each: they share a congestion context
  peers,  // one endpoint, a peer each: they share no state of PDS
};

class Pair {
 public:
  // One pair of endpoints with `flows` flows between them; config.pds.pdcs_per_key says how many
  // packet delivery contexts each may have.
  Pair(const fep::Config& config, uint32_t flows, Spread spread = Spread::jobs);

  // Writes `bytes` from one side to the other on every flow in turn, `messages` times, and runs
  // both until all completions are there; all that `rounds` times. Returns the number of request
  // packets that moved.
  uint64_t write(uint64_t bytes, uint32_t rounds, uint32_t messages = 1);
  // The same with tagged sends that find their receives posted.
  uint64_t tagged(uint64_t bytes, uint32_t rounds);
  // Packets that moved so far, acknowledgements and control packets among them.
  uint64_t moved() const { return pipe_.moved(); }

 private:
  struct Side {
    std::unique_ptr<fep::FabricEndpoint> fep;
    std::vector<ses::EndpointId> endpoints;  // one, or one per flow
    std::vector<PeerId> peers;               // likewise
    uint64_t completions = 0;
    ses::EndpointId endpoint(uint32_t flow) const { return endpoints[flow % endpoints.size()]; }
    PeerId peer(uint32_t flow) const { return peers[flow % peers.size()]; }
  };
  void open(Side& side, uint8_t host);
  void run_until(uint64_t sender_completions, uint64_t receiver_completions);

  fep::Config config_;
  uint32_t flows_;
  Spread spread_;
  Side a_, b_;
  uint64_t key_ = 0;
  sim::Pipe<fep::FabricEndpoint> pipe_{Instant::from_ns(1'000'000'000)};
  std::vector<std::byte> memory_;  // source and target of every transfer
};

}  // namespace uet::perf
