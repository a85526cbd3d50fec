// Posting RMA. Several remote segments become one UET message each and
// one completion together. [LF-047..049]
#include "prov/uet/endpoint/post_tx.h"

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

// CQ data travels with the last message, behind a fence, so that all the others have arrived before
// it. [LF-047]
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
    UET_WARN(EP_DATA,
             "fi_%smsg: rma_iov_count must be 1 to %u, and the remote segments must have the same "
             "total length as the local buffers\n",
             call.read ? "read" : "write", ses::kIovMax);
    return reject(-FI_EINVAL);
  }
  Plan plan;
  if (const ssize_t rc = make_plan(call.flags, slices.bytes(), false, plan); rc != 0)
    return reject(rc);
  if (call.read && (plan.ses_flags & (ses::kOpInject | ses::kOpRemoteData)) != 0) {
    UET_WARN(EP_DATA,
             "fi_readmsg: the flags FI_INJECT and FI_REMOTE_CQ_DATA are not possible for a read: "
             "leave them out\n");
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

}  // namespace uet::prov
