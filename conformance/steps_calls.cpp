// Calls of the host's upper layer, and the reports of their ends.
#include "conformance/calls.h"
#include "conformance/steps.h"

#include <algorithm>

namespace uet::conformance {

Ended Runner::post(const Line& line) {
  Line rest = line;
  rest.words.erase(rest.words.begin());
  if (rest.words.empty() || rest.words[0] == "receive" || rest.words[0] == "region") {
    return Ended::broken("post send|tagged|write|read|atomic NAME to PEER ...");
  }
  return call(rest);
}

Ended Runner::call(const Line& line) {
  std::string_view octets;
  if (auto problem = payload_text(line, octets); !problem.empty()) return Ended::broken(problem);
  std::vector<std::string_view> words = line.words;
  std::string refused;
  if (!words.empty() && words.back().starts_with("refused=")) {
    refused = words.back().substr(8);
    words.pop_back();
  }
  Call call;
  if (auto problem = take_call(case_, variables_, words, octets, call); !problem.empty()) {
    return Ended::broken(problem);
  }
  arrivals_.wait(host_.now());
  arrivals_.note("call " + std::string(words[0]) + " " + call.name);
  const std::string said = host_.call(call);
  if (said != refused) {
    return Ended::failed(said.empty() ? "the call was taken" : "the call was refused: " + said);
  }
  if (call.verb == Verb::region && said.empty()) variables_.set(call.name, host_.key(call.name));
  arrivals_.wait(host_.now());
  return {};
}

namespace {

constexpr std::string_view kStatuses[] = {"ok",        "truncated", "refused", "undeliverable",
                                          "cancelled", "aborted",   "fault"};
constexpr std::string_view kKinds[] = {"recv",        "tagged_recv",   "remote_write",
                                       "remote_read", "remote_atomic", "remote_fetching_atomic"};

struct WordField {
  std::string_view name;
  const std::string& (*of)(const Event&);
};
constexpr WordField kWordFields[] = {
    {"status", [](const Event& e) -> const std::string& { return e.status; }},
    {"code", [](const Event& e) -> const std::string& { return e.code; }},
    {"kind", [](const Event& e) -> const std::string& { return e.kind; }},
};

struct NumberField {
  std::string_view name;
  uint64_t (*of)(const Event&);
};
constexpr NumberField kNumberFields[] = {
    {"bytes", [](const Event& e) { return e.bytes; }},
    {"truncated", [](const Event& e) { return e.truncated; }},
    {"tag", [](const Event& e) { return e.tag; }},
    {"data", [](const Event& e) { return e.data; }},
    {"has_data", [](const Event& e) { return uint64_t{e.has_data}; }},
    {"initiator", [](const Event& e) { return uint64_t{e.initiator}; }},
    {"job", [](const Event& e) { return uint64_t{e.job}; }},
};

template <class Fields>
auto find_named(const Fields& fields, std::string_view name) {
  const auto* const found =
      std::ranges::find_if(fields, [&](const auto& field) { return field.name == name; });
  return found == std::end(fields) ? nullptr : found;
}

// Each condition is of a field that completions have.
std::string check_conditions(Words conditions) {
  for (const std::string_view word : conditions) {
    const Condition c = condition_of(word);
    const bool is_known = find_named(kWordFields, c.field) != nullptr ||
                          find_named(kNumberFields, c.field) != nullptr;
    if (!is_known) return "no " + c.field + " in a completion";
    if (c.field == "status" && std::ranges::find(kStatuses, c.value) == std::end(kStatuses)) {
      return std::string(word) + ": no such status";
    }
  }
  return {};
}

}  // namespace

std::string Runner::event_mismatch(const Event& e, Words conditions, std::string_view payload,
                                   std::string& problem) {
  bool is_status_given = false;
  for (const std::string_view word : conditions) {
    const Condition c = condition_of(word);
    is_status_given |= c.field == "status";
    if (const WordField* const field = find_named(kWordFields, c.field); field != nullptr) {
      const std::string& found = field->of(e);
      const bool is_same = found == c.value;
      if (is_same != (c.kind == Condition::Kind::is)) return c.field + " is " + found;
      continue;
    }
    const uint64_t value = find_named(kNumberFields, c.field)->of(e);
    if (!meets(c, value, nullptr, variables_, problem)) {
      return c.field + " is " + std::to_string(value) + ", not " + c.value;
    }
    if (!problem.empty()) return {};
  }
  if (!is_status_given && e.status != "ok") return "status is " + e.status + " " + e.code;
  if (payload.data() == nullptr) return {};
  Octets wanted;
  problem = octets_of(payload, variables_, wanted);
  return problem.empty() ? difference(wanted, e.octets) : std::string();
}

std::string Runner::check_awaited(std::string_view name, bool by_kind) const {
  if (!by_kind) {
    return host_.content(std::string(name)) != nullptr ? "" : "no call " + std::string(name);
  }
  return std::ranges::find(kKinds, name) != std::end(kKinds) ? "" : "no event " + std::string(name);
}

Ended Runner::await(const Line& line, bool by_kind) {
  if (line.words.size() > 1 && line.words[1] == "none") return await_none(line, by_kind);
  if (line.words.size() < 2) return Ended::broken("completion NAME [within TIME] FIELD=VALUE...");
  std::string problem;
  const std::string name = variables_.interpolate(line.words[1], problem);
  std::string_view payload;
  if (problem.empty()) problem = payload_text(line, payload);
  if (!problem.empty()) return Ended::broken(problem);
  Words conditions = Words(line.words).subspan(2);
  Duration time = kPatience;
  if (conditions.size() >= 2 && conditions[0] == "within") {
    const auto given = duration_of(conditions[1]);
    if (!given) return Ended::broken(std::string(conditions[1]) + ": no time");
    time = *given;
    conditions = conditions.subspan(2);
  }
  problem = check_awaited(name, by_kind);
  if (problem.empty()) problem = check_conditions(conditions);
  if (!problem.empty()) return Ended::broken(problem);
  const Instant until = host_.now() + time;
  const auto& events = arrivals_.events();
  for (arrivals_.wait(host_.now());; arrivals_.wait(until)) {
    const auto found = std::ranges::find_if(events, [&](const Event& e) {
      return by_kind ? e.name.empty() && e.kind == name : e.name == name;
    });
    if (found != events.end()) {
      const std::string why = event_mismatch(*found, conditions, payload, problem);
      if (!problem.empty()) return Ended::broken(problem);
      if (!why.empty())
        return Ended::failed("came: " + event_text(*found) + "\n    but " + why + "\n");
      arrivals_.take_event(static_cast<size_t>(found - events.begin()));
      return {};
    }
    if (host_.now() >= until) break;
  }
  return Ended::failed("it did not come within " + duration_text(time) + "\n");
}

Ended Runner::await_none(const Line& line, bool by_kind) {
  std::string name;
  Duration time = Duration::zero();
  for (size_t i = 2; i < line.words.size(); ++i) {
    if (line.words[i] == "for" && i + 1 < line.words.size()) {
      const auto given = duration_of(line.words[++i]);
      if (!given) return Ended::broken(std::string(line.words[i]) + ": no time");
      time = *given;
    } else {
      std::string problem;
      name = variables_.interpolate(line.words[i], problem);
      if (problem.empty()) problem = check_awaited(name, by_kind);
      if (!problem.empty()) return Ended::broken(problem);
    }
  }
  arrivals_.pass(host_.now() + time);
  for (const Event& e : arrivals_.events()) {
    const bool is_of_kind = e.name.empty() == by_kind;
    if (is_of_kind && (name.empty() || name == (by_kind ? e.kind : e.name))) {
      return Ended::failed("it came: " + event_text(e) + "\n");
    }
  }
  return {};
}

Ended Runner::content(const Line& line) {
  if (line.words.size() < 2 || !line.has_bar) {
    return Ended::broken("content NAME [offset=N] | payload ...");
  }
  std::string problem;
  const std::string name = variables_.interpolate(line.words[1], problem);
  uint64_t offset = 0;
  if (line.words.size() == 3 && line.words[2].starts_with("offset=")) {
    offset = variables_.evaluate(line.words[2].substr(7), problem).value_or(0);
  } else if (line.words.size() > 2) {
    problem = std::string(line.words[2]) + ": no option of content";
  }
  std::string_view text;
  Octets wanted;
  if (problem.empty()) problem = payload_text(line, text);
  if (problem.empty()) problem = octets_of(text, variables_, wanted);
  if (!problem.empty()) return Ended::broken(problem);
  const Octets* const all = host_.content(name);
  if (all == nullptr) return Ended::broken("no buffer " + name);
  const size_t from = std::min<size_t>(offset, all->size());
  const size_t length = std::min(wanted.size(), all->size() - from);
  const auto begin = all->begin() + static_cast<ptrdiff_t>(from);
  const std::string why = difference(wanted, Octets(begin, begin + static_cast<ptrdiff_t>(length)));
  return why.empty() ? Ended{}
                     : Ended::failed("in " + name + " from " + std::to_string(offset) + " on " +
                                     why + "\n");
}

Ended Runner::cancel(const Line& line) {
  std::string problem;
  const std::string name =
      line.words.size() < 2 ? std::string() : variables_.interpolate(line.words[1], problem);
  if (name.empty()) return Ended::broken("cancel NAME");
  const bool is_late = line.words.size() == 3 && line.words[2] == "late";
  arrivals_.note("call cancel " + name);
  if (host_.cancel(name) == is_late) {
    return Ended::failed(is_late ? "it was cancelled\n" : "there was nothing to cancel\n");
  }
  return {};
}

Ended Runner::close(const Line& line) {
  const auto& all = case_.host.endpoints;
  const auto found =
      std::ranges::find(all, line.words.size() == 2 ? line.words[1] : "", &EndpointSpec::name);
  if (found == all.end()) return Ended::broken("close ENDPOINT");
  arrivals_.note("call close " + found->name);
  host_.close_endpoint(static_cast<size_t>(found - all.begin()));
  return {};
}

}  // namespace uet::conformance
