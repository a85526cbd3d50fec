// SPDX-License-Identifier: GPL-2.0-or-later
// What a row of a table counts beside its cells: times, entropy values, NACK codes. Zero octets are
// an empty one of each; Wireshark's memory has no constructors.
#pragma once

#include "dissector/compat.h"

#include "wire/code_points.h"

#include <bit>
#include <cmath>
#include <iterator>

namespace uet::dissector {

// Times by their logarithm, 16 steps for each power of two: percentiles are right to 5 %.
struct Times {
  static constexpr unsigned kSteps = 16, kPowers = 40;
  uint32_t count;
  uint32_t by_step[kPowers * kSteps];

  void add(const nstime_t& time) {
    const int64_t ns = time.secs * int64_t{1000000000} + time.nsecs;
    const uint64_t value = ns < int64_t{kSteps} ? kSteps : static_cast<uint64_t>(ns);
    const auto power = static_cast<unsigned>(std::bit_width(value)) - 5;  // value >> power: 16..31
    const unsigned step = power * kSteps + static_cast<unsigned>(value >> power) - kSteps;
    ++by_step[step < kPowers * kSteps ? step : kPowers * kSteps - 1];
    ++count;
  }
  // In microseconds: the middle of the step below which that part of the times is.
  double percentile(unsigned percent) const {
    uint64_t seen = 0;
    for (unsigned step = 0; step < kPowers * kSteps; ++step) {
      seen += by_step[step];
      if (seen * 100 < uint64_t{count} * percent) continue;
      const double scale = static_cast<double>(uint64_t{1} << (step / kSteps));
      return (step % kSteps + kSteps + 0.5) * scale / 1000;
    }
    return 0;
  }
};

// Packets by their entropy value.
struct Spread {
  GHashTable* by_value;  // value to packets; made with the first
  uint32_t packets, most;
  uint16_t most_used;
  double sum;  // of n * log2(n) over the values

  void add(uint16_t value) {
    if (by_value == nullptr) by_value = g_hash_table_new(nullptr, nullptr);
    const guint before = GPOINTER_TO_UINT(g_hash_table_lookup(by_value, GUINT_TO_POINTER(value)));
    const guint now = before + 1;
    g_hash_table_insert(by_value, GUINT_TO_POINTER(value), GUINT_TO_POINTER(now));
    ++packets;
    sum += now * std::log2(now) - (before == 0 ? 0 : before * std::log2(before));
    if (now > most) {
      most = now;
      most_used = value;
    }
  }
  uint32_t values() const { return by_value == nullptr ? 0 : g_hash_table_size(by_value); }
  // n values that are used alike have log2(n) bits.
  double bits() const { return packets == 0 ? 0 : std::log2(packets) - sum / packets; }
  void clear() {
    if (by_value != nullptr) g_hash_table_destroy(by_value);
    *this = {};
  }
};

// NACKs by their code.
struct Codes {
  uint32_t by_code[256];

  // "TRIMMED 3, ROD_OOO 1" in the order of the codes; g_malloc's.
  char* text() const {
    GString* out = g_string_new(nullptr);
    for (uint32_t code = 0; code < std::size(by_code); ++code) {
      if (by_code[code] == 0) continue;
      const char* name = wire::name(static_cast<wire::NackCode>(code));
      g_string_append_printf(out, "%s%s %u", out->len == 0 ? "" : ", ", name, by_code[code]);
    }
    return g_string_free(out, FALSE);
  }
};

}  // namespace uet::dissector
