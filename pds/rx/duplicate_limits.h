// How many answers to duplicates each secured PDC may still cause: every answer is sealed anew.
// Each PDC has its own budget. [TSS-072, T-12]
#pragma once

#include "base/arena.h"
#include "base/result.h"
#include "base/serial.h"
#include "base/time.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace uet::pds {

class DuplicateLimits {
 public:
  // Octets are taken for PDCs with duplicates alone.
  Result<void> create(Arena& arena) {
    spent_ = arena.make_zero_span<Spent>(kIds);
    if (spent_.data() == nullptr) return Errc::no_memory;
    return {};
  }

  // Takes an answer from the budget, which grows at `rate` a second up to a tenth of that. False:
  // the budget is empty. A PDC with the id of an earlier one starts with the budget that the
  // earlier one left, which soon fills.
  [[nodiscard]] bool take(Pdcid pdc, uint32_t rate, Instant now) {
    constexpr uint32_t kSecond = 1'000'000;
    Spent& spent = spent_[pdc.value()];
    const auto now_us = static_cast<uint32_t>(now.ns() / 1000);
    const uint32_t elapsed_us = std::min(now_us - spent.earned_us, kSecond);
    const auto earned = static_cast<uint32_t>(uint64_t{elapsed_us} * rate / kSecond);
    spent.answers -= std::min(spent.answers, earned);
    if (earned > 0) spent.earned_us = now_us;
    if (spent.answers >= std::max(rate / 10, 1U)) return false;
    ++spent.answers;
    return true;
  }

 private:
  static constexpr uint32_t kIds = 65536;
  struct Spent {
    uint32_t answers;
    uint32_t earned_us;  // wraps
  };

  std::span<Spent> spent_;
};

}  // namespace uet::pds
