// Planning an operation from its flags, and from the stack's completion to CQ entry and counter.
// The latter runs inside the engine, lock held: it stores and counts, nothing else. [LF-053..056,
// LF-093..097]
#include "prov/uet/endpoint/transmissions.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"
#include "prov/uet/progress/clock.h"

#include "io/socket.h"

namespace uet::prov {

ssize_t Transmissions::make_plan(uint64_t flags, uint64_t bytes, bool is_message,
                                 Plan& plan) const {
  if ((flags & (FI_COMMIT_COMPLETE | FI_TRIGGER | FI_MULTICAST)) != 0) {
    UET_WARN(EP_DATA, "%s: the flag %s is not supported: leave it out\n",
             is_message ? "fi_sendmsg or fi_tsendmsg" : "fi_writemsg, fi_readmsg or fi_atomicmsg",
             (flags & FI_COMMIT_COMPLETE) != 0 ? "FI_COMMIT_COMPLETE"
             : (flags & FI_TRIGGER) != 0       ? "FI_TRIGGER"
                                               : "FI_MULTICAST");
    return -FI_EOPNOTSUPP;  // [LF-056, LF-100]
  }
  if (bytes > ep_.as.message_bytes_max) {
    UET_WARN(EP_DATA, "%llu octets are too many for one message; the limit is %zu\n",
             static_cast<unsigned long long>(bytes), ep_.as.message_bytes_max);
    return -FI_EMSGSIZE;
  }
  if (ep_.as.datagram && (flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)) != 0) {
    UET_WARN(EP_DATA,
             "FI_DELIVERY_COMPLETE and FI_MATCH_COMPLETE are not supported on FI_EP_DGRAM: "
             "datagrams are not acknowledged\n");
    return -FI_EOPNOTSUPP;  // [LF-044]
  }
  plan.bytes = bytes;
  if ((flags & FI_INJECT) != 0) {
    if (bytes > ses::kInjectBytes) {
      UET_WARN(EP_DATA, "%llu octets are too many to inject; the limit is inject_size, %u\n",
               static_cast<unsigned long long>(bytes), ses::kInjectBytes);
      return -FI_EMSGSIZE;
    }
    plan.ses_flags |= ses::kOpInject;
  }
  if ((flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)) != 0) {
    plan.ses_flags |= ses::kOpDeliveryComplete;  // [LF-053, LF-056]
  }
  if ((flags & FI_REMOTE_CQ_DATA) != 0) plan.ses_flags |= ses::kOpRemoteData;
  if ((flags & FI_FENCE) != 0) plan.ses_flags |= ses::kOpFence;  // [LF-060]

  const bool report =
      (flags & kNoCompletion) == 0 && (!ep_.bound.tx_selective() || (flags & FI_COMPLETION) != 0);
  if (report) plan.user |= kReport;
  const bool silent = (flags & FI_INJECT) != 0 && !report;
  if (silent) plan.user |= kUnreported;
  // No completion and no counter shows its end. [PDS-064]
  const bool counted = ep_.bound.counts_transmits();
  if (silent && !counted) plan.ses_flags |= ses::kOpQuiet;
  // The application does not wait for other operations, or has their completion already.
  if (!silent && (report || counted) && may_retain(flags, is_message)) {
    plan.ses_flags |= ses::kOpRetain;
  }
  if (ep_.bound.tx_cq() != nullptr) plan.slots = 1;
  return 0;
}

// Whether the operation may be reported as done when its payload is copied. A message may unless a
// stronger level was requested: it makes a separate event at the receiver. A write to a peer's
// memory may only on request, because programs take its completion as the arrival. The completion
// of an operation behind a fence means that earlier ones have arrived. [LF-055, LF-136]
bool Transmissions::may_retain(uint64_t flags, bool is_message) const {
  constexpr uint64_t kStronger = FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE;
  if (ep_.as.datagram || (flags & (kStronger | FI_FENCE)) != 0) return false;
  return is_message || (flags & FI_INJECT_COMPLETE) != 0;
}

// The application posts one long message after the other without a look for completions. It waits
// for none of them, so copying them would only cost time. [LF-136]
bool Transmissions::waits_for_none(const ProgressEngine::Entry& entry, const Plan& plan) {
  constexpr uint32_t kInARow = 8;
  constexpr uint64_t kLongBytes = 8 * 1024;
  return plan.bytes > kLongBytes && entry.posts_in_a_row() >= kInARow;
}

// No packet of the peer came yet [PDS-256], so the address may be wrong. The application gets
// the error of its first messages while it waits for them. Calls with FI_INJECT_COMPLETE or
// FI_INJECT do not wait. [LF-136]
bool Transmissions::waits_for_first_answer(uint64_t flags, const ses::Destination& to) const {
  return (flags & (FI_INJECT_COMPLETE | FI_INJECT)) == 0 &&
         ep_.engine().peer(to.peer).last_heard == Instant::zero();
}

void Transmissions::begin(const Plan& plan, fi_addr_t addr) {
  const bool unreported = (plan.user & kUnreported) != 0;
  if (unreported) ++unreported_;
  ep_.addresses().begin_operation(addr, unreported);
}

ssize_t Transmissions::refuse_address(fi_addr_t addr) const {
  if (ep_.addresses().is_lost(addr)) return -FI_ECONNABORTED;  // the log has the reason [LF-137]
  UET_WARN(EP_DATA, "fi_addr_t 0x%llx is not in the address vector; use what fi_av_insert gave\n",
           static_cast<unsigned long long>(addr));
  return -FI_EADDRNOTAVAIL;
}

// Takes back what begin() and the caller booked; the stack took nothing.
ssize_t Transmissions::refuse(ProgressEngine::Entry& entry, const Plan& plan, fi_addr_t addr,
                              Errc why) {
  const bool unreported = (plan.user & kUnreported) != 0;
  if (unreported) --unreported_;
  ep_.addresses().end_operation(addr, unreported);
  if (plan.slots > 0) ep_.bound.tx_cq()->release(plan.slots);
  entry.poll();
  return to_fi_errno(why);
}

// The payload was copied: reports the operation as complete. retained_done() gets its real end.
void Transmissions::report_retained(const Plan& plan, void* op_context, uint64_t flags) {
  ++unreported_;
  ep_.bound.count((flags & FI_SEND) != 0 ? Bindings::kSendCounter : Bindings::kWriteCounter, true);
  if (ep_.bound.tx_cq() == nullptr) return;
  if ((plan.user & kReport) == 0) return ep_.bound.tx_cq()->release(1);
  CompletionEntry done;
  done.op_context = op_context;
  done.flags = flags;
  ep_.bound.tx_cq()->push(done);
}

// Sends operations that FI_MORE held back, although this call is refused.
ssize_t Transmissions::reject(ssize_t error) {
  ProgressEngine::Entry entry(ep_.engine());
  entry.post(FlushPolicy::Nothing());
  return error;
}

void Transmissions::on_done(void* self, const ses::Completion& completion) {
  static_cast<Transmissions*>(self)->done(completion);
}

void Transmissions::done(const ses::Completion& completion) {
  --open_;
  if ((completion.context.user & kGrouped) != 0) {
    part_done(completion);
    return;
  }
  if (completion.was_retained) return retained_done(completion);
  const fi_addr_t addr = completion.context.user & kIndexMask;
  const bool unreported = (completion.context.user & kUnreported) != 0;
  if (completion.ok()) {
    ep_.addresses().end_operation(addr, unreported);
    finish(completion.kind, completion.context.user, completion.context.op, nullptr);
    return;
  }
  CompletionError error = ep_.error_of(completion);
  if (const ses::Destination* to = ep_.addresses().find(addr)) {
    error.peer = ep_.engine().peer(to->peer).address;
    error.initiator_id = to->initiator_id;
    warn_of_unreachable(addr, *to, completion);
  }
  ep_.addresses().end_operation(addr, unreported);
  finish(completion.kind, completion.context.user, completion.context.op, &error);
}

// [LF-136]
void Transmissions::warn_of_unreachable(fi_addr_t addr, const ses::Destination& to,
                                        const ses::Completion& completion) {
  const bool is_unreachable = completion.status == ses::Completion::Status::undeliverable &&
                              completion.failure.reason == pds::FailureReason::unreachable;
  if (!is_unreachable) return;
  const pds::Peer& peer = ep_.engine().peer(to.peer);
  if (peer.last_heard != Instant::zero()) return;
  const std::optional<uint64_t> left_out = unreachable_.admit(to.peer, monotonic_now());
  if (!left_out) return;
  if (*left_out != 0) {
    UET_WARN(EP_DATA, "the log left out %llu failures with other unreachable addresses\n",
             static_cast<unsigned long long>(*left_out));
  }
  UET_WARN(EP_DATA,
           "the network reports %s port %u (fi_addr_t 0x%llx) as unreachable, and it has never "
           "answered: start the peer first, and use the address that its fi_getname gives. An "
           "endpoint has one address; if its fi_getinfo names no node (fabtests: -s), that is the "
           "first one of `fi_info -p uet`, not loopback\n",
           io::ip_text(peer.address).c_str(), peer.address.port,
           static_cast<unsigned long long>(addr));
}

// The operation was reported as done long ago, and the application has its op_context back.
// [LF-136]
void Transmissions::retained_done(const ses::Completion& completion) {
  --unreported_;
  const fi_addr_t addr = completion.context.user & kIndexMask;
  const ses::Destination* const to = ep_.addresses().find(addr);
  const bool is_first = !completion.ok() && !ep_.closing && ep_.addresses().mark_lost(addr);
  ep_.addresses().end_operation(addr, true);
  if (!is_first) return;
  LostSend lost;
  lost.addr = addr;
  lost.error = ep_.error_of(completion);
  if (to != nullptr) lost.error.peer = ep_.engine().peer(to->peer).address;
  ep_.bound.report_lost(lost);
}

void Transmissions::part_done(const ses::Completion& completion) {
  const auto index = static_cast<uint32_t>(completion.context.user & kIndexMask);
  OpGroup& group = groups_[index];
  group.bytes += completion.bytes;
  if (!completion.ok() && !group.failed) {
    group.failed = true;
    group.error = ep_.error_of(completion);
    if (const ses::Destination* to = ep_.addresses().find(group.user & kIndexMask)) {
      group.error.peer = ep_.engine().peer(to->peer).address;
    }
  }
  if (--group.open > 0) return;
  ep_.addresses().end_operation(group.user & kIndexMask, (group.user & kUnreported) != 0);
  finish(completion.kind, group.user, group.op_context, group.failed ? &group.error : nullptr);
  groups_.give(index);
}

void Transmissions::finish(ses::OpKind kind, uint64_t user, void* op_context,
                           const CompletionError* error) {
  if ((user & kUnreported) != 0) --unreported_;
  const bool ok = error == nullptr;
  switch (kind) {
    case ses::OpKind::write:
    case ses::OpKind::atomic:
      ep_.bound.count(Bindings::kWriteCounter, ok);
      break;
    case ses::OpKind::read:
    case ses::OpKind::fetching_atomic:
      ep_.bound.count(Bindings::kReadCounter, ok);
      break;
    default:
      ep_.bound.count(Bindings::kSendCounter, ok);
      break;
  }
  if (ep_.bound.tx_cq() == nullptr) return;
  if (ep_.closing || (ok && (user & kReport) == 0)) {
    ep_.bound.tx_cq()->release(1);
    return;
  }
  CompletionEntry entry;
  entry.op_context = op_context;
  entry.flags = completion_flags(kind);
  if (ok) {
    ep_.bound.tx_cq()->push(entry);
  } else {
    ep_.bound.tx_cq()->push_error(entry, *error);
  }
}

}  // namespace uet::prov
