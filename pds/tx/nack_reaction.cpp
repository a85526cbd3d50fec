// The table of NACK codes. [PDS 10.2]
#include "pds/tx/nack_reaction.h"

namespace uet::pds {

using wire::NackCode;

NackReaction reaction_to(NackCode code) {
  switch (code) {
    case NackCode::trimmed:
    case NackCode::trimmed_lasthop:
    case NackCode::pkt_not_rcvd:
    case NackCode::ack_with_data:
    case NackCode::rcvr_infer_loss:
      return NackReaction::resend_now;
    case NackCode::no_pdc_avail:
    case NackCode::no_ccc_avail:
    case NackCode::no_bitmap:
    case NackCode::no_pkt_buffer:
    case NackCode::no_ses_msg_avail:
    case NackCode::no_resource:
    case NackCode::exp_nack_normal:
      return NackReaction::resend_later;
    case NackCode::psn_oor_window:
      return NackReaction::hold_window;
    case NackCode::no_gtd_del_avail:
      return NackReaction::send_clear;
    case NackCode::rod_ooo:
      return NackReaction::go_back_n;
    case NackCode::new_start_psn:
      return NackReaction::rebase;
    case NackCode::rcvd_ses_procg:
      return NackReaction::wait;
    case NackCode::exp_nack_err:
      return NackReaction::fail_message;
    case NackCode::inv_dpdcid:
    case NackCode::pdc_hdr_mismatch:
    case NackCode::closing:
    case NackCode::closing_in_err:
    case NackCode::gtd_resp_unavail:
    case NackCode::invalid_syn:
    case NackCode::pdc_mode_mismatch:
    case NackCode::unexp_event:
    case NackCode::exp_nack_fatal:
      return NackReaction::fail_pdc;
    case NackCode::trimmed_ack:  // for the sender of an ACK, not of a request [PDS-134]
    case NackCode::none:
      return NackReaction::ignore;
  }
  return NackReaction::ignore;
}

bool waits_for_application(NackCode code) {
  return code == NackCode::rcvd_ses_procg || code == NackCode::no_resource;
}

bool is_possible(NackCode code, bool is_syn, bool is_rod) {
  switch (code) {
    case NackCode::inv_dpdcid:    // a SYN packet names no PDC
    case NackCode::pkt_not_rcvd:  // answers to an ACK Request, which needs the peer's PDCID
    case NackCode::ack_with_data:
      return !is_syn;
    case NackCode::invalid_syn:
    case NackCode::new_start_psn:
      return is_syn;
    case NackCode::rod_ooo:
      return is_rod;
    default:
      return true;
  }
}

bool is_certainly_not_executed(NackCode code) {
  switch (code) {
    case NackCode::inv_dpdcid:
    case NackCode::pdc_hdr_mismatch:
    case NackCode::closing:
    case NackCode::invalid_syn:
    case NackCode::pdc_mode_mismatch:
    case NackCode::unexp_event:
      return true;
    default:
      return false;
  }
}

bool peer_may_hold_state(NackCode code) {
  switch (code) {
    case NackCode::pdc_hdr_mismatch:
    case NackCode::gtd_resp_unavail:
    case NackCode::pdc_mode_mismatch:
    case NackCode::unexp_event:
    case NackCode::exp_nack_fatal:
      return true;
    default:
      return false;
  }
}

}  // namespace uet::pds
