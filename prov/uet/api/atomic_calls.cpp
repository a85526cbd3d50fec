// The operation table of atomics: each variant becomes one AtomicCall, which Transmissions::atomic
// posts. [LF-050..052]
#include "prov/uet/api/manner.h"
#include "prov/uet/api/tables.h"
#include "prov/uet/endpoint/atomic.h"

namespace uet::prov {
namespace {

size_t total(const fi_ioc* ioc, size_t count) {
  size_t elements = 0;
  for (size_t i = 0; ioc != nullptr && i < count; ++i) elements += ioc[i].count;
  return elements;
}

fi_ioc to_ioc(const void* at, size_t count) { return {const_cast<void*>(at), count}; }

// The arrays of a posting call, whatever variant it came by; null where the form has none.
struct Arrays {
  const fi_ioc* operand = nullptr;
  size_t operand_count = 0;
  const fi_ioc* compare = nullptr;
  size_t compare_count = 0;
  const fi_ioc* result = nullptr;
  size_t result_count = 0;
};

AtomicCall to_call(ses::AtomicForm form, const Arrays& a, fi_datatype datatype, fi_op op,
                   const Manner& how) {
  AtomicCall call;
  call.form = form;
  call.datatype = datatype;
  call.op = op;
  // The buffer of a read is not looked at, so it may be anything. [fi_atomic]
  const bool reads = op == FI_ATOMIC_READ;
  call.operand = reads ? nullptr : a.operand;
  call.operand_count = reads ? 0 : a.operand_count;
  call.compare = a.compare;
  call.compare_count = a.compare_count;
  call.result = a.result;
  call.result_count = a.result_count;
  call.context = how.context;
  call.flags = how.flags;
  return call;
}

ssize_t post(fid_ep* fid, ses::AtomicForm form, const Arrays& a, const RemoteAt& at,
             fi_datatype datatype, fi_op op, const Manner& how) {
  AtomicCall call = to_call(form, a, datatype, op, how);
  const size_t elements =
      op == FI_ATOMIC_READ ? total(a.result, a.result_count) : total(a.operand, a.operand_count);
  // As long as the local buffers; what overflows is refused with the buffers it comes from.
  const fi_rma_ioc remote{at.addr, elements, at.key};
  call.remote = &remote;
  call.remote_count = 1;
  call.addr = at.peer;
  return object_of<Endpoint>(fid).core().tx().atomic(call);
}

ssize_t post_msg(fid_ep* fid, ses::AtomicForm form, const fi_msg_atomic& msg, Arrays a,
                 uint64_t flags) {
  a.operand = msg.msg_iov;
  a.operand_count = msg.iov_count;
  AtomicCall call = to_call(form, a, msg.datatype, msg.op, {msg.context, flags});
  call.remote = msg.rma_iov;
  call.remote_count = msg.rma_iov_count;
  call.addr = msg.addr;
  return object_of<Endpoint>(fid).core().tx().atomic(call);
}

using Form = ses::AtomicForm;

ssize_t write(fid_ep* fid, const void* buf, size_t count, void*, fi_addr_t to, uint64_t addr,
              uint64_t key, fi_datatype datatype, fi_op op, void* context) noexcept {
  const fi_ioc operand = to_ioc(buf, count);
  return post(fid, Form::plain, {.operand = &operand, .operand_count = 1}, {to, addr, key},
              datatype, op, posted(fid, context));
}

ssize_t writev(fid_ep* fid, const fi_ioc* iov, void**, size_t count, fi_addr_t to, uint64_t addr,
               uint64_t key, fi_datatype datatype, fi_op op, void* context) noexcept {
  return post(fid, Form::plain, {.operand = iov, .operand_count = count}, {to, addr, key}, datatype,
              op, posted(fid, context));
}

ssize_t writemsg(fid_ep* fid, const fi_msg_atomic* msg, uint64_t flags) noexcept {
  return post_msg(fid, Form::plain, *msg, {}, flags);
}

ssize_t inject(fid_ep* fid, const void* buf, size_t count, fi_addr_t to, uint64_t addr,
               uint64_t key, fi_datatype datatype, fi_op op) noexcept {
  const fi_ioc operand = to_ioc(buf, count);
  return post(fid, Form::plain, {.operand = &operand, .operand_count = 1}, {to, addr, key},
              datatype, op, injected(fid));
}

ssize_t readwrite(fid_ep* fid, const void* buf, size_t count, void*, void* result, void*,
                  fi_addr_t to, uint64_t addr, uint64_t key, fi_datatype datatype, fi_op op,
                  void* context) noexcept {
  const fi_ioc operand = to_ioc(buf, count);
  const fi_ioc old = to_ioc(result, count);
  return post(fid, Form::fetch,
              {.operand = &operand, .operand_count = 1, .result = &old, .result_count = 1},
              {to, addr, key}, datatype, op, fetching(fid, context));
}

ssize_t readwritev(fid_ep* fid, const fi_ioc* iov, void**, size_t count, fi_ioc* resultv, void**,
                   size_t result_count, fi_addr_t to, uint64_t addr, uint64_t key,
                   fi_datatype datatype, fi_op op, void* context) noexcept {
  return post(
      fid, Form::fetch,
      {.operand = iov, .operand_count = count, .result = resultv, .result_count = result_count},
      {to, addr, key}, datatype, op, fetching(fid, context));
}

ssize_t readwritemsg(fid_ep* fid, const fi_msg_atomic* msg, fi_ioc* resultv, void**,
                     size_t result_count, uint64_t flags) noexcept {
  return post_msg(fid, Form::fetch, *msg, {.result = resultv, .result_count = result_count}, flags);
}

ssize_t compwrite(fid_ep* fid, const void* buf, size_t count, void*, const void* compare, void*,
                  void* result, void*, fi_addr_t to, uint64_t addr, uint64_t key,
                  fi_datatype datatype, fi_op op, void* context) noexcept {
  const fi_ioc operand = to_ioc(buf, count);
  const fi_ioc expected = to_ioc(compare, count);
  const fi_ioc old = to_ioc(result, count);
  return post(fid, Form::compare, {&operand, 1, &expected, 1, &old, 1}, {to, addr, key}, datatype,
              op, fetching(fid, context));
}

ssize_t compwritev(fid_ep* fid, const fi_ioc* iov, void**, size_t count, const fi_ioc* comparev,
                   void**, size_t compare_count, fi_ioc* resultv, void**, size_t result_count,
                   fi_addr_t to, uint64_t addr, uint64_t key, fi_datatype datatype, fi_op op,
                   void* context) noexcept {
  return post(fid, Form::compare, {iov, count, comparev, compare_count, resultv, result_count},
              {to, addr, key}, datatype, op, fetching(fid, context));
}

ssize_t compwritemsg(fid_ep* fid, const fi_msg_atomic* msg, const fi_ioc* comparev, void**,
                     size_t compare_count, fi_ioc* resultv, void**, size_t result_count,
                     uint64_t flags) noexcept {
  return post_msg(fid, Form::compare, *msg,
                  {nullptr, 0, comparev, compare_count, resultv, result_count}, flags);
}

int writevalid(fid_ep*, fi_datatype datatype, fi_op op, size_t* count) noexcept {
  return atomic_count(datatype, op, Form::plain, count);
}

int readwritevalid(fid_ep*, fi_datatype datatype, fi_op op, size_t* count) noexcept {
  return atomic_count(datatype, op, Form::fetch, count);
}

int compwritevalid(fid_ep*, fi_datatype datatype, fi_op op, size_t* count) noexcept {
  return atomic_count(datatype, op, Form::compare, count);
}

}  // namespace

fi_ops_atomic atomic_ops = {
    .size = sizeof(fi_ops_atomic),
    .write = write,
    .writev = writev,
    .writemsg = writemsg,
    .inject = inject,
    .readwrite = readwrite,
    .readwritev = readwritev,
    .readwritemsg = readwritemsg,
    .compwrite = compwrite,
    .compwritev = compwritev,
    .compwritemsg = compwritemsg,
    .writevalid = writevalid,
    .readwritevalid = readwritevalid,
    .compwritevalid = compwritevalid,
};

}  // namespace uet::prov
