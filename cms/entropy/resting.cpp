// RestingEntropy: penalties, the round trip of rest, exclusion.
#include "cms/entropy/resting.h"

namespace uet::cms {

RestingEntropy::RestingEntropy(const Config& config, uint32_t size)
    : marks_(config.base_rtt),
      probe_interval_(config.entropy.probe_interval),
      size_(static_cast<uint16_t>(size)),
      by_{0, config.entropy.penalty_ecn, config.entropy.penalty_nack,
          config.entropy.penalty_timeout},
      max_(config.entropy.penalty_max),
      saturation_percent_(config.entropy.saturation_percent),
      after_loss_(config.entropy.after_loss) {
  UET_ASSERT(size >= 1 && size <= kTrackedEntropyMax);
  max_ = std::min<uint8_t>(max_, after_loss_ == AfterLoss::exclude ? kExcluded - 1 : kExcluded);
}

void RestingEntropy::on_feedback(uint32_t index, PathFeedback feedback, Instant now) {
  UET_ASSERT(index < size_);
  on_time(now);
  switch (feedback) {
    case PathFeedback::good:
      if (!is_excluded(index)) return;  // the penalty falls as other EVs are used
      set_penalty(index, 0);            // the probe arrived [CMS-155]
      --excluded_;
      return;
    case PathFeedback::timeout:
      if (after_loss_ == AfterLoss::nothing) return;
      if (after_loss_ == AfterLoss::exclude) return exclude(index, now);
      break;
    case PathFeedback::ecn:
    case PathFeedback::trimmed:
      break;
  }
  raise(index, by_[static_cast<size_t>(feedback)]);
}

void RestingEntropy::pass(uint32_t index) {
  const uint32_t now = penalty(index);
  if (now == 0 || is_excluded(index) || marks_.has(index)) return;
  set_penalty(index, now - 1);
  if (now == 1) --penalised_;
}

void RestingEntropy::set_penalty(uint32_t index, uint32_t penalty) {
  uint8_t& both = penalties_[index / 2];
  const uint32_t shift = index % 2 * 4;
  both = static_cast<uint8_t>((both & ~(15u << shift)) | penalty << shift);
}

void RestingEntropy::raise(uint32_t index, uint32_t by) {
  const uint32_t before = penalty(index);
  const uint32_t after = std::min<uint32_t>(before + by, max_);
  if (by == 0 || after == 0 || is_excluded(index)) return;
  if (before == 0) ++penalised_;
  set_penalty(index, after);
  marks_.add(index);
}

void RestingEntropy::exclude(uint32_t index, Instant now) {
  if (is_excluded(index)) return;
  if (penalty(index) != 0) --penalised_;
  if (excluded_++ == 0) probe_at_ = now + probe_interval_;
  set_penalty(index, kExcluded);
}

}  // namespace uet::cms
