// The operation tables of messages, tagged or not: each variant of a send becomes one MessageCall,
// which Transmissions::send posts. [LF-041..046, LF-053..060]
#include "prov/uet/api/manner.h"
#include "prov/uet/api/receive_shims.h"
#include "prov/uet/api/tables.h"

namespace uet::prov {
namespace {

ssize_t post(fid_ep* fid, const MessageCall& call) {
  return object_of<Endpoint>(fid).core().tx().send(call);
}

// The call of those buffers; what else a variant has is added to it.
MessageCall send_of(const iovec* iov, size_t count, fi_addr_t to, const Manner& how,
                    uint64_t data = 0) {
  MessageCall call = to_call(iov, count, to, how.context, how.flags);
  call.data = data;
  return call;
}

MessageCall tagged(const MessageCall& call, uint64_t tag) { return with_tag(call, tag, 0); }

ssize_t send(fid_ep* fid, const void* buf, size_t len, void*, fi_addr_t to,
             void* context) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post(fid, send_of(&iov, 1, to, posted(fid, context)));
}

ssize_t sendv(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t to,
              void* context) noexcept {
  return post(fid, send_of(iov, count, to, posted(fid, context)));
}

ssize_t sendmsg(fid_ep* fid, const fi_msg* msg, uint64_t flags) noexcept {
  const Manner how{msg->context, flags};
  return post(fid, send_of(msg->msg_iov, msg->iov_count, msg->addr, how, msg->data));
}

ssize_t inject(fid_ep* fid, const void* buf, size_t len, fi_addr_t to) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post(fid, send_of(&iov, 1, to, injected(fid)));
}

ssize_t senddata(fid_ep* fid, const void* buf, size_t len, void*, uint64_t data, fi_addr_t to,
                 void* context) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post(fid, send_of(&iov, 1, to, posted(fid, context).with_data(), data));
}

ssize_t injectdata(fid_ep* fid, const void* buf, size_t len, uint64_t data, fi_addr_t to) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post(fid, send_of(&iov, 1, to, injected(fid).with_data(), data));
}

ssize_t tsend(fid_ep* fid, const void* buf, size_t len, void*, fi_addr_t to, uint64_t tag,
              void* context) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post(fid, tagged(send_of(&iov, 1, to, posted(fid, context)), tag));
}

ssize_t tsendv(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t to, uint64_t tag,
               void* context) noexcept {
  return post(fid, tagged(send_of(iov, count, to, posted(fid, context)), tag));
}

ssize_t tsendmsg(fid_ep* fid, const fi_msg_tagged* msg, uint64_t flags) noexcept {
  const Manner how{msg->context, flags};
  return post(fid,
              tagged(send_of(msg->msg_iov, msg->iov_count, msg->addr, how, msg->data), msg->tag));
}

ssize_t tinject(fid_ep* fid, const void* buf, size_t len, fi_addr_t to, uint64_t tag) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post(fid, tagged(send_of(&iov, 1, to, injected(fid)), tag));
}

ssize_t tsenddata(fid_ep* fid, const void* buf, size_t len, void*, uint64_t data, fi_addr_t to,
                  uint64_t tag, void* context) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post(fid, tagged(send_of(&iov, 1, to, posted(fid, context).with_data(), data), tag));
}

ssize_t tinjectdata(fid_ep* fid, const void* buf, size_t len, uint64_t data, fi_addr_t to,
                    uint64_t tag) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post(fid, tagged(send_of(&iov, 1, to, injected(fid).with_data(), data), tag));
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
