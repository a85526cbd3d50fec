// The words of key files for enumerations, in the order of their values.
#pragma once

#include <cstddef>
#include <string_view>

namespace uet::keys {

inline constexpr std::string_view kModes[] = {"direct", "cluster", "server", "client"};
inline constexpr std::string_view kPolicies[] = {"none", "allow", "require"};
inline constexpr std::string_view kActions[] = {"alarm", "latch"};

// The word of a value.
template <class T, size_t N>
std::string_view word(const std::string_view (&words)[N], T value) {
  return words[static_cast<size_t>(value)];
}

}  // namespace uet::keys
