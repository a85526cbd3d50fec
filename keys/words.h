// The words of key files: those for enumerations, in the order of their values, and the names of
// the limits of a process.
#pragma once

#include "tss/domains.h"

#include <cstdint>
#include <string_view>

namespace uet::keys {

// A limit of a process and its legal range. [TSS-145]
struct Limit {
  std::string_view field;
  uint32_t tss::DomainsConfig::*member;
  uint32_t min, max;
};
inline constexpr Limit kLimits[] = {
    {"domains", &tss::DomainsConfig::domains, 1, 65536},
    {"ready_keys", &tss::DomainsConfig::ready_keys, 2, 1 << 20},
    {"clients", &tss::DomainsConfig::clients, 1, 1 << 20},
    {"sources", &tss::DomainsConfig::sources, 1, 1 << 20},
    {"replay_packets", &tss::DomainsConfig::replay_packets, 64, 1 << 20},
    {"derivations_per_second", &tss::DomainsConfig::derivations_per_second, 1, 100'000'000},
    {"derivations_at_once", &tss::DomainsConfig::derivations_at_once, 1, 1'000'000},
};

inline constexpr std::string_view kModes[] = {"direct", "cluster", "server", "client"};
inline constexpr std::string_view kPolicies[] = {"none", "allow", "require"};
inline constexpr std::string_view kActions[] = {"alarm", "latch"};

// The word of a value.
template <class T, size_t N>
std::string_view word(const std::string_view (&words)[N], T value) {
  return words[static_cast<size_t>(value)];
}

}  // namespace uet::keys
