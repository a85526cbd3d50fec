// Posting RMA, and its operation table. Several remote segments become one UET message each and
// one completion together. [LF-047..049]
#include "prov/uet/post_tx.h"

#include "prov/uet/domain.h"
#include "prov/uet/params.h"
#include "prov/uet/slices.h"

namespace uet::prov {
namespace {

// Octets that the remote segments name; more than any message when they overflow.
uint64_t remote_bytes(const RmaCall& call) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < call.remote_count; ++i) {
    if (call.remote[i].len > UINT64_MAX - bytes) return UINT64_MAX;
    bytes += call.remote[i].len;
  }
  return bytes;
}

}  // namespace

ssize_t EndpointCore::rma(const RmaCall& call) {
  if (const ssize_t rc = check_post(FI_RMA); rc != 0) return rc;
  Slices slices;
  if (const int rc = slices.assign(call.iov, call.count); rc != 0) return reject(rc);
  if (call.remote == nullptr || call.remote_count == 0 || call.remote_count > ses::kIovMax ||
      remote_bytes(call) != slices.bytes()) {
    UET_WARN(EP_DATA, "RMA needs 1 to %u remote segments, as long in all as the local buffers\n",
             ses::kIovMax);
    return reject(-FI_EINVAL);
  }
  TxPlan plan;
  if (const ssize_t rc = plan_tx(call.flags, slices.bytes(), plan); rc != 0) return reject(rc);
  if (call.read && (plan.ses_flags & (ses::kOpInject | ses::kOpRemoteData)) != 0) {
    UET_WARN(EP_DATA, "a read cannot be injected and carries no CQ data\n");
    return reject(-FI_EINVAL);
  }

  if (params().mode == ModeChoice::rudi) plan.ses_flags |= ses::kOpRudi;  // [SES-027, LF-129]
  ses::RmaRequest request;
  request.read = call.read;
  request.iov = slices.view();
  request.remote_offset = call.remote[0].addr;
  request.key = call.remote[0].key;
  request.data = call.data;
  request.flags = plan.ses_flags;
  return post_tx(call, plan, FI_RMA | (call.read ? FI_READ : FI_WRITE),
                 [&](ProgressEngine::Entry& entry, const ses::Destination& to,
                     const ses::OpContext& context) {
                   request.to = to;
                   request.context = context;
                   if (call.remote_count == 1) return hand_over(entry, request);
                   return post_group(entry, call, slices, request, plan);
                 });
}

Result<void> EndpointCore::hand_over(ProgressEngine::Entry& entry,
                                     const ses::RmaRequest& request) {
  ++tx_open_;
  const Result<void> taken = entry.ses().rma(id_, request, entry.now());
  if (!taken.ok()) --tx_open_;
  return taken;
}

// One message per remote segment. All or nothing: room for every message is checked first. CQ
// data travels with the last one, behind a fence, so that it tells of all the others. [LF-047]
Result<void> EndpointCore::post_group(ProgressEngine::Entry& entry, const RmaCall& call,
                                      const Slices& slices, ses::RmaRequest& request,
                                      const TxPlan& plan) {
  const auto count = static_cast<uint32_t>(call.remote_count);
  if (free_group_ == groups_.size() || tx_open_ + count > tx_size_) {
    return count > tx_size_ ? Errc::invalid : Errc::again;
  }
  const uint32_t index = free_group_;
  Group& group = groups_[index];
  free_group_ = group.next_free;
  group = Group{};
  group.op_context = call.context;
  group.user = request.context.user;
  group.open = count + 1;  // one more, so that it cannot end before all are posted

  uint64_t offset = 0;
  Errc refusal{};
  uint32_t posted = 0;
  for (; posted < count; ++posted) {
    const fi_rma_iov& remote = call.remote[posted];
    Slices part;
    part.assign_part(slices, offset, remote.len);
    offset += remote.len;
    const bool last = posted + 1 == count;
    request.iov = part.view();
    request.remote_offset = remote.addr;
    request.key = remote.key;
    request.flags = last ? plan.ses_flags : plan.ses_flags & ~uint32_t{ses::kOpRemoteData};
    if (last && (plan.ses_flags & ses::kOpRemoteData) != 0) request.flags |= ses::kOpFence;
    request.context = {call.context, kGrouped | index};
    const Result<void> taken = hand_over(entry, request);
    if (taken.ok()) continue;
    refusal = taken.error();
    break;
  }
  if (posted == 0) {
    group.next_free = free_group_;
    free_group_ = index;
    return refusal;
  }
  group.open -= count - posted;
  ses::Completion rest;  // the extra one; a part that could not be posted fails the operation
  rest.kind = call.read ? ses::OpKind::read : ses::OpKind::write;
  rest.context.user = kGrouped | index;
  if (posted < count) rest.status = ses::Completion::Status::fault;
  group_done(rest);
  return {};
}

namespace {

RmaCall to_call(const iovec* iov, size_t count, const fi_rma_iov* remote, fi_addr_t addr,
                void* context, uint64_t flags, bool read) {
  RmaCall call;
  call.iov = iov;
  call.count = count;
  call.remote = remote;
  call.remote_count = 1;
  call.addr = addr;
  call.context = context;
  call.flags = flags;
  call.read = read;
  return call;
}

RmaCall to_call(const fi_msg_rma& msg, uint64_t flags, bool read) {
  RmaCall call =
      to_call(msg.msg_iov, msg.iov_count, msg.rma_iov, msg.addr, msg.context, flags, read);
  call.remote_count = msg.rma_iov_count;
  call.data = msg.data;
  return call;
}

iovec to_iovec(const void* buf, size_t len) { return {const_cast<void*>(buf), len}; }

// One segment as long as the local buffers.
fi_rma_iov to_remote(const iovec* iov, size_t count, uint64_t addr, uint64_t key) {
  fi_rma_iov remote{addr, 0, key};
  for (size_t i = 0; iov != nullptr && i < count; ++i) remote.len += iov[i].iov_len;
  return remote;
}

// A posting call with one remote segment, whatever variant it came by.
ssize_t post(Endpoint& ep, const iovec* iov, size_t count, fi_addr_t peer, uint64_t addr,
             uint64_t key, void* context, uint64_t flags, bool read, uint64_t data = 0) {
  const fi_rma_iov remote = to_remote(iov, count, addr, key);
  RmaCall call = to_call(iov, count, &remote, peer, context, flags, read);
  call.data = data;
  return ep.core().rma(call);
}

ssize_t read(fid_ep* fid, void* buf, size_t len, void*, fi_addr_t from, uint64_t addr, uint64_t key,
             void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return post(ep, &iov, 1, from, addr, key, context, ep.read_flags(), true);
}

ssize_t readv(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t from, uint64_t addr,
              uint64_t key, void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  return post(ep, iov, count, from, addr, key, context, ep.read_flags(), true);
}

ssize_t readmsg(fid_ep* fid, const fi_msg_rma* msg, uint64_t flags) noexcept {
  return object_of<Endpoint>(fid).core().rma(to_call(*msg, flags, true));
}

ssize_t write(fid_ep* fid, const void* buf, size_t len, void*, fi_addr_t to, uint64_t addr,
              uint64_t key, void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return post(ep, &iov, 1, to, addr, key, context, ep.tx_flags(), false);
}

ssize_t writev(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t to, uint64_t addr,
               uint64_t key, void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  return post(ep, iov, count, to, addr, key, context, ep.tx_flags(), false);
}

ssize_t writemsg(fid_ep* fid, const fi_msg_rma* msg, uint64_t flags) noexcept {
  return object_of<Endpoint>(fid).core().rma(to_call(*msg, flags, false));
}

ssize_t inject(fid_ep* fid, const void* buf, size_t len, fi_addr_t to, uint64_t addr,
               uint64_t key) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return post(ep, &iov, 1, to, addr, key, nullptr, ep.inject_flags(), false);
}

ssize_t writedata(fid_ep* fid, const void* buf, size_t len, void*, uint64_t data, fi_addr_t to,
                  uint64_t addr, uint64_t key, void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return post(ep, &iov, 1, to, addr, key, context, ep.tx_flags() | FI_REMOTE_CQ_DATA, false, data);
}

ssize_t injectdata(fid_ep* fid, const void* buf, size_t len, uint64_t data, fi_addr_t to,
                   uint64_t addr, uint64_t key) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return post(ep, &iov, 1, to, addr, key, nullptr, ep.inject_flags() | FI_REMOTE_CQ_DATA, false,
              data);
}

}  // namespace

fi_ops_rma rma_ops = {
    .size = sizeof(fi_ops_rma),
    .read = read,
    .readv = readv,
    .readmsg = readmsg,
    .write = write,
    .writev = writev,
    .writemsg = writemsg,
    .inject = inject,
    .writedata = writedata,
    .injectdata = injectdata,
};

}  // namespace uet::prov
