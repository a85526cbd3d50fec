// Ports for processes that find UET's own port taken; see port_range.h.
#include "prov/uet/settings/port_range.h"

#include <charconv>
#include <cstdint>

namespace uet::prov {
namespace {

constexpr uint16_t kBlock = 16;

bool to_port(std::string_view text, uint16_t min, uint16_t& out) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && end == text.data() + text.size() && out >= min;
}

}  // namespace

bool read_port_range(Settings& settings, std::string_view text) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return false;
  uint16_t first = 0, last = 0;
  if (!to_port(text.substr(0, dash), 1024, first) || first % kBlock != 0) return false;
  if (!to_port(text.substr(dash + 1), 1024, last) || last < first + kBlock - 1) return false;
  settings.port_first = first;
  settings.port_last = last;
  return true;
}

std::string print_port_range(const Settings& settings) {
  return std::to_string(settings.port_first) + "-" + std::to_string(settings.port_last);
}

}  // namespace uet::prov
