// The comparison transports by name, with the constants of each: what `uet_sim run --cc` knows
// besides the congestion control of the stack.
#pragma once

#include "sim/transports/eqds.h"
#include "sim/transports/transport.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace uet::sim::transports {

// How switches mark for a transport (ECN): no packet below `low_bytes` of data in a queue, all
// above `high_bytes`, and between them linear up to the chance `most`.
struct Marking {
  uint32_t low_bytes = 0;
  uint32_t high_bytes = 0;
  double most = 1;
};

class Transport {
 public:
  virtual ~Transport() = default;
  virtual std::unique_ptr<Sender> sender(const FlowSetup& flow, const Network& network,
                                         Counts& counts) const = 0;
  // `queue`: that of the host, from pull_queue().
  virtual std::unique_ptr<Receiver> receiver(const FlowSetup& flow, const Network& network,
                                             PullQueue* queue) const = 0;
  // Null: the transport grants no credit.
  virtual std::unique_ptr<PullQueue> pull_queue(const Network&) const { return nullptr; }
  // Throws std::invalid_argument if constants contradict each other.
  virtual void check() const {}
  // False: marks as the specification of UET has them.
  virtual bool marking(const Network&, Marking&) const { return false; }
};

// The meaning of a name.
struct TransportFacts {
  std::string_view name;
  std::string_view text;        // one line for --help
  bool has_one_path = false;    // else it sprays, and chooses paths by itself
  bool uses_telemetry = false;  // switches write into its packets
  bool uses_marks = false;
  bool uses_trimming = false;  // else switches drop packets that do not fit
};

const std::vector<TransportFacts>& transport_names();
// Of "swift" or "swift,base-us=25"; null: an unknown name.
const TransportFacts* transport_named(std::string_view text);
// Throws std::invalid_argument when a constant is unknown, or its value out of its range.
std::unique_ptr<Transport> make_transport(std::string_view text);

}  // namespace uet::sim::transports
