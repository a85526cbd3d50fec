// Numbers with units, to and from text; see values.h.
#include "prov/uet/settings/values.h"

#include "base/assert.h"

#include <charconv>
#include <span>

namespace uet::prov {
namespace {

// A word after a number, and its factor. The units of a kind stand from the greatest to the
// smallest; the first word of each factor is printed.
struct Suffix {
  std::string_view word;
  int64_t factor;
};

constexpr Suffix kTimes[] = {
    {"h", 3'600'000'000}, {"min", 60'000'000}, {"s", 1'000'000}, {"ms", 1'000}, {"us", 1}};
constexpr Suffix kOctets[] = {{"TiB", int64_t{1} << 40},
                              {"T", int64_t{1} << 40},
                              {"GiB", 1 << 30},
                              {"G", 1 << 30},
                              {"MiB", 1 << 20},
                              {"M", 1 << 20},
                              {"KiB", 1 << 10},
                              {"K", 1 << 10},
                              {"k", 1 << 10}};
constexpr Suffix kShares[] = {{"%", 1}};

std::span<const Suffix> suffixes_of(Kind kind) {
  switch (kind) {
    case Kind::time:
      return kTimes;
    case Kind::octets:
      return kOctets;
    case Kind::share:
      return kShares;
    default:
      return {};
  }
}

std::optional<int64_t> factor_of(std::span<const Suffix> suffixes, std::string_view word) {
  for (const Suffix& s : suffixes) {
    if (s.word == word) return s.factor;
  }
  return std::nullopt;
}

// The unit of a plain number.
int64_t plain_factor(const Setting& row) {
  if (row.kind != Kind::time) return 1;
  const std::optional<int64_t> factor = factor_of(kTimes, row.unit);
  UET_ASSERT(factor.has_value());
  return *factor;
}

std::optional<int64_t> parse_number(const Setting& row, std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view rest = text.substr(static_cast<size_t>(end - text.data()));
  std::optional<int64_t> factor = plain_factor(row);
  if (!rest.empty()) factor = base == 10 ? factor_of(suffixes_of(row.kind), rest) : std::nullopt;
  int64_t value = 0;
  if (!factor.has_value() || __builtin_mul_overflow(number, *factor, &value)) return std::nullopt;
  return value;
}

std::optional<int64_t> parse_flag(const Setting& row, std::string_view text) {
  if (text == "yes" || text == "on" || text == "true") return 1;
  if (text == "no" || text == "off" || text == "false") return 0;
  return parse_number(row, text);
}

std::optional<int64_t> parse_word(const Setting& row, std::string_view text) {
  for (const Word& word : row.words) {
    if (text == word.word) return word.value;
  }
  return std::nullopt;
}

}  // namespace

bool is_in_range(const Setting& row, int64_t value) {
  if (row.kind == Kind::choice) {
    for (const Word& word : row.words) {
      if (word.value == value) return true;
    }
    return false;
  }
  if (row.grid == Grid::zero_too && value == 0) return true;
  if (value < row.min || value > row.max) return false;
  return row.grid != Grid::powers_of_two || (value & (value - 1)) == 0;
}

std::optional<int64_t> parse_value(const Setting& row, std::string_view text) {
  std::optional<int64_t> value;
  if (row.kind == Kind::choice) {
    value = parse_word(row, text);
  } else if (row.kind == Kind::flag) {
    value = parse_flag(row, text);
  } else if (row.kind != Kind::text) {
    value = parse_number(row, text);
  }
  if (value.has_value() && !is_in_range(row, *value)) value.reset();
  return value;
}

std::string print_value(const Setting& row, int64_t value) {
  if (row.kind == Kind::choice) {
    for (const Word& word : row.words) {
      if (word.value == value) return word.word;
    }
  }
  for (const Suffix& s : suffixes_of(row.kind)) {
    if (value == 0 || value % s.factor != 0) continue;
    return std::to_string(value / s.factor).append(s.word);
  }
  return std::to_string(value);
}

}  // namespace uet::prov
