// Configurations for the tests of entropy selection: as many EVs as they say, counted from 0.
#pragma once

#include "cms/config.h"

#include "base/time.h"

namespace uet::cms {

inline constexpr Instant kEntropyStart = Instant::from_ns(1'000'000'000);

inline Config entropy_config(Spraying spraying, uint32_t values) {
  Config config;
  config.entropy_values = values;
  config.base_rtt = Duration::microseconds(12);
  config.entropy.spraying = spraying;
  config.entropy.random_upper_bits = false;
  config.entropy.reuse_rtts = 0;
  return config;
}

}  // namespace uet::cms
