// Tables of suffixes, and the number before them.
#include "sim/traffic/quantity.h"

#include "sim/traffic/traffic.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>
#include <system_error>

namespace uet::sim {

namespace {

struct Suffix {
  std::string_view text;
  double factor;
};

// In each table the printed units come in rising order first, then other spellings.
constexpr Suffix kCount[] = {{"", 1},     {"k", 1e3},  {"M", 1e6}, {"B", 1e9},
                             {"T", 1e12}, {"P", 1e15}, {"K", 1e3}, {"G", 1e9}};
constexpr Suffix kBytes[] = {{"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30},
                             {"TiB", 0x1p40}, {"", 1},         {"kB", 1e3},     {"KB", 1e3},
                             {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},    {"PB", 1e15}};
constexpr Suffix kGbps[] = {{"kbps", 1e-6}, {"Mbps", 1e-3}, {"Gbps", 1}, {"Tbps", 1e3}, {"", 1},
                            {"bps", 1e-9},  {"GB/s", 8},    {"Gb/s", 1}, {"TB/s", 8e3}};
constexpr Suffix kFlop[] = {{"FLOP", 1},     {"kFLOP", 1e3},  {"MFLOP", 1e6},  {"GFLOP", 1e9},
                            {"TFLOP", 1e12}, {"PFLOP", 1e15}, {"EFLOP", 1e18}, {"ZFLOP", 1e21},
                            {"YFLOP", 1e24}, {"", 1}};
constexpr Suffix kTflops[] = {{"GFLOPS", 1e-3}, {"TFLOPS", 1},     {"PFLOPS", 1e3},
                              {"EFLOPS", 1e6},  {"", 1},           {"T", 1},
                              {"P", 1e3},       {"GFLOP/s", 1e-3}, {"TFLOP/s", 1},
                              {"PFLOP/s", 1e3}, {"EFLOP/s", 1e6}};
constexpr Suffix kTime[] = {{"ns", 1e-9},      {"us", 1e-6},     {"ms", 1e-3},   {"s", 1},
                            {"min", 60},       {"h", 3600},      {"d", 86'400},  {"", 1},
                            {"day", 86'400},   {"days", 86'400}, {"w", 604'800}, {"week", 604'800},
                            {"weeks", 604'800}};
constexpr Suffix kShare[] = {{"", 1}, {"%", 0.01}};

struct Kind {
  std::span<const Suffix> suffixes;
  size_t written;  // how many of them quantity_text uses
  const char* examples;
};

Kind kind_of(Unit unit) {
  switch (unit) {
    case Unit::count:
      return {kCount, 6, "a number, such as 512, 70B or 15T"};
    case Unit::bytes:
      return {kBytes, 5, "bytes, such as 4096, 2MB or 16GiB"};
    case Unit::gbps:
      return {kGbps, 4, "a rate, such as 400Gbps or 50GB/s"};
    case Unit::flop:
      return {kFlop, 9, "work, such as 430ZFLOP"};
    case Unit::tflops:
      return {kTflops, 4, "a speed, such as 989TFLOPS or 1.9PFLOPS"};
    case Unit::time:
      return {kTime, 7, "a time, such as 2us, 3h or 2weeks"};
    case Unit::share:
      return {kShare, 1, "a share, such as 0.3 or 30%"};
  }
  return {};
}

}  // namespace

double parse_quantity(std::string_view text, Unit unit) {
  const Kind kind = kind_of(unit);
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  std::string_view rest(at, static_cast<size_t>(end - at));
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  if (unit == Unit::flop && rest.ends_with("FLOPs")) rest.remove_suffix(1);
  if (error == std::errc{} && std::isfinite(value) && value >= 0) {
    for (const Suffix& suffix : kind.suffixes) {
      if (suffix.text != rest) continue;
      if (std::isfinite(value * suffix.factor)) return value * suffix.factor;
      throw TrafficError("'" + std::string(text) + "' is too large");
    }
  }
  throw TrafficError("'" + std::string(text) + "' is not " + kind.examples);
}

std::string quantity_text(double value, Unit unit) {
  const Kind kind = kind_of(unit);
  std::span<const Suffix> written = kind.suffixes.first(kind.written);
  std::string_view suffix = written.front().text;
  double factor = written.front().factor;
  for (const Suffix& s : written) {
    if (value < s.factor * 0.9995) break;
    suffix = s.text;
    factor = s.factor;
  }
  std::array<char, 32> out{};
  const double shown = value / factor;
  const int decimals = shown >= 99.95 || shown == std::floor(shown) ? 0 : shown >= 9.995 ? 1 : 2;
  std::snprintf(out.data(), out.size(), "%.*f", decimals, shown);
  std::string text = out.data();
  if (unit != Unit::count && !suffix.empty()) text += " ";
  return text + std::string(suffix);
}

}  // namespace uet::sim
