// Names of the counters and the counters of NACK codes.
#include "pds/counters.h"

#include <array>

namespace uet::pds {

using wire::NackCode;

const char* name(Count c) {
#define UET_PDS_NAME(name) #name,
  static constexpr std::array kNames = {UET_PDS_COUNTERS(UET_PDS_NAME)};
#undef UET_PDS_NAME
  static_assert(kNames.size() == static_cast<size_t>(Count::count_));
  return c < Count::count_ ? kNames[static_cast<size_t>(c)] : "reserved";
}

Count nack_tx_count(NackCode code) {
  switch (code) {
    case NackCode::trimmed:
      return Count::nack_tx_trimmed;
    case NackCode::trimmed_lasthop:
      return Count::nack_tx_trimmed_lasthop;
    case NackCode::no_pdc_avail:
      return Count::nack_tx_no_pdc_avail;
    case NackCode::no_ccc_avail:
      return Count::nack_tx_no_ccc_avail;
    case NackCode::no_bitmap:
      return Count::nack_tx_no_bitmap;
    case NackCode::no_pkt_buffer:
      return Count::nack_tx_no_pkt_buffer;
    case NackCode::no_gtd_del_avail:
      return Count::nack_tx_no_gtd_del_avail;
    case NackCode::no_ses_msg_avail:
      return Count::nack_tx_no_ses_msg_avail;
    case NackCode::no_resource:
      return Count::nack_tx_no_resource;
    case NackCode::psn_oor_window:
      return Count::nack_tx_psn_oor_window;
    case NackCode::rod_ooo:
      return Count::nack_tx_rod_ooo;
    case NackCode::inv_dpdcid:
      return Count::nack_tx_inv_dpdcid;
    case NackCode::pdc_hdr_mismatch:
      return Count::nack_tx_pdc_hdr_mismatch;
    case NackCode::closing:
      return Count::nack_tx_closing;
    case NackCode::closing_in_err:
      return Count::nack_tx_closing_in_err;
    case NackCode::pkt_not_rcvd:
      return Count::nack_tx_pkt_not_rcvd;
    case NackCode::gtd_resp_unavail:
      return Count::nack_tx_gtd_resp_unavail;
    case NackCode::invalid_syn:
      return Count::nack_tx_invalid_syn;
    case NackCode::new_start_psn:
      return Count::nack_tx_new_start_psn;
    case NackCode::pdc_mode_mismatch:
      return Count::nack_tx_pdc_mode_mismatch;
    case NackCode::rcvd_ses_procg:
      return Count::nack_tx_rcvd_ses_procg;
    case NackCode::unexp_event:
      return Count::nack_tx_unexp_event;
    default:
      return Count::nack_tx_other;
  }
}

Count nack_rx_count(NackCode code) {
  switch (code) {
    case NackCode::trimmed:
      return Count::nack_rx_trimmed;
    case NackCode::trimmed_lasthop:
      return Count::nack_rx_trimmed_lasthop;
    case NackCode::trimmed_ack:
      return Count::nack_rx_trimmed_ack;
    case NackCode::no_pdc_avail:
      return Count::nack_rx_no_pdc_avail;
    case NackCode::no_ccc_avail:
      return Count::nack_rx_no_ccc_avail;
    case NackCode::no_bitmap:
      return Count::nack_rx_no_bitmap;
    case NackCode::no_pkt_buffer:
      return Count::nack_rx_no_pkt_buffer;
    case NackCode::no_gtd_del_avail:
      return Count::nack_rx_no_gtd_del_avail;
    case NackCode::no_ses_msg_avail:
      return Count::nack_rx_no_ses_msg_avail;
    case NackCode::no_resource:
      return Count::nack_rx_no_resource;
    case NackCode::psn_oor_window:
      return Count::nack_rx_psn_oor_window;
    case NackCode::rod_ooo:
      return Count::nack_rx_rod_ooo;
    case NackCode::inv_dpdcid:
      return Count::nack_rx_inv_dpdcid;
    case NackCode::pdc_hdr_mismatch:
      return Count::nack_rx_pdc_hdr_mismatch;
    case NackCode::closing:
      return Count::nack_rx_closing;
    case NackCode::closing_in_err:
      return Count::nack_rx_closing_in_err;
    case NackCode::pkt_not_rcvd:
      return Count::nack_rx_pkt_not_rcvd;
    case NackCode::gtd_resp_unavail:
      return Count::nack_rx_gtd_resp_unavail;
    case NackCode::ack_with_data:
      return Count::nack_rx_ack_with_data;
    case NackCode::invalid_syn:
      return Count::nack_rx_invalid_syn;
    case NackCode::new_start_psn:
      return Count::nack_rx_new_start_psn;
    case NackCode::pdc_mode_mismatch:
      return Count::nack_rx_pdc_mode_mismatch;
    case NackCode::rcvd_ses_procg:
      return Count::nack_rx_rcvd_ses_procg;
    case NackCode::unexp_event:
      return Count::nack_rx_unexp_event;
    case NackCode::rcvr_infer_loss:
      return Count::nack_rx_rcvr_infer_loss;
    default:
      return Count::nack_rx_other;
  }
}

}  // namespace uet::pds
