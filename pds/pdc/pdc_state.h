// The states of a PDC in either role. lifecycle.cpp has the tables of transitions. [PDS 5]
#pragma once

#include <cstdint>

namespace uet::pds {

// Initiator: syn .. error. Target: pending (secured only), established, close_wait, error.
// A PDC that is closed is not in the table. [PDS 5]
enum class PdcState : uint8_t {
  pending,
  syn,
  established,
  quiesce,
  ack_wait,
  close_ack_wait,
  error,
  close_wait,
  closed,
};

// The name as PDS 5 has it. Never null.
const char* name(PdcState state);

}  // namespace uet::pds
