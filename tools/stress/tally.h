// Counts of a process, which it reports to the director once a second.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace uet::stress {

enum class Count : uint8_t {
  sent,
  tagged,
  injected,
  written,
  read,
  atomics,
  received,
  events,
  cancelled,
  octets_out,
  octets_in,
  again,
  failed,
};
constexpr const char* kCountNames[] = {
    "sends",       "tagged sends", "injected",   "writes",    "reads",   "atomics", "received",
    "data events", "cancelled",    "octets out", "octets in", "retries", "failed"};
constexpr size_t kCounts = std::size(kCountNames);
using Tally = std::array<uint64_t, kCounts>;

inline uint64_t& at(Tally& tally, Count count) { return tally[static_cast<size_t>(count)]; }

}  // namespace uet::stress
