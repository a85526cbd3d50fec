// The table [limits] of a key file: limits of a process that secures its packets. They apply when
// it opens its domain. [TSS-145]
#pragma once

#include "tss/domains.h"

#include <cstdint>
#include <string_view>

namespace uet::keys {

// Limits of the secure domains, and limits of packet delivery, which are fields of pds::Config.
struct Limits : tss::DomainsConfig {
  uint32_t secure_starts = 4096;          // [TSS-067]
  uint32_t rebases_max = 4;               // [TSS-069]
  uint32_t trim_nacks_per_second = 1000;  // [TSS-081]
  bool operator==(const Limits&) const = default;
};

// A field of the table, with its legal values.
struct Limit {
  std::string_view field;
  uint32_t Limits::*member;
  uint32_t min, max;
};
inline constexpr Limit kLimits[] = {
    {"domains", &Limits::domains, 1, 65536},
    {"ready_keys", &Limits::ready_keys, 2, 1 << 20},
    {"clients", &Limits::clients, 1, 1 << 20},
    {"members", &Limits::members, 1, 1 << 20},
    {"sources", &Limits::sources, 1, 1 << 20},
    {"replay_packets", &Limits::replay_packets, 64, 1 << 20},
    {"derivations_per_second", &Limits::derivations_per_second, 1, 100'000'000},
    {"derivations_at_once", &Limits::derivations_at_once, 1, 1'000'000},
    {"secure_starts", &Limits::secure_starts, 1, 1 << 20},
    {"rebases_max", &Limits::rebases_max, 1, 255},
    {"trim_nacks_per_second", &Limits::trim_nacks_per_second, 1, 1'000'000},
};

}  // namespace uet::keys
