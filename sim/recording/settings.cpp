// One line for each member of the settings, in their order.
#include "sim/recording/settings.h"

#include "base/assert.h"

#include <type_traits>

namespace uet::recording {
namespace {

// Calls fn(name, member) for each. A member that this stack does not have is left out: recordings
// are made of stacks that are older than this list.
#define UET_SETTING(MEMBER) \
  if constexpr (requires { config.MEMBER; }) fn(#MEMBER, config.MEMBER)

template <class Config, class Fn>
void each_size_and_mark_of_pds(Config& config, Fn& fn) {
  UET_SETTING(pds.max_pdcs);
  UET_SETTING(pds.target_floor_percent);
  UET_SETTING(pds.half_open_percent);
  UET_SETTING(pds.challenge_above);
  UET_SETTING(pds.peer_share_percent);
  UET_SETTING(pds.job_share_percent);
  UET_SETTING(pds.newcomer_percent);
  UET_SETTING(pds.reserved_pdcs);
  fn("pds.max_paths", config.pds.max_contexts);  // recordings keep the name that they began with
  UET_SETTING(pds.credit_sources);
  UET_SETTING(pds.rx_windows);
  UET_SETTING(pds.max_flows);
  UET_SETTING(pds.gd_entries);
  UET_SETTING(pds.gd_per_pdc);
  UET_SETTING(pds.return_messages);
  UET_SETTING(pds.reorder_packets);
  UET_SETTING(pds.reorder_packet_bytes);
  UET_SETTING(pds.reply_queue);
  UET_SETTING(pds.tombstones);
  UET_SETTING(pds.rudi_destinations);
  UET_SETTING(pds.rudi_packets);
  UET_SETTING(pds.rudi_answers);
  UET_SETTING(pds.mpr);
  UET_SETTING(pds.default_mpr);
  UET_SETTING(pds.tx_window_packets);
  UET_SETTING(pds.pdcs_per_key);
  UET_SETTING(pds.pdc_per_job);
  UET_SETTING(pds.packets_per_entropy);
  UET_SETTING(pds.payload_mtu);
  UET_SETTING(pds.return_class);
  UET_SETTING(pds.rudi_window);
  UET_SETTING(pds.uud_packets_per_second);
  UET_SETTING(pds.source_packets_per_second);
  UET_SETTING(pds.private_mark);
  UET_SETTING(pds.strict_ports);
  UET_SETTING(pds.control_dscp);
  UET_SETTING(pds.trimmed_dscp);
  UET_SETTING(pds.trimmed_lasthop_dscp);
}

template <class Config, class Fn>
void each_answer_and_time_of_pds(Config& config, Fn& fn) {
  UET_SETTING(pds.ack_gen_trigger_bytes);
  UET_SETTING(pds.ack_gen_min_packet_bytes);
  UET_SETTING(pds.ack_per_packet);
  UET_SETTING(pds.ack_on_ecn);
  UET_SETTING(pds.quiet_packets);
  UET_SETTING(pds.quiet_time);
  UET_SETTING(pds.ack_form);
  UET_SETTING(pds.ccx_type);
  UET_SETTING(pds.ack_gen_packets);
  UET_SETTING(pds.ack_delay_max);
  UET_SETTING(pds.nacks_per_second_per_peer);
  UET_SETTING(pds.duplicate_answers_per_second);
  UET_SETTING(pds.nacks_per_second_no_pdc);
  UET_SETTING(pds.challenges_per_second);
  UET_SETTING(pds.start_method);
  UET_SETTING(pds.new_pdc_time);
  UET_SETTING(pds.secure_starts);
  UET_SETTING(pds.rebases_max);
  UET_SETTING(pds.trim_nacks_per_second);
  UET_SETTING(pds.expected_psn_in_close_ack);
  UET_SETTING(pds.has_domains);
  UET_SETTING(pds.seal_bytes);
  UET_SETTING(pds.patience);
  UET_SETTING(pds.rto_init);
  UET_SETTING(pds.rto_min);
  UET_SETTING(pds.rto_max);
  UET_SETTING(pds.nack_retx);
  UET_SETTING(pds.rto_retx_max);
  UET_SETTING(pds.nack_retx_max);
  UET_SETTING(pds.peer_timeout);
  UET_SETTING(pds.unreachable_time);
  UET_SETTING(pds.tail_loss);
  UET_SETTING(pds.tail_loss_max);
  UET_SETTING(pds.probe);
  UET_SETTING(pds.ooo_packets_min);
  UET_SETTING(pds.ooo_packets_single_path);
  UET_SETTING(pds.rod_reorder);
  UET_SETTING(pds.clear_time);
  UET_SETTING(pds.gd_high_water_percent);
  UET_SETTING(pds.close_req);
  UET_SETTING(pds.idle_time);
  UET_SETTING(pds.tombstone_time);
  UET_SETTING(pds.low_water_percent);
  UET_SETTING(pds.psn_range_packets);
  UET_SETTING(pds.optional_control);
  UET_SETTING(pds.plain_new_start_psn);
  UET_SETTING(pds.fatal_nacks);
}

template <class Config, class Fn>
void each_of_ses(Config& config, Fn& fn) {
  UET_SETTING(ses.payload_mtu);
  UET_SETTING(ses.ack_data_bytes_max);
  UET_SETTING(ses.profiles);
  UET_SETTING(ses.medium_headers);
  UET_SETTING(ses.small_headers);
  UET_SETTING(ses.rendezvous_bytes);
  UET_SETTING(ses.rendezvous_sends);
  UET_SETTING(ses.rendezvous_reads);
  UET_SETTING(ses.defer_to);
  UET_SETTING(ses.defer_bytes);
  UET_SETTING(ses.deferrable_sends);
  UET_SETTING(ses.deferred_messages);
  UET_SETTING(ses.restarts);
  UET_SETTING(ses.deferral_time);
  UET_SETTING(ses.disable_index);
  UET_SETTING(ses.unexpected_bytes);
  UET_SETTING(ses.keeps_octets);
  UET_SETTING(ses.unexpected_messages);
  UET_SETTING(ses.rx_messages);
  UET_SETTING(ses.return_messages);
  UET_SETTING(ses.read_packets);
  UET_SETTING(ses.read_quota_bytes);
  UET_SETTING(ses.fetch_buffers);
  UET_SETTING(ses.memory_regions);
  UET_SETTING(ses.long_injects);
  UET_SETTING(ses.long_iovs);
  UET_SETTING(ses.receives);
  UET_SETTING(ses.operations);
  UET_SETTING(ses.remotes);
  UET_SETTING(ses.flows);
  UET_SETTING(ses.idle_time);
  UET_SETTING(ses.endpoints);
  UET_SETTING(ses.partial_message_time);
  UET_SETTING(ses.retry_time_min);
  UET_SETTING(ses.retry_time_max);
  UET_SETTING(ses.retry_time_cap);
  UET_SETTING(ses.retry_patience);
  UET_SETTING(ses.retry_limit);
}

template <class Config, class Fn>
void each_of_cms(Config& config, Fn& fn) {
  UET_SETTING(cms.algorithm);
  UET_SETTING(cms.mtu_bytes);
  UET_SETTING(cms.initial_window_packets);
  UET_SETTING(cms.window_bytes_min);
  UET_SETTING(cms.window_bytes_max);
  UET_SETTING(cms.entropy_values);
  UET_SETTING(cms.base_rtt);
  UET_SETTING(cms.link_mbps);
  UET_SETTING(cms.peer_link_mbps);
  UET_SETTING(cms.trimming);
  UET_SETTING(cms.start_slowly);
  UET_SETTING(cms.learns_by_loss);
  UET_SETTING(cms.base_rtt_probe);
  UET_SETTING(cms.idle_time);
  UET_SETTING(cms.base_rtt_time);
  UET_SETTING(cms.pacing_percent);
  UET_SETTING(cms.pacing_burst_bytes);
  UET_SETTING(cms.pressure_low_bytes);
  UET_SETTING(cms.pressure_high_bytes);
}

template <class Config, class Fn>
void each_of_cms_parts(Config& config, Fn& fn) {
  UET_SETTING(cms.nscc.target_delay);
  UET_SETTING(cms.nscc.window_max_permille);
  UET_SETTING(cms.nscc.alpha_permille);
  UET_SETTING(cms.nscc.fair_permille);
  UET_SETTING(cms.nscc.fast_permille);
  UET_SETTING(cms.nscc.eta_permille);
  UET_SETTING(cms.nscc.gamma_permille);
  UET_SETTING(cms.nscc.decrease_max_permille);
  UET_SETTING(cms.nscc.adjust_packets);
  UET_SETTING(cms.nscc.adjust_period_permille);
  UET_SETTING(cms.nscc.quick_gate);
  UET_SETTING(cms.nscc.quick_threshold);
  UET_SETTING(cms.nscc.quick_adapt);
  UET_SETTING(cms.nscc.no_delay);
  UET_SETTING(cms.nscc.mean);
  UET_SETTING(cms.credit.packets_per_grant);
  UET_SETTING(cms.credit.rate_permille);
  UET_SETTING(cms.credit.window_max_permille);
  UET_SETTING(cms.credit.first_permille);
  UET_SETTING(cms.credit.timeout);
  UET_SETTING(cms.credit.idle_credit);
  UET_SETTING(cms.credit.core_rate);
  UET_SETTING(cms.credit.oversubscription);
  UET_SETTING(cms.tfc.cell_bytes);
  UET_SETTING(cms.tfc.packet_overhead_bytes);
  UET_SETTING(cms.tfc.first_bytes);
  UET_SETTING(cms.entropy.spraying);
  UET_SETTING(cms.entropy.after_loss);
  UET_SETTING(cms.entropy.penalty_ecn);
  UET_SETTING(cms.entropy.penalty_nack);
  UET_SETTING(cms.entropy.penalty_timeout);
  UET_SETTING(cms.entropy.penalty_max);
  UET_SETTING(cms.entropy.saturation_percent);
  UET_SETTING(cms.entropy.ring);
  UET_SETTING(cms.entropy.explore_packets);
  UET_SETTING(cms.entropy.planes);
  UET_SETTING(cms.entropy.reuse_rtts);
  UET_SETTING(cms.entropy.random_upper_bits);
  UET_SETTING(cms.entropy.left_out_first);
  UET_SETTING(cms.entropy.left_out_last);
  UET_SETTING(cms.entropy.freeze_time);
  UET_SETTING(cms.entropy.probe_interval);
  UET_SETTING(cms.entropy.reroute_rtts);
}

template <class Config, class Fn>
void each_of_the_rest(Config& config, Fn& fn) {
  UET_SETTING(peers_max);
  UET_SETTING(pressure_percent);
}

template <class Config, class Fn>
void for_each(Config& config, Fn fn) {
  each_size_and_mark_of_pds(config, fn);
  each_answer_and_time_of_pds(config, fn);
  each_of_ses(config, fn);
  each_of_cms(config, fn);
  each_of_cms_parts(config, fn);
  each_of_the_rest(config, fn);
}

#undef UET_SETTING

int64_t number_of(const Duration& d) { return d.ns(); }
int64_t number_of(const TrafficClass& tc) { return tc.value(); }
template <class T>
int64_t number_of(const T& value) {
  return static_cast<int64_t>(value);
}

bool put(Duration& d, int64_t value) {
  d = Duration::nanoseconds(value);
  return true;
}
bool put(TrafficClass& tc, int64_t value) {
  tc = TrafficClass(static_cast<uint8_t>(value));
  return value <= UINT8_MAX;
}
constexpr auto largest(pds::AckForm) { return pds::AckForm::ccx; }
constexpr auto largest(pds::StartMethod) { return pds::StartMethod::random_1rtt; }
constexpr auto largest(pds::Patience) { return pds::Patience::retries; }
constexpr auto largest(ses::DeferTo) { return ses::DeferTo::everybody; }
constexpr auto largest(cms::Algorithm) { return cms::Algorithm::tfc; }
constexpr auto largest(cms::Spraying) { return cms::Spraying::mixed; }
constexpr auto largest(cms::AfterLoss) { return cms::AfterLoss::nothing; }
constexpr auto largest(cms::DelayMean) { return cms::DelayMean::samples; }

// False: the type has no such value.
template <class T>
bool put(T& member, int64_t value) {
  member = static_cast<T>(value);
  if constexpr (std::is_enum_v<T>) return value <= static_cast<int64_t>(largest(T{}));
  return static_cast<int64_t>(member) == value;
}

}  // namespace

std::vector<Create::Setting> settings_of(const fep::Config& config) {
  UET_ASSERT(config.allow.size() == 0);
  std::vector<Create::Setting> all;
  for_each(config, [&](const char* name, const auto& member) {
    all.push_back({name, number_of(member)});
  });
  return all;
}

std::string take_settings(const std::vector<Create::Setting>& settings, fep::Config& config) {
  for (const Create::Setting& s : settings) {
    bool is_known = false;
    bool is_good = true;
    for_each(config, [&](const char* name, auto& member) {
      if (s.name != name) return;
      is_known = true;
      is_good = s.value >= 0 && put(member, s.value);
    });
    if (!is_known) return "this stack has no setting " + s.name;
    if (!is_good) return "the setting " + s.name + " cannot be " + std::to_string(s.value);
  }
  return {};
}

}  // namespace uet::recording
