// Counters of the semantic sublayer. Every way to refuse a packet has its own counter.
#pragma once

#include "base/counters.h"

#include <cstdint>

namespace uet::ses {

enum class Counter : uint8_t {
  // Target: requests refused, by cause.
  rx_truncated,            // shorter than its header
  rx_bad_version,          // UNCOR [SES-109]
  rx_malformed,            // other parse errors
  rx_unsupported_op,       // [SES-110]
  rx_bad_job,              // [SES-111, SES-112]
  rx_not_secured,          // dropped: in the clear, of a job that must be secured [TSS-077]
  rx_other_domain,         // dropped: sealed in a domain that its job is not bound to [TSS-075]
  rx_domain_closing,       // begins something in a secure domain that is being taken out of use
  rx_bad_pid,              // [SES-111]
  rx_bad_index,            // [SES-111]
  rx_initiator_error,      // IE or MSG_ERROR [SES-049, SES-106]
  rx_disabled,             // [SES-114]
  rx_bad_generation,       // [SES-134]
  rx_length_violation,     // payload, offset or request length wrong [SES-115]
  rx_repeated_part,        // octets of a message that have arrived before [SES-190]
  rx_header_data_refused,  // the receive CQ cannot carry it [SES-050]
  rx_mode_violation,       // operation not allowed in this mode [SES-077, SES-104]
  rx_changed_field,        // key, opcode or process changed inside a message [SES-021]
  rx_bad_key,              // [SES-116]
  rx_no_permission,        // [SES-083]
  rx_wrong_access,         // [SES-171]
  rx_bad_address,          // [SES-176]
  rx_atomic_refused,       // operation, data type, size or alignment [SES-087]
  rx_no_match,             // nothing posted and no room to keep it [SES-128]
  rx_too_long,             // [SES-138]
  rx_unsupported_size,     // [SES-157]
  rx_msg_error_misused,    // OP_VIOLATION [SES-106]
  rx_restart_refused,      // OP_VIOLATION: it names no send to that peer [SES-099]
  rx_repeated_error,       // a later packet of an errored message [SES-107]
  rx_no_message_slot,      // NACK: no tracking slot [SES-118]
  rx_no_completion_slot,   // NACK: no room for the completion
  rx_no_room,              // NACK: ROD, no receive and no room to keep it [SES-188]
  rx_peer_slots_used,      // NACK: its peer holds its share of the tracking slots
  read_quota,              // NACK: its peer has as many answers under way as it may [T-39]
  rx_peer_room_used,       // NO_MATCH or NACK: its peer has used its share of the room, or the room
                           // is full
  rx_partial_expired,      // [SES-108]
  rx_partial_closed,       // the PDC ended before the message did
  // Target: what went well.
  rx_expected,
  rx_rendezvous,  // of them and of the next, sent by rendezvous [SES-089]
  rx_unexpected,
  rx_truncated_message,
  rx_deferred,          // deferred, each time [SES-095]
  rx_deferred_expired,  // forgotten: their initiator was silent [SES-101]
  rx_restarted,         // came again for the receive that was set aside [SES-099]
  rx_restart_stray,     // came with a token that names no deferred message
  // Initiator.
  tx_messages,
  tx_completed,
  tx_failed,
  tx_retained,        // copied, and reported to the user as done at once
  tx_retain_no_room,  // could have been deferrable, but there was no room
  tx_retained_lost,   // rendezvous sends that failed later
  tx_retried,
  tx_rendezvous,  // [SES-088]
  tx_deferrable,  // [SES-093]
  tx_deferred,    // were deferred, each time [SES-097]
  rx_response_malformed,
  rx_response_stray,  // names no open message
  rx_return_refused,  // return data that fits no open read
  count_,
};

// The word for a counter. Never null.
const char* name(Counter c);

using Counters = CounterSet<Counter>;

}  // namespace uet::ses
