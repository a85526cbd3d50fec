// The common sequence of every transmit call around its post to the stack: for messages and RMA.
// [LF-041..049, decision 11]
#pragma once

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"
#include "prov/uet/endpoint/transmissions.h"

namespace uet::prov {

// `call` is a checked MessageCall or RmaCall; `plan` is the meaning of its flags; `cq_flags` go
// into its completion. `post` hands it to the stack: Result<Taken>(Entry&, Destination, OpContext);
// when it fails, the stack took nothing.
template <class Call, class Post>
ssize_t Transmissions::post_tx(const Call& call, const Plan& plan, uint64_t cq_flags, Post post) {
  ProgressEngine::Entry entry(ep_.engine());
  const ses::Destination* to = ep_.addresses().target(call.addr);
  if (to == nullptr) {
    entry.post(FlushPolicy::Nothing());
    return refuse_address(call.addr);
  }
  if (plan.slots > 0 && !ep_.bound.tx_cq()->reserve(plan.slots)) {
    if (ep_.bound.tx_cq()->has_unread()) {
      entry.post(FlushPolicy::Unread{entry.engine().has_backlog()});
    } else {
      entry.poll();
    }
    return -FI_EAGAIN;
  }
  begin(plan, call.addr);
  const ses::OpContext context{call.context, plan.user | (call.addr & kIndexMask)};
  const Result<ses::Taken> posted = post(entry, *to, context);
  if (!posted.ok()) return refuse(entry, plan, call.addr, posted.error());
  if (*posted == ses::Taken::retained) {
    ep_.addresses().report_early(call.addr);
    report_retained(plan, call.context, cq_flags);
  }
  const bool more = (call.flags & FI_MORE) != 0;
  entry.post(FlushPolicy::Operation{plan.bytes, entry.ses().sends_open(ep_.id), more});
  return 0;
}

// Hands over an operation of `count` messages that makes one completion: one message per remote
// segment, by post_part(index, OpContext) -> Result<Taken>. All or nothing: if there is no room for
// one of them, the earlier ones are cancelled. [LF-047]
template <class PostPart>
Result<ses::Taken> Transmissions::post_parts(ProgressEngine::Entry& entry, uint32_t count,
                                             ses::OpKind kind, const ses::OpContext& context,
                                             PostPart post_part) {
  if (count == 1) {
    ++open_;  // first: its completion may come before the call is back
    Result<ses::Taken> taken = post_part(0, context);
    if (!taken.ok()) --open_;
    return taken;
  }
  if (open_ + count > ep_.as.tx_size) return count > ep_.as.tx_size ? Errc::invalid : Errc::again;
  uint32_t index = 0;
  if (!groups_.take(index)) return Errc::again;
  OpGroup& group = groups_[index];
  group.op_context = context.op;
  group.user = context.user;
  group.open = count + 1;  // one more, so that it cannot end before all are posted

  const uint64_t user = kGrouped | index;
  for (uint32_t posted = 0; posted < count; ++posted) {
    ++open_;
    const Result<ses::Taken> taken = post_part(posted, ses::OpContext{context.op, user});
    if (taken.ok()) continue;
    --open_;
    entry.ses().take_back(ep_.id, user, entry.now());
    groups_.give(index);
    return taken.error();
  }
  ses::Completion rest;  // the extra one
  rest.kind = kind;
  rest.context.user = user;
  part_done(rest);
  return ses::Taken::posted;
}

}  // namespace uet::prov
