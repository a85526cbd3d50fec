// From the stack's completions to CQ entries and counters. Runs inside the engine, lock held: it
// stores and counts, nothing else. [LF-093..097]
#include "prov/uet/address/av.h"
#include "prov/uet/completion/cntr.h"
#include "prov/uet/completion/completion_error.h"
#include "prov/uet/domain/domain.h"
#include "prov/uet/endpoint/ep.h"
#include "prov/uet/endpoint/lost_send.h"
#include "prov/uet/memory/mr.h"

namespace uet::prov {
namespace {

uint64_t completion_flags(ses::OpKind kind) {
  switch (kind) {
    case ses::OpKind::send:
      return FI_SEND | FI_MSG;
    case ses::OpKind::tagged_send:
      return FI_SEND | FI_TAGGED;
    case ses::OpKind::write:
      return FI_RMA | FI_WRITE;
    case ses::OpKind::read:
      return FI_RMA | FI_READ;
    case ses::OpKind::atomic:
      return FI_ATOMIC | FI_WRITE;
    case ses::OpKind::fetching_atomic:
      return FI_ATOMIC | FI_READ;
    case ses::OpKind::recv:
      return FI_RECV | FI_MSG;
    case ses::OpKind::tagged_recv:
      return FI_RECV | FI_TAGGED;
    case ses::OpKind::remote_write:
      return FI_RMA | FI_REMOTE_WRITE;
    case ses::OpKind::remote_read:
      return FI_RMA | FI_REMOTE_READ;
    case ses::OpKind::remote_atomic:
      return FI_ATOMIC | FI_REMOTE_WRITE;
  }
  return 0;
}

}  // namespace

void EndpointCore::on_tx(void* core, const ses::Completion& completion) {
  static_cast<EndpointCore*>(core)->tx_done(completion);
}

void EndpointCore::on_rx(void* core, const ses::Completion& completion) {
  auto& self = *static_cast<EndpointCore*>(core);
  const bool is_remote = completion.kind >= ses::OpKind::remote_write;
  if (is_remote) {
    self.remote_done(completion);
  } else {
    self.rx_done(completion);
  }
}

bool EndpointCore::on_reserve(void* core) {
  auto& self = *static_cast<EndpointCore*>(core);
  return self.rx_cq_ == nullptr || self.rx_cq_->reserve(1);
}

void EndpointCore::on_release(void* core) {
  auto& self = *static_cast<EndpointCore*>(core);
  if (self.rx_cq_ != nullptr) self.rx_cq_->release(1);
}

void EndpointCore::count(CounterSlot slot, bool ok) {
  if (counters_[slot] != nullptr) counters_[slot]->count(ok);
}

CompletionError EndpointCore::error_of(const ses::Completion& completion) const {
  const OperationError what = operation_error(completion);
  CompletionError error;
  error.err = what.err;
  error.prov_errno = what.prov_errno;
  error.olen = completion.truncated_bytes;
  error.initiator_id = completion.initiator_id;
  error.addr_format = addr_format_;
  return error;
}

void EndpointCore::tx_done(const ses::Completion& completion) {
  --tx_open_;
  if ((completion.context.user & kGrouped) != 0) {
    group_done(completion);
    return;
  }
  if (completion.was_retained) return retained_done(completion);
  const fi_addr_t addr = completion.context.user & kIndexMask;
  const bool unreported = (completion.context.user & kUnreported) != 0;
  if (completion.ok()) {
    av_->end_operation(addr, unreported);
    finish_tx(completion.kind, completion.context.user, completion.context.op, nullptr);
    return;
  }
  CompletionError error = error_of(completion);
  if (const ses::Destination* to = av_->find(addr)) {
    error.peer = engine_.peer_address(to->peer);
    error.initiator_id = to->initiator_id;
  }
  av_->end_operation(addr, unreported);
  finish_tx(completion.kind, completion.context.user, completion.context.op, &error);
}

// The application was told long ago that it is done, and has its op_context back. [LF-136]
void EndpointCore::retained_done(const ses::Completion& completion) {
  --unreported_;
  const fi_addr_t addr = completion.context.user & kIndexMask;
  const ses::Destination* const to = av_->find(addr);
  const bool is_first = !completion.ok() && !closing_ && av_->mark_lost(addr);
  av_->end_operation(addr, true);
  if (!is_first) return;
  LostSend lost;
  lost.addr = addr;
  lost.error = error_of(completion);
  if (to != nullptr) lost.error.peer = engine_.peer_address(to->peer);
  if (eq_ != nullptr) {
    report_lost_send(lost, eq_owner_, eq_);
  } else {
    report_lost_send(lost, &domain_.fid()->fid, domain_.eq());
  }
}

void EndpointCore::group_done(const ses::Completion& completion) {
  const auto index = static_cast<uint32_t>(completion.context.user & kIndexMask);
  Group& group = groups_[index];
  group.bytes += completion.bytes;
  if (!completion.ok() && !group.failed) {
    group.failed = true;
    group.error = error_of(completion);
    if (const ses::Destination* to = av_->find(group.user & kIndexMask)) {
      group.error.peer = engine_.peer_address(to->peer);
    }
  }
  if (--group.open > 0) return;
  av_->end_operation(group.user & kIndexMask, (group.user & kUnreported) != 0);
  finish_tx(completion.kind, group.user, group.op_context, group.failed ? &group.error : nullptr);
  group.next_free = free_group_;
  free_group_ = index;
}

void EndpointCore::finish_tx(ses::OpKind kind, uint64_t user, void* op_context,
                             const CompletionError* error) {
  if ((user & kUnreported) != 0) --unreported_;
  const bool ok = error == nullptr;
  switch (kind) {
    case ses::OpKind::write:
    case ses::OpKind::atomic:
      count(kWriteCounter, ok);
      break;
    case ses::OpKind::read:
    case ses::OpKind::fetching_atomic:
      count(kReadCounter, ok);
      break;
    default:
      count(kSendCounter, ok);
      break;
  }
  if (tx_cq_ == nullptr) return;
  if (closing_ || (ok && (user & kReport) == 0)) {
    tx_cq_->release(1);
    return;
  }
  CompletionEntry entry;
  entry.op_context = op_context;
  entry.flags = completion_flags(kind);
  if (ok) {
    tx_cq_->push(entry);
  } else {
    tx_cq_->push_error(entry, *error);
  }
}

void EndpointCore::rx_done(const ses::Completion& completion) {
  const uint64_t user = completion.context.user;
  const bool multi = (user & kMulti) != 0;
  const bool released = !multi || completion.multi_done;
  const bool ok = completion.ok();
  count(kRecvCounter, ok);
  if (rx_cq_ == nullptr) return;
  // Of shared receives it is known only now whose CQ reports them.
  const bool reports = (user & kReport) != 0 || (shared_ != nullptr && !rx_selective_);
  // A released multi-receive buffer is always reported. [LF-096]
  const bool is_unwanted = ok && !reports && !(multi && released);
  // What was posted at the endpoint is discarded with it; a shared buffer is given back.
  const bool is_discarded = closing_ && (shared_ == nullptr || !released);
  if (is_discarded || is_unwanted) {
    rx_cq_->release(1);
    return;
  }
  CompletionEntry entry;
  entry.op_context = completion.context.op;
  entry.flags = completion_flags(completion.kind);
  if (completion.has_data) entry.flags |= FI_REMOTE_CQ_DATA;
  if (multi && released) entry.flags |= FI_MULTI_RECV;
  entry.len = completion.bytes;
  entry.buf = completion.buffer;
  entry.data = completion.data;
  entry.tag = completion.tag;
  if (ok) {
    deliver(entry, {completion.peer, completion.initiator_id, completion.job});
    return;
  }
  // A receive that was cancelled was never met by a sender.
  const bool has_sender = completion.status != ses::Completion::Status::cancelled &&
                          completion.status != ses::Completion::Status::aborted;
  CompletionError error = error_of(completion);
  if (has_sender) {
    set_source(entry, {completion.peer, completion.initiator_id, completion.job});
    error.peer = engine_.peer_address(completion.peer);
  }
  rx_cq_->push_error(entry, error);
}

// A peer wrote to a local region or read it. Only header data makes an entry. [LF-094, LF-097]
void EndpointCore::remote_done(const ses::Completion& completion) {
  const bool is_write = completion.kind != ses::OpKind::remote_read;  // atomics write [LF-097]
  if (MemoryRegion* region = MemoryRegion::from_user(completion.context.user)) {
    region->count_remote(is_write, completion.ok());
  }
  count(is_write ? kRemoteWriteCounter : kRemoteReadCounter, completion.ok());
  if (!completion.has_data || rx_cq_ == nullptr) return;
  if (closing_) {
    rx_cq_->release(1);
    return;
  }
  CompletionEntry entry;
  entry.flags = completion_flags(completion.kind) | FI_REMOTE_CQ_DATA;
  entry.len = completion.bytes;
  entry.data = completion.data;
  if (completion.ok()) {
    deliver(entry, {completion.peer, completion.initiator_id, completion.job});
  } else {
    rx_cq_->push_error(entry, error_of(completion));
  }
}

void EndpointCore::set_source(CompletionEntry& entry, const Sender& from) const {
  if ((caps_ & FI_SOURCE) == 0) return;
  entry.src_addr = av_->reverse(from.peer, from.initiator_id, from.job);
}

// Writes a good entry; with FI_SOURCE_ERR one whose sender is unknown becomes an error entry that
// carries the raw address, and the key that was used where there are keys. [LF-016, LF-019]
void EndpointCore::deliver(const CompletionEntry& entry, const Sender& from) {
  CompletionEntry done = entry;
  set_source(done, from);
  const bool unknown = (caps_ & FI_SOURCE) != 0 && done.src_addr == FI_ADDR_NOTAVAIL;
  if (!unknown || (caps_ & FI_SOURCE_ERR) == 0) {
    rx_cq_->push(done);
    return;
  }
  CompletionError error;
  error.err = FI_EADDRNOTAVAIL;
  error.peer = engine_.peer_address(from.peer);
  error.initiator_id = from.initiator_id;
  error.addr_format = addr_format_;
  done.src_addr = av_->keys().of(from.job);
  rx_cq_->push_error(done, error);
}

}  // namespace uet::prov
