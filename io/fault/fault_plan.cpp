// Parsing of fault plans. No locale, no exceptions; each item is one name and one value.
#include "io/fault/fault_plan.h"

#include <charconv>
#include <cmath>
#include <system_error>

namespace uet::io {
namespace {

struct Unit {
  std::string_view suffix;
  uint64_t factor;
};
constexpr Unit kTimeUnits[] = {{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}};
constexpr Unit kSizeUnits[] = {{"", 1}, {"k", 1u << 10}, {"m", 1u << 20}};
constexpr Unit kRateUnits[] = {{"", 1}, {"k", 1'000}, {"m", 1'000'000}, {"g", 1'000'000'000}};

bool read_number(std::string_view text, double& out) {
  const char* end = text.data() + text.size();
  const auto [at, ec] = std::from_chars(text.data(), end, out, std::chars_format::general);
  return ec == std::errc() && at == end && !text.empty();
}

bool read_probability(std::string_view text, double& out) {
  return read_number(text, out) && out >= 0.0 && out <= 1.0;
}

bool read_integer(std::string_view text, uint64_t max, uint64_t& out) {
  const char* end = text.data() + text.size();
  const auto [at, ec] = std::from_chars(text.data(), end, out);
  return ec == std::errc() && at == end && !text.empty() && out <= max;
}

// A non-negative number with one of the units; "12.5us" is fine.
template <size_t N>
bool read_scaled(std::string_view text, const Unit (&units)[N], uint64_t max, uint64_t& out) {
  const size_t split = text.find_last_of("0123456789.") + 1;
  const std::string_view suffix = text.substr(split);
  double number = 0;
  if (!read_number(text.substr(0, split), number) || !(number >= 0.0)) return false;
  for (const Unit& unit : units) {
    if (unit.suffix != suffix) continue;
    const double scaled = number * static_cast<double>(unit.factor);
    if (!(scaled <= static_cast<double>(max))) return false;
    out = static_cast<uint64_t>(std::round(scaled));
    return true;
  }
  return false;
}

bool read_duration(std::string_view text, Duration& out) {
  constexpr uint64_t kMax = 86'400'000'000'000;  // one day
  uint64_t ns = 0;
  if (!read_scaled(text, kTimeUnits, kMax, ns)) return false;
  out = Duration::nanoseconds(static_cast<int64_t>(ns));
  return true;
}

bool read_octets(std::string_view text, uint32_t& out) {
  uint64_t value = 0;
  if (!read_scaled(text, kSizeUnits, UINT32_MAX, value)) return false;
  out = static_cast<uint32_t>(value);
  return true;
}

bool read_reorder(std::string_view text, FaultPlan& plan) {
  const size_t colon = text.find(':');
  if (colon != text.npos && !read_duration(text.substr(colon + 1), plan.reorder_delay)) {
    return false;
  }
  return read_probability(text.substr(0, colon), plan.reorder);
}

bool read_burst(std::string_view text, FaultPlan& plan) {
  const size_t colon = text.find(':');
  uint64_t packets = 0;
  if (colon == text.npos || !read_integer(text.substr(colon + 1), 1'000'000, packets)) return false;
  if (packets == 0) return false;
  plan.burst_packets = static_cast<uint32_t>(packets);
  return read_probability(text.substr(0, colon), plan.burst);
}

bool read_blackhole(std::string_view text, FaultPlan& plan) {
  const size_t dash = text.find('-');
  Duration from, to;
  if (plan.blackhole_count == FaultPlan::kBlackholes || dash == text.npos) return false;
  if (!read_duration(text.substr(0, dash), from) || !read_duration(text.substr(dash + 1), to)) {
    return false;
  }
  if (!(from < to)) return false;
  plan.blackholes[plan.blackhole_count++] = {Instant::zero() + from, Instant::zero() + to};
  return true;
}

enum class Outcome {
  done,
  unknown_name,
  bad_value
};

Outcome apply(std::string_view name, std::string_view value, FaultPlan& plan) {
  const auto outcome = [](bool ok) { return ok ? Outcome::done : Outcome::bad_value; };
  uint64_t number = 0;
  if (name == "loss") return outcome(read_probability(value, plan.loss));
  if (name == "dup") return outcome(read_probability(value, plan.duplicate));
  if (name == "corrupt") return outcome(read_probability(value, plan.corrupt));
  if (name == "reorder") return outcome(read_reorder(value, plan));
  if (name == "burst") return outcome(read_burst(value, plan));
  if (name == "delay") return outcome(read_duration(value, plan.delay));
  if (name == "jitter") return outcome(read_duration(value, plan.jitter));
  if (name == "mtu") return outcome(read_octets(value, plan.mtu_bytes));
  if (name == "queue") return outcome(read_octets(value, plan.queue_bytes));
  if (name == "ecn") return outcome(read_octets(value, plan.ecn_mark_bytes));
  if (name == "trim") return outcome(read_octets(value, plan.trim_bytes));
  if (name == "seed") return outcome(read_integer(value, UINT64_MAX, plan.seed));
  if (name == "blackhole") return outcome(read_blackhole(value, plan));
  if (name == "rate") {
    return outcome(read_scaled(value, kRateUnits, 100'000'000'000'000, plan.rate_bps));
  }
  if (name == "fail") {
    Duration after;
    if (!read_duration(value, after)) return Outcome::bad_value;
    plan.fail_at = Instant::zero() + after;
    return Outcome::done;
  }
  if (name == "corrupt_delivered") {
    if (!read_integer(value, 1, number)) return Outcome::bad_value;
    plan.deliver_corrupt = number == 1;
    return Outcome::done;
  }
  return Outcome::unknown_name;
}

void complain(std::string* error, std::string_view what, std::string_view item) {
  if (error == nullptr) return;
  error->assign("fault plan: ").append(what).append(" in \"").append(item).append("\"");
}

}  // namespace

std::optional<FaultPlan> parse_fault_plan(std::string_view text, std::string* error) {
  FaultPlan plan;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    text = comma == text.npos ? std::string_view{} : text.substr(comma + 1);

    const size_t equals = item.find('=');
    if (equals == item.npos) {
      complain(error, "name=value expected", item);
      return std::nullopt;
    }
    switch (apply(item.substr(0, equals), item.substr(equals + 1), plan)) {
      case Outcome::done:
        break;
      case Outcome::unknown_name:
        complain(error,
                 "unknown name (known: loss, burst, dup, reorder, corrupt, corrupt_delivered, "
                 "delay, jitter, mtu, rate, queue, ecn, trim, blackhole, fail, seed)",
                 item);
        return std::nullopt;
      case Outcome::bad_value:
        complain(error, "value out of range or malformed", item);
        return std::nullopt;
    }
  }
  return plan;
}

}  // namespace uet::io
