// Two fabric endpoints joined by a pipe without cost: packets are handed over by header, payload
// octets are not moved, time is simulated. What is left is the stack itself. For uet_perf and the
// allocation test.
#pragma once

#include "fep/fabric_endpoint.h"
#include "fep/parameters.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace uet::perf {

class Pair {
 public:
  // One pair of endpoints with `flows` packet delivery contexts between them (one JobID each).
  Pair(const fep::Config& config, uint32_t flows);

  // Writes `bytes` from one side to the other on every flow in turn, `rounds` times, and runs both
  // until all completions are there. Returns the number of request packets that moved.
  uint64_t write(uint64_t bytes, uint32_t rounds);
  // The same with tagged sends that find their receives posted.
  uint64_t tagged(uint64_t bytes, uint32_t rounds);

 private:
  struct Side {
    std::unique_ptr<fep::FabricEndpoint> fep;
    std::vector<ses::EndpointId> endpoints;  // one per flow
    PeerId peer;
    uint64_t completions = 0;
  };
  void open(Side& side, uint8_t host);
  void run_until(uint64_t sender_completions, uint64_t receiver_completions);
  void carry(Side& from, Side& to, const FabricAddress& source);

  fep::Config config_;
  uint32_t flows_;
  Side a_, b_;
  uint64_t key_ = 0;
  uint64_t packets_ = 0;
  Instant now_ = Instant::from_ns(1'000'000'000);
  std::unique_ptr<TxBatch> batch_;
  std::vector<std::byte> memory_;  // source and target of every transfer
  std::vector<std::byte> wire_;    // one slot per packet of a batch
  std::vector<RxDatagram> datagrams_;
};

}  // namespace uet::perf
