// Congestion control context: how much may be in flight toward one (peer, traffic class). One value
// over the algorithms that exist; integer arithmetic, no heap, no virtual call. PDS decides which
// packet goes, this decides when and how much. [CMS-001, CMS-002]
#pragma once

#include "cms/aimd_window.h"
#include "cms/config.h"
#include "cms/credit.h"
#include "cms/events.h"
#include "cms/fixed_window.h"

#include <variant>

namespace uet::cms {

class Ccc {
 public:
  explicit Ccc(const Config& config);

  // The window admits a packet of that size now. With nothing in flight one packet is always
  // admitted, whatever its size: no window can stall a sender for good.
  bool may_send(uint32_t bytes) const {
    return std::visit([&](const auto& a) { return a.may_send(bytes); }, algorithm_);
  }
  // Pacing: not before this instant. Zero when the algorithm does not pace.
  Instant earliest_send(uint32_t /*bytes*/) const { return Instant::zero(); }

  // Exactly one of on_acked, on_lost and on_forgotten follows each on_sent, for the same octets.
  // on_acked may also come without octets: an RTT or a mark alone. [PDS-240]
  void on_sent(const Sent& e) {
    std::visit([&](auto& a) { a.on_sent(e); }, algorithm_);
  }
  void on_acked(const Acked& e) {
    std::visit([&](auto& a) { a.on_acked(e); }, algorithm_);
  }
  void on_lost(const Lost& e) {
    std::visit([&](auto& a) { a.on_lost(e); }, algorithm_);
  }
  // What was in flight is gone without a verdict on the path: its PDC ended, its PSN was given
  // anew, it is known to have arrived, or it was too long for the route.
  void on_forgotten(uint32_t bytes) {
    std::visit([&](auto& a) { a.on_forgotten(bytes); }, algorithm_);
  }

  // Kept for an algorithm that works by credit; those here do not. [CMS-022]
  CreditNews on_credit(const Credit& e) { return credit_.on_credit(e, window_bytes_max()); }
  uint64_t unspent_credit_bytes() const { return credit_.unspent_bytes(); }
  // What ACKs of this end carry for the source. [CMS-039]
  Feedback feedback() const { return {}; }

  uint64_t window_bytes() const {
    return std::visit([](const auto& a) { return a.window_bytes(); }, algorithm_);
  }
  uint64_t window_bytes_max() const {
    return std::visit([](const auto& a) { return a.window_bytes_max(); }, algorithm_);
  }
  uint64_t inflight_bytes() const {
    return std::visit([](const auto& a) { return a.inflight_bytes(); }, algorithm_);
  }

 private:
  std::variant<AimdWindow, FixedWindow> algorithm_;
  CreditAccount credit_;
};
static_assert(sizeof(Ccc) <= 192, "decision 15: budget of a congestion context");

}  // namespace uet::cms
