// Whether the epoch of a packet is too old. Epochs count how often a source joined with the same
// key; they wrap. [TSS-052, TSS-054]
#pragma once

#include <cstdint>

namespace uet::tss {

constexpr uint16_t kEpochLifetimeMax = 16;  // rx_max_epoch_lifetime [TSS-105]

// How far the packet is behind, modulo 2^16; from 0x8000 on it counts as newer.
constexpr uint16_t epoch_age(uint16_t current, uint16_t of_packet) {
  return static_cast<uint16_t>(current - of_packet);
}
constexpr bool is_newer_epoch(uint16_t current, uint16_t of_packet) {
  return epoch_age(current, of_packet) >= 0x8000;
}
// [TSS-054, TSS-056]
constexpr bool is_late(uint16_t current, uint16_t of_packet, uint16_t lifetime_max) {
  const uint16_t age = epoch_age(current, of_packet);
  return age < 0x8000 && age > lifetime_max;
}

}  // namespace uet::tss
