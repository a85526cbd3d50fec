// Which packets of a window are to be sent again, or to be asked for: the marks in their slots, and
// how many have one. Only this class sets these marks. [PDS 12]
#pragma once

#include "pds/tx/tx_window.h"

#include "base/assert.h"
#include "base/serial.h"

#include <cstdint>

namespace uet::pds {

class Losses {
 public:
  // Nothing has arrived; the first PSN is `first`, and nothing below `base` of the window is lost.
  void start(Psn first, Psn base) {
    highest_arrived_ = first - 1;
    from_ = base;
  }

  // It is to be sent again. Requires that it is not marked.
  void mark(TxSlot& slot, Psn psn, LossSign sign = LossSign::reported) {
    slot.state.set_lost(sign);
    if (lost_++ == 0 || psn.before(from_)) from_ = psn;
  }
  // It was sent, or has arrived.
  void unmark(TxSlot& slot) {
    if (slot.state.set_lost(LossSign::none)) --lost_;
  }
  // An ACK Request for it is due; then no longer.
  void ask(TxSlot& slot) {
    if (slot.state.set_ask_due(true)) ++asked_;
  }
  void unask(TxSlot& slot) {
    if (slot.state.set_ask_due(false)) --asked_;
  }
  // It is answered or given up.
  void clear_marks(TxSlot& slot) {
    unmark(slot);
    unask(slot);
    slot.state.end_wait();
  }
  // The window is about to forget all its slots.
  void forget() { lost_ = asked_ = 0; }

  // The oldest lost packet. Requires has_lost().
  Psn oldest(TxWindow& window) {
    Psn psn = from_;
    if (psn.before(window.base())) psn = window.base();
    while (psn.before(window.next()) && !window[psn].state.is_lost()) ++psn;
    UET_ASSERT(psn.before(window.next()));
    from_ = psn;
    return psn;
  }
  bool has_lost() const { return lost_ > 0; }
  bool has_asked() const { return asked_ > 0; }
  uint16_t lost() const { return lost_; }
  Psn lost_from() const { return from_; }  // no slot below is lost

  void note_arrived(Psn psn) {
    if (psn.after(highest_arrived_)) highest_arrived_ = psn;
  }
  // Highest PSN known to have arrived, at most `last`.
  Psn highest_arrived() const { return highest_arrived_; }
  // ROD, toward a peer that drops: the oldest packet that was refused for now.
  Psn gap() const { return gap_; }
  void open_gap(Psn psn) { gap_ = psn; }
  void limit_arrived(Psn last) {
    if (highest_arrived_.after(last)) highest_arrived_ = last;
  }

 private:
  uint16_t lost_ = 0;   // slots that are lost
  uint16_t asked_ = 0;  // slots with an ACK Request due
  Psn from_;
  Psn highest_arrived_;
  Psn gap_;
};
static_assert(sizeof(Losses) == 16);

}  // namespace uet::pds
