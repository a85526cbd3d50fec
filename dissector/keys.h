// SPDX-License-Identifier: GPL-2.0-or-later
// The keys of secure domains: read from the file of the preference for each capture, and again when
// the file has grown while packets come in. It does not use packets.
#pragma once

#include "dissector/compat.h"

#include "tss/key.h"

namespace uet::dissector {

struct KnownKey {
  tss::Key key;
  uint32_t line;  // of the file
};

constexpr uint32_t kKeysMax = 1024;

// Reads the file, if there is one. An error in it is reported once, with the line.
void load_keys();

// Reads it again if it is longer than it was. Whether it was.
bool load_more_keys();

// The keys in the order of the file; none for an index that has none.
const KnownKey* key_at(uint32_t index);

}  // namespace uet::dissector
