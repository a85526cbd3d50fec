// The states of a congestion context and the table of their changes.
#include "cms/context_state.h"

namespace uet::cms {

namespace {

// The result of an update.
enum Situation : uint8_t {
  nothing,     // no data, nothing in flight
  unanswered,  // no data, packets in flight
  blocked,     // data that may not go
  open,        // data that may
};

struct Change {
  ContextPhase to;
  ReadyMove move;
};

using enum ContextPhase;
constexpr auto kStays = ReadyMove::none;
constexpr auto kJoins = ReadyMove::join;
constexpr auto kLeaves = ReadyMove::leave;

// Without data: IDLE or PENDING. [CMS-011] With data IDLE and PENDING become ACTIVE [CMS-012], and
// ACTIVE and READY follow whether it may go [CMS-013]; both in one update.
constexpr Change kChanges[4][4] = {
    //              nothing          unanswered          blocked            open
    /* idle */ {{idle, kStays}, {pending, kStays}, {active, kStays}, {ready, kJoins}},
    /* active */ {{idle, kStays}, {pending, kStays}, {active, kStays}, {ready, kJoins}},
    /* ready */ {{idle, kLeaves}, {pending, kLeaves}, {active, kLeaves}, {ready, kStays}},
    /* pending */ {{idle, kStays}, {pending, kStays}, {active, kStays}, {ready, kJoins}},
};

}  // namespace

ReadyMove ContextState::update(bool can_send) {
  const Situation idle_or_not = inflight_ == 0 ? nothing : unanswered;
  const Situation found = !has_data() ? idle_or_not : can_send ? open : blocked;
  const Change& change = kChanges[static_cast<uint8_t>(phase_)][found];
  phase_ = change.to;
  return change.move;
}

void ContextState::on_sent(uint32_t bytes, bool resend) {
  if (resend) {
    on_unmarked(bytes);
  } else {
    take(backlog_, bytes);
  }
  ++inflight_;
}

void ContextState::on_marked(uint32_t bytes) {
  take(inflight_, 1);
  ++resend_packets_;
  resend_bytes_ += bytes;
}

void ContextState::on_unmarked(uint32_t bytes) {
  take(resend_packets_, 1);
  take(resend_bytes_, bytes);
}

}  // namespace uet::cms
