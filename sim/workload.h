// What the endpoints of one run do to each other, and the oracles over it: every message delivered
// at most once and byte-exact, in order where order was asked for, no completion before its data,
// every operation ended exactly once. [architecture 8]
#pragma once

#include "sim/agenda.h"
#include "sim/datagrams.h"
#include "sim/local_clock.h"
#include "sim/plan.h"

#include "sim/recording/endpoint.h"

#include "base/rng.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace uet::sim {

// One send, write, read or atomic between two endpoints, with what must come of it.
struct Operation {
  enum class Kind : uint8_t {
    send,
    tagged,
    write,
    read,
    atomic  // adds one to a number that others add to as well
  };
  // What is not allowed about an RMA; it must be refused and touch nothing.
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

  std::vector<std::byte> local;    // what is sent, or where a read lands
  std::vector<std::byte> landing;  // buffer of the receive with the same index
  Instant posted_at;
  uint32_t post_order = 0;
  uint32_t receive_order = 0;
  bool posted = false;
  bool posted_knowingly = false;  // its initiator knew that the peer had died
  bool receive_posted = false;
  bool done = false;
  bool receive_done = false;
  bool delivered = false;  // some receive got it
  uint32_t landed = 0;     // octets in `landing`
  bool succeeded = false;
  bool is_send() const { return kind == Kind::send || kind == Kind::tagged; }
  bool is_rma() const { return kind == Kind::write || kind == Kind::read; }
};

class Workload {
 public:
  Workload(const Plan& plan, uint64_t seed);
  ~Workload();

  // Opens the SES endpoints of `index` and its memory. Call for every endpoint, then connect().
  bool open(uint32_t index, recording::Endpoint& fep, LocalClock clock);
  void connect();

  // The endpoint dies: its operations and receives vanish. Afterwards open() and connect(index),
  // unless it is gone for good.
  void lose(uint32_t index);
  void connect(uint32_t index, Instant now);

  // Posts what is due; returns when the next post is due (never() when all are posted).
  Instant post_due(uint32_t index, Instant now);
  // Looks at the completions since the last call.
  void judge();

  // What can be said only when all is over; call when finished.
  void judge_end() {
    judge_tallies();
    judge_memory();
  }

  // Everything ended that must end: all of it, or all operations where some may fail.
  bool finished();
  // The first broken oracle, or empty.
  const std::string& violation() const {
    return violation_.empty() ? datagrams_.violation() : violation_;
  }
  std::string unfinished() const;

 private:
  struct Host;
  struct Arrived {
    uint32_t host;
    ses::Completion completion;
  };
  static void on_completion(void* owner, const ses::Completion& completion);
  static bool on_reserve(void* owner);

  void draw_operations(Rng& rng);
  void draw_operation(Operation& op, Rng& rng);
  void draw_wrong(Operation& op, Rng& rng);
  // The memory of an operation, which is one for all where only lengths matter.
  IoSlice memory_of(std::vector<std::byte>& own, uint32_t bytes) {
    return {plan_.lengths_only ? anything_.data() : own.data(), bytes};
  }
  void enlist(const Operation& op, uint32_t host);
  bool wants_receive(const Operation& op) const { return !op.receive_posted && !op.receive_done; }
  bool waits_for(const Operation& op) const;
  bool may_fail(const Operation& op) const;
  bool may_meet_the_dead(const Operation& op) const;
  bool is_lenient() const { return plan_.may_fail() || lost_ != kNobody; }
  bool do_task(Agenda& agenda, Agenda::Lane lane, Operation& op, Instant now);
  bool post_decoy(Agenda& agenda, Operation& op, Instant now);
  bool post_operation(Operation& op, Instant now);
  bool post_receive(Operation& op, Instant now);
  Result<ses::Taken> post_rma(Operation& op, uint32_t flags, Instant shown);
  Result<ses::Taken> post_atomic(Operation& op, uint32_t flags, Instant shown);
  Result<ses::Taken> post_send(Operation& op, uint32_t flags, Instant shown);
  static void spoil(const Operation& op, const Host& target, ses::RmaRequest& request);
  ses::Destination destination(const Operation& op) const;
  bool take_back(Operation& op, Instant now);
  void cancel(Operation& op, Instant now);
  void judge_send(const ses::Completion& completion);
  void judge_wrong(const Operation& op, const ses::Completion& completion);
  bool judge_too_long(Operation& op, const ses::Completion& completion);
  void judge_failed_receive(Operation& receive, const ses::Completion& completion);
  void judge_receive(uint32_t host, const ses::Completion& completion);
  struct Tally;
  void judge_tallies();
  void judge_tally(uint32_t host, uint32_t slot, Tally& tally);
  void judge_memory();
  void judge_memory_of(const Operation& op);
  void judge_order(const Operation& sent, const Operation& receive);
  void fail(const char* format, ...) __attribute__((format(printf, 2, 3)));

  static constexpr uint32_t kNobody = UINT32_MAX;

  Plan plan_;
  std::vector<std::byte> anything_;
  Instant now_ = kStart;
  uint32_t lost_ = kNobody;             // the endpoint that died
  Instant back_at_ = Instant::never();  // when another one began at its address
  std::vector<std::unique_ptr<Host>> hosts_;
  std::vector<Operation> operations_;  // index = id - 1
  std::vector<Arrived> arrived_;
  Datagrams datagrams_;
  // Of the messages of one sender that the same receives could take: the order in which each was
  // posted, and that of its receive.
  std::map<uint64_t, std::map<uint32_t, uint32_t>> matches_;
  uint32_t orders_ = 0;
  size_t first_unfinished_ = 0;
  std::string violation_;
};

}  // namespace uet::sim
