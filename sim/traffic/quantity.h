// Quantities as people write them: 400Gbps, 16GiB, 70B, 430ZFLOP, 2weeks, 30%. A plain number has
// the unit of the requested quantity.
#pragma once

#include <string>
#include <string_view>

namespace uet::sim {

enum class Unit : unsigned char {
  count,   // 1: k, M, G or B, T, P
  bytes,   // 1: B, kB, MB, GB, TB, PB, KiB, MiB, GiB, TiB
  gbps,    // Gbps: bps, kbps, Mbps, Gbps, Tbps, GB/s
  flop,    // FLOP: k, M, G, T, P, E, Z, Y before FLOP or FLOPs
  tflops,  // TFLOPS: G, T, P, E before FLOPS or FLOP/s
  time,    // seconds: ns, us, ms, s, min, h, d or days, w or weeks
  share,   // 1: %
};

// The value in the unit that is named first above. Throws TrafficError, which has the text and what
// may stand there. Never negative, always finite.
double parse_quantity(std::string_view text, Unit unit);

// With about three digits and the unit that fits: "400 Gbps", "1.5 GiB", "3.8k".
std::string quantity_text(double value, Unit unit);

}  // namespace uet::sim
