// Patterns are taken apart when the step is reached, and held against packets one by one.
#include "conformance/pattern.h"

#include "tools/pcap/packet_words.h"
#include "wire/packet.h"

#include <algorithm>
#include <array>

namespace uet::conformance {

namespace {

using tools::Parts;
using tools::Section;
using tools::words_of;
using wire::Field;
using wire::FieldList;

// The sections of a text between its bars.
std::vector<std::string_view> sections_of(std::string_view text) {
  std::vector<std::string_view> sections;
  while (true) {
    const size_t bar = std::min(text.find('|'), text.size());
    sections.push_back(text.substr(0, bar));
    if (bar == text.size()) return sections;
    text.remove_prefix(bar + 1);
  }
}

bool is_variable(std::string_view text) { return text.find('$') != std::string_view::npos; }

// Each condition must be possible with one of the headers, so that no misspelt one never matches.
std::string check(const HeaderPattern& header) {
  std::optional<Section> first;
  for (const std::string& name : header.names) {
    Parts parts;
    const auto section = tools::start_header(parts, name);
    if (!section) return "no header " + name;
    if (first && *first != *section)
      return name + " does not stand where " + header.names[0] + " does";
    first = section;
  }
  for (const Condition& c : header.conditions) {
    bool is_known = false;
    bool is_possible = false;
    for (const std::string& name : header.names) {
      Parts parts;
      const FieldList fields = tools::fields_of(parts, *tools::start_header(parts, name));
      const Field* const field = fields.find(c.field);
      if (field == nullptr) continue;
      is_known = true;
      if (c.is_word && field->bits != 1) return c.field + " needs a value";
      const auto fits = [&](const std::string& text) {
        return is_variable(text) || tools::field_value(*field, text).has_value();
      };
      is_possible |= fits(c.value) && (c.kind != Condition::Kind::is_within || fits(c.high));
    }
    if (!is_known) return "no field " + c.field + " in " + header.names.front();
    if (!is_possible) return c.field + "=" + c.value + ": no such value";
  }
  return {};
}

std::vector<std::string> names_of(std::string_view word) {
  std::vector<std::string> names;
  while (true) {
    const size_t slash = std::min(word.find('/'), word.size());
    names.emplace_back(word.substr(0, slash));
    if (slash == word.size()) return names;
    word.remove_prefix(slash + 1);
  }
}

std::string condition_text(const Condition& c) {
  if (c.kind == Condition::Kind::is_not) return c.field + "!=" + c.value;
  if (c.kind == Condition::Kind::is_within) return c.field + "=" + c.value + ".." + c.high;
  return c.field + "=" + c.value;
}

wire::DecodedPacket decoded(const Datagram& packet) {
  wire::DecodeOptions options;
  options.start = wire::Start::uet;
  return wire::decode(packet.octets, options);
}

// Why a header is not the one of the pattern.
std::string header_mismatch(const HeaderPattern& pattern, const Parts& parts, Variables& variables,
                            std::string& problem) {
  Parts likes;
  const Section section = *tools::start_header(likes, pattern.names.front());
  const std::string name(tools::header_name(parts, section));
  if (std::ranges::find(pattern.names, name) == pattern.names.end()) {
    return "it has " + (name.empty() ? "no such header" : name) + ", not " + pattern.names.front();
  }
  const FieldList fields = tools::fields_of(parts, section);
  for (const Condition& c : pattern.conditions) {
    const Field* const field = fields.find(c.field);
    if (field == nullptr) return name + " has no " + c.field;
    if (!meets(c, field->value, field, variables, problem)) {
      return name + " " + c.field + " is " + tools::value_text(*field, field->value) + ", not " +
             condition_text(c);
    }
  }
  return {};
}

std::string payload_mismatch(const std::string& wanted, std::span<const std::byte> found,
                             const Variables& variables, std::string& problem) {
  const auto words = words_of(wanted);
  if (words.size() == 1 && words[0].starts_with('?')) {
    const auto length = number_of(words[0].substr(1));
    if (!length) problem = std::string(words[0]) + ": no number of octets";
    if (!length || *length == found.size()) return {};
    return "its payload has " + std::to_string(found.size()) + " octets";
  }
  Octets octets;
  problem = octets_of(wanted, variables, octets);
  if (!problem.empty()) return {};
  return difference(octets, Octets(found.begin(), found.end()));
}

}  // namespace

Condition condition_of(std::string_view word) {
  Condition c;
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    c.field = word;
    c.value = "1";
    c.is_word = true;
    return c;
  }
  c.field = word.substr(0, equals);
  c.value = word.substr(equals + 1);
  if (c.field.ends_with('!')) {
    c.field.pop_back();
    c.kind = Condition::Kind::is_not;
  } else if (const size_t dots = c.value.find(".."); dots != std::string::npos) {
    c.high = c.value.substr(dots + 2);
    c.value.resize(dots);
    c.kind = Condition::Kind::is_within;
  }
  return c;
}

bool meets(const Condition& condition, uint64_t value, const Field* field, Variables& variables,
           std::string& problem) {
  const uint64_t mask = field == nullptr ? ~uint64_t{0} : field->mask();
  const auto evaluate = [&](const std::string& text) -> uint64_t {
    if (!is_variable(text) && field != nullptr && field->names != nullptr) {
      if (const auto code = field->names->value_of(text)) return *code;
    }
    const auto sum = variables.evaluate(text, problem);
    return sum ? *sum & mask : 0;
  };
  const std::string_view name = variable_in(condition.value);
  if (condition.kind == Condition::Kind::is && !name.empty() && !variables.get(name)) {
    variables.set(name, value);
    return true;
  }
  const uint64_t first = evaluate(condition.value);
  if (condition.kind == Condition::Kind::is) return value == first;
  if (condition.kind == Condition::Kind::is_not) return value != first;
  // On the circle of the field's numbers, so that PSNs may wrap.
  return ((value - first) & mask) <= ((evaluate(condition.high) - first) & mask);
}

std::string PacketPattern::take_headers(std::string_view text) {
  for (const std::string_view section : sections_of(text)) {
    const auto words = words_of(section);
    if (words.empty()) return "nothing between two bars";
    if (words[0] == "payload") {
      payload_ = std::string(section.substr(section.find("payload") + 7));
      continue;
    }
    if (payload_ || ends_after_headers_) return "a header behind the end of the packet";
    if (words[0] == "NONE") {
      ends_after_headers_ = true;
      continue;
    }
    HeaderPattern& header = headers_.emplace_back();
    header.names = names_of(words[0]);
    for (size_t i = 1; i < words.size(); ++i) {
      header.conditions.push_back(condition_of(words[i]));
    }
    if (std::string problem = check(header); !problem.empty()) return problem;
  }
  return {};
}

bool PacketPattern::take_option(std::string_view word) {
  Condition c = condition_of(word);
  constexpr std::array<std::string_view, 5> kOptions = {"ev", "dscp", "ecn", "sdi", "octets"};
  if (std::ranges::find(kOptions, c.field) == kOptions.end()) return false;
  options_.push_back(std::move(c));
  return true;
}

std::string PacketPattern::mismatch(const Datagram& packet, Variables& variables,
                                    std::string& problem) const {
  Variables tried = variables;
  for (const Condition& c : options_) {
    const uint64_t value = c.field == "ev"     ? packet.ev
                           : c.field == "dscp" ? packet.dscp
                           : c.field == "ecn"  ? static_cast<uint64_t>(packet.ecn)
                           : c.field == "sdi"  ? packet.sdi
                                               : packet.octets.size();
    if (!meets(c, value, nullptr, tried, problem)) {
      return c.field + " is " + std::to_string(value) + ", not " + condition_text(c);
    }
  }
  const wire::DecodedPacket headers = decoded(packet);
  if (!headers_.empty() && headers.outcome == wire::Outcome::reject) {
    return std::string("it cannot be decoded: ") + wire::name(headers.error);
  }
  const Parts parts{headers.pds, headers.ses, headers.extension};
  for (const HeaderPattern& pattern : headers_) {
    std::string why = header_mismatch(pattern, parts, tried, problem);
    if (!why.empty() || !problem.empty()) return why;
  }
  if (ends_after_headers_ && parts.ses.index() != 0) return "a SES header follows";
  if (payload_) {
    const auto payload = headers.payload.value_or(std::span<const std::byte>());
    std::string why = payload_mismatch(*payload_, payload, tried, problem);
    if (!why.empty()) return why;
  }
  if (problem.empty()) variables = std::move(tried);
  return {};
}

std::string octets_of(std::string_view text, const Variables& variables, Octets& out) {
  for (const std::string_view word : words_of(text)) {
    std::string problem;
    const std::string expanded = variables.interpolate(word, problem);
    if (!problem.empty()) return problem;
    if (!tools::take_octets(expanded, out)) return std::string(word) + ": no octets";
  }
  return {};
}

std::string with_values(std::string_view text, const Variables& variables, std::string& problem) {
  std::string out;
  for (const std::string_view section : sections_of(text)) {
    if (!out.empty()) out += " | ";
    const auto words = words_of(section);
    if (words.empty()) {
      problem = "nothing between two bars";
      return {};
    }
    const bool is_octets = words[0] == "payload" || words[0] == "raw";
    Parts parts;
    const auto known = is_octets ? std::nullopt : tools::start_header(parts, words[0]);
    const FieldList fields = known ? tools::fields_of(parts, *known) : FieldList();
    for (const std::string_view word : words) {
      if (word.data() != words[0].data()) out += ' ';
      const size_t equals = word.find('=');
      if (is_octets || equals == std::string_view::npos || !is_variable(word)) {
        out += variables.interpolate(word, problem);
        continue;
      }
      const Field* const field = fields.find(word.substr(0, equals));
      const uint64_t value = variables.evaluate(word.substr(equals + 1), problem).value_or(0);
      out += word.substr(0, equals + 1);
      out += field == nullptr ? std::to_string(value)
                              : tools::value_text(*field, value & field->mask());
    }
    if (!problem.empty()) return {};
  }
  return out;
}

std::string describe(const Datagram& packet) {
  std::string text;
  const auto option = [&](const char* name, uint64_t value) {
    if (value != 0) text += std::string(" ") + name + "=" + std::to_string(value);
  };
  option("ev", packet.ev);
  option("dscp", packet.dscp);
  option("ecn", static_cast<uint64_t>(packet.ecn));
  option("sdi", packet.sdi);
  const wire::DecodedPacket headers = decoded(packet);
  const std::string parts = tools::print({headers.pds, headers.ses, headers.extension});
  if (!parts.empty()) text += " | " + parts;
  if (headers.payload && !headers.payload->empty()) {
    text += " | payload ?" + std::to_string(headers.payload->size());
  }
  if (headers.outcome == wire::Outcome::reject) {
    text += " | rejected, " + std::string(wire::name(headers.error)) + ", " +
            std::to_string(packet.octets.size()) + " octets";
  }
  return text;
}

std::string difference(const Octets& wanted, const Octets& found) {
  if (wanted.size() != found.size()) {
    return "it has " + std::to_string(found.size()) + " octets, not " +
           std::to_string(wanted.size());
  }
  const auto [a, b] = std::ranges::mismatch(wanted, found);
  if (a == wanted.end()) return {};
  return "octet " + std::to_string(a - wanted.begin()) + " is " +
         std::to_string(static_cast<unsigned>(*b)) + ", not " +
         std::to_string(static_cast<unsigned>(*a));
}

}  // namespace uet::conformance
