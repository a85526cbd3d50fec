// State of an outstanding packet: where it is, what was asked, how often it was sent. Only the
// functions below change it, and each keeps the exclusive flags consistent. [PDS-066, PDS 12]
#pragma once

#include <cstdint>

namespace uet::pds {

// Why a packet counts as lost.
enum class LossSign : uint8_t {
  none,        // it does not
  reported,    // by a NACK or a time-out, or the window did not give its octets
  refundable,  // later packets have arrived, and the window gave its octets [CMS-194]
};

class SlotState {
 public:
  static constexpr uint8_t kResendsMost = 63;

  bool in_flight() const { return in_flight_; }      // counted by CMS [PDS-240]
  bool has_arrived() const { return has_arrived_; }  // and has no answer yet [PDS-093]
  bool is_answered() const { return is_answered_; }
  bool is_lost() const { return is_lost_; }  // goes again as soon as CMS allows
  bool is_refundable() const { return is_lost_ && is_refundable_; }
  bool is_refused() const { return is_refused_; }  // goes again when its delay is over [PDS-118]
  bool is_ask_due() const { return is_ask_due_; }  // an ACK Request for it [PDS-L6]
  bool is_to_go_again() const { return is_lost_ || is_refused_; }
  // It went without AR, and was not asked for since. [PDS-064]
  bool is_quiet() const { return is_quiet_; }
  // Its answer may be one to an ACK Request: no RTT. [PDS-141]
  bool was_asked() const { return was_asked_; }
  uint8_t timeouts() const { return timeouts_; }  // resends after one, saturating [PDS-117]
  uint8_t refusals() const { return refusals_; }  // NACKs, saturating
  uint8_t resends() const { return resends_; }    // saturating at kResendsMost [CMS-025, PDS-254]
  bool was_resent() const { return resends_ > 0; }

  // It left; quiet when without AR.
  void send() {
    in_flight_ = true;
    is_mark_told_ = false;
  }
  void set_quiet(bool quiet) { is_quiet_ = quiet; }
  // The packet is no longer in flight: answered, lost, or given up. Returns whether it was.
  bool land() {
    const bool was = in_flight_;
    in_flight_ = false;
    return was;
  }
  // A SACK names it, or a NACK says that only the answer is missing. [PDS-093]
  void arrive() {
    has_arrived_ = true;
    is_refused_ = is_quiet_ = false;
  }
  // It had not arrived, or the answer is wanted from its data once more.
  void unarrive() { has_arrived_ = false; }
  // The peer does not take it now. [PDS-118]
  void refuse() {
    has_arrived_ = is_quiet_ = false;
    is_refused_ = true;
  }
  // It waits neither for its delay nor to be asked for.
  void end_wait() { is_refused_ = is_quiet_ = false; }
  void answer() { is_answered_ = true; }

  // Losses counts these. Whether it has become lost, or is not any more.
  bool set_lost(LossSign sign) {
    const bool lost = sign != LossSign::none;
    const bool changed = is_lost_ != lost;
    is_lost_ = lost;
    is_refundable_ = sign == LossSign::refundable;
    return changed;
  }
  bool set_ask_due(bool due) {
    const bool changed = is_ask_due_ != due;
    is_ask_due_ = due;
    return changed;
  }
  void note_asked() { was_asked_ = true; }
  // An ACK that names it says whether it was marked. Is it the first one to do so?
  bool tell_mark() {
    const bool is_first = !is_mark_told_;
    is_mark_told_ = true;
    return is_first;
  }

  void count_timeout() {
    if (timeouts_ < UINT8_MAX) ++timeouts_;
  }
  void count_refusal() {
    if (refusals_ < UINT8_MAX) ++refusals_;
  }
  void count_resend() {
    if (resends_ < kResendsMost) ++resends_;
  }
  // Forgets time-outs and refusals, because the peer has restarted.
  void forgive() { timeouts_ = refusals_ = 0; }

 private:
  uint8_t timeouts_ = 0;
  uint8_t refusals_ = 0;
  bool in_flight_ : 1 = false;
  bool has_arrived_ : 1 = false;
  bool is_answered_ : 1 = false;
  bool is_lost_ : 1 = false;
  bool is_refused_ : 1 = false;
  bool is_ask_due_ : 1 = false;
  bool is_quiet_ : 1 = false;
  bool was_asked_ : 1 = false;
  uint8_t resends_ : 6 = 0;
  bool is_mark_told_ : 1 = false;
  bool is_refundable_ : 1 = false;
};
static_assert(sizeof(SlotState) == 4);

}  // namespace uet::pds
