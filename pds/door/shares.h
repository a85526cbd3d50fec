// How many of the PDCs that peers open each job and each secure domain holds, so that none of them
// shuts out the others. A peer's own number is in Peer. [T-02]
#pragma once

#include "base/arena.h"
#include "base/hash_map.h"
#include "base/result.h"
#include "base/serial.h"

#include <cstdint>

namespace uet::pds {

// A job within a secure domain, or the domain as a whole. JobIDs have 24 bits.
struct Holder {
  uint32_t sdi = 0;
  uint32_t job = kWholeDomain;

  static constexpr uint32_t kWholeDomain = UINT32_MAX;
  bool operator==(const Holder&) const = default;
};
inline uint64_t hash_of(const Holder& h, uint64_t seed) { return hash64(h.sdi, h.job, seed); }

class Shares {
 public:
  // Room for all peers, jobs and domains that `pdcs` PDCs can have.
  Result<void> create(Arena& arena, uint32_t pdcs, uint64_t seed) {
    return held_.create(arena, 2 * pdcs, seed);
  }

  uint32_t held(const Holder& holder) const {
    const uint32_t* const count = held_.find(holder);
    return count == nullptr ? 0 : *count;
  }

  void take(uint32_t sdi, JobId job) {
    add({sdi, job.value()});
    if (sdi != 0) add({sdi, Holder::kWholeDomain});
  }
  // One unit was taken.
  void give_back(uint32_t sdi, JobId job) {
    drop({sdi, job.value()});
    if (sdi != 0) drop({sdi, Holder::kWholeDomain});
  }

  // Whether a holder of `held` may take one more while `free` are left: the holder may have at most
  // this percentage of the free ones and its own together, so some always stay free. A holder of
  // none may take one.
  static bool has_room(uint32_t held, uint32_t free, uint32_t percent) {
    return held == 0 || percent == 100 || uint64_t{held} * 100 < (uint64_t{held} + free) * percent;
  }

 private:
  void add(const Holder& holder) {
    if (uint32_t* const count = held_.find(holder)) {
      ++*count;
      return;
    }
    const auto made = held_.insert(holder, 1);
    UET_ASSERT(made.ok());  // no more holders than two for each PDC
  }
  void drop(const Holder& holder) {
    uint32_t* const count = held_.find(holder);
    UET_ASSERT(count != nullptr && *count > 0);
    if (--*count == 0) held_.erase(holder);
  }

  HashMap<Holder, uint32_t> held_;
};

}  // namespace uet::pds
