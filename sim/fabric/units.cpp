// Reading times and rates.
#include "sim/fabric/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

namespace uet::sim::fabric {
namespace {

// The number before the unit; the unit goes to `unit`. False: there is no number.
bool read_decimal(std::string_view text, double& out, std::string_view& unit) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  unit = text.substr(static_cast<size_t>(end - text.data()));
  return error == std::errc() && std::isfinite(out) && out >= 0;
}

}  // namespace

Picoseconds parse_time(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{"ps", 1}, {"ns", 1e3}, {"us", 1e6}, {"ms", 1e9}, {"s", 1e12}}};
  double number = 0;
  std::string_view unit;
  if (read_decimal(text, number, unit)) {
    for (const auto& [name, scale] : kUnits) {
      if (unit == name && number * scale < 1e18) return std::llround(number * scale);
    }
  }
  throw TopologyError("'" + std::string(text) +
                      "' is not a time; write it with its unit, like 50us");
}

uint64_t parse_gbps(std::string_view text) {
  double number = 0;
  std::string_view unit;
  if (read_decimal(text, number, unit) && unit.empty() && number > 0 && number < 1e6) {
    return static_cast<uint64_t>(std::llround(number * 1000));
  }
  throw TopologyError("'" + std::string(text) + "' is not a rate in Gbit/s");
}

}  // namespace uet::sim::fabric
