// Congestion control context: how much may be in flight toward one (peer, class, sprayed or single
// path), and when. One class for all algorithms; integer arithmetic, no heap, no virtual call. PDS
// chooses the packet, this class decides when and how much. [CMS-001 .. CMS-004]
#pragma once

#include "cms/aimd_window.h"
#include "cms/config.h"
#include "cms/credit_source.h"
#include "cms/events.h"
#include "cms/fixed_window.h"
#include "cms/nscc.h"
#include "cms/pacer.h"
#include "cms/tfc.h"

#include "base/assert.h"

#include <variant>

namespace uet::cms {

// Credit of a receiver: RCCC, TFC, or none.
using GrantedCredit = std::variant<std::monostate, CreditSource, TfcSource>;

// There is some, and it admits a packet of that size.
[[gnu::noinline]] bool is_granted(const GrantedCredit& credit, uint32_t bytes);

class Ccc {
 public:
  explicit Ccc(const Config& config);

  // Window and credit admit a packet of that size now. With nothing in flight the window always
  // admits one, whatever its size: no window can stall a sender for good. [CMS-013, CMS-142]
  // Control packets take no credit, and resends that have theirs no other. [CMS-193, CMS-147]
  bool may_send(uint32_t bytes, bool takes_no_credit = false) const {
    if (credit_.index() != 0 && !takes_no_credit && !is_granted(credit_, bytes)) return false;
    return outstanding_ == 0 || !has_window() ||
           std::visit([&](const auto& a) { return a.may_send(bytes); }, window_);
  }
  // Pacing: no packet before this instant; zero where nothing is paced.
  Instant earliest_send() const { return pacer_.earliest(); }
  // The packet of that size that leaves now should ask for an ACK: it fills the window, or the
  // window is below the peer's threshold for unrequested ACKs, or it is the last one that credit
  // allows. [CMS-068, PDS-064]
  bool wants_ack(uint32_t bytes, uint32_t ack_gen_trigger) const;

  // Exactly one of on_acked, on_lost and on_forgotten follows each on_sent, for the same octets.
  // on_acked may also come without octets: an RTT, a mark or a report of the peer alone. [PDS-240,
  // CMS-018 .. CMS-021]
  void on_sent(const Sent& e) {
    outstanding_ += e.bytes;
    std::visit([&](auto& a) { a.on_sent(e); }, window_);
    if (CreditSource* const source = credit(); source != nullptr && !e.is_control) {
      source->on_sent(e.bytes);
    }
    if (pacer_.is_on()) pacer_.on_sent(e, window_bytes());
  }
  void on_acked(const Acked& e) {
    leave(e.bytes);
    std::visit([&](auto& a) { a.on_acked(e); }, window_);
    pacer_.on_acked(e);
  }
  // Whether the window gave all of the octets, so that it gets them back if the packet arrives. At
  // its least it gives fewer, or none. [CMS-194]
  bool on_lost(const Lost& e) {
    leave(e.bytes);
    const uint64_t before = window_bytes();
    pacer_.on_lost(e, before, has_credit());
    std::visit([&](auto& a) { a.on_lost(e); }, window_);
    return window_bytes() + e.bytes <= before;
  }
  // Time-outs were early: the packets arrive. The window gets back what the last time-outs took.
  // [CMS-194]
  void on_early_timeouts() {
    std::visit([](auto& a) { a.on_early_timeouts(); }, window_);
  }
  // A packet reported by on_lost() is in flight after all. It takes no credit again; `is_paid`: its
  // loss was inferred, and the window gets back all of its octets. [CMS-194]
  void on_still_in_flight(uint32_t bytes, Entropy ev, Instant now, bool is_paid) {
    outstanding_ += bytes;
    std::visit([&](auto& a) { a.on_sent({bytes, ev, true, now}); }, window_);
    if (Nscc* const law = nscc(); law != nullptr && is_paid) law->on_loss_refuted(bytes);
  }
  // Packets left the network without feedback about the path: their PDC ended, their PSN was given
  // to another packet, they are known to have arrived, or they were too long for the route.
  void on_forgotten(uint32_t bytes) {
    leave(bytes);
    std::visit([&](auto& a) { a.on_forgotten(bytes); }, window_);
  }
  // Nothing of a PDC is in flight any more, and its peer has reported `balance` octets fewer as
  // received than this end sent and did not count as lost; negative: more. [CMS-065]
  void correct_inflight(int32_t balance) {
    if (Nscc* const nscc = std::get_if<Nscc>(&window_)) nscc->correct_inflight(balance);
  }
  // A round trip without a queue takes no longer. [CMS-105, CMS-106]
  void note_base_rtt(Duration rtt) {
    if (Nscc* const nscc = std::get_if<Nscc>(&window_)) nscc->note_base_rtt(rtt);
  }
  // The shortest round trip that was measured, or the configured one of NSCC until a shorter one
  // was. Zero: none is known. For tools.
  Duration base_rtt() const;
  Algorithm algorithm() const;
  // Null where another algorithm is in use.
  const Nscc* nscc() const { return std::get_if<Nscc>(&window_); }
  Nscc* nscc() { return std::get_if<Nscc>(&window_); }

  // RCCC, alone or with a window.
  bool has_credit() const { return std::holds_alternative<CreditSource>(credit_); }
  // Credit that the peer grants; null where none is in use.
  CreditSource* credit() { return std::get_if<CreditSource>(&credit_); }
  // Cells that the peer grants; null where TFC is not in use. [CMS-146]
  TfcSource* cells() { return std::get_if<TfcSource>(&credit_); }
  // Octets that the receiver lets this end send; below zero by less than a packet. Zero where no
  // credit is in use.
  int64_t credit_bytes() const;
  // Credit that the peer grants. Where none is in use it changes nothing. [CMS-022, CMS-125]
  CreditNews on_credit(const Credit& e) {
    return has_credit() ? credit()->on_credit(e) : CreditNews::unused;
  }
  // Any ACK or NACK. [CMS-122]
  void on_feedback() {
    if (CreditSource* const source = credit()) source->on_feedback();
  }
  // A lost packet waits to be sent again. False: no connection can ask for credit. [CMS-128]
  void on_resend_wanted(bool is_established) {
    if (CreditSource* const source = credit()) source->on_lost(is_established);
  }
  // The credit_target for a packet that leaves now. Requires has_credit(). [CMS-126, CMS-143]
  uint32_t credit_target(const CreditNeed& need) { return credit()->target(limited(need)); }
  // When a Credit Request CP for `need` is due; never() if none is to be sent. At that time send it
  // and call on_requested() of credit(). [CMS-127, CMS-129]
  Instant credit_deadline(const CreditNeed& need, Instant now) {
    CreditSource* const source = credit();
    if (source == nullptr) return Instant::never();
    source->on_need(limited(need), now);
    return source->deadline();
  }

  uint64_t window_bytes() const {
    return std::visit([](const auto& a) { return a.window_bytes(); }, window_);
  }
  // Sent, and neither acknowledged nor lost nor forgotten. Octets, where the reference counts
  // packets: zero is zero in both. [CMS-014]
  uint64_t inflight_bytes() const { return outstanding_; }

 private:
  void leave(uint32_t bytes) {
    UET_ASSERT(bytes <= outstanding_);
    outstanding_ -= bytes;
  }

  // False: credit alone decides.
  bool has_window() const { return credit_.index() == 0 || nscc() != nullptr; }
  // No more credit is wanted than the window lets go. [CMS-143]
  CreditNeed limited(CreditNeed need) const {
    if (has_window()) {
      need.window_limit = window_bytes() + std::get_if<CreditSource>(&credit_)->mtu_bytes();
    }
    return need;
  }

  uint64_t outstanding_ = 0;
  std::variant<AimdWindow, FixedWindow, Nscc> window_;
  Pacer pacer_;
  GrantedCredit credit_;
};
static_assert(sizeof(Ccc) <= 384, "decision 15: budget of a congestion context");

}  // namespace uet::cms
