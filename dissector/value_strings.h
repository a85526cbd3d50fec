// SPDX-License-Identifier: GPL-2.0-or-later
// The names of the code points for Wireshark. The names themselves are those of wire/code_points.h:
// there is one list in the project. [WIRE-037]
#pragma once

#include "dissector/compat.h"

#include "wire/code_points.h"

namespace uet::dissector {

// All names of an enum, a table as large as its field; codes without a meaning have the name
// "reserved" or "vendor", as everywhere in the project. Made once and never given back.
template <class Code>
value_string_ext* strings_of(unsigned field_bits) {
  const unsigned count = 1U << field_bits;
  auto* strings = wmem_alloc0_array(wmem_epan_scope(), value_string, count + 1);
  for (unsigned value = 0; value < count; ++value) {
    strings[value] = {value, wire::name(static_cast<Code>(value))};
  }
  return names_of(strings, count + 1, "uet code points");
}

}  // namespace uet::dissector
