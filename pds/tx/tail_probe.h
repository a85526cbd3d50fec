// The Probes of one PDC: whether one is due or under way, and how many were not answered. They ask
// about the last packets, or for a proof of reachability. [PDS-145, PDS-252]
#pragma once

#include "pds/sent_tick.h"

#include "base/serial.h"
#include "base/time.h"

#include <cstdint>

namespace uet::pds {

class TailProbe {
 public:
  // The number that the first Probe follows, where a forger may not know it.
  void start(uint16_t opaque) { opaque_ = opaque; }

  // Nothing has been heard for another wait.
  void note_silence(Instant now) {
    count_ = (count_ + 1) & kCountMax;
    tick_ = SentTick::of(now);
  }
  void note_heard() { count_ = 0; }
  uint8_t silences() const { return count_; }

  // Sends a Probe with the next control packets. Unlike those of want_losses() it measures or asks
  // for proof, and may overtake data that is under way.
  void want() { is_due_ = true; }
  void want_losses() { is_due_ = asks_losses_ = true; }
  // Its answer shows what is lost.
  bool asks_losses() const { return asks_losses_; }
  void cancel() { is_due_ = false; }
  // No answer is expected any more of the one on its way.
  void forget() { is_out_ = false; }
  bool is_due() const { return is_due_; }
  bool is_pending() const { return is_due_ || is_out_; }

  // It goes out; `newest` is the PSN that it names. Returns its number.
  uint16_t send(Psn newest, Instant now) {
    psn_ = newest;
    tick_ = SentTick::of(now);
    is_out_ = true;
    if (unheard_ < kUnheardMax) unheard_ = (unheard_ + 1) & kUnheardMax;
    return ++opaque_;
  }
  // Whether this is the number of the one on its way.
  bool is_answer(uint16_t opaque) const { return is_out_ && opaque == opaque_; }
  void note_answered() {
    is_out_ = asks_losses_ = has_early_ = false;
    unheard_ = 0;
  }
  // is_early: the peer may have been in SYN, then and when the others under way were sent.
  void note_refused(bool is_early) {
    unheard_ = (unheard_ - 1) & kUnheardMax;
    is_out_ = false;
    was_refused_ = true;
    has_early_ = is_early && unheard_ != 0;
  }

  Psn psn() const { return psn_; }
  uint8_t unheard() const { return unheard_; }  // neither answered nor refused; saturates
  bool was_refused() const { return was_refused_; }
  // Of those under way, some may have met a peer in SYN.
  bool has_early() const { return has_early_; }
  // Since the last one went, or the last silence was noted.
  Duration age(Instant now) const { return SentTick::age(tick_, now); }
  Duration since(Instant now) const { return SentTick::since(tick_, now); }

 private:
  static constexpr uint8_t kCountMax = 63;
  static constexpr uint8_t kUnheardMax = 31;

  uint32_t tick_ = 0;
  Psn psn_;
  uint16_t opaque_ = 0;
  uint8_t count_ : 6 = 0;  // without anything heard; at most Max_Tail_Loss_Retx
  uint8_t asks_losses_ : 1 = 0;
  uint8_t was_refused_ : 1 = 0;
  uint8_t is_due_ : 1 = 0;
  uint8_t is_out_ : 1 = 0;
  uint8_t has_early_ : 1 = 0;
  uint8_t unheard_ : 5 = 0;
};
static_assert(sizeof(TailProbe) == 12);

}  // namespace uet::pds
