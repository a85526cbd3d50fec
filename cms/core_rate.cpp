// One decision for each period of about one and a half base RTTs.
#include "cms/core_rate.h"

#include <algorithm>

namespace uet::cms {

namespace {
constexpr uint32_t kOne = 1 << 16;
constexpr uint32_t kStep = kOne / 100;          // of an increase
constexpr uint32_t kMarksFree = kOne * 3 / 10;  // share of marks that costs nothing
constexpr uint32_t kRisesMax = 6;               // 0.01 times 2^6 is most of the way
constexpr int kPeriodsMax = 17;                 // after that many, marks and trims are forgotten
}  // namespace

CoreRate::CoreRate(const Config& config, uint64_t seed)
    : rng_(seed),
      base_rtt_(config.base_rtt),
      rate_min_q16_(kOne * 9 / 10 / std::max(config.credit.oversubscription, 1u)),
      is_on_(config.credit.core_rate) {}

// 1.5 base RTTs, and up to a quarter of that more or less.
Duration CoreRate::period() {
  const Duration mean = base_rtt_ * 3 / 2;
  const auto spread = static_cast<uint64_t>(mean.ns() / 2);
  return mean * 3 / 4 + Duration::nanoseconds(static_cast<int64_t>(rng_.below(spread + 1)));
}

// Periods follow each other whether or not packets arrive, so the first packet meets any point of
// one. Those without a packet have neither marks nor trims.
void CoreRate::judge_until(Instant now) {
  if (judged_next_ == Instant::zero()) {
    const auto all = static_cast<uint64_t>(period().ns());
    judged_next_ = now + Duration::nanoseconds(static_cast<int64_t>(rng_.below(all)));
  }
  for (int i = 0; now >= judged_next_ && i < kPeriodsMax; ++i) {
    judge();
    judged_next_ = judged_next_ + period();
  }
  if (now >= judged_next_) judged_next_ = now + period();
}

void CoreRate::on_received(const Received& e) {
  if (!is_on_) return;
  judge_until(e.at);
  ++packets_;
  if (e.trimmed || e.trimmed_lasthop) {
    ++trimmed_;
    if (!e.trimmed_lasthop) ++trimmed_core_;
  } else if (e.ce) {
    ++marked_;
  }
}

void CoreRate::judge() {
  const uint32_t whole = packets_ - trimmed_;
  const auto share = [](uint32_t part, uint32_t of) {
    return of == 0 ? 0 : static_cast<uint32_t>((uint64_t{part} << 16) / of);
  };
  mean_q16_ = (mean_q16_ + share(marked_, whole)) / 2;
  const uint32_t lost = share(trimmed_core_, packets_);
  uint32_t rate = rate_q16_ - std::min(rate_q16_, lost);
  const bool is_marked = mean_q16_ > kMarksFree;
  if (is_marked) {
    rate = static_cast<uint32_t>(uint64_t{rate} * (kOne - (mean_q16_ - kMarksFree) / 2) >> 16);
  }
  if (lost == 0 && !is_marked) {
    rate += marked_ == 0 ? kStep << std::min(rises_, kRisesMax) : kStep;
    ++rises_;
  } else {
    rises_ = 0;
  }
  rate_q16_ = std::clamp(rate, rate_min_q16_, kOne);
  packets_ = marked_ = trimmed_ = trimmed_core_ = 0;
}

}  // namespace uet::cms
