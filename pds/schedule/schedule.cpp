// The lists, and which of them a PDC belongs to.
#include "pds/schedule/schedule.h"

#include "pds/tx/may_send.h"

#include <algorithm>

namespace uet::pds {

namespace {

// A Credit Request CP may leave on it: the peer takes none on a PDC that it does not know yet, and
// an initiator knows it from the first ACK on, which may be lost. [PDS-162]
bool may_ask_for_credit(const Pdc& pdc) {
  if (pdc.state() == PdcState::syn || pdc.state() == PdcState::pending) return false;
  return !pdc.life.has_failed() && (pdc.is_initiator() || pdc.proof.is_confirmed());
}

// The first few PDCs that may ask for credit.
struct Candidates {
  static constexpr uint32_t kMost = 8;

  template <class List, class Wanted>
  void add_all(List& list, Wanted&& is_wanted) {
    for (Pdc& pdc : list) {
      if (count == kMost) return;
      if (is_wanted(pdc) && may_ask_for_credit(pdc)) pdcs[count++] = &pdc;
    }
  }
  template <class List>
  void add_all(List& list) {
    add_all(list, [](const Pdc&) { return true; });
  }

  Pdc* pdcs[kMost];
  uint32_t count = 0;
};

// A PDC of the context on which a Credit Request may leave; PDCs that wait go first. It is drawn at
// random, because the peer may have lost one of them. Null: none may ask.
Pdc* pdc_to_ask_on(Context& context, Rng& rng) {
  Candidates found;
  for (auto* const list : {&context.blocked, &context.sated}) found.add_all(*list);
  for (Flow& flow : context.flows) found.add_all(flow.pdcs);
  return found.count == 0 ? nullptr : found.pdcs[rng.below(found.count)];
}

// Asks for the last ACK on PDCs whose cells were not granted again: that ACK may be lost. If no
// request is answered, one packet goes without cells, unless a ROD packet is outstanding: it keeps
// its cells, which explains the missing credit. [CMS-129, CMS-147]
void ask_for_cells(Schedule& schedule, Resources& res, Context& context, Instant now) {
  cms::TfcSource& cells = *context.ccc.cells();
  cells.on_requested(now);
  bool is_explained = context.ccc.inflight_bytes() != 0;
  const auto is_owed = [&](const Pdc& pdc) {
    const bool is = res.cells.is_owed(pdc);
    is_explained = is_explained || (is && pdc.mode == Mode::rod && !pdc.tx.empty());
    return is;
  };
  Candidates found;
  for (auto* const list : {&context.blocked, &context.sated}) found.add_all(*list, is_owed);
  for (Flow& flow : context.flows) found.add_all(flow.pdcs, is_owed);
  for (uint32_t i = 0; i < found.count; ++i) {
    found.pdcs[i]->asking.want_credit();
    schedule.want_control(*found.pdcs[i]);
  }
  if (!cells.is_unanswered() || is_explained) return;
  res.counters.add(Count::credit_on_trust);
  cells.on_unanswered();
  schedule.wake_context(context);
}

}  // namespace

void Schedule::wait_for_cms(Context& context, Instant now) {
  Instant at = context.ccc.earliest_send();
  if (at <= now) at = Instant::never();
  if (context.ccc.has_credit()) {
    if (context.ccc.credit_deadline(context.need(), now) <= now) ask_for_credit(context, now);
    at = std::min(at, context.ccc.credit_deadline(context.need(), now));
  } else if (cms::TfcSource* const cells = context.ccc.cells();
             cells != nullptr && !cells->may_send(context.limits.packet_bytes_max)) {
    cells->on_waiting(now);
    if (cells->deadline() <= now) {
      is_credit_wanted_ = true;
      ask_for_cells(*this, res_, context, now);
    }
    at = std::min(at, cells->deadline());
  }
  if (at.is_never() || (context.timer.is_armed() && context.timer.deadline() <= at)) return;
  wheel_.arm(context.timer, at);
}

void Schedule::resume(Context& context, Instant now) {
  const Instant since = std::exchange(context.base_rtt.idle_since, Instant::never());
  cms::Nscc* const nscc = context.ccc.nscc();
  if (since > now - res_.cms.idle_time || nscc == nullptr) return;
  Peer& peer = res_.peers[context.key.peer];
  context.remember_base_rtt(peer);
  const auto now_ms = static_cast<uint32_t>(now.ns() / 1'000'000);
  if (now_ms - peer.base_rtt_ms >= res_.cms.base_rtt_time.ms()) peer.base_rtt_ns = 0;
  context.base_rtt.is_known = context.base_rtt.is_asked = false;
  context.base_rtt.since_ms = peer.base_rtt_ns != 0 ? peer.base_rtt_ms : now_ms;
  // Credit stays: the destination has its half of that. [CMS-119]
  nscc->begin_anew(Duration::nanoseconds(peer.base_rtt_ns));
}

void Schedule::release_timer(Context& context) {
  if (context.is_wanted() || !context.timer.is_armed()) return;
  cancel(context);
  if (cms::CreditSource* const credit = context.ccc.credit()) credit->on_nothing_waits();
  if (cms::TfcSource* const cells = context.ccc.cells()) cells->on_nothing_waits();
}

// In a control packet, or in an ACK. [PDS 13, PDS 19.3, T-33]
void Schedule::on_credit(Pdc& pdc, uint32_t credit, Instant now) {
  pdc.asking.note_credit_answered();
  const cms::Credit news{credit, now};
  switch (res_.cells.is_on() ? res_.cells.on_credit(pdc, news) : pdc.context->ccc.on_credit(news)) {
    case cms::CreditNews::old:
      return res_.counters.add(Count::credit_old);
    case cms::CreditNews::impossible:
      return res_.counters.add(Count::credit_impossible);
    case cms::CreditNews::unused:
      return res_.counters.add(Count::credit_unused);
    case cms::CreditNews::clamped:
      res_.counters.add(Count::credit_clamped);
      break;
    case cms::CreditNews::taken:
      break;
  }
  wake_context(*pdc.context);
}

// Asks on one PDC. If no PDC may ask, or requests go unanswered, the source sends one packet
// without credit once nothing is in flight: a peer that has lost the PDC answers data with a NACK
// that ends it. [CMS-128, CMS-129]
void Schedule::ask_for_credit(Context& context, Instant now) {
  Pdc* const pdc = pdc_to_ask_on(context, res_.rng);
  if (pdc != nullptr) (void)context.ccc.credit_target(context.need());  // counts as sent
  cms::CreditSource& credit = *context.ccc.credit();
  credit.on_requested(now);
  is_credit_wanted_ = true;
  if (pdc != nullptr) {
    pdc->asking.want_credit();
    want_control(*pdc);
    if (!credit.is_unanswered()) return;
  }
  if (context.ccc.inflight_bytes() != 0) return;
  res_.counters.add(Count::credit_on_trust);
  credit.on_unanswered();
  wake_context(context);
}

void Schedule::arm_by(Pdc& pdc, Instant deadline) {
  if (!pdc.timer.is_armed() || deadline < pdc.timer.deadline()) wheel_.arm(pdc.timer, deadline);
}

void Schedule::want_control(Pdc& pdc, bool may_wait) {
  if (!may_wait) is_control_pressing_ = true;
  ListNode<ControlTag>& node = pdc;
  if (!node.is_linked()) control_.push_back(pdc);
}

void Schedule::arm_if_held(Pdc& pdc, Instant now) {
  if (!pdc.tx.empty() && is_held(pdc)) arm_by(pdc, now + tail_wait(res_, pdc));
}

void Schedule::wake_flow(Flow& flow) {
  if (!flow.is_queued()) ready_.push_back(flow);
}

// Puts the PDC where it gets a turn, if it has anything to send and is not waiting already.
void Schedule::want_send(Pdc& pdc) {
  const ListNode<SendTag>& node = pdc;
  if (node.is_linked() || is_held_by_gap(res_, pdc)) return;
  if (pdc.is_unverified() && !may_send_unproven(res_, pdc)) return;  // Demux, confirm() retry
  const bool is_new = has_new(pdc);
  if (pdc.losses.has_lost()) {
    resend_.push_back(pdc);
  } else if (is_new && window_open(res_, pdc)) {
    send_.push_back(pdc);
  } else if (is_new) {
    res_.counters.add(Count::window_stalls);  // an ACK brings it back, see probe_window()
  }
}

// CMS may have room again. O(1), however many PDCs wait. [PDS-244]
void Schedule::wake_context(Context& context) {
  const ListNode<OpenContextTag>& node = context;
  context.note_room();
  if (!context.is_wanted()) return release_timer(context);
  if (!node.is_linked()) open_contexts_.push_back(context);
}

}  // namespace uet::pds
