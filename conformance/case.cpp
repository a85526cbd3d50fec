// The lines of a case: the header, which ends with the first step, and the steps with their blocks.
#include "conformance/case.h"

#include "conformance/values.h"
#include "prov/uet/settings/setting.h"
#include "tools/pcap/packet_words.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace uet::conformance {

namespace {

using WordList = std::vector<std::string_view>;

// Lines of the header end in this: the error, or nothing.
using Problem = std::string;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// key=value; false: there is no "=".
bool split(std::string_view word, std::string_view& key, std::string_view& value) {
  const size_t equals = word.find('=');
  key = word.substr(0, equals);
  value = equals == std::string_view::npos ? std::string_view() : word.substr(equals + 1);
  return equals != std::string_view::npos;
}

template <class Number>
bool take_number(std::string_view text, uint64_t max, Number& out) {
  const auto value = number_of(text);
  if (!value || *value > max) return false;
  out = static_cast<Number>(*value);
  return true;
}

Problem take_endpoint(const WordList& words, EndpointSpec& out) {
  if (words.size() < 2) return "endpoint NAME SETTING...";
  out.name = words[1];
  for (size_t i = 2; i < words.size(); ++i) {
    std::string_view key;
    std::string_view value;
    const bool has_value = split(words[i], key, value);
    bool is_good = false;
    if (key == "job") is_good = take_number(value, 0xFFFFFF, out.job);
    if (key == "pid") is_good = take_number(value, 0xFFF, out.pid);
    if (key == "ri") is_good = take_number(value, 0xFFF, out.ri);
    if (key == "initiator") is_good = take_number(value, UINT32_MAX, out.initiator);
    if (key == "room") is_good = take_number(value, UINT32_MAX, out.room);
    if (key == "mode") {
      constexpr std::string_view kModes[] = {"rud", "rod", "rudi", "uud"};
      const auto* const mode = std::ranges::find(kModes, value);
      is_good = mode != std::end(kModes);
      if (is_good) out.mode = static_cast<OwnMode>(mode - kModes);
    }
    if (key == "absolute") is_good = out.is_absolute = !has_value;
    if (key == "reject_truncated") is_good = out.rejects_truncated = !has_value;
    if (key == "report_remote") is_good = out.reports_remote = !has_value;
    if (!is_good) return std::string(words[i]) + ": no setting of an endpoint";
  }
  return {};
}

// A number, or a word of a setting that has words.
bool take_setting(std::string_view name, std::string_view text, int64_t& out) {
  if (take_number(text, INT64_MAX, out)) return true;
  const prov::Setting* const row = prov::find_setting(name);
  if (row == nullptr) return false;
  const auto word =
      std::ranges::find_if(row->words, [&](const prov::Word& w) { return w.word == text; });
  if (word == row->words.end()) return false;
  out = word->value;
  return true;
}

Problem take_settings(const WordList& words, HostSpec& out) {
  for (size_t i = 1; i < words.size(); ++i) {
    std::string_view key;
    std::string_view text;
    Setting setting;
    if (!split(words[i], key, text) || !take_setting(key, text, setting.value)) {
      return "set NAME=NUMBER|WORD...";
    }
    setting.name = key;
    out.settings.push_back(setting);
  }
  return {};
}

// A line of the header; false: not a header line.
bool take_header_line(std::string_view line, const WordList& words, Case& out, Problem& problem) {
  const std::string_view key = words[0];
  const auto expect = [&](bool is_good, const char* form) {
    if (!is_good) problem = form;
  };
  if (key == "title") {
    out.title = trimmed(line.substr(line.find("title") + 5));
  } else if (key == "rules") {
    for (size_t i = 1; i < words.size(); ++i) out.rules.emplace_back(words[i]);
  } else if (key == "needs") {
    expect(words.size() == 2 && words[1] == "process", "needs process");
    out.needs_process = true;
  } else if (key == "profile") {
    constexpr std::string_view kNames[] = {"soft", "spec", "refprov"};
    const auto* const name = std::ranges::find(kNames, words.size() == 2 ? words[1] : "");
    expect(name != std::end(kNames), "profile soft|spec|refprov");
    out.host.profile = static_cast<Profile>(name - kNames);
  } else if (key == "set") {
    problem = take_settings(words, out.host);
  } else if (key == "seed") {
    expect(words.size() == 2 && take_number(words[1], UINT64_MAX, out.host.seed), "seed NUMBER");
  } else if (key == "host") {
    const auto address = words.size() == 2 ? address_of(words[1]) : std::nullopt;
    expect(address.has_value(), "host ADDRESS");
    if (address) out.host.address = *address;
  } else if (key == "peer") {
    const auto address = words.size() == 3 ? address_of(words[2]) : std::nullopt;
    expect(address.has_value(), "peer NAME ADDRESS");
    if (address) out.peers[std::string(words[1])] = *address;
  } else if (key == "endpoint") {
    problem = take_endpoint(words, out.host.endpoints.emplace_back());
  } else {
    return false;
  }
  return true;
}

// The text with the definitions in place of %NAME. Returns the error, or nothing.
using Definitions = std::map<std::string, std::string, std::less<>>;
Problem expand(const Definitions& definitions, std::string& text) {
  for (size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at)) {
    size_t end = at + 1;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) {
      ++end;
    }
    const auto found = definitions.find(std::string_view(text).substr(at + 1, end - at - 1));
    if (found == definitions.end()) return text.substr(at, end - at) + " is not defined";
    text.replace(at, end - at, found->second);
    at += found->second.size();
  }
  return {};
}

// define NAME TEXT
Problem take_definition(std::string_view line, const WordList& words, Definitions& out) {
  if (words.size() < 3) return "define NAME TEXT";
  const size_t name_at = static_cast<size_t>(words[1].data() - line.data());
  out[std::string(words[1])] = trimmed(line.substr(name_at + words[1].size()));
  return {};
}

// Options of packets that no network carries, and lines about what only a process can be asked.
bool needs_process(const WordList& words) {
  if (words[0] != "inject" && words[0] != "expect") return false;
  for (const std::string_view word : words) {
    if (word == "|") return false;
    if (word.starts_with("sdi=") || word.starts_with("ago=")) return true;
  }
  return false;
}

// Takes the steps up to the brace that ends the block, or to the end of the text.
struct StepReader {
  std::vector<Step> lines;  // all of them, flat
  size_t at = 0;
  std::string problem;
  size_t problem_line = 0;

  void fail(size_t line, std::string what) {
    problem = std::move(what);
    problem_line = line;
  }
  void read(std::vector<Step>& into, size_t opened_at) {
    while (at < lines.size() && problem.empty()) {
      Step& step = lines[at++];
      if (step.text == "}") {
        if (opened_at == 0) fail(step.line, "a brace that ends nothing");
        return;
      }
      into.push_back(std::move(step));
      Step& added = into.back();
      if (!added.text.ends_with('{')) continue;
      added.text = trimmed(std::string_view(added.text).substr(0, added.text.size() - 1));
      read(added.body, added.line);
    }
    if (opened_at != 0 && problem.empty()) fail(opened_at, "a block without its closing brace");
  }
};

}  // namespace

std::string read_case(std::string_view text, const std::string& file, Case& out) {
  out.file = file;
  out.host.address = *address_of("10.0.0.254");
  StepReader steps;
  Definitions definitions;
  size_t number = 0;
  const auto where = [&](size_t line, const std::string& what) {
    return file + ":" + std::to_string(line) + ": " + what;
  };
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view raw = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    std::string line(trimmed(raw.substr(0, raw.find('#'))));
    if (line.empty()) continue;
    Problem problem = expand(definitions, line);
    const WordList words = tools::words_of(line);
    if (problem.empty() && words[0] == "define") {
      problem = take_definition(line, words, definitions);
      if (problem.empty()) continue;
    }
    if (!problem.empty()) return where(number, problem);
    if (steps.lines.empty() && take_header_line(line, words, out, problem)) {
      if (!problem.empty()) return where(number, problem);
      continue;
    }
    if (needs_process(words)) out.needs_process = true;
    steps.lines.push_back({number, std::move(line), {}});
  }
  if (out.title.empty()) return where(1, "a case begins with its title");
  if (out.host.endpoints.empty()) out.host.endpoints.push_back({.name = "E"});
  steps.read(out.steps, 0);
  if (!steps.problem.empty()) return where(steps.problem_line, steps.problem);
  if (out.steps.empty()) return where(number, "a case without a step");
  return {};
}

}  // namespace uet::conformance
