// The receive calls of struct fi_ops_msg and fi_ops_tagged: each fills a MessageCall. The same for
// an endpoint and for shared receives. [LF-046]
#pragma once

#include "prov/uet/api/compat.h"
#include "prov/uet/api/shim.h"
#include "prov/uet/endpoint/calls.h"

#include <sys/types.h>
#include <sys/uio.h>
#include <cstddef>
#include <cstdint>

namespace uet::prov {

// `Owner` has rx_flags() and tagged_rx_flags(), of calls without a flags argument, and
// receive(const MessageCall&).
template <class Owner>
struct ReceiveShims {
  static ssize_t recv(fid_ep* fid, void* buf, size_t len, void*, fi_addr_t from,
                      void* context) noexcept {
    Owner& owner = object_of<Owner>(fid);
    const iovec iov{buf, len};
    return owner.receive(to_call(&iov, 1, from, context, owner.rx_flags()));
  }
  static ssize_t recvv(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t from,
                       void* context) noexcept {
    Owner& owner = object_of<Owner>(fid);
    return owner.receive(to_call(iov, count, from, context, owner.rx_flags()));
  }
  static ssize_t recvmsg(fid_ep* fid, const fi_msg* msg, uint64_t flags) noexcept {
    return object_of<Owner>(fid).receive(
        to_call(msg->msg_iov, msg->iov_count, msg->addr, msg->context, flags));
  }
  static ssize_t trecv(fid_ep* fid, void* buf, size_t len, void*, fi_addr_t from, uint64_t tag,
                       uint64_t ignore, void* context) noexcept {
    Owner& owner = object_of<Owner>(fid);
    const iovec iov{buf, len};
    return owner.receive(
        with_tag(to_call(&iov, 1, from, context, owner.tagged_rx_flags()), tag, ignore));
  }
  static ssize_t trecvv(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t from,
                        uint64_t tag, uint64_t ignore, void* context) noexcept {
    Owner& owner = object_of<Owner>(fid);
    return owner.receive(
        with_tag(to_call(iov, count, from, context, owner.tagged_rx_flags()), tag, ignore));
  }
  static ssize_t trecvmsg(fid_ep* fid, const fi_msg_tagged* msg, uint64_t flags) noexcept {
    return object_of<Owner>(fid).receive(
        with_tag(to_call(msg->msg_iov, msg->iov_count, msg->addr, msg->context, flags), msg->tag,
                 msg->ignore));
  }
};

}  // namespace uet::prov
