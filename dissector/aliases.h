// SPDX-License-Identifier: GPL-2.0-or-later
// Names that Wireshark's own dissector "uet" (5.0) has for our fields. Where its field is the
// same octets with a type that compares, filters by its name take our packets too. Which of its
// names have no such field: docs/howto/wireshark.md.
#pragma once

#include "dissector/compat.h"

#include <array>

namespace uet::dissector {

// By the number of a field from that of the first with an alias; 0 where there is none. Numbers
// come from Wireshark as the fields of PDS are registered, one after another.
inline int first_with_alias;
inline std::array<int, 256> alias_numbers;

// The hidden field with the other name of a field, 0 without.
inline int alias_of(int field) {
  const auto index = static_cast<size_t>(field - first_with_alias);  // huge when before the first
  return index < alias_numbers.size() ? alias_numbers[index] : 0;
}

// Call it when the fields of PDS are registered.
void register_aliases();

}  // namespace uet::dissector
