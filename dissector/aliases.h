// SPDX-License-Identifier: GPL-2.0-or-later
// Names that Wireshark's own dissector "uet" (5.0) has for our fields. If its field covers the same
// octets with a comparable type, filters by its name match our packets too. docs/howto/wireshark.md
// lists its other names.
#pragma once

#include "dissector/compat.h"

#include <array>

namespace uet::dissector {

// By the number of a field, counted from the first one with an alias; 0 for a field without one.
// Numbers come from Wireshark as the fields of PDS are registered, one after another.
inline int first_with_alias;
inline std::array<int, 256> alias_numbers;

// The hidden field with the alias of a field, 0 without.
inline int alias_of(int field) {
  const auto index = static_cast<size_t>(field - first_with_alias);  // huge when before the first
  return index < alias_numbers.size() ? alias_numbers[index] : 0;
}

// Call it when the fields of PDS are registered.
void register_aliases();

}  // namespace uet::dissector
