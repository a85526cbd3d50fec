// The tables of constants, and reading them.
#include "sim/fabric/constants.h"

#include "sim/fabric/topology.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>
#include <span>
#include <string>
#include <type_traits>

namespace uet::sim::fabric {
namespace {

using cms::Config;
using cms::CreditConfig;
using cms::NsccConfig;

// A constant is an integer in the Config: this number of its units is 1 for the user.
struct Row {
  std::string_view key;
  double least, most;  // that it may be
  double units;
  int64_t (*get)(const Config& config);
  void (*set)(Config& config, int64_t value);
  std::string_view text;
  std::span<const std::string_view> words = {};  // 0, 1, ... by name
};

template <class T>
int64_t number_of(const T& value) {
  if constexpr (std::is_same_v<T, Duration>) {
    return value.ns();
  } else {
    return static_cast<int64_t>(value);
  }
}

template <class T>
void assign(T& out, int64_t value) {
  if constexpr (std::is_same_v<T, Duration>) {
    out = Duration::nanoseconds(value);
  } else {
    out = static_cast<T>(value);
  }
}

template <auto field>
auto& member(Config& c) {
  if constexpr (std::is_invocable_v<decltype(field), NsccConfig&>) {
    return c.nscc.*field;
  } else if constexpr (std::is_invocable_v<decltype(field), CreditConfig&>) {
    return c.credit.*field;
  } else {
    return c.*field;
  }
}

template <auto field>
int64_t get(const Config& config) {
  Config copy = config;
  return number_of(member<field>(copy));
}

template <auto field>
void set(Config& config, int64_t value) {
  assign(member<field>(config), value);
}

constexpr double kThousandths = 1000;
constexpr double kMicroseconds = 1000;  // of nanoseconds
constexpr double kLongUs = 1e6;
constexpr std::array<std::string_view, 2> kSwitch{"off", "on"};
constexpr std::array<std::string_view, 3> kMeans{"time", "htsim", "samples"};
constexpr std::array<std::string_view, 3> kCore{"off", "on", "auto"};

template <auto field>
constexpr Row factor(std::string_view key, double least, double most, std::string_view text) {
  return {key, least, most, kThousandths, get<field>, set<field>, text};
}
template <auto field>
constexpr Row time_us(std::string_view key, std::string_view text) {
  return {key, 0, kLongUs, kMicroseconds, get<field>, set<field>, text};
}
template <auto field>
constexpr Row count(std::string_view key, double least, double most, std::string_view text) {
  return {key, least, most, 1, get<field>, set<field>, text};
}
template <auto field>
constexpr Row word(std::string_view key, std::span<const std::string_view> words,
                   std::string_view text) {
  return {key, 0, 0, 1, get<field>, set<field>, text, words};
}

constexpr std::array kNscc{
    time_us<&NsccConfig::target_delay>(
        "target-us", "target of the queueing delay; 0: 0.75 base RTT, or 1 with trimming=off"),
    factor<&NsccConfig::window_max_permille>("window-max", 0.1, 100, "largest window, in BDP"),
    factor<&NsccConfig::alpha_permille>("alpha", 0, 100, "proportional increase"),
    factor<&NsccConfig::fair_permille>("fi", 0, 100, "fair increase"),
    factor<&NsccConfig::fast_permille>("fi-scale", 0, 100, "fast increase"),
    factor<&NsccConfig::eta_permille>("eta", 0, 100, "increase of each adjust period, in MTU"),
    factor<&NsccConfig::gamma_permille>("gamma", 0, 1, "decrease by the excess of the delay"),
    factor<&NsccConfig::decrease_max_permille>("max-md", 0.001, 1,
                                               "a decrease leaves this share of the window"),
    count<&NsccConfig::adjust_packets>("adjust-mtu", 1, 1024, "octets between adjustments, in MTU"),
    factor<&NsccConfig::adjust_period_permille>("adjust-period", 0, 1000,
                                                "time between adjustments, in base RTT"),
    word<&NsccConfig::quick_adapt>("qa", kSwitch, "quick adapt"),
    count<&NsccConfig::quick_gate>("qa-gate", 0, 63, "quick adapt below largest window / 2^N"),
    time_us<&NsccConfig::quick_threshold>(
        "qa-threshold-us", "delay that calls it; 0: none, or 4 targets with trimming=off"),
    time_us<&NsccConfig::no_delay>("fi-tolerance-us", "a delay below counts as none"),
    word<&NsccConfig::mean>("mean", kMeans, "how the delay is averaged"),
    word<&Config::trimming>("trimming", kSwitch, "hosts expect switches to trim; --no-trim: off"),
    word<&Config::base_rtt_probe>("base-rtt-probe", kSwitch, "new contexts measure the base RTT"),
    Row{"base-rtt-cache-s", 0, 86400, 1e9, get<&Config::base_rtt_time>, set<&Config::base_rtt_time>,
        "time for which a measured base RTT is used again"},
    time_us<&Config::idle_time>("restart-us", "a pause after which the window begins anew"),
};

constexpr std::array kCredit{
    factor<&CreditConfig::rate_permille>("rate", 0.001, 1, "of its link that a receiver grants"),
    count<&CreditConfig::packets_per_grant>("pull", 1, 64, "credit of one grant, in MTU"),
    factor<&CreditConfig::first_permille>("first", 0, 100, "sent before the first grant, in BDP"),
    factor<&CreditConfig::window_max_permille>("credit-max", 0.1, 100,
                                               "credit that a source holds, in BDP"),
    time_us<&CreditConfig::timeout>("credit-timeout-us",
                                    "a source asks again; 0: 250 us or 4 base RTTs"),
    word<&CreditConfig::idle_credit>("idle", kSwitch, "idle sources get credit while none waits"),
    Row{"core", 0, 0, 1, [](const Config&) { return int64_t{2}; },
        [](Config& c, int64_t value) {
          if (value != 2) c.credit.core_rate = value == 1;
        },
        "grants follow marks of the core; auto: rccc with few uplinks", kCore},
};

// Of each of the three.
constexpr Row kBaseRtt{"base-rtt-us",
                       0,
                       kLongUs,
                       kMicroseconds,
                       [](const Config&) { return int64_t{0}; },
                       [](Config& c, int64_t value) {
                         if (value != 0) c.base_rtt = Duration::nanoseconds(value);
                       },
                       "base RTT until one is measured; 0: of the longest path"};

template <class Visit>
void for_rows(std::string_view name, const Visit& visit) {
  if (name == "nscc" || name == "both") std::ranges::for_each(kNscc, visit);
  if (name == "rccc" || name == "both") std::ranges::for_each(kCredit, visit);
  if (name == "nscc" || name == "rccc" || name == "both") visit(kBaseRtt);
}

const Row* row_named(std::string_view name, std::string_view key) {
  const Row* found = nullptr;
  for_rows(name, [&](const Row& row) { found = row.key == key ? &row : found; });
  return found;
}

std::string number_text(double value) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%.10g", value);
  return out.data();
}

// "0 to 1 in steps of 0.001", "off or on"
std::string range_of(const Row& row) {
  if (row.words.empty()) {
    const std::string range = number_text(row.least) + " to " + number_text(row.most);
    return row.units == 1 ? range : range + " in steps of " + number_text(1 / row.units);
  }
  std::string out(row.words.front());
  for (const std::string_view word : row.words.subspan(1)) out += " or " + std::string(word);
  return out;
}

std::string default_of(const Row& row) {
  Config config;
  config.credit.idle_credit = true;  // in simulations [CMS-136]
  const int64_t value = row.get(config);
  if (!row.words.empty()) return std::string(row.words[static_cast<size_t>(value)]);
  return number_text(static_cast<double>(value) / row.units);
}

// A constant a line: its default, range and meaning.
std::string list_of(std::string_view name) {
  std::string out;
  for_rows(name, [&out](const Row& row) {
    std::string range = range_of(row);
    range = range.substr(0, range.find(" in steps"));
    out += "\n  " + std::string(row.key) + "=" + default_of(row) + "  (" + range + ") " +
           std::string(row.text);
  });
  return out;
}

// False: not a value of the row.
bool read_value(const Row& row, std::string_view text, int64_t& out) {
  for (size_t i = 0; i < row.words.size(); ++i) {
    if (row.words[i] == text) out = static_cast<int64_t>(i);
    if (row.words[i] == text) return true;
  }
  double value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  if (!row.words.empty() || !is_number || !(value >= row.least && value <= row.most)) return false;
  out = std::llround(value * row.units);
  const double exact = value * row.units;  // as far as a double can tell
  return std::abs(exact - static_cast<double>(out)) < std::max(1e-6, exact * 1e-12);
}

void set_constant(Config& config, std::string_view name, std::string_view constant) {
  const size_t equals = constant.find('=');
  const Row* const row = row_named(name, constant.substr(0, equals));
  const std::string start = "--cc " + std::string(name) + ": '" + std::string(constant) + "'";
  if (row == nullptr || equals == std::string_view::npos) {
    throw TopologyError(start + " sets no constant; there are" + list_of(name));
  }
  int64_t value = 0;
  if (!read_value(*row, constant.substr(equals + 1), value)) {
    throw TopologyError(start + ": " + (row->words.empty() ? "a number from " : "") +
                        range_of(*row) + " is needed");
  }
  row->set(config, value);
}

}  // namespace

std::string_view name_before_constants(std::string_view congestion) {
  return congestion.substr(0, congestion.find(','));
}

bool has_constants(std::string_view congestion) {
  return row_named(name_before_constants(congestion), kBaseRtt.key) != nullptr;
}

void set_constants(cms::Config& config, std::string_view congestion) {
  const std::string_view name = name_before_constants(congestion);
  std::string_view rest = congestion.substr(name.size());  // ",target-us=6,gamma=1"
  std::set<std::string_view> keys;
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view constant = rest.substr(0, rest.find(','));
    const std::string_view key = constant.substr(0, constant.find('='));
    if (!keys.insert(key).second) {
      throw TopologyError("--cc " + std::string(name) + ": " + std::string(key) +
                          " is given twice");
    }
    set_constant(config, name, constant);
    rest.remove_prefix(constant.size());
  }
}

}  // namespace uet::sim::fabric
