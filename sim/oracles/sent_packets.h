// Packets sent under one PDCID: for each PSN a digest of the octets after the PDS header. The PSNs
// of a PDC are consecutive, so a list is enough; a PDC that gets the PDCID later begins elsewhere,
// with a separate list.
#pragma once

#include "base/serial.h"

#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

namespace uet::sim {

// Digests are not 0.
class SentPackets {
 public:
  // The digest of that PSN; null: it was not sent. Good until the next add().
  uint64_t* find(Psn psn) {
    if (uint64_t* const found = latest_.find(psn)) return found;
    for (Run& run : earlier_) {
      if (uint64_t* const found = run.find(psn)) return found;
    }
    return nullptr;
  }

  // That PSN must not have been sent.
  void add(Psn psn, uint64_t digest) {
    const int32_t at = latest_.digests.empty() ? 0 : psn - latest_.first;
    const auto size = static_cast<int32_t>(latest_.digests.size());
    if (at < 0 || at > size + kGap) {
      earlier_.push_back(std::exchange(latest_, {}));
      return add(psn, digest);
    }
    if (size == 0) {
      latest_.first = psn;
      latest_.digests.reserve(kFew);
    }
    if (at >= size) latest_.digests.resize(static_cast<size_t>(at) + 1);
    latest_.digests[static_cast<size_t>(at)] = digest;
  }

  // Forgets the PSNs that are less than `distance` away from `psn`.
  void forget_near(Psn psn, int32_t distance) {
    forget_near(latest_, psn, distance);
    for (Run& run : earlier_) forget_near(run, psn, distance);
  }

 private:
  static constexpr int32_t kGap = 1024;  // PSNs that may be missing within a list
  static constexpr size_t kFew = 8;

  // PSNs from `first` on. 0: was not sent.
  struct Run {
    uint64_t* find(Psn psn) {
      const int32_t at = psn - first;
      if (at < 0 || at >= static_cast<int32_t>(digests.size())) return nullptr;
      uint64_t& digest = digests[static_cast<size_t>(at)];
      return digest == 0 ? nullptr : &digest;
    }
    Psn first;
    std::vector<uint64_t> digests;
  };
  static void forget_near(Run& run, Psn psn, int32_t distance) {
    for (size_t i = 0; i < run.digests.size(); ++i) {
      const int32_t away = run.first + static_cast<int64_t>(i) - psn;
      if (std::abs(int64_t{away}) < distance) run.digests[i] = 0;
    }
  }

  Run latest_;
  std::vector<Run> earlier_;
};

}  // namespace uet::sim
