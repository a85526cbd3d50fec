// The clock of one simulated endpoint: it shows another time than the simulation's and runs too
// fast or too slow, as clocks of different machines do. Nothing of the protocol may depend on two
// clocks agreeing. [architecture 8]
#pragma once

#include "sim/plan.h"

#include "base/time.h"

#include <cstdint>

namespace uet::sim {

struct LocalClock {
  Duration ahead;   // at kStart
  int32_t ppm = 0;  // gained per million; above -1,000,000

  Instant local(Instant simulated) const {
    return ppm == 0 ? simulated + ahead : simulated + ahead + gained((simulated - kStart).ns());
  }

  // The first simulated instant, from kStart on, at which the clock shows `local` or more.
  Instant simulated(Instant local) const {
    if (local.is_never()) return local;
    const int64_t shown = (local - ahead - kStart).ns();
    if (shown <= 0) return kStart;
    if (ppm == 0) return kStart + Duration::nanoseconds(shown);
    const int64_t rate = kMillion + ppm;
    int64_t at = shown / rate * kMillion + shown % rate * kMillion / rate;
    at = at > 2 ? at - 2 : 0;  // divisions cut off
    while (at + gained(at).ns() < shown) ++at;
    return kStart + Duration::nanoseconds(at);
  }

 private:
  static constexpr int64_t kMillion = 1'000'000;

  Duration gained(int64_t ns) const {
    return Duration::nanoseconds(ns / kMillion * ppm + ns % kMillion * ppm / kMillion);
  }
};

}  // namespace uet::sim
