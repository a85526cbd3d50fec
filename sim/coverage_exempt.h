// Counters that a set of simulated runs in the clear need not move, each with the reason. Runs with
// `uet_sim --secured` are judged by their oracles only. pds/test/coverage_test.cpp checks that some
// test of the layer moves each counter of PDS. Any other counter that never moves fails `uet_sim
// --coverage`.
#pragma once

namespace uet::sim {

struct Exempt {
  const char* name;
  const char* why;
};

inline constexpr Exempt kExempt[] = {
    {"slot_stalls", "every PDC has its window memory: tx blocks are as many as PDCs"},
    {"nack_tx_no_bitmap", "every PDC has its bitmap: rx blocks are as many as PDCs"},
    {"nack_tx_no_pkt_buffer", "for foreign stacks; ours keeps no packet without a PDC"},
    {"pdc_closed_refused", "needs a peer that refuses for longer than any run"},
    {"nack_tx_trimmed_lasthop", "the simulated network cuts at no last hop"},
    {"retx_trimmed_ack", "ACKs travel in a class that is not cut"},
    {"ack_ccx_tx", "a vendor's form; no congestion control of a vendor is simulated"},
    {"ack_packets", "runs use the defaults, which count octets"},
    {"ack_delay", "off by default"},
    {"acks_ask_less", "off by default; ctest memory_pressure_test"},
    {"ack_mpr", "no run changes the advertised range"},
    {"rx_msg_error_misused", "one seed in 700 takes it; ses/test/target_test.cpp"},
    {"rx_restart_stray", "few seeds take it; ses/test/deferral_end_test.cpp"},
    {"rx_restart_refused", "few seeds take it; ses/test/deferral_hostile_test.cpp"},
    {"drop_source_rate", "needs a flood of datagrams; pds/test/flood_test.cpp"},
    {"pdc_displaced", "only secured runs can move it"},
    {"probe_refused", "every endpoint answers Probes"},
    {"drop_probe_limited", "needs a flood of Probes"},
    {"drop_probe_answer", "needs a very late answer"},
    {"close_waits", "needs more closes in 400 ms than there are tombstones"},
    {"half_open_limit", "needs a flood of SYNs"},
    {"nack_tx_invalid_syn", "needs a SYN that a peer sends again with another start, or forges"},
    {"host_share_limit", "needs many ports of one address; pds/test/share_test.cpp"},
    {"job_share_limit", "needs many peers of one job; pds/test/share_test.cpp"},
    {"drop_nack_muted", "only toward the reference provider"},
    {"drop_sdi", "only secured runs can move it"},
    {"drop_dup_limited", "only secured runs can move it; pds/test/target_limits_test.cpp"},
    {"pdc_closed_no_key", "only secured runs can move it; pds/test/closing_domain_test.cpp"},
    {"rx_domain_closing", "only secured runs can move it; ses/test/closing_domain_test.cpp"},
    {"rx_not_secured", "only secured runs can move it; prov/uet/test/secured_test.cpp"},
    {"rx_other_domain", "only secured runs can move it; prov/uet/test/secured_test.cpp"},
    {"psn_rebase_limit", "only secured runs can move it"},
    {"psn_rebased", "only secured runs can move it"},
    {"new_pdc_timeout", "only secured runs can move it"},
    {"nack_tx_new_start_psn", "only secured runs can move it"},
    {"strange_evs", "needs a peer that makes entropy values up"},
    {"rcvd_impossible", "needs a peer that lies about what it received"},
    {"sack_beyond", "needs a peer that lies about what it received"},
    {"credit_impossible", "no plan draws TFC; pds/test/tfc_test.cpp"},
    {"cells_overrun", "no plan draws TFC; pds/test/tfc_test.cpp"},
    {"drop_trimmed", "what is cut is a request of a PDC that lives"},
    {"drop_nack_code", "needs an undefined code"},
    {"nack_tx_other", "vendor and experimental codes are never sent"},
    {"nack_tx_gtd_resp_unavail", "needs a reclaimed PDC that had a gap"},
    {"nack_tx_closing", "our initiator sends nothing after its Close"},
    {"drop_no_peer", "needs more than 1,024 peers"},
    {"pdc_reclaimed", "needs forged SYNs, a legal new peer without TSS"},
    {"pdc_closed_aborted", "endpoints of a run close in order"},
    {"pdc_closed_unreachable", "no run leaves an address for 2 s"},
    {"unreachable_reports", "only runs with a restart report any"},
    {"path_reports", "no path of a run becomes smaller; fep/test/path_test.cpp"},
    {"path_reports_ignored", "no path of a run becomes smaller; fep/test/path_test.cpp"},
    {"path_lowered", "no path of a run becomes smaller; fep/test/path_test.cpp"},
    {"path_unknown", "no path of a run becomes smaller; fep/test/path_test.cpp"},
    {"retx_too_long", "no path of a run becomes smaller; fep/test/path_test.cpp"},
    {"path_unusable", "no path of a run becomes smaller; fep/test/path_test.cpp"},
    {"pdc_closed_too_long", "no path of a run becomes smaller; fep/test/path_test.cpp"},
    {"rx_header_data_refused", "every receive side carries data"},
    {"rx_unsupported_size", "needs a message of 4 GiB"},
    {"drop_not_allowed", "no run has a list of allowed peers; fep/test/allow_list_test.cpp"},
    {"rx_response_stray", "needs a response to no message"},
    {"rx_repeated_part", "needs a peer that gives a part two PSNs; ses/test/arrival_test.cpp"},
    {"tx_retain_no_room", "no run has that much unacknowledged; prov/uet/test/retained_test.cpp"},
};

}  // namespace uet::sim
