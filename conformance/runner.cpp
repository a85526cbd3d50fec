// Runs the steps in order, repetitions and time, and reports a failure.
#include "conformance/runner.h"

#include "conformance/steps.h"
#include "tools/pcap/packet_words.h"

#include <algorithm>

namespace uet::conformance {

const Runner::Known Runner::kVerbs[] = {
    {"inject", &Runner::inject, false},
    {"expect", &Runner::expect, false},
    {"post", &Runner::post, false},
    {"receive", &Runner::call, false},
    {"region", &Runner::call, false},
    {"completion", &Runner::completion, false},
    {"event", &Runner::event, false},
    {"content", &Runner::content, false},
    {"advance", &Runner::advance, false},
    {"let", &Runner::let, false},
    {"discard", &Runner::discard, false},
    {"cancel", &Runner::cancel, false},
    {"close", &Runner::close, false},
    {"counter", &Runner::counter, true},
    {"unreachable", &Runner::unreachable, true},
    {"too_long", &Runner::too_long, true},
    {"close_all", &Runner::close_all, true},
    {"idle", &Runner::idle, true},
};

Line line_of(std::string_view text) {
  Line line;
  const size_t bar = text.find('|');
  line.has_bar = bar != std::string_view::npos;
  line.words = tools::words_of(text.substr(0, bar));
  if (line.has_bar) line.behind = text.substr(bar + 1);
  return line;
}

std::string payload_text(const Line& line, std::string_view& out) {
  if (!line.has_bar) return {};
  const auto words = tools::words_of(line.behind);
  if (words.empty() || words[0] != "payload") return "only payload can follow here";
  out = line.behind.substr(line.behind.find("payload") + 7);
  return {};
}

Ended Runner::advance(const Line& line) {
  const auto time = line.words.size() == 2 ? duration_of(line.words[1]) : std::nullopt;
  if (!time) return Ended::broken("advance TIME");
  arrivals_.pass(host_.now() + *time);
  return {};
}

// let NAME = SUM
Ended Runner::let(const Line& line) {
  if (line.words.size() != 4 || line.words[2] != "=") return Ended::broken("let NAME = SUM");
  std::string problem;
  const auto value = variables_.evaluate(line.words[3], problem);
  if (!value) return Ended::broken(problem);
  variables_.set(line.words[1], *value);
  return {};
}

Ended Runner::discard(const Line&) {
  arrivals_.discard();
  return {};
}

// counter NAME =N, since the host began; counter NAME +N, since the last look at it.
Ended Runner::counter(const Line& line) {
  const bool is_form =
      line.words.size() == 3 && (line.words[2][0] == '=' || line.words[2][0] == '+');
  if (!is_form) return Ended::broken("counter NAME =N or counter NAME +N");
  std::string problem;
  const auto wanted = variables_.evaluate(line.words[2].substr(1), problem);
  if (!wanted) return Ended::broken(problem);
  const auto value = host_.counter(line.words[1]);
  if (!value) return Ended::broken("no counter " + std::string(line.words[1]));
  uint64_t& before = counted_[std::string(line.words[1])];
  const uint64_t counted = line.words[2][0] == '+' ? *value - before : *value;
  before = *value;
  if (counted == *wanted) return {};
  return Ended::failed("it is " + std::to_string(counted) + "\n");
}

Ended Runner::unreachable(const Line& line) {
  const FabricAddress* const peer = line.words.size() != 2 ? nullptr : find_peer(line.words[1]);
  if (peer == nullptr) return Ended::broken("unreachable PEER");
  arrivals_.note("ICMP: " + std::string(line.words[1]) + " is unreachable");
  host_.report_unreachable(*peer);
  return {};
}

Ended Runner::too_long(const Line& line) {
  const FabricAddress* const peer = line.words.size() != 3 ? nullptr : find_peer(line.words[1]);
  if (peer == nullptr || !line.words[2].starts_with("mtu="))
    return Ended::broken("too_long PEER mtu=N");
  std::string problem;
  const auto mtu = variables_.evaluate(line.words[2].substr(4), problem);
  if (!mtu) return Ended::broken(problem);
  arrivals_.note("ICMP: a packet to " + std::string(line.words[1]) + " was too long");
  host_.report_too_long(*peer, static_cast<uint32_t>(*mtu));
  return {};
}

Ended Runner::close_all(const Line& line) {
  const bool is_abort = line.words.size() == 2 && line.words[1] == "abort";
  if (line.words.size() > 1 && !is_abort) return Ended::broken("close_all [abort]");
  arrivals_.note("call close_all");
  host_.close_all(is_abort);
  return {};
}

// idle [within TIME]
Ended Runner::idle(const Line& line) {
  const auto time = line.words.size() == 3 ? duration_of(line.words[2]) : kPatience;
  if (!time || (line.words.size() != 1 && line.words.size() != 3)) {
    return Ended::broken("idle [within TIME]");
  }
  const Instant until = host_.now() + *time;
  for (arrivals_.wait(host_.now()); !host_.is_idle() && host_.now() < until;) {
    arrivals_.pass(std::min(until, host_.now() + Duration::microseconds(100)));
  }
  return host_.is_idle() ? Ended{} : Ended::failed("it is not idle\n");
}

// repeat N [as NAME] {
Ended Runner::repeat(const Step& step, const Line& line) {
  const bool is_named = line.words.size() == 4 && line.words[2] == "as";
  std::string problem;
  const auto count = line.words.size() == 2 || is_named
                         ? variables_.evaluate(line.words[1], problem)
                         : std::nullopt;
  if (!count || step.body.empty()) return Ended::broken("repeat N [as NAME] { and steps, and }");
  for (uint64_t i = 0; i < *count; ++i) {
    variables_.begin_block();
    if (is_named) variables_.set(line.words[3], i);
    Ended ended = run_all(step.body);
    variables_.end_block();
    if (!ended.is_good()) {
      if (ended.text.find("in turn") == std::string::npos) {
        ended.text += "  in turn " + std::to_string(i) + " of the repetition\n";
      }
      return ended;
    }
  }
  return {};
}

Ended Runner::run_step(const Step& step) {
  const Line line = line_of(step.text);
  ++steps_;
  if (line.words.empty()) return Ended::broken("a line begins with a verb");
  if (line.words[0] == "repeat") return repeat(step, line);
  const auto* const known = std::ranges::find(kVerbs, line.words[0], &Known::name);
  if (known == std::end(kVerbs)) return Ended::broken("no step " + std::string(line.words[0]));
  if (!step.body.empty()) return Ended::broken("only repeat has a block");
  if (known->needs_process && !host_.is_in_process()) {
    ++skipped_;
    return {};
  }
  return (this->*known->act)(line);
}

Ended Runner::run_all(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    Ended ended = run_step(step);
    if (ended.is_good()) continue;
    if (failed_at_ == 0) {
      failed_at_ = step.line;
      ended.text = step.text + "\n  " + ended.text;
    }
    return ended;
  }
  return {};
}

Outcome Runner::run() {
  Outcome outcome;
  const Ended ended = run_all(case_.steps);
  outcome.kind = ended.kind;
  outcome.steps = steps_;
  outcome.skipped = skipped_;
  outcome.elapsed = arrivals_.elapsed();
  if (ended.is_good()) return outcome;
  outcome.text = case_.file + ":" + std::to_string(failed_at_) + ": " +
                 (ended.kind == Outcome::Kind::failed ? "expected: " : "") + ended.text;
  if (!outcome.text.ends_with('\n')) outcome.text += '\n';
  if (ended.kind == Outcome::Kind::failed && !arrivals_.past().empty()) {
    outcome.text += "  what passed last:\n";
    for (const std::string& line : arrivals_.past()) outcome.text += "  " + line + "\n";
  }
  return outcome;
}

Outcome run(const Case& c, Host& host, const RunOptions& options) {
  if (c.needs_process && !host.is_in_process())
    return {.kind = Outcome::Kind::skipped, .text = {}, .steps = 0, .skipped = 0, .elapsed = {}};
  return Runner(c, host, options).run();
}

}  // namespace uet::conformance
