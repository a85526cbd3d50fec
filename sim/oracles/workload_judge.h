// The oracles over what applications do to each other: every message delivered at most once and
// byte-exact, in order where order was asked for, no completion before its data, every operation
// ended exactly once. [architecture 8]
#pragma once

#include "sim/scene.h"

#include <cstdint>
#include <map>
#include <string>

namespace uet::sim {

class WorkloadJudge {
 public:
  // `scene` outlives this object.
  explicit WorkloadJudge(Scene& scene) : scene_(scene) {}

  // The workload's action after a completion; null: none.
  struct News {
    LiveOperation* take_back = nullptr;   // its receive is not needed any more
    LiveOperation* post_again = nullptr;  // its receive failed, as it may
  };
  News judge(uint32_t host, const ses::Completion& completion);
  // Checks for the end of the run.
  void judge_end() {
    judge_tallies();
    judge_memory();
  }
  // The first broken oracle, or empty.
  const std::string& violation() const { return violation_; }
  // Notes a violation, unless one was noted before.
  News fail(const char* format, ...) __attribute__((format(printf, 2, 3)));

 private:
  bool may_fail(const LiveOperation& op) const;
  bool may_meet_the_dead(const LiveOperation& op) const;
  News judge_send(LiveOperation& op, const ses::Completion& completion);
  News judge_wrong(const LiveOperation& op, const ses::Completion& completion);
  bool is_too_long(const LiveOperation& op, const ses::Completion& completion) const;
  static News judge_too_long(LiveOperation& op);
  News judge_receive(uint32_t host, LiveOperation& receive, const ses::Completion& completion);
  News judge_failed_receive(LiveOperation& receive, const ses::Completion& completion);
  void judge_order(const LiveOperation& sent, const LiveOperation& receive);
  struct Tally;
  void judge_tallies();
  void judge_tally(uint32_t host, uint32_t slot, Tally& tally);
  void judge_memory();
  void judge_memory_of(const LiveOperation& op);

  Scene& scene_;
  // Messages of one sender that could take the same receives: the order of their posts, and of
  // their receives.
  std::map<uint64_t, std::map<uint32_t, uint32_t>> matches_;
  std::string violation_;
};

}  // namespace uet::sim
