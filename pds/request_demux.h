// Requests and control packets on their way to a PDC: admitted, refused, or the last one that a
// close has waited for. [PDS 7.1 V6 to V8]
#pragma once

#include "pds/door/door.h"
#include "pds/door/replies.h"
#include "pds/lookup.h"
#include "pds/pdc/close_steps.h"
#include "pds/pdc/idle_list.h"
#include "pds/resources.h"
#include "pds/rx/inbound.h"
#include "pds/rx/inbox.h"
#include "pds/schedule/schedule.h"

namespace uet::pds {

class RequestDemux {
 public:
  RequestDemux(Resources& res, Lookup& lookup, Door& door, Schedule& schedule, IdleList& idle,
               Replies& replies, CloseSteps& steps, Inbox& inbox)
      : res_(res),
        lookup_(lookup),
        door_(door),
        schedule_(schedule),
        idle_(idle),
        replies_(replies),
        steps_(steps),
        inbox_(inbox) {}

  void receive(const Inbound& in, Instant now);
  // The peer lost the answer to that request. [PDS-134]
  void answer_again(Pdc& pdc, const AckTrigger& packet, Instant now);
  // The request before this one, which the next one is compared with.
  LastRequest& last() { return inbox_.last(); }

 private:
  void send_refusal(Pdc& pdc, const AckTrigger& packet, const Admission& result, Instant now);

  Resources& res_;
  Lookup& lookup_;
  Door& door_;
  Schedule& schedule_;
  IdleList& idle_;
  Replies& replies_;
  CloseSteps& steps_;
  Inbox& inbox_;
};

}  // namespace uet::pds
