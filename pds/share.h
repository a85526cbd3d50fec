// The part of a common pool that one peer, one host and an unproven source may hold.
#pragma once

#include <cstdint>

namespace uet::pds {

// Whether a peer that holds `held` entries may take `wanted` of the `free` ones: if as many stay
// free as it then holds. So one peer gets at most half, and there is always room for the next one.
// [decision 11]
constexpr bool is_within_share(uint64_t held, uint64_t wanted, uint64_t free) {
  return held + wanted <= free;
}

// The same for a peer and its host. All peers with its IP address hold `host_held` together and
// leave a third of that free, so one host gets at most three quarters, however many ports it uses.
// A host that holds entries leaves an eighth of `capacity` to hosts that hold none. [T-61, PDS-253]
constexpr bool is_within_shares(uint64_t held, uint64_t host_held, uint64_t wanted, uint64_t free,
                                uint64_t capacity) {
  const bool leaves_some = host_held == 0 || wanted + capacity / 8 <= free;
  return is_within_share(held, wanted, free) && host_held + wanted <= 3 * free && leaves_some;
}

// Whether a source that may be forged may take `wanted` of the `free` entries: a quarter of all
// stays for sources that have shown that they receive our packets. [SES-189, T-01]
constexpr bool leaves_reserve(uint64_t wanted, uint64_t free, uint64_t capacity) {
  return wanted + capacity / 4 <= free;
}

}  // namespace uet::pds
