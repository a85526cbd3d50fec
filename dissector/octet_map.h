// SPDX-License-Identifier: GPL-2.0-or-later
// Maps whose keys are compared as octets; they live as long as the file is open.
#pragma once

#include "dissector/compat.h"

#include <cstring>
#include <type_traits>

namespace uet::dissector {

// A new map; keys without padding, or equal ones would differ.
template <class Key>
wmem_map_t* octet_map() {
  static_assert(std::has_unique_object_representations_v<Key>);
  return wmem_map_new(
      wmem_file_scope(),
      [](gconstpointer key) -> guint {
        return wmem_strong_hash(static_cast<const guint8*>(key), sizeof(Key));
      },
      [](gconstpointer a, gconstpointer b) -> gboolean {
        return std::memcmp(a, b, sizeof(Key)) == 0;
      });
}

// An address of either family, as a part of a key.
inline void put_address(uint8_t (&into)[16], const address& from) {
  const auto size = static_cast<size_t>(from.len < 0 ? 0 : from.len);
  if (from.data != nullptr) std::memcpy(into, from.data, size < 16 ? size : 16);
}

}  // namespace uet::dissector
