// What packet delivery counts: every way in which a packet is dropped, refused, sent again or
// closed over has its own counter, so that a test can check that it occurred. [PDS 20]
#pragma once

#include "base/counters.h"

#include <cstdint>

// X(name) once per counter.
// clang-format off
#define UET_PDS_COUNTERS(X)                                                                        \
  /* packets */                                                                                    \
  X(rx_packets) X(rx_requests) X(rx_payload_bytes) X(tx_requests) X(tx_payload_bytes) X(acks_rx)   \
  X(ack_cc_rx) X(sack_rx) X(acks_tx) X(ack_cc_tx) X(ack_ccx_tx) X(nacks_tx) X(nacks_rx)            \
  /* PDCs */                                                                                       \
  X(pdc_opened_initiator) X(pdc_opened_target) X(pdc_closed_ok) X(pdc_closed_timeout)              \
  X(pdc_closed_refused) X(pdc_closed_ignored) X(pdc_closed_nack) X(pdc_closed_in_err)              \
  X(pdc_closed_aborted) X(pdc_closed_unreachable) X(pdc_reclaimed) X(pdc_alloc_fail)               \
  X(half_open_limit) X(peer_share_limit) X(host_share_limit) X(job_share_limit) X(pdc_unused)      \
  X(pdc_displaced) X(new_pdc_timeout) X(psn_rebased) X(psn_range_close) X(tombstone_hits)          \
  X(close_waits) X(idle_closes) X(pressure_closes) X(close_req_expired) X(close_given_up)          \
  X(unreachable_reports) X(path_reports) X(path_reports_ignored) X(path_lowered)                   \
  X(pdc_closed_too_long) X(pdc_closed_no_key)                                                      \
  /* what held new packets back */                                                                 \
  X(window_stalls) X(cms_stalls) X(slot_stalls)                                                    \
  /* resends by cause [PDS 12] */                                                                  \
  X(retx_rto) X(retx_nack) X(retx_delayed) X(retx_ooo) X(retx_ev) X(retx_go_back_n)                \
  X(retx_trimmed_ack) X(retx_too_long) X(ack_requests_tx) X(quiet_asked) X(retx_tail) X(probe_tx)  \
  X(probe_answer_rx) X(probe_refused) X(early_timeouts)                                            \
  /* ACKs by trigger [PDS 8.2]; ack_response: a stored or late response [PDS-100] */               \
  X(ack_ar) X(ack_syn) X(ack_retx) X(ack_duplicate) X(ack_response) X(ack_ecn) X(ack_bytes)        \
  X(ack_probe) X(ack_packets) X(ack_delay) X(ack_mpr) X(ack_per_packet) X(ack_hole_closed)         \
  X(ack_control) X(ack_after_close) X(ack_answers_full)                                            \
  /* duplicates and order [PDS 7.2, 7.3] */                                                        \
  X(dup_window) X(dup_below) X(dup_no_retx) X(psn_too_old) X(psn_beyond) X(rx_out_of_order)        \
  X(rod_buffered) X(rod_dropped) X(rod_no_room) X(rod_retries)                                     \
  /* guaranteed delivery [PDS 9] */                                                                \
  X(gd_stored) X(gd_cleared) X(gd_full) X(gd_resent) X(clear_cmd_tx) X(clear_cmd_rx)               \
  X(clear_req_tx) X(clear_req_rx)                                                                  \
  /* control packets [PDS 13] */                                                                   \
  X(noop_rx) X(noop_tx) X(ack_request_rx) X(close_cmd_tx) X(close_cmd_rx) X(close_req_tx)          \
  X(close_req_rx) X(close_early) X(cp_unsupported_rx)                                              \
  /* modes without PDCs [PDS 16, 17] */                                                            \
  X(rudi_tx) X(rudi_retx_rto) X(rudi_retx_nack) X(rudi_retx_delayed) X(rudi_responses_rx)          \
  X(rudi_failed) X(rudi_window_stalls) X(rudi_slot_stalls) X(rudi_window_halved) X(rudi_rx)        \
  X(rudi_responses_tx) X(uud_tx) X(uud_rx) X(uud_rate_stalls) X(drop_rudi_unmatched)               \
  X(drop_rudi_answers_full) X(drop_source_rate) X(probe_rx) X(acks_ask_less) X(rcvd_impossible)    \
  X(credit_rx) X(credit_request_rx)                                                                \
  /* receiver credit: as a source [CMS 5.2], as a destination [CMS 5.3] */                         \
  X(credit_clamped) X(credit_old) X(credit_unused) X(credit_request_tx) X(credit_on_trust)         \
  X(creq_drop) X(creq_clamped) X(creq_old) X(creq_unproven) X(creq_unused)               \
  X(credit_tx) X(credit_no_pdc) X(credit_unproven)                                                 \
  /* TFC, as a source and as a destination [CMS 6] */                                              \
  X(credit_impossible) X(cells_overrun)                                                            \
  /* drops, in the order of the checks [PDS 7.1] */                                                \
  X(trimmed_rx) X(drop_too_short) X(drop_trimmed) X(drop_type_reserved) X(drop_type_unsupported)   \
  X(drop_malformed) X(drop_no_pdc) X(drop_bad_peer) X(drop_syn_state) X(drop_bad_pdcid)            \
  X(drop_no_peer) X(drop_direction) X(drop_cp_direction) X(drop_client) X(drop_ack_range)          \
  X(drop_nack_range) X(drop_nack_answered) X(drop_nack_code) X(drop_nack_limited)                  \
  X(drop_dup_limited)                                                                              \
  X(drop_reply_full) X(sack_beyond) X(drop_clear_range) X(drop_nack_state) X(drop_nack_muted)      \
  X(drop_sdi) X(psn_rebase_limit) X(drop_probe_limited) X(drop_probe_answer) X(drop_unproven)      \
  X(challenged) X(strange_evs)                                                                     \
  /* NACKs sent, by code [PDS 10] */                                                               \
  X(nack_tx_trimmed) X(nack_tx_trimmed_lasthop) X(nack_tx_no_pdc_avail) X(nack_tx_no_ccc_avail)    \
  X(nack_tx_no_bitmap) X(nack_tx_no_pkt_buffer) X(nack_tx_no_gtd_del_avail)                        \
  X(nack_tx_no_ses_msg_avail) X(nack_tx_no_resource) X(nack_tx_psn_oor_window) X(nack_tx_rod_ooo)  \
  X(nack_tx_inv_dpdcid) X(nack_tx_pdc_hdr_mismatch) X(nack_tx_closing) X(nack_tx_closing_in_err)   \
  X(nack_tx_pkt_not_rcvd) X(nack_tx_gtd_resp_unavail) X(nack_tx_invalid_syn)                       \
  X(nack_tx_new_start_psn)                                                                         \
  X(nack_tx_pdc_mode_mismatch) X(nack_tx_rcvd_ses_procg) X(nack_tx_unexp_event) X(nack_tx_other)   \
  /* NACKs received, by code [PDS 10] */                                                           \
  X(nack_rx_trimmed) X(nack_rx_trimmed_lasthop) X(nack_rx_trimmed_ack) X(nack_rx_no_pdc_avail)     \
  X(nack_rx_no_ccc_avail) X(nack_rx_no_bitmap) X(nack_rx_no_pkt_buffer)                            \
  X(nack_rx_no_gtd_del_avail) X(nack_rx_no_ses_msg_avail) X(nack_rx_no_resource)                   \
  X(nack_rx_psn_oor_window) X(nack_rx_rod_ooo) X(nack_rx_inv_dpdcid) X(nack_rx_pdc_hdr_mismatch)   \
  X(nack_rx_closing) X(nack_rx_closing_in_err) X(nack_rx_pkt_not_rcvd) X(nack_rx_gtd_resp_unavail) \
  X(nack_rx_ack_with_data) X(nack_rx_invalid_syn) X(nack_rx_new_start_psn)                         \
  X(nack_rx_pdc_mode_mismatch) X(nack_rx_rcvd_ses_procg) X(nack_rx_unexp_event)                    \
  X(nack_rx_rcvr_infer_loss) X(nack_rx_other)
// clang-format on

namespace uet::pds {

#define UET_PDS_ENUMERATOR(name) name,
enum class Count : uint8_t {
  UET_PDS_COUNTERS(UET_PDS_ENUMERATOR) count_
};
#undef UET_PDS_ENUMERATOR

// The name of a counter. Never null.
const char* name(Count c);

using Counters = CounterSet<Count>;

}  // namespace uet::pds
