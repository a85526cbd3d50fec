// The operation table of RMA: each variant becomes one RmaCall, which Transmissions::rma posts.
// [LF-047..049]
#include "prov/uet/api/manner.h"
#include "prov/uet/api/tables.h"

namespace uet::prov {
namespace {

enum class Direction : uint8_t {
  read,
  write
};

ssize_t post(fid_ep* fid, Direction direction, const RmaCall& call, const Manner& how) {
  RmaCall whole = call;
  whole.context = how.context;
  whole.flags = how.flags;
  whole.read = direction == Direction::read;
  return object_of<Endpoint>(fid).core().tx().rma(whole);
}

// One remote segment, as long as the local buffers.
ssize_t post_at(fid_ep* fid, Direction direction, const iovec* iov, size_t count,
                const RemoteAt& at, const Manner& how, uint64_t data = 0) {
  fi_rma_iov remote{at.addr, 0, at.key};
  for (size_t i = 0; iov != nullptr && i < count; ++i) remote.len += iov[i].iov_len;
  RmaCall call;
  call.iov = iov;
  call.count = count;
  call.remote = &remote;
  call.remote_count = 1;
  call.addr = at.peer;
  call.data = data;
  return post(fid, direction, call, how);
}

ssize_t post_msg(fid_ep* fid, Direction direction, const fi_msg_rma& msg, uint64_t flags) {
  RmaCall call;
  call.iov = msg.msg_iov;
  call.count = msg.iov_count;
  call.remote = msg.rma_iov;
  call.remote_count = msg.rma_iov_count;
  call.addr = msg.addr;
  call.data = msg.data;
  return post(fid, direction, call, {msg.context, flags});
}

ssize_t read(fid_ep* fid, void* buf, size_t len, void*, fi_addr_t from, uint64_t addr, uint64_t key,
             void* context) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post_at(fid, Direction::read, &iov, 1, {from, addr, key}, fetching(fid, context));
}

ssize_t readv(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t from, uint64_t addr,
              uint64_t key, void* context) noexcept {
  return post_at(fid, Direction::read, iov, count, {from, addr, key}, fetching(fid, context));
}

ssize_t readmsg(fid_ep* fid, const fi_msg_rma* msg, uint64_t flags) noexcept {
  return post_msg(fid, Direction::read, *msg, flags);
}

ssize_t write(fid_ep* fid, const void* buf, size_t len, void*, fi_addr_t to, uint64_t addr,
              uint64_t key, void* context) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post_at(fid, Direction::write, &iov, 1, {to, addr, key}, posted(fid, context));
}

ssize_t writev(fid_ep* fid, const iovec* iov, void**, size_t count, fi_addr_t to, uint64_t addr,
               uint64_t key, void* context) noexcept {
  return post_at(fid, Direction::write, iov, count, {to, addr, key}, posted(fid, context));
}

ssize_t writemsg(fid_ep* fid, const fi_msg_rma* msg, uint64_t flags) noexcept {
  return post_msg(fid, Direction::write, *msg, flags);
}

ssize_t inject(fid_ep* fid, const void* buf, size_t len, fi_addr_t to, uint64_t addr,
               uint64_t key) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post_at(fid, Direction::write, &iov, 1, {to, addr, key}, injected(fid));
}

ssize_t writedata(fid_ep* fid, const void* buf, size_t len, void*, uint64_t data, fi_addr_t to,
                  uint64_t addr, uint64_t key, void* context) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post_at(fid, Direction::write, &iov, 1, {to, addr, key}, posted(fid, context).with_data(),
                 data);
}

ssize_t injectdata(fid_ep* fid, const void* buf, size_t len, uint64_t data, fi_addr_t to,
                   uint64_t addr, uint64_t key) noexcept {
  const iovec iov = to_iovec(buf, len);
  return post_at(fid, Direction::write, &iov, 1, {to, addr, key}, injected(fid).with_data(), data);
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
