// Reading and printing of what values.h names.
#include "conformance/values.h"

#include "wire/ip_address.h"
#include "wire/text.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace uet::conformance {

namespace {

bool is_name_char(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

size_t name_length(std::string_view text) {
  return static_cast<size_t>(std::ranges::find_if_not(text, is_name_char) - text.begin());
}

struct Unit {
  std::string_view name;
  int64_t ns;
};
constexpr Unit kUnits[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};

}  // namespace

std::optional<uint64_t> number_of(std::string_view text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::optional<Duration> duration_of(std::string_view text) {
  const size_t digits = text.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
  const auto count = number_of(text.substr(0, digits));
  for (const Unit& unit : kUnits) {
    if (text.substr(digits) == unit.name && count && *count < uint64_t{1} << 32) {
      return Duration::nanoseconds(static_cast<int64_t>(*count) * unit.ns);
    }
  }
  return std::nullopt;
}

std::string duration_text(Duration duration) {
  for (const Unit& unit : kUnits) {
    if (duration.ns() != 0 && duration.ns() % unit.ns == 0) {
      return std::to_string(duration.ns() / unit.ns) + std::string(unit.name);
    }
  }
  return "0ns";
}

std::optional<FabricAddress> address_of(std::string_view text) {
  const bool has_bracket = text.starts_with('[');
  std::string_view ip = text;
  std::string_view port;
  if (has_bracket) {
    const size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    ip = text.substr(1, close - 1);
    if (close + 1 < text.size()) port = text.substr(close + 2);
  } else if (const size_t colon = text.find(':');
             colon != std::string_view::npos && colon == text.rfind(':')) {
    ip = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  const auto parsed = wire::parse_ip_address(ip);
  if (!parsed.ok()) return std::nullopt;
  FabricAddress address;
  address.family = parsed->family == wire::IpFamily::v4 ? FabricAddress::Family::ipv4
                                                        : FabricAddress::Family::ipv6;
  std::copy_n(parsed->octets.begin(), address.ip_length(), address.ip.begin());
  if (!port.empty()) {
    const auto value = number_of(port);
    if (!value || *value == 0 || *value > 0xFFFF) return std::nullopt;
    address.port = static_cast<uint16_t>(*value);
  }
  return address;
}

std::string address_text(const FabricAddress& address) {
  char room[64];
  wire::Text print_of(room);
  wire::print(print_of, wire::IpAddress::of(address));
  std::string text = room;
  if (address.port == kUetPort) return text;
  const std::string port = ":" + std::to_string(address.port);
  return address.family == FabricAddress::Family::ipv6 ? "[" + text + "]" + port : text + port;
}

void Variables::set(std::string_view name, uint64_t value) {
  for (Block& block : blocks_) {
    if (const auto found = block.find(name); found != block.end()) {
      found->second = value;
      return;
    }
  }
  blocks_.back()[std::string(name)] = value;
}

std::optional<uint64_t> Variables::get(std::string_view name) const {
  for (const Block& block : blocks_) {
    if (const auto found = block.find(name); found != block.end()) return found->second;
  }
  return std::nullopt;
}

std::optional<uint64_t> Variables::evaluate(std::string_view text, std::string& problem) const {
  uint64_t sum = 0;
  bool is_negative = text.starts_with('-');
  std::string_view rest = is_negative ? text.substr(1) : text;
  while (true) {
    const size_t end = std::min(rest.find_first_of("+-"), rest.size());
    const std::string_view term = rest.substr(0, end);
    const std::string_view name = variable_in(term);
    const auto value = name.empty() ? number_of(term) : get(name);
    if (!value) {
      problem = name.empty() ? std::string(text) + ": no such value"
                             : "$" + std::string(name) + " has no value yet";
      return std::nullopt;
    }
    sum = is_negative ? sum - *value : sum + *value;
    if (end == rest.size()) return sum;
    is_negative = rest[end] == '-';
    rest.remove_prefix(end + 1);
  }
}

std::string Variables::interpolate(std::string_view text, std::string& problem) const {
  std::string out;
  while (!text.empty()) {
    const size_t dollar = std::min(text.find('$'), text.size());
    out += text.substr(0, dollar);
    text.remove_prefix(dollar);
    if (text.empty()) break;
    const size_t length = name_length(text.substr(1));
    const std::string_view name = text.substr(1, length);
    const auto value = get(name);
    if (!value) {
      problem = "$" + std::string(name) + " has no value yet";
      return {};
    }
    out += std::to_string(*value);
    text.remove_prefix(length + 1);
  }
  return out;
}

std::string_view variable_in(std::string_view text) {
  if (!text.starts_with('$') || text.size() < 2) return {};
  const std::string_view name = text.substr(1);
  return name_length(name) == name.size() ? name : std::string_view();
}

}  // namespace uet::conformance
