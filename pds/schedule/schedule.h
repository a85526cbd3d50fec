// Lists of PDCs, contexts and flows that have something to send, and the timers. A part that
// changes a PDC states here what the PDC needs; Turns serves the lists. [PDS-142, PDS-244]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/resources.h"
#include "pds/schedule/flow.h"

#include "base/prefetch.h"
#include "base/timer_wheel.h"

#include <utility>

namespace uet::pds {

// The states of a congestion context. They follow from the lists and the window; no member holds
// them. [CMS-010]
//   IDLE     none of its PDCs waits, nothing is in flight; AckReader notes since when
//   PENDING  none waits, and Ccc::inflight_bytes() is not zero [CMS-011]
//   READY    one of its PDCs is in resend_ or send_, or the context is in open_contexts_
//   ACTIVE   its PDCs are in Context::blocked and Context::sated, and it is not in open_contexts_
// New data makes a context READY before CMS is asked, in the turn of its PDC; the reference has
// ACTIVE first. Where Context::may_send() refuses, Turns makes it ACTIVE [CMS-012]; wake_context()
// makes it READY again, and its turn asks whether CMS lets it go [CMS-013]. What waits for anything
// else, such as the PSN window of its PDC, is in none of these lists.
class Schedule {
 public:
  explicit Schedule(Resources& res) : res_(res) {}

  // The timer of a PDC or of a context.
  template <class Owner>
  void cancel(Owner& owner) {
    wheel_.cancel(owner.timer);
  }
  // Since the last call some PDC began to wait for credit: there may be more to send.
  bool take_credit_wanted() { return std::exchange(is_credit_wanted_, false); }
  // PDCs wait for the context; if its pace holds them back they go on when that is over, and if
  // credit is missing some is asked for in time. [CMS-127]
  void wait_for_cms(Context& context, Instant now);
  // Credit that the peer grants the context of the PDC. [T-33, PDS 19.3]
  void on_credit(Pdc& pdc, uint32_t credit, Instant now);
  // Something is sent on a context that was idle. If the pause was long, the context restarts, with
  // the base RTT that is remembered for its peer, if that is not too old. [CMS-008, CMS-105]
  void resume(Context& context, Instant now);
  // PDCs of the context were served or are gone: where none waits, its timer is not needed.
  void release_timer(Context& context);
  // The flow waits for a free PDC, until feed_starved(). [PDS-021]
  void starve(Flow& flow) { starved_.push_back(flow); }
  void feed_starved() { ready_.splice_back(starved_); }

  // The next PDC to serve; null: none.
  Pdc* next_control() {
    Pdc* const next = control_.pop_front();
    if (next == nullptr) is_control_pressing_ = false;
    return next;
  }
  void keep_control(Pdc& pdc) { control_.push_front(pdc); }
  Pdc* next_resend() { return resend_.pop_front(); }
  Context* next_open_context() { return open_contexts_.pop_front(); }
  Pdc* next_send() { return send_.pop_front(); }
  const Pdc* send_after() const { return send_.front(); }
  // Prefetches the PDC that the flow after it used least recently.
  Flow* next_flow() {
    Flow* const next = ready_.pop_front();
    if (next == nullptr) return nullptr;
    if (const Flow* const after = ready_.front()) uet::prefetch(after->pdcs.front(), sizeof(Pdc));
    return next;
  }
  bool has_new_work() const { return !ready_.empty() || !send_.empty(); }
  bool has_work(Work which = Work::any) const {
    const bool has_control = which == Work::any ? !control_.empty() : is_control_pressing_;
    return has_control || !resend_.empty() || !open_contexts_.empty() || has_new_work();
  }

  // Calls fn(Pdc&) for each PDC whose timer has fired; wakes the contexts whose pace allows it.
  template <class Fn>
  void expire(Instant now, Fn&& fn) {
    wheel_.expire(now, [&](TimerNode& node) {
      if (node.kind() == kContextTimer)
        return wake_context(owner_of<Context>(node, &Context::timer));
      fn(owner_of<Pdc>(node, &Pdc::timer));
    });
  }
  Instant next_deadline() const { return wheel_.next_deadline(); }
  // Prefetches its own memory, of the timers only the head; then the next timer.
  void prefetch() const {
    uet::prefetch(this, 2 * kLineBytes);
    uet::prefetch(&is_credit_wanted_, 2 * kLineBytes);
  }
  void prefetch_timer() const { wheel_.prefetch_next(); }
  uint32_t armed_timers() const { return wheel_.armed_count(); }

  // The timer of the PDC fires no later than at `deadline`.
  void arm_by(Pdc& pdc, Instant deadline);
  // The PDC owes an ACK or a control packet, or a step of closing. `may_wait`: it is not urgent.
  void want_control(Pdc& pdc, bool may_wait = false);
  // A Probe is due soon if a window holds the PDC back. [PDS-145]
  void arm_if_held(Pdc& pdc, Instant now);
  // It has messages and needs a PDC.
  void wake_flow(Flow& flow);
  // Puts the PDC where it gets a turn, if it may send and is not waiting already.
  void want_send(Pdc& pdc);
  // The window of the context may have room again. A context for which no PDC waits stays where it
  // is. [CMS-011, CMS-013]
  void wake_context(Context& context);

 private:
  void ask_for_credit(Context& context, Instant now);

  Resources& res_;
  TimerWheel wheel_;
  bool is_credit_wanted_ = false;
  bool is_control_pressing_ = false;        // control_ has more than ACKs that may wait
  IntrusiveList<Pdc, ControlTag> control_;  // owe an ACK or a control packet, or a step of closing
  IntrusiveList<Pdc, SendTag> resend_;      // have lost packets, and may have new ones
  IntrusiveList<Pdc, SendTag> send_;        // have new packets
  IntrusiveList<Context, OpenContextTag>
      open_contexts_;                          // may have room for the PDCs that wait for it
  IntrusiveList<Flow, ReadyFlowTag> ready_;    // have messages and want a PDC
  IntrusiveList<Flow, ReadyFlowTag> starved_;  // wait for a free PDC [PDS-021]
};

}  // namespace uet::pds
