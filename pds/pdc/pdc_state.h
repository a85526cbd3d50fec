// The states of a PDC in either role, and the table of what ends each. The rows are those of PDS 5;
// what happens on the way is in the engine's files. [PDS 5]
#pragma once

#include <cstdint>

namespace uet::pds {

// Initiator: syn .. error. Target: pending (secured only), established, close_wait, error.
// A PDC that is closed is not in the table. [PDS 5]
//
// state          | leaves on                                     | to               | row
// pending        | SYN with the assigned Start_PSN               | established      | T5
// pending        | New_PDC_Time is over                          | (freed)          | T7
// syn            | first valid ACK                               | established      | I3
// established    | close wanted (idle, pressure, PSN range, peer)| quiesce          | I10
// quiesce        | started messages fully sent, none kept open   | ack_wait         | I12
// ack_wait       | everything answered both ways                 | close_ack_wait   | I13
// close_ack_wait | Close acked, refused or given up              | (freed)          | I14-I17
// error          | Close acked, refused or given up              | (freed)          | I19
// established    | target wants close                            | close_wait       | T10
// close_wait     | Close command, or Close_REQ_Time over         | (freed)          | T12-T14
// either, target | return data failed                            | error            | T17
// error, target  | as close_wait                                 | (freed)          | T12, T13
enum class PdcState : uint8_t {
  pending,
  syn,
  established,
  quiesce,
  ack_wait,
  close_ack_wait,
  error,
  close_wait,
};

// The name as PDS 5 has it. Never null.
const char* name(PdcState state);

}  // namespace uet::pds
