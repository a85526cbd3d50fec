// Posting messages, tagged or not, and the untagged operation table. One call chain from the
// application to the socket: plan, book a CQ slot, post, transmit. [LF-041..046, LF-053..060]
#include "prov/uet/endpoint/post_tx.h"

#include "prov/uet/domain/domain.h"
#include "prov/uet/endpoint/receive_call.h"
#include "prov/uet/endpoint/slices.h"

namespace uet::prov {

ssize_t EndpointCore::check_post(uint64_t capability) const {
  if (engine_.home().is_elsewhere() || !enabled_) {
    UET_WARN(EP_DATA, "the endpoint cannot be used: call fi_enable first, and not in a fork\n");
    return -FI_EOPBADSTATE;
  }
  if ((caps_ & capability) == 0) {
    UET_WARN(EP_DATA,
             "the endpoint was opened without the capability for this call; ask "
             "fi_getinfo for it in hints->caps\n");
    return -FI_EOPNOTSUPP;
  }
  return 0;
}

ssize_t EndpointCore::plan_tx(uint64_t flags, uint64_t bytes, bool is_message, TxPlan& plan) const {
  if ((flags & (FI_COMMIT_COMPLETE | FI_TRIGGER | FI_MULTICAST)) != 0) {
    UET_WARN(EP_DATA, "FI_COMMIT_COMPLETE, FI_TRIGGER and FI_MULTICAST are not offered\n");
    return -FI_EOPNOTSUPP;  // [LF-056, LF-100]
  }
  if (bytes > max_message_bytes()) {
    UET_WARN(EP_DATA, "%llu octets are too many for one message; the limit is %zu\n",
             static_cast<unsigned long long>(bytes), max_message_bytes());
    return -FI_EMSGSIZE;
  }
  if (datagram_ && (flags & (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE)) != 0) {
    UET_WARN(EP_DATA, "nobody tells what became of a datagram; it completes when it has left\n");
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
      (flags & kNoCompletion) == 0 && (!tx_selective_ || (flags & FI_COMPLETION) != 0);
  if (report) plan.user |= kReport;
  const bool silent = (flags & FI_INJECT) != 0 && !report;
  if (silent) plan.user |= kUnreported;
  // Neither a completion nor a counter can show when it ends. [PDS-064]
  const bool counted = counters_[kSendCounter] != nullptr || counters_[kWriteCounter] != nullptr;
  if (silent && !counted) plan.ses_flags |= ses::kOpQuiet;
  // Nobody waits for the others, or the application believes them done already.
  if (!silent && (report || counted) && may_retain(flags, is_message)) {
    plan.ses_flags |= ses::kOpRetain;
  }
  if (tx_cq_ != nullptr) plan.slots = 1;
  return 0;
}

// Whether the operation may be reported as done when its payload is copied. A message may unless a
// stronger level was asked for: it makes an event of its own at the receiver. What a peer's memory
// is written by may only where that was asked for, because programs take the completion for the
// arrival. One behind a fence says by its completion that those before it have arrived. [LF-055,
// LF-136]
bool EndpointCore::may_retain(uint64_t flags, bool is_message) const {
  constexpr uint64_t kStronger = FI_TRANSMIT_COMPLETE | FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE;
  if (datagram_ || (flags & (kStronger | FI_FENCE)) != 0) return false;
  return is_message || (flags & FI_INJECT_COMPLETE) != 0;
}

// The application posts one long message after the other without a look for completions. None of
// them is what it waits for, so copying them would only cost time. [LF-136]
bool EndpointCore::waits_for_none(const ProgressEngine::Entry& entry, const TxPlan& plan) {
  constexpr uint32_t kInARow = 8;
  constexpr uint64_t kLongBytes = 8 * 1024;
  return plan.bytes > kLongBytes && entry.posts_in_a_row() >= kInARow;
}

void EndpointCore::begin_tx(const TxPlan& plan, fi_addr_t addr) {
  const bool unreported = (plan.user & kUnreported) != 0;
  if (unreported) ++unreported_;
  av_->begin_operation(addr, unreported);
}

ssize_t EndpointCore::refuse_address(fi_addr_t addr) const {
  if (av_->is_lost(addr)) return -FI_ECONNABORTED;  // the log has the reason [LF-137]
  UET_WARN(EP_DATA, "fi_addr_t 0x%llx is not in the address vector; use what fi_av_insert gave\n",
           static_cast<unsigned long long>(addr));
  return -FI_EADDRNOTAVAIL;
}

// Takes back what begin_tx() and the caller booked; the stack took nothing.
ssize_t EndpointCore::refuse_tx(ProgressEngine::Entry& entry, const TxPlan& plan, fi_addr_t addr,
                                Errc why) {
  const bool unreported = (plan.user & kUnreported) != 0;
  if (unreported) --unreported_;
  av_->end_operation(addr, unreported);
  if (plan.slots > 0) tx_cq_->release(plan.slots);
  entry.poll();
  return to_fi_errno(why);
}

// The payload was copied: the application is told that the operation is done. What becomes of it
// later goes to retained_done().
void EndpointCore::report_retained(const TxPlan& plan, void* op_context, uint64_t flags) {
  ++unreported_;
  count((flags & FI_SEND) != 0 ? kSendCounter : kWriteCounter, true);
  if (tx_cq_ == nullptr) return;
  if ((plan.user & kReport) == 0) return tx_cq_->release(1);
  CompletionEntry done;
  done.op_context = op_context;
  done.flags = flags;
  tx_cq_->push(done);
}

// What FI_MORE held back leaves although this call is refused.
ssize_t EndpointCore::reject(ssize_t error) {
  ProgressEngine::Entry entry(engine_);
  entry.post(FlushPolicy::Nothing());
  return error;
}

ssize_t EndpointCore::send(const MessageCall& call) {
  if (const ssize_t rc = check_post(call.tagged ? FI_TAGGED : FI_MSG); rc != 0) return rc;
  Slices slices;
  if (const int rc = slices.assign(call.iov, call.count); rc != 0) return reject(rc);
  TxPlan plan;
  if (const ssize_t rc = plan_tx(call.flags, slices.bytes(), true, plan); rc != 0)
    return reject(rc);

  ses::SendRequest request;
  request.iov = slices.view();
  request.tagged = call.tagged;
  request.tag = call.tag;
  request.data = call.data;
  request.flags = plan.ses_flags;
  return post_tx(call, plan, FI_SEND | (call.tagged ? FI_TAGGED : FI_MSG),
                 [&](ProgressEngine::Entry& entry, const ses::Destination& to,
                     const ses::OpContext& context) {
                   request.to = to;
                   request.context = context;
                   if (waits_for_none(entry, plan)) request.flags &= ~uint32_t{ses::kOpRetain};
                   return hand_over(entry, request);
                 });
}

// Counts the operation first: its completion may come before the call is back.
Result<ses::Taken> EndpointCore::hand_over(ProgressEngine::Entry& entry,
                                           const ses::SendRequest& request) {
  ++tx_open_;
  const Result<ses::Taken> taken = entry.ses().send(id_, request, entry.now());
  if (!taken.ok()) --tx_open_;
  return taken;
}

// The room for its completion; false: the application has to read first.
bool EndpointCore::book_receive(ProgressEngine::Entry& entry) {
  if (rx_cq_ == nullptr || rx_cq_->reserve(1)) return true;
  entry.poll();
  return false;
}

ses::OpContext EndpointCore::receive_context(const MessageCall& call, bool report) {
  uint64_t user = 0;
  if ((call.flags & FI_MULTI_RECV) != 0) user |= kMulti;
  if (report) user |= kReport;
  return {call.context, user};
}

ssize_t EndpointCore::receive(const MessageCall& call) {
  if (const ssize_t rc = check_post(call.tagged ? FI_TAGGED : FI_MSG); rc != 0) return rc;
  if (shared_ != nullptr) {
    UET_WARN(EP_DATA, "the endpoint has no receives of its own; post to its shared context\n");
    return -FI_EOPNOTSUPP;
  }
  if (const ssize_t rc = check_receive(call, tag_format_); rc != 0) return rc;
  const bool peeks = (call.flags & FI_PEEK) != 0;
  const bool looks = peeks || (call.flags & FI_DISCARD) != 0;
  Slices slices;
  if (const int rc = looks ? 0 : slices.assign(call.iov, call.count); rc != 0) return rc;

  ses::ReceiveRequest request = receive_request(call, slices.view(), min_multi_recv_);
  const bool report = !rx_selective_ || (call.flags & FI_COMPLETION) != 0;
  request.context = receive_context(call, report);

  ProgressEngine::Entry entry(engine_);
  if (const ssize_t rc = aim_receive(call, caps_, av_, request); rc != 0) return rc;
  if (peeks) entry.poll();  // what has arrived shall be seen
  if (looks) return look(entry, call, request);
  return book_receive(entry) ? post_receive(entry, call, request) : -FI_EAGAIN;
}

ssize_t EndpointCore::post_receive(ProgressEngine::Entry& entry, const MessageCall& call,
                                   ses::ReceiveRequest& request) {
  Result<void> posted;
  if ((call.flags & FI_CLAIM) != 0) {
    posted = entry.ses().receive_claimed(id_, kept_claim(call.context), request, entry.now());
  } else {
    posted = entry.ses().receive(id_, request, entry.now());
  }
  if (!posted.ok()) {
    if (rx_cq_ != nullptr) rx_cq_->release(1);
    entry.poll();
    return to_fi_errno(posted.error());
  }
  entry.post(FlushPolicy::Receive{(call.flags & FI_MORE) != 0});
  return 0;
}

// The result is always a completion. [LF-059]
ssize_t EndpointCore::look(ProgressEngine::Entry& entry, const MessageCall& call,
                           const ses::ReceiveRequest& request) {
  if (!book_receive(entry)) return -FI_EAGAIN;
  const bool claims = (call.flags & FI_CLAIM) != 0;
  const bool discards = (call.flags & FI_DISCARD) != 0;
  CompletionEntry done;
  done.op_context = call.context;
  done.flags = FI_RECV | (call.tagged ? FI_TAGGED : FI_MSG);
  done.tag = call.tag;
  bool found = false;
  if ((call.flags & FI_PEEK) == 0) {
    found = entry.ses().discard_claimed(id_, kept_claim(call.context), entry.now());
  } else {
    const ses::Ses::Peeked peeked = entry.ses().peek(id_, request, claims || discards, entry.now());
    found = peeked.found;
    if (found) {
      done.len = peeked.bytes;
      done.tag = peeked.tag;
      done.data = peeked.data;
      if (peeked.has_data) done.flags |= FI_REMOTE_CQ_DATA;
      set_source(done, {peeked.peer, peeked.initiator_id, peeked.job});
      if (discards) {
        entry.ses().discard_claimed(id_, peeked.claim, entry.now());
      } else if (claims) {
        keep_claim(call.context, peeked.claim);
      }
    }
  }
  if (rx_cq_ == nullptr) return 0;
  if (found) {
    rx_cq_->push(done);
  } else {
    CompletionError error;
    error.err = FI_ENOMSG;
    rx_cq_->push_error(done, error);
  }
  return 0;
}

ssize_t EndpointCore::cancel(void* op_context) {
  if (!enabled_) return -FI_EOPBADSTATE;
  ProgressEngine::Entry entry(engine_);
  const bool cancelled = entry.ses().cancel(id_, op_context, entry.now());
  entry.post(FlushPolicy::Nothing());
  return cancelled ? 0 : -FI_ENOENT;
}

namespace {

// The untagged calls. Each fills a MessageCall and posts it.

MessageCall to_call(const iovec* iov, size_t count, fi_addr_t addr, void* context, uint64_t flags) {
  MessageCall call;
  call.iov = iov;
  call.count = count;
  call.addr = addr;
  call.context = context;
  call.flags = flags;
  return call;
}

MessageCall to_call(const fi_msg& msg, uint64_t flags) {
  MessageCall call = to_call(msg.msg_iov, msg.iov_count, msg.addr, msg.context, flags);
  call.data = msg.data;
  return call;
}

iovec to_iovec(const void* buf, size_t len) { return {const_cast<void*>(buf), len}; }

ssize_t recv(fid_ep* fid, void* buf, size_t len, void*, fi_addr_t from, void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return ep.core().receive(to_call(&iov, 1, from, context, ep.rx_flags()));
}

ssize_t recvv(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t from,
              void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  return ep.core().receive(to_call(iov, count, from, context, ep.rx_flags()));
}

ssize_t recvmsg(fid_ep* fid, const fi_msg* msg, uint64_t flags) noexcept {
  return object_of<Endpoint>(fid).core().receive(to_call(*msg, flags));
}

ssize_t send(fid_ep* fid, const void* buf, size_t len, void*, fi_addr_t to,
             void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return ep.core().send(to_call(&iov, 1, to, context, ep.tx_flags()));
}

ssize_t sendv(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t to,
              void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  return ep.core().send(to_call(iov, count, to, context, ep.tx_flags()));
}

ssize_t sendmsg(fid_ep* fid, const fi_msg* msg, uint64_t flags) noexcept {
  return object_of<Endpoint>(fid).core().send(to_call(*msg, flags));
}

ssize_t inject(fid_ep* fid, const void* buf, size_t len, fi_addr_t to) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return ep.core().send(to_call(&iov, 1, to, nullptr, ep.inject_flags()));
}

ssize_t senddata(fid_ep* fid, const void* buf, size_t len, void*, uint64_t data, fi_addr_t to,
                 void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  MessageCall call = to_call(&iov, 1, to, context, ep.tx_flags() | FI_REMOTE_CQ_DATA);
  call.data = data;
  return ep.core().send(call);
}

ssize_t injectdata(fid_ep* fid, const void* buf, size_t len, uint64_t data, fi_addr_t to) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  MessageCall call = to_call(&iov, 1, to, nullptr, ep.inject_flags() | FI_REMOTE_CQ_DATA);
  call.data = data;
  return ep.core().send(call);
}

}  // namespace

fi_ops_msg message_ops = {
    .size = sizeof(fi_ops_msg),
    .recv = recv,
    .recvv = recvv,
    .recvmsg = recvmsg,
    .send = send,
    .sendv = sendv,
    .sendmsg = sendmsg,
    .inject = inject,
    .senddata = senddata,
    .injectdata = injectdata,
};

}  // namespace uet::prov
