// Posting atomics. [LF-050..052]
#include "prov/uet/endpoint/atomic.h"

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
    UET_WARN(EP_DATA, "this atomic is not supported for that data type; see fi_query_atomic\n");
    return reject(-FI_EOPNOTSUPP);
  }
  Operands operands;
  if (const int rc = operands.assign_all(call, limits->size); rc != 0) return reject(rc);
  if (const char* const wrong = wrong_with(call, operands, *limits)) {
    UET_WARN(EP_DATA, "an atomic %s\n", wrong);
    return reject(-FI_EINVAL);
  }
  if ((call.flags & FI_TAGGED) != 0) {
    UET_WARN(EP_DATA, "fi_atomicmsg: the flag FI_TAGGED is not supported: use address and key\n");
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
    UET_WARN(EP_DATA, "an atomic takes no FI_REMOTE_CQ_DATA%s: leave out the flag\n",
             fetches ? ", and no FI_INJECT if it returns values" : "");
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

}  // namespace uet::prov
