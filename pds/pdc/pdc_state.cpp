// Names of the states, for logs, tools and tests. [PDS 5]
#include "pds/pdc/pdc_state.h"

namespace uet::pds {

const char* name(PdcState state) {
  switch (state) {
    case PdcState::pending:
      return "PENDING";
    case PdcState::syn:
      return "SYN";
    case PdcState::established:
      return "ESTABLISHED";
    case PdcState::quiesce:
      return "QUIESCE";
    case PdcState::ack_wait:
      return "ACK_WAIT";
    case PdcState::close_ack_wait:
      return "CLOSE_ACK_WAIT";
    case PdcState::error:
      return "ERROR";
    case PdcState::close_wait:
      return "CLOSE_WAIT";
    case PdcState::closed:
      return "CLOSED";
  }
  return "reserved";
}

}  // namespace uet::pds
