// Posting atomics, and their operation table. [LF-050..052]
#include "prov/uet/endpoint/atomic.h"

#include "prov/uet/endpoint/ep.h"
#include "prov/uet/endpoint/post_tx.h"
#include "prov/uet/endpoint/slices.h"

namespace uet::prov {
namespace {

// Elements of `iov`, as octets. 0 or -FI_E*.
int assign(Slices& slices, const fi_ioc* ioc, size_t count, size_t element) {
  if (count > ses::kIovMax || (ioc == nullptr && count > 0)) return -FI_EINVAL;
  iovec iov[ses::kIovMax];
  for (size_t i = 0; i < count; ++i) {
    if (ioc[i].count > ses::kAtomicBytesMax / element) return -FI_EMSGSIZE;
    iov[i] = {ioc[i].addr, ioc[i].count * element};
  }
  return slices.assign(iov, count);
}

// The three arrays of a call.
struct Operands {
  Slices operand;
  Slices compare;
  Slices result;

  int assign_all(const AtomicCall& call, size_t element) {
    if (const int rc = assign(operand, call.operand, call.operand_count, element); rc != 0)
      return rc;
    if (const int rc = assign(compare, call.compare, call.compare_count, element); rc != 0)
      return rc;
    return assign(result, call.result, call.result_count, element);
  }
  void assign_part(const Operands& from, uint64_t offset, uint64_t length) {
    operand.assign_part(from.operand, offset, length);
    compare.assign_part(from.compare, offset, length);
    result.assign_part(from.result, offset, length);
  }
  void put_into(ses::AtomicRequest& request) const {
    request.operand = operand.view();
    request.compare = compare.view();
    request.result = result.view();
  }
};

// Elements that the remote segments name; more than any call takes when they overflow.
uint64_t remote_elements(const AtomicCall& call) {
  uint64_t count = 0;
  for (size_t i = 0; i < call.remote_count; ++i) {
    if (call.remote[i].count > ses::kAtomicBytesMax) return UINT64_MAX;
    count += call.remote[i].count;
  }
  return count;
}

const char* wrong_with(const AtomicCall& call, const Operands& o, const fi_atomic_attr& limits) {
  const bool reads = call.op == FI_ATOMIC_READ;
  const uint64_t bytes = reads ? o.result.bytes() : o.operand.bytes();
  if (call.remote == nullptr || call.remote_count == 0 || call.remote_count > ses::kIovMax ||
      remote_elements(call) * limits.size != bytes || bytes == 0) {
    return "needs 1 to 64 remote segments, as many elements in all as the local buffers";
  }
  if (call.form != ses::AtomicForm::plain && o.result.bytes() != bytes) {
    return "needs as many results as operands";
  }
  if (call.form == ses::AtomicForm::compare && o.compare.bytes() != bytes) {
    return "needs as many values to compare as operands";
  }
  return nullptr;
}

}  // namespace

ssize_t Transmissions::atomic(const AtomicCall& call) {
  if (const ssize_t rc = ep_.check_post(FI_ATOMIC); rc != 0) return rc;
  const std::optional<fi_atomic_attr> limits = atomic_limits(call.datatype, call.op, call.form);
  if (!limits) {
    UET_WARN(EP_DATA, "this atomic is not offered for that data type; ask fi_query_atomic\n");
    return reject(-FI_EOPNOTSUPP);
  }
  Operands operands;
  if (const int rc = operands.assign_all(call, limits->size); rc != 0) return reject(rc);
  if (const char* const wrong = wrong_with(call, operands, *limits)) {
    UET_WARN(EP_DATA, "an atomic %s\n", wrong);
    return reject(-FI_EINVAL);
  }
  if ((call.flags & FI_TAGGED) != 0) {
    UET_WARN(EP_DATA, "atomics on tagged receives (FI_TAGGED) are not offered\n");
    return reject(-FI_EOPNOTSUPP);
  }
  const bool fetches = call.form != ses::AtomicForm::plain;
  const uint64_t bytes = fetches ? operands.result.bytes() : operands.operand.bytes();
  if (bytes > limits->count * limits->size) {
    UET_WARN(EP_DATA,
             "%llu octets are too many for one atomic; fi_query_atomic says %zu elements\n",
             static_cast<unsigned long long>(bytes), limits->count);
    return reject(-FI_EMSGSIZE);
  }
  Plan plan;
  if (const ssize_t rc = make_plan(call.flags, bytes, false, plan); rc != 0) return reject(rc);
  if ((fetches && (plan.ses_flags & ses::kOpInject) != 0) ||
      (plan.ses_flags & ses::kOpRemoteData) != 0) {
    UET_WARN(EP_DATA,
             "an atomic carries no CQ data, and one that returns values is not injected\n");
    return reject(-FI_EINVAL);
  }

  if (call.remote_count > 1) plan.ses_flags &= ~uint32_t{ses::kOpRetain};  // as in rma.cpp
  ses::AtomicRequest request;
  request.form = call.form;
  request.code = *to_atomic_code(call.datatype, call.op);
  request.flags = plan.ses_flags;
  const auto kind = fetches ? ses::OpKind::fetching_atomic : ses::OpKind::atomic;
  return post_tx(
      call, plan, FI_ATOMIC | (fetches ? FI_READ : FI_WRITE),
      [&](ProgressEngine::Entry& entry, const ses::Destination& to, const ses::OpContext& context) {
        uint64_t offset = 0;
        return post_parts(entry, static_cast<uint32_t>(call.remote_count), kind, context,
                          [&](uint32_t i, const ses::OpContext& part_context) {
                            const fi_rma_ioc& remote = call.remote[i];
                            const uint64_t length = remote.count * limits->size;
                            Operands part;
                            part.assign_part(operands, offset, length);
                            offset += length;
                            part.put_into(request);
                            request.to = to;
                            request.remote_offset = remote.addr;
                            request.key = ses::wire_key(remote.key);
                            request.context = part_context;
                            return entry.ses().atomic(ep_.id, request, entry.now());
                          });
      });
}

namespace {

size_t total(const fi_ioc* ioc, size_t count) {
  size_t elements = 0;
  for (size_t i = 0; ioc != nullptr && i < count; ++i) elements += ioc[i].count;
  return elements;
}

fi_ioc to_ioc(const void* at, size_t count) { return {const_cast<void*>(at), count}; }

struct Target {
  fi_addr_t peer;
  uint64_t addr;
  uint64_t key;
};

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
                   void* context, uint64_t flags) {
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
  call.context = context;
  call.flags = flags;
  return call;
}

ssize_t post(Endpoint& ep, ses::AtomicForm form, const Arrays& a, const Target& at,
             fi_datatype datatype, fi_op op, void* context, uint64_t flags) {
  AtomicCall call = to_call(form, a, datatype, op, context, flags);
  const size_t elements =
      op == FI_ATOMIC_READ ? total(a.result, a.result_count) : total(a.operand, a.operand_count);
  // As long as the local buffers; what overflows is refused with the buffers it comes from.
  const fi_rma_ioc remote{at.addr, elements, at.key};
  call.remote = &remote;
  call.remote_count = 1;
  call.addr = at.peer;
  return ep.core().tx().atomic(call);
}

ssize_t post_msg(Endpoint& ep, ses::AtomicForm form, const fi_msg_atomic& msg, Arrays a,
                 uint64_t flags) {
  a.operand = msg.msg_iov;
  a.operand_count = msg.iov_count;
  AtomicCall call = to_call(form, a, msg.datatype, msg.op, msg.context, flags);
  call.remote = msg.rma_iov;
  call.remote_count = msg.rma_iov_count;
  call.addr = msg.addr;
  return ep.core().tx().atomic(call);
}

using Form = ses::AtomicForm;

ssize_t write(fid_ep* fid, const void* buf, size_t count, void*, fi_addr_t to, uint64_t addr,
              uint64_t key, fi_datatype datatype, fi_op op, void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const fi_ioc operand = to_ioc(buf, count);
  return post(ep, Form::plain, {.operand = &operand, .operand_count = 1}, {to, addr, key}, datatype,
              op, context, ep.tx_flags());
}

ssize_t writev(fid_ep* fid, const fi_ioc* iov, void**, size_t count, fi_addr_t to, uint64_t addr,
               uint64_t key, fi_datatype datatype, fi_op op, void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  return post(ep, Form::plain, {.operand = iov, .operand_count = count}, {to, addr, key}, datatype,
              op, context, ep.tx_flags());
}

ssize_t writemsg(fid_ep* fid, const fi_msg_atomic* msg, uint64_t flags) noexcept {
  return post_msg(object_of<Endpoint>(fid), Form::plain, *msg, {}, flags);
}

ssize_t inject(fid_ep* fid, const void* buf, size_t count, fi_addr_t to, uint64_t addr,
               uint64_t key, fi_datatype datatype, fi_op op) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const fi_ioc operand = to_ioc(buf, count);
  return post(ep, Form::plain, {.operand = &operand, .operand_count = 1}, {to, addr, key}, datatype,
              op, ep.context(), ep.inject_flags());
}

ssize_t readwrite(fid_ep* fid, const void* buf, size_t count, void*, void* result, void*,
                  fi_addr_t to, uint64_t addr, uint64_t key, fi_datatype datatype, fi_op op,
                  void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const fi_ioc operand = to_ioc(buf, count);
  const fi_ioc old = to_ioc(result, count);
  return post(ep, Form::fetch,
              {.operand = &operand, .operand_count = 1, .result = &old, .result_count = 1},
              {to, addr, key}, datatype, op, context, ep.read_flags());
}

ssize_t readwritev(fid_ep* fid, const fi_ioc* iov, void**, size_t count, fi_ioc* resultv, void**,
                   size_t result_count, fi_addr_t to, uint64_t addr, uint64_t key,
                   fi_datatype datatype, fi_op op, void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  return post(
      ep, Form::fetch,
      {.operand = iov, .operand_count = count, .result = resultv, .result_count = result_count},
      {to, addr, key}, datatype, op, context, ep.read_flags());
}

ssize_t readwritemsg(fid_ep* fid, const fi_msg_atomic* msg, fi_ioc* resultv, void**,
                     size_t result_count, uint64_t flags) noexcept {
  return post_msg(object_of<Endpoint>(fid), Form::fetch, *msg,
                  {.result = resultv, .result_count = result_count}, flags);
}

ssize_t compwrite(fid_ep* fid, const void* buf, size_t count, void*, const void* compare, void*,
                  void* result, void*, fi_addr_t to, uint64_t addr, uint64_t key,
                  fi_datatype datatype, fi_op op, void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  const fi_ioc operand = to_ioc(buf, count);
  const fi_ioc expected = to_ioc(compare, count);
  const fi_ioc old = to_ioc(result, count);
  return post(ep, Form::compare, {&operand, 1, &expected, 1, &old, 1}, {to, addr, key}, datatype,
              op, context, ep.read_flags());
}

ssize_t compwritev(fid_ep* fid, const fi_ioc* iov, void**, size_t count, const fi_ioc* comparev,
                   void**, size_t compare_count, fi_ioc* resultv, void**, size_t result_count,
                   fi_addr_t to, uint64_t addr, uint64_t key, fi_datatype datatype, fi_op op,
                   void* context) noexcept {
  Endpoint& ep = object_of<Endpoint>(fid);
  return post(ep, Form::compare, {iov, count, comparev, compare_count, resultv, result_count},
              {to, addr, key}, datatype, op, context, ep.read_flags());
}

ssize_t compwritemsg(fid_ep* fid, const fi_msg_atomic* msg, const fi_ioc* comparev, void**,
                     size_t compare_count, fi_ioc* resultv, void**, size_t result_count,
                     uint64_t flags) noexcept {
  return post_msg(object_of<Endpoint>(fid), Form::compare, *msg,
                  {nullptr, 0, comparev, compare_count, resultv, result_count}, flags);
}

int valid(fi_datatype datatype, fi_op op, Form form, size_t* count) {
  const std::optional<fi_atomic_attr> limits = atomic_limits(datatype, op, form);
  if (!limits) return -FI_EOPNOTSUPP;
  if (count == nullptr) return -FI_EINVAL;
  *count = limits->count;
  return 0;
}

int writevalid(fid_ep*, fi_datatype datatype, fi_op op, size_t* count) noexcept {
  return valid(datatype, op, Form::plain, count);
}

int readwritevalid(fid_ep*, fi_datatype datatype, fi_op op, size_t* count) noexcept {
  return valid(datatype, op, Form::fetch, count);
}

int compwritevalid(fid_ep*, fi_datatype datatype, fi_op op, size_t* count) noexcept {
  return valid(datatype, op, Form::compare, count);
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
