// Posting messages, tagged or not, and the untagged operation table. One call chain from the
// application to the socket: plan, book a CQ slot, post, transmit. [LF-041..046, LF-053..060]
#include "prov/uet/endpoint/post_tx.h"

#include "prov/uet/endpoint/ep.h"
#include "prov/uet/endpoint/receive_shims.h"
#include "prov/uet/endpoint/slices.h"

namespace uet::prov {

ssize_t Transmissions::send(const MessageCall& call) {
  if (const ssize_t rc = ep_.check_post(call.tagged ? FI_TAGGED : FI_MSG); rc != 0) return rc;
  Slices slices;
  if (const int rc = slices.assign(call.iov, call.count); rc != 0) return reject(rc);
  Plan plan;
  if (const ssize_t rc = make_plan(call.flags, slices.bytes(), true, plan); rc != 0)
    return reject(rc);

  ses::SendRequest request;
  request.iov = slices.view();
  request.tagged = call.tagged;
  request.tag = call.tag;
  request.data = call.data;
  request.flags = plan.ses_flags;
  return post_tx(
      call, plan, FI_SEND | (call.tagged ? FI_TAGGED : FI_MSG),
      [&](ProgressEngine::Entry& entry, const ses::Destination& to, const ses::OpContext& context) {
        request.to = to;
        request.context = context;
        if (waits_for_none(entry, plan)) request.flags &= ~uint32_t{ses::kOpRetain};
        return hand_over(entry, request);
      });
}

// Counts the operation first: its completion may come before the call is back.
Result<ses::Taken> Transmissions::hand_over(ProgressEngine::Entry& entry,
                                            const ses::SendRequest& request) {
  ++open_;
  Result<ses::Taken> taken = entry.ses().send(ep_.id, request, entry.now());
  if (!taken.ok()) --open_;
  return taken;
}

namespace {

// The untagged calls. Each fills a MessageCall and posts it.

MessageCall to_call(const fi_msg& msg, uint64_t flags) {
  MessageCall call = prov::to_call(msg.msg_iov, msg.iov_count, msg.addr, msg.context, flags);
  call.data = msg.data;
  return call;
}

ssize_t send(fid_ep* fid, const void* buf, size_t len, void*, fi_addr_t to,
             void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return ep.core().tx().send(prov::to_call(&iov, 1, to, context, ep.tx_flags()));
}

ssize_t sendv(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t to,
              void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  return ep.core().tx().send(prov::to_call(iov, count, to, context, ep.tx_flags()));
}

ssize_t sendmsg(fid_ep* fid, const fi_msg* msg, uint64_t flags) noexcept {
  return object_of<Endpoint>(fid).core().tx().send(to_call(*msg, flags));
}

ssize_t inject(fid_ep* fid, const void* buf, size_t len, fi_addr_t to) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return ep.core().tx().send(prov::to_call(&iov, 1, to, ep.context(), ep.inject_flags()));
}

ssize_t senddata(fid_ep* fid, const void* buf, size_t len, void*, uint64_t data, fi_addr_t to,
                 void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  MessageCall call = prov::to_call(&iov, 1, to, context, ep.tx_flags() | FI_REMOTE_CQ_DATA);
  call.data = data;
  return ep.core().tx().send(call);
}

ssize_t injectdata(fid_ep* fid, const void* buf, size_t len, uint64_t data, fi_addr_t to) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  MessageCall call =
      prov::to_call(&iov, 1, to, ep.context(), ep.inject_flags() | FI_REMOTE_CQ_DATA);
  call.data = data;
  return ep.core().tx().send(call);
}

}  // namespace

fi_ops_msg message_ops = {
    .size = sizeof(fi_ops_msg),
    .recv = ReceiveShims<Endpoint>::recv,
    .recvv = ReceiveShims<Endpoint>::recvv,
    .recvmsg = ReceiveShims<Endpoint>::recvmsg,
    .send = send,
    .sendv = sendv,
    .sendmsg = sendmsg,
    .inject = inject,
    .senddata = senddata,
    .injectdata = injectdata,
};

}  // namespace uet::prov
