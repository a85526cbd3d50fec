// How much the source asks for, and when it asks again.
#include "cms/credit_source.h"

namespace uet::cms {

CreditSource::CreditSource(const Config& config)
    : credit_(static_cast<int64_t>(first_credit_bytes(config))),
      window_(static_cast<uint32_t>(credit_window_bytes(config))),
      mtu_(config.mtu_bytes),
      base_rtt_(config.base_rtt),
      timeout_(credit_timeout(config)) {}

void CreditSource::on_feedback() {
  if (!is_speculating_) return;
  is_speculating_ = false;
  credit_ = std::min<int64_t>(credit_, 0);
}

CreditNews CreditSource::on_credit(const Credit& e) {
  on_feedback();
  const int32_t ahead = credit_ahead(e.credit, granted_);
  if (ahead < 0) return CreditNews::old;
  if (ahead == 0) return CreditNews::taken;
  granted_ = e.credit & kCreditCounterMask;
  if (credit_ahead(granted_, target_) > 0) target_ = granted_;  // granted without being asked
  const int64_t sum = credit_ + int64_t{kCreditUnitBytes} * ahead;
  const auto window = static_cast<int64_t>(window_);
  credit_ = std::min(sum, window);
  quiet_since_ = e.at;
  backoff_ = 1;
  return sum > window ? CreditNews::clamped : CreditNews::taken;
}

void CreditSource::on_lost(bool is_established) {
  if (credit_ > 0) return;
  if (is_established) {
    is_untold_ = true;
  } else {
    credit_ += mtu_;
  }
}

uint32_t CreditSource::wanted(const CreditNeed& need) const {
  const uint64_t room = std::min<uint64_t>(need.window_limit, window_);
  const uint64_t waiting = std::min(need.backlog_bytes, room);
  const uint64_t sum = waiting + std::min(need.resend_bytes, room - waiting);
  int64_t demand = static_cast<int64_t>(sum) - credit_;
  if (is_speculating_ && need.backlog_bytes > 0) demand = std::max<int64_t>(demand, mtu_);
  demand = std::max<int64_t>(demand, 0) / std::max(need.senders, 1u);
  const int64_t units = (demand + kCreditUnitBytes - 1) / kCreditUnitBytes;
  const uint32_t target = (granted_ + static_cast<uint32_t>(units)) & kCreditCounterMask;
  return credit_ahead(target, target_) > 0 ? target : target_;
}

uint32_t CreditSource::target(const CreditNeed& need) {
  target_ = wanted(need);
  return target_;
}

void CreditSource::on_need(const CreditNeed& need, Instant now) {
  const bool is_blocked = credit_ <= 0 && !need.none();
  if (is_blocked && !is_blocked_) {
    quiet_since_ = now;
    backoff_ = 1;
  }
  is_blocked_ = is_blocked;
  is_untold_ = is_blocked && (is_untold_ || wanted(need) != target_);
}

Instant CreditSource::deadline() const {
  if (!is_blocked_ || credit_ > 0) return Instant::never();
  if (!is_untold_) return timer();
  if (requested_at_ == Instant::zero()) return quiet_since_;
  return std::min(timer(), requested_at_ + base_rtt_);
}

void CreditSource::on_requested(Instant now) {
  if (now >= timer()) backoff_ = std::min(static_cast<uint8_t>(backoff_ * 2), kBackoffMax);
  quiet_since_ = now;
  requested_at_ = now;
  is_untold_ = false;
}

}  // namespace uet::cms
