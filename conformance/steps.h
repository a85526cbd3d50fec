// Executes steps: the state of a run, and a function for each step. Those about packets are in
// steps_packets.cpp, those of the upper layer in steps_calls.cpp, the rest in runner.cpp.
#pragma once

#include "conformance/arrivals.h"
#include "conformance/case.h"
#include "conformance/host.h"
#include "conformance/pattern.h"
#include "conformance/runner.h"
#include "conformance/values.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace uet::conformance {

using Words = std::span<const std::string_view>;

inline constexpr Duration kPatience =
    Duration::milliseconds(1);  // of an expectation that names none

// The result of a step.
struct Ended {
  Outcome::Kind kind = Outcome::Kind::passed;
  std::string text;

  bool is_good() const { return kind == Outcome::Kind::passed; }
  static Ended broken(std::string why) { return {Outcome::Kind::broken, std::move(why)}; }
  static Ended failed(std::string why) { return {Outcome::Kind::failed, std::move(why)}; }
  static Ended unless(std::string problem) {
    return problem.empty() ? Ended{} : broken(std::move(problem));
  }
};

// A step, taken apart at its first bar.
struct Line {
  std::vector<std::string_view> words;
  std::string_view behind;  // the first bar
  bool has_bar = false;
};

Line line_of(std::string_view text);

// The octets after "payload", the only word that may follow the bar of the line. Returns the error,
// or nothing.
std::string payload_text(const Line& line, std::string_view& out);

class Runner {
 public:
  Runner(const Case& c, Host& host, const RunOptions& options)
      : case_(c), host_(host), arrivals_(c, host, options.trace) {}

  Outcome run();

 private:
  using Act = Ended (Runner::*)(const Line&);
  struct Known {
    std::string_view name;
    Act act;
    bool needs_process;
  };
  static const Known kVerbs[];

  Ended run_all(const std::vector<Step>& steps);
  Ended run_step(const Step& step);
  Ended repeat(const Step& step, const Line& line);

  Ended inject(const Line& line);
  Ended expect(const Line& line);
  Ended expect_none(const Line& line);
  Ended post(const Line& line);
  Ended call(const Line& line);
  Ended completion(const Line& line) { return await(line, false); }
  Ended event(const Line& line) { return await(line, true); }
  Ended content(const Line& line);
  Ended advance(const Line& line);
  Ended let(const Line& line);
  Ended discard(const Line& line);
  Ended cancel(const Line& line);
  Ended close(const Line& line);
  Ended counter(const Line& line);
  Ended unreachable(const Line& line);
  Ended too_long(const Line& line);
  Ended close_all(const Line& line);
  Ended idle(const Line& line);

  Ended await(const Line& line, bool by_kind);
  Ended await_none(const Line& line, bool by_kind);
  std::string event_mismatch(const Event& e, Words conditions, std::string_view payload,
                             std::string& problem);
  // Whether a call of that name, or events of that kind, exist: the error, or nothing.
  std::string check_awaited(std::string_view name, bool by_kind) const;
  std::string packets_text(const PacketPattern& pattern, const FabricAddress* peer);
  const FabricAddress* find_peer(std::string_view name) const {
    const auto found = case_.peers.find(name);
    return found == case_.peers.end() ? nullptr : &found->second;
  }

  const Case& case_;
  Host& host_;
  Arrivals arrivals_;
  Variables variables_;
  std::map<std::string, uint64_t, std::less<>> counted_;
  size_t failed_at_ = 0;
  uint32_t steps_ = 0;
  uint32_t skipped_ = 0;
};

}  // namespace uet::conformance
