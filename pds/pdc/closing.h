// How a close begins: an initiator takes no more messages, a target asks. [PDS 15.1]
#pragma once

#include "pds/pdc/pdc.h"
#include "pds/resources.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

class Closing {
 public:
  Closing(Resources& res, Schedule& schedule) : res_(res), schedule_(schedule) {}

  // Initiator: takes no more messages, and closes when all is answered.
  void begin_close(Pdc& pdc);
  // Target: asks the initiator to close, for no longer than Close_REQ_Time.
  void ask_close(Pdc& pdc, Instant now);

 private:
  Resources& res_;
  Schedule& schedule_;
};

}  // namespace uet::pds
