// Values of settings as text: numbers with units, words, flags. Knows no field.
#pragma once

#include "prov/uet/settings/setting.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace uet::prov {

// The number in `text` for a row of a numeric kind: in us, octets, percent or pieces; 0 or 1 for a
// flag; the word's value for a choice. Nothing: not a value, or out of range. A plain number may be
// hexadecimal ("0x40").
std::optional<int64_t> parse_value(const Setting& row, std::string_view text);

// Whether a row takes that number.
bool is_in_range(const Setting& row, int64_t value);

// The shortest text for a number that parse_value takes back: "60s" is "1min", 65536 octets are
// "64KiB".
std::string print_value(const Setting& row, int64_t value);

}  // namespace uet::prov
