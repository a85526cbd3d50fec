// The pace of credit: the time from a grant to the next one, by the rate of the link, the share of
// the fabric's core, and the rate of the host. Integer arithmetic with fractions of a nanosecond,
// so that rounding takes no bandwidth. [CMS-131, CMS-134, CMS-140]
#pragma once

#include "cms/config.h"

#include "base/assert.h"
#include "base/time.h"

#include <algorithm>
#include <cstdint>

namespace uet::cms {

// How many octets may wait for the memory of a host: below `free` no source is slowed down, and
// `most` should not be reached. free < most.
struct HostMarks {
  uint64_t free = 1'000'000;
  uint64_t most = 5'000'000;
};

// Share of the pace that a host with that many octets queued for its memory gets, in 2^-16.
// [CMS-140]
constexpr uint32_t host_share_q16(uint64_t queued_bytes, HostMarks marks = {}) {
  constexpr uint32_t kLeast = (1 << 16) / 1000;
  if (queued_bytes < marks.free) return 1 << 16;
  if (queued_bytes > marks.most / 100 * 95) return kLeast;
  __extension__ using uint128 = unsigned __int128;
  const uint128 left = marks.most - queued_bytes;
  const auto left_q16 = static_cast<uint64_t>((left << 16) / (marks.most - marks.free));
  return std::max(static_cast<uint32_t>(left_q16 * left_q16 >> 16), kLeast);
}

class CreditSpacing {
 public:
  CreditSpacing() = default;
  CreditSpacing(const Config& config, uint32_t ports)
      : rate_(uint64_t{config.link_mbps} * ports * config.credit.rate_permille) {
    UET_ASSERT(rate_ > 0);
  }

  Instant next() const { return next_; }
  // The first source asks for credit.
  void begin(Instant now) {
    if (next_ >= now) return;
    next_ = now;
    fraction_q16_ = 0;
  }
  // A grant of that size leaves, at or after next(). A caller that comes late catches up.
  void spend(uint64_t bytes, uint32_t core_share_q16, Instant now) {
    if (next_ < now - kCatchUp) next_ = now - kCatchUp;
    // One Mb/s carries an octet in 8000 ns; rate_ is in thousandths of that.
    const uint128 scaled = uint128{bytes} * 8'000'000 << 48;
    const uint128 time_q16 = scaled / (uint128{rate_} * core_share_q16 * host_share_q16_);
    const uint64_t sum_q16 = static_cast<uint64_t>(time_q16) + fraction_q16_;
    next_ = next_ + Duration::nanoseconds(static_cast<int64_t>(sum_q16 >> 16));
    fraction_q16_ = static_cast<uint32_t>(sum_q16 & 0xFFFF);
  }
  void set_host_queue(uint64_t bytes, HostMarks marks) {
    host_share_q16_ = host_share_q16(bytes, marks);
  }

 private:
  __extension__ using uint128 = unsigned __int128;
  // The time that a late caller may catch up: the link could have carried the octets meanwhile.
  static constexpr Duration kCatchUp = Duration::microseconds(100);

  Instant next_;
  uint64_t rate_ = 1;          // Mb/s, in thousandths
  uint32_t fraction_q16_ = 0;  // of a nanosecond after next_
  uint32_t host_share_q16_ = 1 << 16;
};

}  // namespace uet::cms
