// Posting receives, and from the stack's completions to CQ entries and counters. The latter runs
// inside the engine, lock held: it stores and counts, nothing else. [LF-046, LF-057..059,
// LF-093..097]
#include "prov/uet/endpoint/receptions.h"

#include "prov/uet/address/av.h"
#include "prov/uet/api/log.h"
#include "prov/uet/endpoint/receive_call.h"
#include "prov/uet/endpoint/shared_receives.h"
#include "prov/uet/endpoint/slices.h"
#include "prov/uet/memory/mr.h"
#include "prov/uet/peer/peer_api.h"

namespace uet::prov {

// Header data is always accepted: if the CQ's format has no member for it, or no CQ is bound, the
// application does not get it. Remote writes and reads are reported if FI_RMA_EVENT was requested
// or the endpoint has a counter for them. [LF-093, LF-097]
ses::CompletionSink Receptions::sink() {
  const bool tells_remote = (ep_.as.caps & FI_RMA_EVENT) != 0 || ep_.bound.counts_remote();
  return {this, &on_done, &on_reserve, &on_release, true, tells_remote};
}

// The room for its completion; false: the application has to read first.
bool Receptions::book(ProgressEngine::Entry& entry) {
  if (ep_.bound.rx_cq() == nullptr || ep_.bound.rx_cq()->reserve(1)) return true;
  entry.poll();
  return false;
}

ses::OpContext Receptions::context_of(const MessageCall& call, bool report) {
  uint64_t user = 0;
  if ((call.flags & FI_MULTI_RECV) != 0) user |= kMulti;
  if (report) user |= kReport;
  return {call.context, user};
}

ssize_t Receptions::receive(const MessageCall& call) {
  if (const ssize_t rc = ep_.check_post(call.tagged ? FI_TAGGED : FI_MSG); rc != 0) return rc;
  if (ep_.bound.shared() != nullptr) {
    UET_WARN(EP_DATA, "the endpoint has no receives of its own; post to its shared context\n");
    return -FI_EOPNOTSUPP;
  }
  if (const ssize_t rc = check_receive(call, ep_.as.tag_format); rc != 0) return rc;
  const bool peeks = (call.flags & FI_PEEK) != 0;
  const bool looks = peeks || (call.flags & FI_DISCARD) != 0;
  Slices slices;
  if (const int rc = looks ? 0 : slices.assign(call.iov, call.count); rc != 0) return rc;

  ses::ReceiveRequest request = receive_request(call, slices.view(), min_multi_.bytes());
  const bool report = !ep_.bound.rx_selective() || (call.flags & FI_COMPLETION) != 0;
  request.context = context_of(call, report);

  ProgressEngine::Entry entry(ep_.engine());
  if (const ssize_t rc = aim_receive(call, ep_.as.caps, ep_.bound.av(), *ep_.at, request); rc != 0)
    return rc;
  if (peeks) entry.poll();  // makes arrived packets visible
  if (looks) return look(entry, call, request);
  return book(entry) ? post(entry, call, request) : -FI_EAGAIN;
}

ssize_t Receptions::post(ProgressEngine::Entry& entry, const MessageCall& call,
                         const ses::ReceiveRequest& request) {
  const Result<void> posted = post_or_claim(entry, ep_.id, call, request);
  if (!posted.ok()) {
    if (ep_.bound.rx_cq() != nullptr) ep_.bound.rx_cq()->release(1);
    entry.poll();
    return to_fi_errno(posted.error());
  }
  entry.post(FlushPolicy::Receive{(call.flags & FI_MORE) != 0});
  return 0;
}

// The result is always a completion. [LF-059]
ssize_t Receptions::look(ProgressEngine::Entry& entry, const MessageCall& call,
                         const ses::ReceiveRequest& request) {
  if (!book(entry)) return -FI_EAGAIN;
  const bool claims = (call.flags & FI_CLAIM) != 0;
  const bool discards = (call.flags & FI_DISCARD) != 0;
  CompletionEntry done;
  done.op_context = call.context;
  done.flags = FI_RECV | (call.tagged ? FI_TAGGED : FI_MSG);
  done.tag = call.tag;
  bool found = false;
  if ((call.flags & FI_PEEK) == 0) {
    found = entry.ses().claims().discard(ep_.id, kept_claim(call.context), entry.now());
  } else {
    const ses::Peeked peeked =
        entry.ses().claims().peek(ep_.id, request, claims || discards, entry.now());
    found = peeked.found;
    if (found) {
      done.len = peeked.bytes;
      done.tag = peeked.tag;
      done.data = peeked.data;
      if (peeked.has_data) done.flags |= FI_REMOTE_CQ_DATA;
      set_source(done, {peeked.peer, peeked.initiator_id, peeked.job});
      if (discards) {
        entry.ses().claims().discard(ep_.id, peeked.claim, entry.now());
      } else if (claims) {
        keep_claim(call.context, peeked.claim);
      }
    }
  }
  if (ep_.bound.rx_cq() == nullptr) return 0;
  if (found) {
    ep_.bound.rx_cq()->push(done);
  } else {
    CompletionError error;
    error.err = FI_ENOMSG;
    ep_.bound.rx_cq()->push_error(done, error);
  }
  return 0;
}

void Receptions::on_done(void* object, const ses::Completion& completion) {
  auto& self = *static_cast<Receptions*>(object);
  const bool is_remote = completion.kind >= ses::OpKind::remote_write;
  if (is_remote) {
    self.remote_done(completion);
  } else if ((completion.context.user & kOwned) != 0) {
    self.owned_done(completion);
  } else {
    self.done(completion);
  }
}

bool Receptions::on_reserve(void* object) {
  auto& self = *static_cast<Receptions*>(object);
  return self.ep_.bound.rx_cq() == nullptr || self.ep_.bound.rx_cq()->reserve(1);
}

void Receptions::on_release(void* object) {
  auto& self = *static_cast<Receptions*>(object);
  if (self.ep_.bound.rx_cq() != nullptr) self.ep_.bound.rx_cq()->release(1);
}

bool Receptions::make_room() {
  return ep_.bound.rx_cq() == nullptr || ep_.bound.rx_cq()->make_room();
}

// Reported as its owner's entry says, which is given back with the report. [LF-159]
void Receptions::owned_done(const ses::Completion& completion) {
  const auto& entry = *static_cast<fi_peer_rx_entry*>(completion.context.op);
  ses::Completion reported = completion;
  if ((entry.flags & FI_COMPLETION) != 0) reported.context.user |= kReport;
  if (entry.count != 0 && entry.iov != nullptr) reported.buffer = entry.iov[0].iov_base;
  done(reported);
}

void Receptions::done(const ses::Completion& completion) {
  const uint64_t user = completion.context.user;
  const bool multi = (user & kMulti) != 0;
  const bool owned = (user & kOwned) != 0;
  const bool released = !multi || completion.multi_done;
  const bool ok = completion.ok();
  ep_.bound.count(Bindings::kRecvCounter, ok);
  if (ep_.bound.rx_cq() == nullptr) return;
  // For a shared receive the CQ that reports it is known only now.
  const bool reports =
      (user & kReport) != 0 || (ep_.bound.shared() != nullptr && !ep_.bound.rx_selective());
  // A released multi-receive buffer is always reported. [LF-096]
  const bool is_unwanted = ok && !reports && !(multi && released);
  // Receives posted at the endpoint are discarded with it; a shared buffer is released.
  const bool is_discarded = ep_.closing && (ep_.bound.shared() == nullptr || !released);
  // The receive of an owner goes back at once where owners may be called.
  const bool is_kept = owned && !(is_unwanted && ep_.domain.home().is_called_back());
  if ((is_discarded || is_unwanted) && !is_kept) {
    ep_.bound.rx_cq()->release(1);
    if (owned) free_receive(*static_cast<fi_peer_rx_entry*>(completion.context.op));
    return;
  }
  CompletionEntry entry;
  entry.op_context = completion.context.op;
  entry.is_owned = owned;
  entry.is_silent = is_unwanted;
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
  CompletionError error = ep_.error_of(completion);
  if (has_sender) {
    set_source(entry, {completion.peer, completion.initiator_id, completion.job});
    error.peer = ep_.engine().peer(completion.peer).address;
  }
  ep_.bound.rx_cq()->push_error(entry, error);
}

// A peer wrote to a local region or read it. Only header data makes an entry. [LF-094, LF-097]
void Receptions::remote_done(const ses::Completion& completion) {
  // For a region every atomic counts as a write; for an endpoint a fetching one counts as a read,
  // as at the initiator. [LF-097]
  const bool is_read = completion.kind == ses::OpKind::remote_read;
  const bool fetches = completion.kind == ses::OpKind::remote_fetching_atomic;
  if (MemoryRegion* region = MemoryRegion::from_user(completion.context.user)) {
    region->count_remote(!is_read, completion.ok());
  }
  ep_.bound.count(is_read || fetches ? Bindings::kRemoteReadCounter : Bindings::kRemoteWriteCounter,
                  completion.ok());
  if (!completion.has_data || ep_.bound.rx_cq() == nullptr) return;
  if (ep_.closing) {
    ep_.bound.rx_cq()->release(1);
    return;
  }
  CompletionEntry entry;
  entry.flags = completion_flags(completion.kind) | FI_REMOTE_CQ_DATA;
  entry.len = completion.bytes;
  entry.data = completion.data;
  if (completion.ok()) {
    deliver(entry, {completion.peer, completion.initiator_id, completion.job});
  } else {
    ep_.bound.rx_cq()->push_error(entry, ep_.error_of(completion));
  }
}

void Receptions::set_source(CompletionEntry& entry, const Sender& from) const {
  if ((ep_.as.caps & FI_SOURCE) == 0) return;
  entry.src_addr = ep_.addresses().reverse(from.peer, from.initiator_id, from.job);
}

// Writes a good entry; with FI_SOURCE_ERR an entry with an unknown sender becomes an error entry
// that carries the raw address, and the sender's key if there are keys. [LF-016, LF-019]
void Receptions::deliver(const CompletionEntry& entry, const Sender& from) {
  CompletionEntry done = entry;
  set_source(done, from);
  const bool unknown = (ep_.as.caps & FI_SOURCE) != 0 && done.src_addr == FI_ADDR_NOTAVAIL;
  if (!unknown || (ep_.as.caps & FI_SOURCE_ERR) == 0) {
    ep_.bound.rx_cq()->push(done);
    return;
  }
  CompletionError error;
  error.err = FI_EADDRNOTAVAIL;
  error.peer = ep_.engine().peer(from.peer).address;
  error.initiator_id = from.initiator_id;
  error.addr_format = ep_.as.addr_format;
  done.src_addr = ep_.bound.av()->keys().of(from.job);
  ep_.bound.rx_cq()->push_error(done, error);
}

}  // namespace uet::prov
