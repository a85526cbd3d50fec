// The first step of a close, from either side. [PDS 15.1]
#include "pds/pdc/closing.h"

namespace uet::pds {

// Initiator. New messages go elsewhere from here on. [PDS-I10, PDS-I21, PDS-I22]
void Closing::begin_close(Pdc& pdc) {
  UET_ASSERT(pdc.is_initiator());
  if (pdc.flow->ready) schedule_.wake_flow(*pdc.flow);
  if (!pdc.life.may(PdcEvent::close_wanted)) return;  // it closes, or has failed
  pdc.life.change(PdcEvent::close_wanted);
  if (pdc.state() == PdcState::quiesce) schedule_.want_control(pdc);
}

// Target: only asks. [PDS-170, PDS-T10]
void Closing::ask_close(Pdc& pdc, Instant now) {
  UET_ASSERT(!pdc.is_initiator());
  if (pdc.state() != PdcState::established) return;
  pdc.life.change(PdcEvent::close_wanted);
  pdc.end.want_request(now + res_.config.close_req);
  schedule_.arm_by(pdc, pdc.end.at());
  schedule_.want_control(pdc);
}

}  // namespace uet::pds
