// The options of calls are a table: which there are, and what each sets.
#include "conformance/calls.h"

#include "conformance/pattern.h"

#include <algorithm>

namespace uet::conformance {

namespace {

struct NumberOption {
  std::string_view name;
  uint64_t max;
  void (*set)(Call&, uint64_t);
};

constexpr NumberOption kNumbers[] = {
    {"pid", 0xFFF, [](Call& c, uint64_t v) { c.pid = static_cast<uint16_t>(v); }},
    {"ri", 0xFFF, [](Call& c, uint64_t v) { c.ri = static_cast<uint16_t>(v); }},
    {"initiator", UINT32_MAX, [](Call& c, uint64_t v) { c.initiator = static_cast<uint32_t>(v); }},
    {"job", 0xFFFFFF, [](Call& c, uint64_t v) { c.job = static_cast<uint32_t>(v); }},
    {"capabilities", 0xFF, [](Call& c, uint64_t v) { c.capabilities = static_cast<uint8_t>(v); }},
    {"length", 1U << 30, [](Call& c, uint64_t v) { c.length = v; }},
    {"offset", UINT64_MAX, [](Call& c, uint64_t v) { c.offset = v; }},
    {"tag", UINT64_MAX, [](Call& c, uint64_t v) { c.tag = v, c.is_tagged = true; }},
    {"ignore", UINT64_MAX, [](Call& c, uint64_t v) { c.ignore = v; }},
    {"min", UINT32_MAX, [](Call& c, uint64_t v) { c.multi_min = static_cast<uint32_t>(v); }},
    {"key", UINT64_MAX, [](Call& c, uint64_t v) { c.key = v, c.has_key = true; }},
    {"data", UINT64_MAX, [](Call& c, uint64_t v) { c.data = v, c.has_data = true; }},
};

struct WordOption {
  std::string_view name;
  void (*set)(Call&);
};

constexpr WordOption kWords[] = {
    {"multi", [](Call& c) { c.is_multi = true; }},
    {"dc", [](Call& c) { c.is_delivery_complete = true; }},
    {"fence", [](Call& c) { c.is_fence = true; }},
    {"quiet", [](Call& c) { c.is_quiet = true; }},
    {"rudi", [](Call& c) { c.is_rudi = true; }},
    {"fetch", [](Call& c) { c.is_fetch = true; }},
    {"idempotent", [](Call& c) { c.is_idempotent = true; }},
};

template <class Code>
bool take_code(std::string_view text, Code& out) {
  for (unsigned value = 0; value < 256; ++value) {
    if (text == wire::name(static_cast<Code>(value))) {
      out = static_cast<Code>(value);
      return true;
    }
  }
  return false;
}

bool take_access(std::string_view text, Call& out) {
  out.can_read = text.find('r') != std::string_view::npos;
  out.can_write = text.find('w') != std::string_view::npos;
  out.can_atomic = text.find('a') != std::string_view::npos;
  return text.find_first_not_of("rwa") == std::string_view::npos;
}

bool take_peer(const Case& c, std::string_view name, Call& out) {
  const auto peer = c.peers.find(name);
  if (peer == c.peers.end()) return false;
  out.to = peer->second;
  return true;
}

std::string take_option(const Case& c, const Variables& variables, std::string_view word,
                        Call& out) {
  const size_t equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  std::string unknown = std::string(word) + ": no option of this call";
  if (equals == std::string_view::npos) {
    const auto* const option = std::ranges::find(kWords, key, &WordOption::name);
    if (option == std::end(kWords)) return unknown;
    option->set(out);
    return {};
  }
  const std::string_view text = word.substr(equals + 1);
  bool is_good = true;
  if (key == "on") {
    const auto& all = c.host.endpoints;
    const auto endpoint = std::ranges::find(all, text, &EndpointSpec::name);
    is_good = endpoint != all.end();
    out.endpoint = static_cast<size_t>(endpoint - all.begin());
  } else if (key == "from") {
    is_good = out.is_directed = take_peer(c, text, out);
  } else if (key == "op") {
    is_good = take_code(text, out.op);
  } else if (key == "type") {
    is_good = take_code(text, out.type);
  } else if (key == "access") {
    is_good = take_access(text, out);
  } else if (key == "compare") {
    out.is_compare = true;
    return octets_of(text, variables, out.compare);
  } else {
    const auto* const option = std::ranges::find(kNumbers, key, &NumberOption::name);
    if (option == std::end(kNumbers)) return unknown;
    std::string problem;
    const auto value = variables.evaluate(text, problem);
    if (!value) return problem;
    is_good = *value <= option->max;
    option->set(out, *value);
  }
  return is_good ? std::string() : std::string(word) + ": no such value";
}

}  // namespace

std::string take_call(const Case& c, const Variables& variables,
                      std::span<const std::string_view> words, std::string_view octets, Call& out) {
  constexpr std::string_view kVerbs[] = {"send",   "tagged",  "write", "read",
                                         "atomic", "receive", "region"};
  const auto* const verb = std::ranges::find(kVerbs, words.empty() ? "" : words[0]);
  if (verb == std::end(kVerbs)) return "no such call";
  out.verb = static_cast<Verb>(verb - kVerbs);
  const bool has_peer = out.verb != Verb::receive && out.verb != Verb::region;
  const size_t options_at = has_peer ? 4 : 2;
  if (words.size() < options_at || (has_peer && words[2] != "to")) {
    return std::string(*verb) + " NAME" + (has_peer ? " to PEER" : "") + " OPTION...";
  }
  std::string problem;
  out.name = variables.interpolate(words[1], problem);
  if (!problem.empty()) return problem;
  if (has_peer && !take_peer(c, words[3], out)) return "no peer " + std::string(words[3]);
  for (const std::string_view word : words.subspan(options_at)) {
    problem = take_option(c, variables, word, out);
    if (!problem.empty()) return problem;
  }
  return octets_of(octets, variables, out.octets);
}

}  // namespace uet::conformance
