// Copies of PDCs and contexts as tools show them.
#include "pds/pdc/snapshots.h"

#include "pds/schedule/flow.h"

namespace uet::pds {

namespace {

// An operation waits on this PDC.
bool is_busy(const Pdc& pdc) {
  return !pdc.tx.empty() || pdc.responses.awaited() != 0 || !pdc.messages.empty() ||
         pdc.state() == PdcState::quiesce || pdc.state() == PdcState::ack_wait ||
         pdc.state() == PdcState::close_ack_wait;
}

void copy_sender(Pdc& pdc, PdcSnapshot& s, Instant now) {
  s.tx_base = pdc.tx.base();
  s.tx_next = pdc.tx.next();
  s.lost = pdc.losses.lost();
  s.mp_range = pdc.range.packets();
  s.has_message = pdc.messages.has_current();
  if (pdc.context != nullptr) {
    s.tc = pdc.context->key.tc;
    s.window_bytes = pdc.context->ccc.window_bytes();
    s.inflight_bytes = pdc.context->ccc.inflight_bytes();
  }
  if (const TxSlot* const oldest = pdc.tx.find(pdc.tx.base()); oldest != nullptr) {
    s.oldest_age = oldest->sent_for(now);
    s.oldest_resends = oldest->state.timeouts();
    s.oldest_nacks = oldest->state.refusals();
    s.waiting = now - pdc.waiting.since();
  }
  if (pdc.waiting.is_refused()) s.refused = now - pdc.waiting.refused_since();
}

PdcSnapshot copy_of(Pdc& pdc, const FabricAddress& peer, Instant now) {
  PdcSnapshot s;
  s.id = pdc.id;
  s.peer_id = pdc.peer_id;
  s.peer = peer;
  s.state = pdc.state();
  s.mode = pdc.mode;
  s.is_initiator = pdc.is_initiator();
  s.close_asked = pdc.life.close_asked();
  copy_sender(pdc, s, now);
  s.rx_cack = pdc.rx.cack_psn();
  s.rx_max = pdc.rx.max_received();
  s.out_of_order = pdc.rx.out_of_order();
  s.stored = pdc.responses.stored();
  s.verdicts = pdc.responses.awaited();
  s.round_trip = pdc.rtt.smoothed();
  s.silent = now - pdc.last_active;
  if (pdc.timer.is_armed()) s.timer = pdc.timer.deadline() - now;
  return s;
}

ContextSnapshot copy_of(const Context& context, const FabricAddress& peer) {
  ContextSnapshot s;
  s.peer = peer;
  s.tc = context.key.tc;
  s.is_sprayed = context.key.is_sprayed;
  s.lane = context.key.lane;
  s.algorithm = context.ccc.algorithm();
  const bool by_credit_alone =
      s.algorithm == cms::Algorithm::rccc || s.algorithm == cms::Algorithm::tfc;
  if (!by_credit_alone) s.window_bytes = context.ccc.window_bytes();
  s.inflight_bytes = context.ccc.inflight_bytes();
  s.backlog_bytes = context.backlog.new_bytes();
  s.resend_bytes = context.backlog.resend_bytes();
  s.is_held_back = context.is_wanted();
  if (by_credit_alone || context.ccc.has_credit()) s.credit_bytes = context.ccc.credit_bytes();
  s.last_rtt = Duration::nanoseconds(context.tally.last_rtt_ns);
  if (s.last_rtt != Duration::zero()) s.rtt = context.ev.smoothed_rtt();
  s.base_rtt = context.ccc.base_rtt();
  s.acks = context.tally.marks.acks();
  s.marked = context.tally.marks.marked();
  s.recent_ecn_permille = context.tally.marks.recent_permille();
  s.strange_evs = context.tally.strange_evs;
  const cms::EntropySelector* const sprayed = context.ev.selector();
  s.evs = sprayed != nullptr ? sprayed->size() : 1;
  if (sprayed != nullptr) {
    s.evs_resting = sprayed->penalised();
    s.evs_excluded = sprayed->excluded();
  }
  return s;
}

}  // namespace

ContextPage copy_contexts(Contexts& contexts, const PeerTable& peers,
                          std::span<ContextSnapshot> out, uint32_t from) {
  ContextPage page;
  page.count = contexts.size();
  contexts.for_each([&](const Context& context) {
    const uint32_t index = contexts.index_of(context);
    if (index < from || page.next) return;
    if (page.listed == out.size()) {
      page.next = index;
      return;
    }
    out[page.listed++] = copy_of(context, peers[context.key.peer].address);
  });
  return page;
}

uint32_t copy_pdcs(PdcTable& table, const PeerTable& peers, std::span<PdcSnapshot> out,
                   Instant now) {
  size_t count = 0;
  for (const bool busy : {true, false}) {
    table.for_each([&](Pdc& pdc) {
      if (count == out.size() || is_busy(pdc) != busy) return;
      out[count++] = copy_of(pdc, peers[pdc.peer].address, now);
    });
  }
  return static_cast<uint32_t>(count);
}

}  // namespace uet::pds
