// The operations between the endpoints of a run, as the seed chooses them: kinds, ends, times, and
// errors. They do not change during the run.
#pragma once

#include "sim/plan.h"

#include "base/rng.h"
#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace uet::sim {

inline constexpr uint32_t kTallies = 16;  // numbers at the start of every region, for atomics

// One send, write, read or atomic between two endpoints.
struct Operation {
  enum class Kind : uint8_t {
    send,
    tagged,
    write,
    read,
    atomic  // adds one to a number that other atomics also change
  };
  // The fault of an illegal RMA; it must be refused and change nothing.
  enum class Wrong : uint8_t {
    nothing,
    key,
    range,
    right,
    closed,  // the region allows nothing at all
    process,
    index,
    job,
    alignment  // of an atomic
  };
  Kind kind{};
  Wrong wrong{};
  bool is_decoy = false;  // a receive that nothing is sent to: it is cancelled at send_at
  uint32_t id = 0;        // 1...; also the pattern of its octets
  uint32_t from = 0;      // initiating endpoint
  uint32_t to = 0;
  uint32_t from_process = 0;
  uint32_t to_process = 0;
  uint32_t bytes = 0;
  uint32_t receive_bytes = 0;  // room of the posted receive; smaller: truncation
  bool wildcard = false;       // received by ignoring the low tag bits
  bool directed = false;
  bool with_data = false;
  bool delivery_complete = false;
  bool inject = false;  // the memory is overwritten as soon as it is posted
  bool retain = false;  // so it is, if the post says that the payload was copied [LF-136]
  bool fence = false;
  bool rudi = false;           // asks for RUDI, which the mode of the run may not allow
  bool fetches = false;        // atomic: `local` is where the old value lands
  uint64_t region_offset = 0;  // RMA
  Instant send_at;
  Instant receive_at;
  Instant cancel_at = Instant::never();

  bool is_send() const { return kind == Kind::send || kind == Kind::tagged; }
  bool is_rma() const { return kind == Kind::write || kind == Kind::read; }
  // Something lands in the memory of the initiator.
  bool is_fetching() const { return kind == Kind::read || fetches; }
  // The pattern of the operation lies in the target's region from the start.
  bool is_source_remote() const { return kind == Kind::read && wrong == Wrong::nothing; }
};

class Operations {
 public:
  Operations(const Plan& plan, uint64_t seed);

  // Index = id - 1.
  const std::vector<Operation>& all() const { return all_; }
  // Octets of an endpoint's exposed region: the tallies, then a range for each RMA to it.
  size_t region_bytes(uint32_t endpoint) const { return region_bytes_[endpoint]; }

 private:
  void draw(Operation& op, Rng& rng);
  void draw_atomic(Operation& op, Rng& rng) const;
  void draw_wrong(Operation& op, Rng& rng) const;
  void place(Operation& op);

  const Plan& plan_;
  std::vector<size_t> region_bytes_;
  std::vector<Operation> all_;
};

}  // namespace uet::sim
