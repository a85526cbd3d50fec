// Posting RMA, and its operation table. Several remote segments become one UET message each and
// one completion together. [LF-047..049]
#include "prov/uet/endpoint/post_tx.h"

#include "prov/uet/endpoint/ep.h"
#include "prov/uet/endpoint/slices.h"

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

// CQ data travels with the last message, behind a fence, so that it tells of all the others.
// [LF-047]
uint32_t part_flags(uint32_t flags, bool is_last, uint32_t count) {
  if (count == 1 || (flags & ses::kOpRemoteData) == 0) return flags;
  return is_last ? flags | ses::kOpFence : flags & ~uint32_t{ses::kOpRemoteData};
}

}  // namespace

ssize_t Transmissions::rma(const RmaCall& call) {
  if (const ssize_t rc = ep_.check_post(FI_RMA); rc != 0) return rc;
  Slices slices;
  if (const int rc = slices.assign(call.iov, call.count); rc != 0) return reject(rc);
  if (call.remote == nullptr || call.remote_count == 0 || call.remote_count > ses::kIovMax ||
      remote_bytes(call) != slices.bytes()) {
    UET_WARN(EP_DATA, "RMA needs 1 to %u remote segments, as long in all as the local buffers\n",
             ses::kIovMax);
    return reject(-FI_EINVAL);
  }
  Plan plan;
  if (const ssize_t rc = make_plan(call.flags, slices.bytes(), false, plan); rc != 0)
    return reject(rc);
  if (call.read && (plan.ses_flags & (ses::kOpInject | ses::kOpRemoteData)) != 0) {
    UET_WARN(EP_DATA, "a read cannot be injected and carries no CQ data\n");
    return reject(-FI_EINVAL);
  }

  // The completion of several messages comes when all have ended.
  if (call.read || call.remote_count > 1) plan.ses_flags &= ~uint32_t{ses::kOpRetain};
  if (ep_.as.mode == ModeChoice::rudi) plan.ses_flags |= ses::kOpRudi;  // [SES-027, LF-129]
  ses::RmaRequest request;
  request.read = call.read;
  request.data = call.data;
  const auto count = static_cast<uint32_t>(call.remote_count);
  const auto kind = call.read ? ses::OpKind::read : ses::OpKind::write;
  return post_tx(
      call, plan, FI_RMA | (call.read ? FI_READ : FI_WRITE),
      [&](ProgressEngine::Entry& entry, const ses::Destination& to, const ses::OpContext& context) {
        uint64_t offset = 0;
        request.to = to;
        return post_parts(entry, count, kind, context,
                          [&](uint32_t i, const ses::OpContext& part_context) {
                            const fi_rma_iov& remote = call.remote[i];
                            Slices part;
                            if (count > 1) part.assign_part(slices, offset, remote.len);
                            offset += remote.len;
                            request.iov = count > 1 ? part.view() : slices.view();
                            request.remote_offset = remote.addr;
                            request.key = ses::wire_key(remote.key);
                            request.flags = part_flags(plan.ses_flags, i + 1 == count, count);
                            request.context = part_context;
                            return entry.ses().rma(ep_.id, request, entry.now());
                          });
      });
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
  return ep.core().tx().rma(call);
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
  return object_of<Endpoint>(fid).core().tx().rma(to_call(*msg, flags, true));
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
  return object_of<Endpoint>(fid).core().tx().rma(to_call(*msg, flags, false));
}

ssize_t inject(fid_ep* fid, const void* buf, size_t len, fi_addr_t to, uint64_t addr,
               uint64_t key) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return post(ep, &iov, 1, to, addr, key, ep.context(), ep.inject_flags(), false);
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
  return post(ep, &iov, 1, to, addr, key, ep.context(), ep.inject_flags() | FI_REMOTE_CQ_DATA,
              false, data);
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
