// CompletionQueue: the ring and its readers.
#include "prov/uet/completion/cq.h"

#include "prov/uet/address/resolve.h"
#include "prov/uet/api/log.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/completion/peer_cq.h"
#include "prov/uet/domain/domain.h"

#include <arpa/inet.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>

namespace uet::prov {
namespace {

constexpr size_t kDefaultEntries = 1024;
constexpr size_t kMaxEntries = size_t{1} << 22;

// Octets of an entry in the application's format; 0: no such format.
uint32_t bytes_of(enum fi_cq_format format) {
  switch (format) {
    case FI_CQ_FORMAT_UNSPEC:
    case FI_CQ_FORMAT_CONTEXT:
      return sizeof(fi_cq_entry);
    case FI_CQ_FORMAT_MSG:
      return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
      return sizeof(fi_cq_data_entry);
    case FI_CQ_FORMAT_TAGGED:
      return sizeof(fi_cq_tagged_entry);
  }
  return 0;
}

// The formats are prefixes of each other and of CompletionEntry, so reading is copying. [LF-093]
static_assert(offsetof(CompletionEntry, flags) == offsetof(fi_cq_tagged_entry, flags));
static_assert(offsetof(CompletionEntry, len) == offsetof(fi_cq_tagged_entry, len));
static_assert(offsetof(CompletionEntry, buf) == offsetof(fi_cq_tagged_entry, buf));
static_assert(offsetof(CompletionEntry, data) == offsetof(fi_cq_tagged_entry, data));
static_assert(offsetof(CompletionEntry, tag) == offsetof(fi_cq_tagged_entry, tag));
static_assert(offsetof(fi_cq_data_entry, data) == offsetof(fi_cq_tagged_entry, data));

}  // namespace

fi_ops* CompletionQueue::fid_ops() { return &cq_fid_ops; }

int CompletionQueue::open(Domain& domain, fi_cq_attr* attr, fid_cq** cq, void* context) {
  domain.home().require();
  if (attr == nullptr || cq == nullptr) return -FI_EINVAL;
  if (bytes_of(attr->format) == 0) {
    UET_WARN(CQ,
             "fi_cq_open: format %d is not a CQ format; use FI_CQ_FORMAT_CONTEXT, MSG, DATA "
             "or TAGGED\n",
             attr->format);
    return -FI_EINVAL;
  }
  const bool is_peer = (attr->flags & FI_PEER) != 0;
  if ((attr->flags & ~(FI_AFFINITY | FI_PEER)) != 0) {
    UET_WARN(CQ, "fi_cq_open: flags 0x%llx are not supported: leave them out\n",
             static_cast<unsigned long long>(attr->flags));
    return -FI_EINVAL;
  }
  if (attr->size > kMaxEntries) {
    UET_WARN(CQ, "fi_cq_open: %zu entries asked for, at most %zu are possible\n", attr->size,
             kMaxEntries);
    return -FI_EINVAL;
  }
  std::unique_ptr<CompletionQueue> self(new CompletionQueue(domain, *attr, context));
  if (is_peer) {
    if (!domain.may_import("fi_cq_open")) return -FI_EINVAL;
    self->owner_ = peer_cq_of(context);
    if (self->owner_ == nullptr) return -FI_EINVAL;
    self->link_.fid.ops = &peer_cq_ops;
  }
  const fi_wait_obj wait = is_peer ? FI_WAIT_NONE : attr->wait_obj;
  const int rc = self->wait_.open(wait, domain.first_engine());
  if (rc != 0) {
    UET_WARN(CQ, "fi_cq_open: wait object %d failed: %s; use FI_WAIT_UNSPEC, FD, YIELD or NONE\n",
             attr->wait_obj, fi_strerror(-rc));
    return rc;
  }
  domain.add_ref();
  *cq = &self.release()->link_.fid;
  return 0;
}

CompletionQueue::CompletionQueue(Domain& domain, const fi_cq_attr& attr, void* context)
    : domain_(domain),
      entry_bytes_(bytes_of(attr.format)),
      requested_(static_cast<uint32_t>(attr.size != 0 ? attr.size : kDefaultEntries)),
      threshold_(attr.wait_cond == FI_CQ_COND_THRESHOLD) {
  link_.fid.fid.fclass = FI_CLASS_CQ;
  link_.fid.fid.context = context;
  link_.fid.fid.ops = &cq_fid_ops;
  link_.fid.ops = &cq_ops;
  link_.owner = this;
}

int CompletionQueue::close() {
  domain_.home().require();
  if (bindings_ > 0) {
    UET_WARN(CQ, "fi_close: %u endpoint bindings of this CQ are left; close the endpoints first\n",
             bindings_);
    return -FI_EBUSY;
  }
  {
    ProgressEngine::Entry entry(wait_.seat());
    if (owner_ != nullptr) end(entry);
    wait_.retire();
  }
  domain_.drop_ref();
  delete this;
  return 0;
}

void CompletionQueue::attach(uint32_t operations) {
  ProgressEngine::Entry entry(wait_.seat());
  entries_.set_capacity(requested_ + attached_ + operations);
  attached_ += operations;
  ++bindings_;
}

void CompletionQueue::detach(uint32_t operations) {
  ProgressEngine::Entry entry(wait_.seat());
  attached_ -= operations;
  // Unread entries may still need the room; it is only given back when they do not.
  if (entries_.taken() <= requested_ + attached_) entries_.set_capacity(requested_ + attached_);
  --bindings_;
}

void CompletionQueue::push(const CompletionEntry& entry) {
  entries_.push(entry);
  wait_.signal();
}

void CompletionQueue::push_error(const CompletionEntry& entry, const CompletionError& error) {
  entries_.push_error(entry, error);
  wait_.signal();
}

// Inline, as read_now(): a look takes a hundred instructions, and calls would be a third of them.
[[gnu::always_inline]] inline uint32_t CompletionQueue::take(void* buf, size_t count,
                                                             fi_addr_t* src_addr) {
  auto* out = static_cast<std::byte*>(buf);
  const auto limit = static_cast<uint32_t>(std::min<size_t>(count, entries_.unread()));
  uint32_t taken = 0;
  for (; taken < limit; ++taken) {
    const CompletionEntry& entry = entries_.front();
    if (entry.is_error) break;
    std::memcpy(out, &entry, entry_bytes_);
    out += entry_bytes_;
    if (src_addr != nullptr) src_addr[taken] = entry.src_addr;
    entries_.pop();
  }
  // Entries are left: wake a sleeper for them, if none is awake yet.
  if (entries_.unread() > 0) wait_.signal();
  return taken;
}

ssize_t CompletionQueue::read(void* buf, size_t count, fi_addr_t* src_addr) {
  bool is_idle = false;
  const ssize_t got = read_now(buf, count, src_addr, is_idle);
  if (is_idle) {
    const Instant begin = monotonic_now();
    sched_yield();
    yields_.on_yielded(begin, monotonic_now());
  }
  return got;
}

// `is_idle`: no completion has come for some time, so the peer may need this processor.
[[gnu::always_inline]] inline ssize_t CompletionQueue::read_now(void* buf, size_t count,
                                                                fi_addr_t* src_addr,
                                                                bool& is_idle) {
  ProgressEngine::Entry entry(wait_.seat());
  wait_.disarm();
  entry.poll([&] {
    if (entries_.unread() == 0 || count == 0) return Ready::no;
    const bool is_message = (entries_.front().flags & (FI_RECV | FI_REMOTE_WRITE)) != 0;
    return is_message ? Ready::yes : Ready::own;
  });
  if (entries_.unread() == 0) {
    is_idle = yields_.on_nothing(entry.now(), entry.patience());
    return -FI_EAGAIN;
  }
  yields_.on_something();
  const uint32_t taken = take(buf, count, src_addr);
  if (taken == 0 && entries_.front_is_error()) return -FI_EAVAIL;
  return taken;
}

ssize_t CompletionQueue::sread(void* buf, size_t count, fi_addr_t* src_addr, const void* cond,
                               int timeout_ms) {
  domain_.home().require();
  if (!wait_.can_wait()) {
    UET_WARN(CQ, "fi_cq_sread: the CQ was opened with FI_WAIT_NONE; use FI_WAIT_UNSPEC or FD\n");
    return -FI_EINVAL;
  }
  struct Awaited {
    CompletionQueue* cq;
    size_t entries;
  } awaited{this, 1};
  if (threshold_ && cond != nullptr) {
    // The manual calls `cond` the threshold itself, and some programs pass its address. No address
    // is as small as a threshold. More than the ring holds would never come.
    const auto word = reinterpret_cast<uintptr_t>(cond);
    const size_t wanted = word <= kMaxEntries ? word : *static_cast<const size_t*>(cond);
    awaited.entries = std::clamp<size_t>(wanted, 1, requested_);
  }
  const WaitObject::Condition condition{&awaited, [](void* self) {
                                          const auto& a = *static_cast<Awaited*>(self);
                                          return a.cq->ready(a.entries);
                                        }};
  ProgressEngine::Entry entry(wait_.seat());
  wait_.disarm();
  if (!ready(awaited.entries)) {
    const int rc = wait_.wait(entry, timeout_ms, condition);
    if (entries_.unread() == 0) return rc;
  } else {
    entry.poll([] { return true; });
  }
  const uint32_t taken = take(buf, count, src_addr);
  if (taken == 0 && entries_.front_is_error()) return -FI_EAVAIL;
  return taken;
}

// Fills err_data_: the raw address of an unknown sender, or a text that names the peer.
size_t CompletionQueue::describe(const CompletionError& error) {
  err_data_[0] = '\0';
  if (!error.peer.valid()) return 0;
  if (error.err == FI_EADDRNOTAVAIL && error.prov_errno == 0) {
    UetAddress address;
    address.fa = error.peer;
    address.has_initiator = true;
    address.initiator_id = error.initiator_id;
    apply_initiator(error.addr_format, address);
    size_t length = sizeof(err_data_);
    write_address(error.addr_format, address, err_data_, &length);
    return std::min(length, sizeof(err_data_));
  }
  char ip[INET6_ADDRSTRLEN] = "";
  const bool v6 = error.peer.family == FabricAddress::Family::ipv6;
  inet_ntop(v6 ? AF_INET6 : AF_INET, error.peer.ip.data(), ip, sizeof(ip));
  const int length = std::snprintf(err_data_, sizeof(err_data_), "(peer %s%s%s port %u)",
                                   v6 ? "[" : "", ip, v6 ? "]" : "", error.peer.port);
  return static_cast<size_t>(length) + 1;
}

ssize_t CompletionQueue::read_error(fi_cq_err_entry* out) {
  if (out == nullptr) return -FI_EINVAL;
  ProgressEngine::Entry entry(wait_.seat());
  wait_.disarm();
  if (!entries_.front_is_error()) return -FI_EAGAIN;
  const CompletionEntry& done = entries_.front();
  const CompletionError& error = entries_.pop_error();

  out->op_context = done.op_context;
  out->flags = done.flags;
  out->len = done.len;
  out->buf = done.buf;
  out->data = done.data;
  out->tag = done.tag;
  out->olen = error.olen;
  out->err = error.err;
  out->prov_errno = error.prov_errno;
  const size_t bytes = describe(error);
  const uint32_t version = domain_.api_version();
  if (out->err_data_size != 0 && FI_VERSION_GE(version, FI_VERSION(1, 5))) {
    // The application's own buffer; a text that is cut still ends in zero. [ABI-028]
    const size_t copied = std::min(bytes, out->err_data_size);
    if (copied > 0) {
      std::memcpy(out->err_data, err_data_, copied);
      if (err_data_[0] == '(') static_cast<char*>(out->err_data)[copied - 1] = '\0';
    }
    out->err_data_size = copied;
  } else {
    out->err_data = bytes > 0 ? err_data_ : nullptr;
    out->err_data_size = bytes;
  }
#if UET_HAVE_CQ_ERR_SRC
  // Older applications have no room for it. [LF-109]
  if (FI_VERSION_GE(version, FI_VERSION(1, 20))) out->src_addr = done.src_addr;
#endif
  if (entries_.unread() > 0) wait_.signal();
  return 1;
}

ssize_t CompletionQueue::run() {
  ProgressEngine::Entry entry(wait_.seat());
  uint32_t left = 0;  // entries for which the owner has no room
  const auto hand_over_all = [&] {
    deliver(entry);
    left = entries_.unread();
  };
  entry.turn(hand_over_all, [&] { return entries_.unread() > left; });
  return 0;
}

// To its owner, in the order of the completions, as long as that has room.
void CompletionQueue::deliver(ProgressEngine::Entry& visit) {
  while (entries_.unread() != 0) {
    const bool is_error = entries_.front_is_error();
    const Handed what =
        hand_over(*owner_, entries_.front(), is_error ? &entries_.front_error() : nullptr);
    if (what == Handed::later) return;
    if (what == Handed::lost) visit.count_lost_at_owner();
    if (is_error) {
      entries_.pop_error();
    } else {
      entries_.pop();
    }
  }
}

void CompletionQueue::end_receives(ProgressEngine::Entry& visit) {
  deliver(visit);
  entries_.for_each(give_back);
}

// An imported queue: the owner gets a last chance to take the rest.
void CompletionQueue::end(ProgressEngine::Entry& visit) {
  visit.call_out([&] { deliver(visit); });
  if (entries_.unread() == 0) return;
  for (uint32_t i = 0; i < entries_.unread(); ++i) visit.count_lost_at_owner();
  UET_WARN(CQ, "fi_close: %u completions are lost: the owner of the peer CQ had no room for them\n",
           entries_.unread());
}

int CompletionQueue::signal() {
  domain_.home().require();
  if (!wait_.can_wait()) return -FI_EINVAL;
  ProgressEngine::Entry entry(wait_.seat());
  wait_.interrupt();
  return 0;
}

int CompletionQueue::trywait() {
  ProgressEngine::Entry entry(wait_.seat());
  return wait_.trywait(
      entry, {this, [](void* self) { return static_cast<CompletionQueue*>(self)->ready(1); }});
}

int CompletionQueue::control(int command, void* arg) {
  domain_.home().require();
  return wait_.control(command, arg);
}

}  // namespace uet::prov
