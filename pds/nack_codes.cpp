// The table of NACK codes. [PDS 10.2]
#include "pds/nack_codes.h"

namespace uet::pds {
namespace {

using wire::NackCode;
using R = NackReaction;

// What a row says beside the reaction, as bits.
constexpr uint8_t kApplication = 1 << 0;  // the peer waits for its application [PDS-148]
constexpr uint8_t kNotInSyn = 1 << 1;     // answers a packet that names the peer's PDC [T-08]
constexpr uint8_t kInSyn = 1 << 2;        // answers a SYN [T-08]
constexpr uint8_t kRod = 1 << 3;          // of ordered PDCs [T-08]
constexpr uint8_t kNotDone = 1 << 4;      // the packet was certainly not executed [PDS-119]
constexpr uint8_t kMayHold = 1 << 5;      // the peer may still have a PDC [PDS-I18]

struct Row {
  NackCode code;
  NackReaction reaction;
  uint8_t notes;
  Count tx;
  Count rx;
};

// Codes that this stack never sends count as `other`.
#define UET_NACK(code, reaction, notes) \
  Row { NackCode::code, reaction, notes, Count::nack_tx_##code, Count::nack_rx_##code }
#define UET_NACK_RX(code, reaction, notes) \
  Row { NackCode::code, reaction, notes, Count::nack_tx_other, Count::nack_rx_##code }
#define UET_NACK_OTHER(code, reaction, notes) \
  Row { NackCode::code, reaction, notes, Count::nack_tx_other, Count::nack_rx_other }

constexpr Row kRows[] = {
    UET_NACK(trimmed, R::resend_now, 0),
    UET_NACK(trimmed_lasthop, R::resend_now, 0),
    UET_NACK_RX(trimmed_ack, R::ignore, 0),  // for the sender of an ACK [PDS-134]
    UET_NACK(no_pdc_avail, R::resend_later, 0),
    UET_NACK(no_ccc_avail, R::resend_later, 0),
    UET_NACK(no_bitmap, R::resend_later, 0),
    UET_NACK(no_pkt_buffer, R::resend_later, 0),
    UET_NACK(no_gtd_del_avail, R::send_clear, 0),
    UET_NACK(no_ses_msg_avail, R::resend_later, 0),
    UET_NACK(no_resource, R::resend_later, kApplication),
    UET_NACK(psn_oor_window, R::hold_window, 0),
    UET_NACK(rod_ooo, R::go_back_n, kRod),
    UET_NACK(inv_dpdcid, R::fail_pdc, kNotInSyn | kNotDone),
    UET_NACK(pdc_hdr_mismatch, R::fail_pdc, kNotDone | kMayHold),
    UET_NACK(closing, R::fail_pdc, kNotDone),
    UET_NACK(closing_in_err, R::fail_pdc, 0),
    UET_NACK(pkt_not_rcvd, R::resend_now, kNotInSyn),
    UET_NACK(gtd_resp_unavail, R::fail_pdc, kMayHold),
    UET_NACK_RX(ack_with_data, R::resend_now, kNotInSyn),
    UET_NACK(invalid_syn, R::fail_pdc, kInSyn | kNotDone),
    UET_NACK(pdc_mode_mismatch, R::fail_pdc, kNotDone | kMayHold),
    UET_NACK(new_start_psn, R::rebase, kInSyn),
    UET_NACK(rcvd_ses_procg, R::wait, kApplication),
    UET_NACK(unexp_event, R::fail_pdc, kNotDone | kMayHold),
    UET_NACK_RX(rcvr_infer_loss, R::resend_now, 0),
    UET_NACK_OTHER(exp_nack_normal, R::resend_later, 0),
    UET_NACK_OTHER(exp_nack_err, R::fail_message, 0),
    UET_NACK_OTHER(exp_nack_fatal, R::fail_pdc, kMayHold),
};
#undef UET_NACK
#undef UET_NACK_RX
#undef UET_NACK_OTHER

// One of the rows, or that of the reserved codes.
const Row& row_of(NackCode code) {
  static constexpr Row kReserved = {NackCode::none, R::ignore, 0, Count::nack_tx_other,
                                    Count::nack_rx_other};
  for (const Row& row : kRows) {
    if (row.code == code) return row;
  }
  return kReserved;
}

bool says(NackCode code, uint8_t note) { return (row_of(code).notes & note) != 0; }

}  // namespace

NackReaction reaction_to(NackCode code) { return row_of(code).reaction; }

bool is_certainly_not_executed(NackCode code) { return says(code, kNotDone); }

bool waits_for_application(NackCode code) { return says(code, kApplication); }

bool is_possible(NackCode code, PdcState state, Mode mode) {
  const bool is_syn = state == PdcState::syn;
  if (says(code, kNotInSyn) && is_syn) return false;
  if (says(code, kInSyn) && !is_syn) return false;
  return mode == Mode::rod || !says(code, kRod);
}

bool peer_may_hold_state(NackCode code) { return says(code, kMayHold); }

Count nack_tx_count(NackCode code) { return row_of(code).tx; }

Count nack_rx_count(NackCode code) { return row_of(code).rx; }

}  // namespace uet::pds
