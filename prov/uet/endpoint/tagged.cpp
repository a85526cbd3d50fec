// The tagged operation table. Each call fills a MessageCall and posts it; the posting itself is in
// msg.cpp. [LF-045, LF-046, LF-059]
#include "prov/uet/endpoint/ep.h"
#include "prov/uet/endpoint/receive_shims.h"

namespace uet::prov {
namespace {

MessageCall to_call(const iovec* iov, size_t count, fi_addr_t addr, uint64_t tag, void* context,
                    uint64_t flags) {
  return with_tag(prov::to_call(iov, count, addr, context, flags), tag, 0);
}

MessageCall to_call(const fi_msg_tagged& msg, uint64_t flags) {
  MessageCall call = to_call(msg.msg_iov, msg.iov_count, msg.addr, msg.tag, msg.context, flags);
  call.data = msg.data;
  return call;
}

ssize_t tsend(fid_ep* fid, const void* buf, size_t len, void*, fi_addr_t to, uint64_t tag,
              void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return ep.core().tx().send(to_call(&iov, 1, to, tag, context, ep.tx_flags()));
}

ssize_t tsendv(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t to, uint64_t tag,
               void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  return ep.core().tx().send(to_call(iov, count, to, tag, context, ep.tx_flags()));
}

ssize_t tsendmsg(fid_ep* fid, const fi_msg_tagged* msg, uint64_t flags) noexcept {
  return object_of<Endpoint>(fid).core().tx().send(to_call(*msg, flags));
}

ssize_t tinject(fid_ep* fid, const void* buf, size_t len, fi_addr_t to, uint64_t tag) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  return ep.core().tx().send(to_call(&iov, 1, to, tag, ep.context(), ep.inject_flags()));
}

ssize_t tsenddata(fid_ep* fid, const void* buf, size_t len, void*, uint64_t data, fi_addr_t to,
                  uint64_t tag, void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  MessageCall call = to_call(&iov, 1, to, tag, context, ep.tx_flags() | FI_REMOTE_CQ_DATA);
  call.data = data;
  return ep.core().tx().send(call);
}

ssize_t tinjectdata(fid_ep* fid, const void* buf, size_t len, uint64_t data, fi_addr_t to,
                    uint64_t tag) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const iovec iov = to_iovec(buf, len);
  MessageCall call = to_call(&iov, 1, to, tag, ep.context(), ep.inject_flags() | FI_REMOTE_CQ_DATA);
  call.data = data;
  return ep.core().tx().send(call);
}

}  // namespace

fi_ops_tagged tagged_ops = {
    .size = sizeof(fi_ops_tagged),
    .recv = ReceiveShims<Endpoint>::trecv,
    .recvv = ReceiveShims<Endpoint>::trecvv,
    .recvmsg = ReceiveShims<Endpoint>::trecvmsg,
    .send = tsend,
    .sendv = tsendv,
    .sendmsg = tsendmsg,
    .inject = tinject,
    .senddata = tsenddata,
    .injectdata = tinjectdata,
};

}  // namespace uet::prov
