// The applications of a run: opens their endpoints, posts each operation at its time, posts its
// receive, and cancels some of them. WorkloadJudge judges the results.
#pragma once

#include "sim/datagrams.h"
#include "sim/oracles/workload_judge.h"
#include "sim/scene.h"

#include <cstdint>
#include <string>
#include <vector>

namespace uet::sim {

class Workload {
 public:
  // `is_recorded`: the memory of operations stays until the end.
  Workload(const Plan& plan, uint64_t seed, bool is_recorded);

  // Opens the SES endpoints of `index` and its memory. Call for every endpoint.
  bool open(uint32_t index, recording::Endpoint& fep, LocalClock clock);

  // The endpoint dies: its operations and receives vanish. Afterwards open() and come_back(),
  // unless it is gone for good.
  void lose(uint32_t index);
  void come_back(Instant now) { scene_.back_at = now; }

  // Posts due operations; returns when the next post is due (never() when all are posted).
  Instant post_due(uint32_t index, Instant now);
  // Something is to be posted by now: it was refused, or came up after the last post_due().
  bool has_due(uint32_t index, Instant now) const {
    return scene_.applications[index]->agenda.has_due(now) || datagrams_.has_due(index, now);
  }
  // Looks at the completions since the last call.
  void judge();
  // Checks for the end of the run; call when finished.
  void judge_end() { judge_.judge_end(); }

  // All operations have ended, or all that must end if some may fail.
  bool finished();
  // The first broken oracle, or empty.
  const std::string& violation() const {
    return judge_.violation().empty() ? datagrams_.violation() : judge_.violation();
  }
  std::string unfinished() const;

 private:
  struct Arrived {
    uint32_t host;
    ses::Completion completion;
  };
  // State of one application's sinks.
  struct Sink {
    Workload* workload;
    Application* application;
  };
  static void on_completion(void* owner, const ses::Completion& completion);
  static bool on_reserve(void* owner);

  bool expose(Application& application);
  // The memory of an operation; one for all if only lengths matter.
  IoSlice memory_of(Memory& own, uint64_t bytes);
  void enlist(const LiveOperation& op, uint32_t host);
  bool waits_for(const LiveOperation& op) const;
  bool do_task(Agenda& agenda, Agenda::Lane lane, LiveOperation& op, Instant now);
  bool post_decoy(Agenda& agenda, LiveOperation& op, Instant now);
  bool post_operation(LiveOperation& op, Instant now);
  bool post_receive(LiveOperation& op, Instant now);
  Result<ses::Taken> post_rma(LiveOperation& op, uint32_t flags, Instant shown);
  Result<ses::Taken> post_atomic(LiveOperation& op, uint32_t flags, Instant shown);
  Result<ses::Taken> post_send(LiveOperation& op, uint32_t flags, Instant shown);
  ses::Destination destination(const Operation& op, Instant shown);
  bool take_back(LiveOperation& op, Instant now);
  void cancel(LiveOperation& op, Instant now);
  void follow(const WorkloadJudge::News& news);

  Scene scene_;
  WorkloadJudge judge_{scene_};
  Datagrams datagrams_;
  Memory anything_;  // all payload, where only lengths matter
  std::vector<Sink> sinks_;
  std::vector<Arrived> arrived_;
  Instant now_ = kStart;
  uint32_t orders_ = 0;
  size_t first_unfinished_ = 0;
};

}  // namespace uet::sim
