// Names of the counters of the semantic sublayer.
#include "ses/counters.h"

namespace uet::ses {
namespace {

// In the order of the enum.
constexpr const char* kNames[] = {
    "rx_truncated",
    "rx_bad_version",
    "rx_malformed",
    "rx_unsupported_op",
    "rx_bad_job",
    "rx_not_secured",
    "rx_other_domain",
    "rx_domain_closing",
    "rx_bad_pid",
    "rx_bad_index",
    "rx_initiator_error",
    "rx_disabled",
    "rx_bad_generation",
    "rx_length_violation",
    "rx_repeated_part",
    "rx_header_data_refused",
    "rx_mode_violation",
    "rx_changed_field",
    "rx_bad_key",
    "rx_no_permission",
    "rx_wrong_access",
    "rx_bad_address",
    "rx_atomic_refused",
    "rx_no_match",
    "rx_too_long",
    "rx_unsupported_size",
    "rx_msg_error_misused",
    "rx_restart_refused",
    "rx_repeated_error",
    "rx_no_message_slot",
    "rx_no_completion_slot",
    "rx_no_room",
    "rx_peer_slots_used",
    "read_quota",
    "rx_peer_room_used",
    "rx_partial_expired",
    "rx_partial_closed",
    "rx_expected",
    "rx_rendezvous",
    "rx_unexpected",
    "rx_truncated_message",
    "rx_deferred",
    "rx_deferred_expired",
    "rx_restarted",
    "rx_restart_stray",
    "tx_messages",
    "tx_completed",
    "tx_failed",
    "tx_retained",
    "tx_retain_no_room",
    "tx_retained_lost",
    "tx_retried",
    "tx_rendezvous",
    "tx_deferrable",
    "tx_deferred",
    "rx_response_malformed",
    "rx_response_stray",
    "rx_return_refused",
};
static_assert(sizeof kNames / sizeof kNames[0] == Counters::kCount);

}  // namespace

const char* name(Counter c) {
  const auto index = static_cast<size_t>(c);
  return index < Counters::kCount ? kNames[index] : "unknown";
}

}  // namespace uet::ses
