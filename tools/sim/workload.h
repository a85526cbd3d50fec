// What the endpoints of one run do to each other, and the oracles over it: every message delivered
// at most once and byte-exact, in order where order was asked for, no completion before its data,
// every operation ended exactly once. [architecture 12]
#pragma once

#include "tools/sim/plan.h"

#include "fep/fabric_endpoint.h"

#include "base/rng.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace uet::sim {

// One send, write or read between two endpoints, with what must come of it.
struct Operation {
  enum class Kind : uint8_t {
    send,
    tagged,
    write,
    read
  };
  Kind kind{};
  uint32_t id = 0;    // 1...; also the pattern of its octets
  uint32_t from = 0;  // initiating endpoint
  uint32_t to = 0;
  uint32_t bytes = 0;
  uint32_t receive_bytes = 0;  // room of the posted receive; smaller: truncation
  bool wildcard = false;       // received by ignoring the low tag bits
  bool directed = false;
  bool with_data = false;
  bool delivery_complete = false;
  uint64_t region_offset = 0;  // RMA
  Instant send_at;
  Instant receive_at;

  std::vector<std::byte> local;    // what is sent, or where a read lands
  std::vector<std::byte> landing;  // buffer of the receive with the same index
  uint32_t post_order = 0;
  uint32_t receive_order = 0;
  bool posted = false;
  bool receive_posted = false;
  bool done = false;
  bool receive_done = false;
  bool delivered = false;  // some receive got it
  bool is_send() const { return kind == Kind::send || kind == Kind::tagged; }
};

class Workload {
 public:
  Workload(const Plan& plan, uint64_t seed);
  ~Workload();

  // Opens the SES endpoint of `index` and its memory. Call for every endpoint, then connect().
  bool open(uint32_t index, fep::FabricEndpoint& fep);
  void connect();

  // Posts what is due; returns when the next post is due (never() when all are posted).
  Instant post_due(uint32_t index, Instant now);
  // Looks at the completions since the last call.
  void judge();

  bool finished() const;
  // The first broken oracle, or empty.
  const std::string& violation() const { return violation_; }
  std::string unfinished() const;

 private:
  struct Host;
  struct Arrived {
    uint32_t host;
    ses::Completion completion;
  };
  static void on_completion(void* owner, const ses::Completion& completion);

  void draw_operations(const Plan& plan, Rng& rng);
  bool post_operation(Operation& op, Instant now);
  bool post_receive(Operation& op, Instant now);
  ses::Destination destination(uint32_t from, uint32_t to) const;
  void judge_send(const ses::Completion& completion);
  void judge_receive(uint32_t host, const ses::Completion& completion);
  void judge_order(const Operation& sent, const Operation& receive);
  void fail(const char* format, ...) __attribute__((format(printf, 2, 3)));

  bool ordered_;
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Operation> operations_;  // index = id - 1
  std::vector<Arrived> arrived_;
  struct Match {
    uint32_t from, to;
    Operation::Kind kind;
    uint32_t sent, received;  // posting orders
  };
  std::vector<Match> matches_;
  uint32_t orders_ = 0;
  uint32_t unfinished_ = 0;
  std::string violation_;
};

}  // namespace uet::sim
