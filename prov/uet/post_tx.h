// What every transmit call does around handing its operation to the stack: one sequence for
// messages and RMA. [LF-041..049, architecture 8, Room before acceptance]
#pragma once

#include "prov/uet/av.h"
#include "prov/uet/ep.h"
#include "prov/uet/log.h"

namespace uet::prov {

// `call` is a MessageCall or an RmaCall that was checked; `plan` is what its flags mean; `cq_flags`
// are those of its completion. `post` hands it to the stack: Result<void>(Entry&, Destination,
// OpContext); when it fails, the stack took nothing.
template <class Call, class Post>
ssize_t EndpointCore::post_tx(const Call& call, const TxPlan& plan, uint64_t cq_flags, Post post) {
  ProgressEngine::Entry entry(engine_);
  const ses::Destination* to = av_->find(call.addr);
  if (to == nullptr) {
    UET_WARN(EP_DATA, "fi_addr_t 0x%llx is not in the address vector; use what fi_av_insert gave\n",
             static_cast<unsigned long long>(call.addr));
    entry.transmit();
    return -FI_EADDRNOTAVAIL;
  }
  if (plan.slots > 0 && !tx_cq_->reserve(plan.slots)) {
    entry.progress();
    return -FI_EAGAIN;
  }
  begin_tx(plan, call.addr);
  const ses::OpContext context{call.context, plan.user | (call.addr & kIndexMask)};
  const Result<void> posted = post(entry, *to, context);
  if (!posted.ok()) return refuse_tx(entry, plan, call.addr, posted.error());
  report_early(plan, call.context, cq_flags);
  if ((call.flags & FI_MORE) == 0) entry.transmit();
  return 0;
}

}  // namespace uet::prov
