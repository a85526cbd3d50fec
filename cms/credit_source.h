// RCCC at the source: the credit that one destination has granted, the rest of it, and the demand
// for more. Integer arithmetic; no heap, no clock. [cms.md 5.2]
#pragma once

#include "cms/config.h"
#include "cms/credit.h"
#include "cms/events.h"

#include <algorithm>
#include <cstdint>

namespace uet::cms {

// Without credit.timeout in the configuration: a quarter of the first RTO, or 4 base RTTs if that
// is longer. [CMS-129]
inline Duration credit_timeout(const Config& c) {
  constexpr Duration kQuarterOfRto = Duration::microseconds(250);  // of 1 ms, RTO_Init of `spec`
  if (c.credit.timeout > Duration::zero()) return c.credit.timeout;
  return std::max(kQuarterOfRto, c.base_rtt * 4);
}

// Octets of credit that a source may hold, and wait for: at most a window, and less than half of
// what 24 bits distinguish. [CMS-118, CMS-125, CMS-126]
inline uint64_t credit_window_bytes(const Config& c) {
  const uint64_t by_delay = c.bdp_bytes() * c.credit.window_max_permille / 1000;
  const uint64_t window = std::min<uint64_t>(by_delay, c.window_bytes_max);
  return std::clamp<uint64_t>(window, c.mtu_bytes, uint64_t{1} << 30);
}

// Octets that go out before the first grant. [CMS-121]
inline uint64_t first_credit_bytes(const Config& c) {
  const uint64_t by_delay = c.bdp_bytes() * c.credit.first_permille / 1000;
  const uint64_t first = c.start_slowly ? std::min(by_delay, c.first_window_bytes()) : by_delay;
  return std::min(std::max<uint64_t>(first, c.mtu_bytes), credit_window_bytes(c));
}

// The octets that a context has to send.
struct CreditNeed {
  static constexpr uint64_t kNoLimit = UINT64_MAX;

  uint64_t backlog_bytes = 0;        // handed down and not sent [CMS-014]
  uint64_t resend_bytes = 0;         // marked for retransmission
  uint64_t window_limit = kNoLimit;  // cwnd + MTU where NSCC is on, too [CMS-143]
  uint32_t senders = 1;              // contexts of this FEP with data that they may send
  bool none() const { return backlog_bytes == 0 && resend_bytes == 0; }
};

class CreditSource {
 public:
  explicit CreditSource(const Config& config);

  // Any credit admits a packet. [CMS-123]
  bool may_send() const { return credit_ > 0; }
  // Nominal octets; also of packets sent again. [CMS-124]
  void on_sent(uint32_t bytes) { credit_ -= bytes; }
  // Any ACK or NACK. The first one ends the initial credit and cancels its unused part. [CMS-122]
  void on_feedback();
  // A Credit CP or an ACK with credit. `old` credit and credit above a window change nothing but
  // the return value. [CMS-125, T-33]
  CreditNews on_credit(const Credit& e);
  // A NACK, or a detected loss, after the packet was marked for retransmission. Without credit: an
  // established PDC asks for some; a destination refuses such a request on any other PDC, so the
  // source grants itself a packet. [CMS-128]
  void on_lost(bool is_established);
  // A PDC is established at the destination, which may not have trusted earlier demands: without
  // credit the demand is repeated. [T-34]
  void on_established() { is_untold_ = credit_ <= 0; }
  // No PDC can ask for credit at the moment, or no request is answered: the source grants itself a
  // packet. [CMS-128, CMS-129]
  void on_unanswered() { on_lost(false); }

  // Call when what waits has changed and at `deadline()`, so that it is asked for though no packet
  // carries it. O(1). [CMS-127, CMS-129]
  void on_need(const CreditNeed& need, Instant now);
  // The same: nothing waits for credit any more.
  void on_nothing_waits() { on_need({}, Instant::zero()); }
  // A Credit Request CP is due. Then send one with `target()`, and call on_requested.
  bool wants_request(Instant now) const { return now >= deadline(); }
  void on_requested(Instant now);
  // The timer has doubled as far as it may, and no credit came. [CMS-129]
  bool is_unanswered() const { return backoff_ == kBackoffMax; }
  // never() while no request is to be sent.
  Instant deadline() const;

  // The credit_target for a request packet or a Credit Request CP that leaves now: 24 bits, at
  // least the one that was sent before. [CMS-126]
  uint32_t target(const CreditNeed& need);
  // The last target that was sent.
  uint32_t told() const { return target_; }

  int64_t credit_bytes() const { return credit_; }
  uint64_t window_bytes() const { return window_; }
  uint32_t mtu_bytes() const { return mtu_; }
  bool is_speculating() const { return is_speculating_; }

 private:
  static constexpr uint8_t kBackoffMax = 16;

  uint32_t wanted(const CreditNeed& need) const;
  Instant timer() const { return quiet_since_ + timeout_ * backoff_; }

  int64_t credit_;        // octets; below zero by less than a packet [CMS-120]
  uint32_t window_;       // octets: MaxWnd
  uint32_t mtu_;          // octets
  uint32_t granted_ = 0;  // last credit seen [CMS-119]
  uint32_t target_ = 0;   // last one sent
  Duration base_rtt_;
  Duration timeout_;
  Instant quiet_since_;   // when credit came last, or was waited for first
  Instant requested_at_;  // zero: never
  uint8_t backoff_ = 1;   // times the timeout; doubles with each request of the timer
  bool is_speculating_ = true;
  bool is_blocked_ = false;  // data waited without credit at the last call that reported demand
  bool is_untold_ = false;   // the demand has grown since it was sent, or a loss is to be reported
};
static_assert(AsksForCredit<CreditSource>);

}  // namespace uet::cms
