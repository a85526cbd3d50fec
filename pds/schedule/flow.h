// The state of initiators per key: a Flow is one stream of messages (peer, class, mode, JobID) with
// the PDCs that serve it, if its mode has any; a Context is the congestion context that all PDCs
// toward one (peer, class) share. [PDS-013, PDS 19.3]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/pdc/peer_table.h"
#include "pds/schedule/backlog.h"
#include "pds/schedule/context_facts.h"
#include "pds/tx/news.h"

#include "cms/ccc.h"
#include "cms/context_entropy.h"

#include "base/hash.h"
#include "base/intrusive_list.h"
#include "base/slab.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace uet::pds {

struct RudiDestination;

// A congestion context: sprayed PDCs of one (peer, class) share it, single-path ones by their lane.
// [CMS-001 .. CMS-004]
struct ContextKey {
  PeerId peer;
  TrafficClass tc;
  bool is_sprayed = true;  // RUD [CMS-003]
  uint8_t lane = 0;        // ROD: different flows get different contexts [CMS-004]
  bool operator==(const ContextKey&) const = default;
};
inline uint64_t hash_of(const ContextKey& k, uint64_t seed) {
  const uint32_t kind = uint32_t{k.lane} << 1 | (k.is_sprayed ? 1 : 0);
  return hash64(k.peer.value(), uint64_t{kind} << 8 | k.tc.value(), seed);
}

struct Flow;
struct ContextFlowTag;

inline constexpr uint8_t kContextTimer = 2;  // TimerNode::kind()

// All reports about a PDC to congestion control go through here, so that the PDC's own sum (Heard)
// and that of the context stay in step. [CMS-005]
struct Context : ListNode<struct OpenContextTag> {
  static constexpr uint32_t kHotBytes = 256;  // that nearly every packet touches
  static constexpr uint8_t kEchoes = 8;       // true ones in a row show that the peer echoes

  // single: its number among single-path contexts, or nothing. `senders`: the contexts of this FEP
  // that have something that they may send.
  Context(ContextKey k, const cms::Config& config, std::optional<uint32_t> single, Rng& rng,
          uint32_t& senders)
      : key(k), ccc(config), ev(config, single, rng), backlog(senders) {}

  // The window has room for `bytes` octets, and pacing allows them now. [CMS-013]
  bool may_send(uint32_t bytes, Instant now, bool takes_no_credit = false) const {
    return is_admitted(bytes, takes_no_credit) && now >= ccc.earliest_send();
  }
  // What admits packets has changed. A context that is held back does not count as a sender.
  // [CMS-126]
  void note_room() {
    if (ccc.has_credit()) backlog.set_held(!is_admitted(limits.packet_bytes_max));
  }
  // The same as may_send() apart from pacing.
  bool is_admitted(uint32_t bytes, bool takes_no_credit = false) const {
    return has_room(bytes) && ccc.may_send(bytes, takes_no_credit);
  }
  // The memory shared with the peer has room for these octets, or is empty. [decision 21]
  bool has_room(uint32_t bytes) const {
    return ccc.inflight_bytes() + bytes <= limits.room_bytes || ccc.inflight_bytes() == 0;
  }
  // The largest packet, when it leaves now, should ask for an ACK. See Ccc::wants_ack().
  bool wants_ack(uint32_t ack_gen_trigger) const {
    const uint32_t bytes = limits.packet_bytes_max;
    return !has_room(2 * bytes) || ccc.wants_ack(bytes, ack_gen_trigger);
  }
  void on_sent(Pdc& pdc, const cms::Sent& sent) {
    pdc.heard.on_sent(sent.bytes);
    ccc.on_sent(sent);
    note_room();
  }
  void on_acked(const AckNews& news) {
    const cms::Acked& acked = news.acked;
    ccc.on_acked(acked);
    tally.marks.add(acked.ecn);
    if (acked.rtt_valid) {
      tally.last_rtt_ns = static_cast<uint32_t>(std::clamp<int64_t>(acked.rtt.ns(), 0, UINT32_MAX));
      ev.on_rtt(acked.rtt);
    }
    if (!acked.ev_valid) return;
    on_feedback(acked.ev, acked.ecn ? cms::PathFeedback::ecn : cms::PathFeedback::good, acked.at);
  }
  // See Ccc::on_lost().
  bool on_lost(Pdc& pdc, const LossNews& news) {
    const TxSlot& packet = *news.packet;
    pdc.heard.on_gone(packet.bytes);
    const bool is_paid = ccc.on_lost(
        {packet.bytes, 1, news.kind, packet.ev, news.at, news.rtt, news.rtt_valid, news.ecn});
    if (news.kind == cms::LossKind::timeout) {
      on_feedback(packet.ev, cms::PathFeedback::timeout, news.at);
    } else if (news.kind == cms::LossKind::trimmed) {
      on_feedback(packet.ev, cms::PathFeedback::trimmed, news.at);
    }
    return is_paid;
  }
  // A packet that is lost is to be sent again; or it was, has arrived, or is given up. These change
  // Losses and the backlog together. [CMS-018 .. CMS-021]
  void mark(Pdc& pdc, TxSlot& slot, Psn psn, LossSign sign) {
    pdc.losses.mark(slot, psn, sign);
    if (slot.kind != SlotKind::data) return;  // takes no credit [CMS-193]
    backlog.mark(slot.bytes);
    // While the PDC is in SYN, and no answer is under way, one of its packets is repeated.
    ccc.on_resend_wanted(pdc.state() != PdcState::syn || ccc.inflight_bytes() != 0);
  }
  void unmark(Pdc& pdc, TxSlot& slot) {
    forget_mark(slot);
    pdc.losses.unmark(slot);
  }
  void clear_marks(Pdc& pdc, TxSlot& slot) {
    forget_mark(slot);
    pdc.losses.clear_marks(slot);
  }
  // It counts as lost no more: no answer has shown that it is [PDS-254], or it has arrived without
  // being sent again. What an inferred loss took from the window is given back. [CMS-194]
  void on_still_in_flight(Pdc& pdc, const TxSlot& slot, Instant now) {
    pdc.heard.on_still_in_flight(slot.bytes);
    ccc.on_still_in_flight(slot.bytes, slot.ev, now, slot.state.is_refundable());
  }
  void forget_mark(const TxSlot& slot) {
    if (slot.state.is_lost() && slot.kind == SlotKind::data) backlog.unmark(slot.bytes);
  }
  // See Ccc::on_forgotten().
  void on_forgotten(Pdc& pdc, uint32_t bytes) {
    pdc.heard.on_gone(bytes);
    ccc.on_forgotten(bytes);
  }
  // Nothing of the PDC is in flight.
  void correct_inflight(Pdc& pdc) {
    if (const int32_t rest = pdc.heard.take_rest(); rest != 0) ccc.correct_inflight(rest);
  }
  void note_base_rtt(Duration rtt) {
    base_rtt.is_known = true;
    ccc.note_base_rtt(rtt);
  }
  // The measured base RTT stays for later contexts. [CMS-008]
  void remember_base_rtt(Peer& peer) const {
    const cms::Nscc* const nscc = ccc.nscc();
    if (nscc == nullptr || !base_rtt.is_known) return;
    peer.base_rtt_ns = static_cast<uint32_t>(nscc->base_rtt().ns());
    peer.base_rtt_ms = base_rtt.since_ms;
  }
  // The octets for which credit is needed. A waiting PDC needs at least a packet, even if less was
  // announced.
  cms::CreditNeed need() const {
    cms::CreditNeed need{backlog.new_bytes(), backlog.resend_bytes()};
    if (need.none() && is_wanted()) need.backlog_bytes = limits.packet_bytes_max;
    need.senders = backlog.senders();
    return need;
  }
  // PDCs wait for the window.
  bool is_wanted() const { return !blocked.empty() || !sated.empty(); }
  // A result about an EV. [CMS-023]
  void on_feedback(Entropy about, cms::PathFeedback feedback, Instant now) {
    const bool is_sent = ev.on_feedback(about, feedback, now);
    UET_ASSERT(is_sent);  // the record of a packet says so, never its answer
  }
  // Whether the EV of an answer is neither that of the packet that it names nor another one of this
  // context, though the peer echoes EVs: not every backend can. Such an EV is only counted.
  // [PDS-070]
  bool is_strange(Entropy echoed, Entropy sent) {
    if (echoed == sent) {
      if (tally.echoes < kEchoes) ++tally.echoes;
      return false;
    }
    if (ev.has(echoed)) return false;
    const bool is_known_to_echo = tally.echoes == kEchoes;
    if (!is_known_to_echo) tally.echoes = 0;
    if (is_known_to_echo) ++tally.strange_evs;
    return is_known_to_echo;
  }
  // The EV of the next packet of a PDC in order. is_first: the PDC has nothing outstanding before
  // it. Other PDCs of the context may have packets outstanding, if there are more ordered flows
  // than lanes. [CMS-150, PDS-004]
  Entropy ordered_ev(bool is_first, Instant now) {
    if (is_first && ccc.inflight_bytes() == 0 && backlog.resend_bytes() == 0) ev.on_idle();
    return ev.next(now);
  }

  ContextKey key;
  Context* next_of_peer = nullptr;  // the list begins at Peer::first_context; Contexts keeps it
  uint32_t refs = 0;
  BaseRttNews base_rtt;
  uint8_t ccc_id = 0;  // no other context toward its peer has it [CMS-006]
  ContextLimits limits;
  ContextTally tally;
  TimerNode timer{kContextTimer};  // armed while pacing or missing credit holds it back
  cms::Ccc ccc;
  cms::ContextEntropy ev;
  Backlog backlog;
  // PDCs that wait for the window of `ccc`: those that could send nothing in their last turn, in
  // the order they came, and behind them those that used up the window.
  IntrusiveList<Pdc, SendTag> blocked;
  IntrusiveList<Pdc, SendTag> sated;
  IntrusiveList<Flow, ContextFlowTag> flows;  // all that use it
};

struct FlowKey {
  PeerId peer;
  TrafficClass tc;
  Mode mode = Mode::rud;
  JobId job;
  uint32_t sdi = 0;  // secure domain; 0: none
  bool operator==(const FlowKey&) const = default;
};
inline uint64_t hash_of(const FlowKey& k, uint64_t seed) {
  return hash64(uint64_t{k.peer.value()} << 32 | k.job.value(),
                uint64_t{k.sdi} << 16 | uint64_t{k.tc.value()} << 8 | static_cast<uint64_t>(k.mode),
                seed);
}

struct Flow : ListNode<struct ReadyFlowTag>,
              ListNode<struct ReleasedFlowTag>,
              ListNode<ContextFlowTag> {
  explicit Flow(FlowKey k) : key(k) {}

  FlowKey key;
  FlowId id;
  Context* context = nullptr;  // none without PDCs
  bool ready = false;          // start() may have a message
  bool is_released = false;    // its client is done with it: gone with its last PDC [PDS-247]
  // In the order of the last use; closing ones included.
  IntrusiveList<Pdc, FlowPdcTag> pdcs;
  uint32_t pdc_count = 0;
  // RUDI: the destination, and the message whose packets are being sent.
  RudiDestination* rudi = nullptr;
  MessageHandle message;

  // It waits for a PDC, or for its turn.
  bool is_queued() const { return static_cast<const ListNode<ReadyFlowTag>&>(*this).is_linked(); }
};

}  // namespace uet::pds
