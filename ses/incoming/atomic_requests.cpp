// Atomics at the target.
#include "ses/incoming/atomic_requests.h"

#include "ses/atomics.h"
#include "ses/completion_slot.h"
#include "ses/incoming/remote_report.h"

#include <algorithm>
#include <array>

namespace uet::ses {

using wire::ReturnCode;
using wire::SesOpcode;

// One checked atomic request.
struct AtomicRequests::Plan {
  AtomicCode code;
  AtomicForm form{};
  uint32_t element = 0;
  uint32_t bytes = 0;  // of memory that it works on
  std::span<const std::byte> operands;

  FetchBuffer* fetched = nullptr;  // where old values go that do not fit an ACK
  std::array<std::byte, pds::kMaxAckSesBytes> in_ack;
  uint32_t done = 0;  // octets of memory changed so far

  std::byte* old_values() { return fetched != nullptr ? fetched->bytes.data() : in_ack.data(); }
  bool is_aligned(const std::byte* at, uint64_t length) const {
    return reinterpret_cast<uintptr_t>(at) % element_alignment(code.type) == 0 &&
           length % element == 0;
  }
  // The old values do not fit an ACK of `ack_bytes` octets: they go back as a message, which cannot
  // be undone. So the message is requested last, and an operation that needs a completion slot as
  // well, which cannot be given back either, is refused.
  bool needs_message(uint32_t ack_bytes) const {
    return form != AtomicForm::plain && bytes > ack_bytes;
  }
  // Applies the operation to the memory. [SES-083]
  uint32_t access() const {
    if (form == AtomicForm::plain) return kRemoteWrite;
    return code.op == wire::AtomicOpcode::read ? kRemoteRead : kRemoteRead | kRemoteWrite;
  }
  // Judges what needs no memory to be judged.
  ReturnCode make(const Request& q);
  // The elements of one piece of memory, in order.
  void apply(std::byte* at, uint64_t length);
};

void AtomicRequests::Plan::apply(std::byte* at, uint64_t length) {
  if (code.op == wire::AtomicOpcode::inval) return;
  alignas(32) std::array<std::byte, 32> operand;
  alignas(32) std::array<std::byte, kOperandFieldBytes> compare;
  for (uint64_t i = 0; i < length; i += element, done += element) {
    AtomicOperands with;
    with.operand = operand.data();
    if (form == AtomicForm::compare) {
      from_field(code.type, operands.data(), compare.data());
      from_field(code.type, operands.data() + kOperandFieldBytes, operand.data());
      with.compare = compare.data();
    } else {
      std::copy_n(operands.data() + done, element, operand.data());
      swap_elements(code.type, {operand.data(), element});
    }
    std::byte* const old = form == AtomicForm::plain ? nullptr : old_values() + done;
    apply_atomic(code, at + i, with, old);
  }
}

// Checks that need no memory, in the order of the errors. [SES-087]
ReturnCode AtomicRequests::Plan::make(const Request& q) {
  code = {q.atomic.atomic_opcode, q.atomic.atomic_datatype};
  const bool fetches = q.common.opcode == SesOpcode::fetching_atomic ||
                       q.common.opcode == SesOpcode::tsend_fetch_atomic;
  const bool compares = fetches && wire::is_compare_swap(code.op);
  form = compares ? AtomicForm::compare : fetches ? AtomicForm::fetch : AtomicForm::plain;
  const ReturnCode offered = check_atomic(code, form);
  if (offered != ReturnCode::ok) return offered;
  element = element_bytes(code);
  operands = q.payload;
  if (compares) {
    bytes = element;
    return q.length == kTwoOperandBytes ? ReturnCode::ok : ReturnCode::amo_unsupported_size;
  }
  bytes = q.length;
  if (q.length == 0 || q.length % element != 0) return ReturnCode::amo_unsupported_size;
  if (fetches && q.length > FetchBuffer::kBytes) return ReturnCode::unsupported_size;
  return ReturnCode::ok;
}

// Room for the old values, before there are any. False: `refusal` says why not.
bool AtomicRequests::prepare_answer(const Request& q, Plan& plan, pds::Verdict& refusal) {
  if (!plan.needs_message(res_.config.ack_data_bytes_max)) return true;
  ReturnMessage back = answer_to(q, plan.bytes);
  back.fetched = plan.fetched = res_.fetch_buffers.take(q.peer);
  auto sent = ReadAnswers::Sent::no_slot;
  if (plan.fetched != nullptr) sent = answers_.send(q.token.pdc, back);
  if (sent == ReadAnswers::Sent::sent) return true;
  if (sent == ReadAnswers::Sent::pdc_gone) {
    refusal.kind = pds::Verdict::Kind::drop;
    return false;
  }
  if (plan.fetched != nullptr) res_.fetch_buffers.give_back(q.peer, *plan.fetched);
  refusal = refusals_.no_message_slot();
  return false;
}

// The old values go back as data; every other answer is the default response. [SES-054, SES-055,
// SES-081]
pds::Verdict AtomicRequests::answer(const Request& q, Plan& plan) {
  if (plan.form == AtomicForm::plain) return pds::Verdict::accepted();
  const std::span<std::byte> old(plan.old_values(), plan.done);
  swap_elements(plan.code.type, old);
  return plan.fetched != nullptr ? pds::Verdict::accepted() : data_in_ack(q, old);
}

Result<RegionId, ReturnCode> AtomicRequests::authorize(const Request& q, const Plan& plan) const {
  const RegionUse use{.access = plan.access(),
                      .job = q.common.job_id,
                      .ri = q.common.resource_index,
                      .peer = q.peer,
                      .initiator = q.initiator,
                      .replayable = false,
                      .offset = q.buffer_offset,
                      .length = plan.bytes};
  return q.header == wire::NextHeader::small
             ? memory_.authorize_optimized(q.common.resource_index.value(), use)
             : memory_.authorize(q.match_bits, use);
}

pds::Verdict AtomicRequests::begin(const Endpoint& ep, const Request& q) {
  Plan plan;
  const ReturnCode code = plan.make(q);
  if (code != ReturnCode::ok) return refusals_.refuse(q, code, Counter::rx_atomic_refused);
  const auto region = authorize(q, plan);
  if (!region.ok()) return refusals_.refuse_key(q, region.error());
  bool is_aligned = true;
  const auto look = [&](const std::byte* at, uint64_t n) {
    is_aligned = is_aligned && plan.is_aligned(at, n);
  };
  const bool is_there = memory_.for_each(*region, q.buffer_offset, plan.bytes, look);
  UET_ASSERT(is_there);  // authorised a moment ago
  if (!is_aligned) {
    return refusals_.refuse(q, ReturnCode::amo_unaligned, Counter::rx_atomic_refused);
  }

  if (q.has_data && plan.needs_message(res_.config.ack_data_bytes_max)) {
    return refusals_.refuse(q, ReturnCode::op_violation, Counter::rx_header_data_refused);
  }
  pds::Verdict refusal;
  if (q.has_data && !reserve(res_, ep)) return refusals_.wait_for_application(q);
  if (!prepare_answer(q, plan, refusal)) return refusal;
  memory_.for_each(*region, q.buffer_offset, plan.bytes, [&](const std::byte* at, uint64_t n) {
    plan.apply(const_cast<std::byte*>(at), n);
  });
  const auto kind =
      plan.form == AtomicForm::plain ? OpKind::remote_atomic : OpKind::remote_fetching_atomic;
  report_remote(ep, memory_, q, kind, *region);
  return answer(q, plan);
}

// Matches like a tagged send, but only a posted receive: a kept message cannot be a target of
// arithmetic. [SES-064, SES-065, SES-086]
pds::Verdict AtomicRequests::begin_send(Endpoint& ep, const Request& q) {
  Plan plan;
  const ReturnCode code = plan.make(q);
  if (code != ReturnCode::ok) return refusals_.refuse(q, code, Counter::rx_atomic_refused);
  PostedReceive* const r = ep.is_held(true) ? nullptr : ep.matcher(true).match(envelope_of(q));
  if (r == nullptr) return sends_.no_match(ep, q);
  if (!r->allows(q.common.job_id)) {
    return refusals_.refuse(q, ReturnCode::bad_job_id, Counter::rx_bad_job);  // [SES-117]
  }
  if (ep.options.reject_truncated && plan.bytes > r->room()) {
    return refusals_.refuse(q, ReturnCode::too_long, Counter::rx_too_long);  // [SES-138]
  }
  const auto room = static_cast<uint32_t>(std::min<uint64_t>(r->room(), plan.bytes));
  plan.bytes = room - room % plan.element;  // the rest of a cut element does not change
  bool is_aligned = true;
  r->memory.for_each(r->used, plan.bytes, [&](const std::byte* at, uint64_t n) {
    is_aligned = is_aligned && plan.is_aligned(at, n);
  });
  if (!is_aligned) {
    return refusals_.refuse(q, ReturnCode::amo_unaligned, Counter::rx_atomic_refused);
  }

  pds::Verdict refusal;
  const bool is_booked = ep.queue->is_shared;  // else it was when the receive was posted
  if (!receives_.book(ep, *r, plan.bytes)) return refusals_.wait_for_application(q);
  if (!prepare_answer(q, plan, refusal)) {
    if (is_booked) release(ep);
    return refusal;
  }
  res_.counters.add(Counter::rx_expected);
  Arrived a = arrived(q, {.begin = r->used, .room = plan.bytes});
  if (plan.form == AtomicForm::compare) a.request_length = plan.element;
  receives_.consume(ep, *r, plan.bytes);
  r->memory.for_each(a.place.begin, plan.bytes, [&](const std::byte* at, uint64_t n) {
    plan.apply(const_cast<std::byte*>(at), n);
  });
  receives_.complete(ep, *r, a);
  if (plan.form != AtomicForm::plain) return answer(q, plan);
  return plan.bytes == q.request_length ? pds::Verdict::accepted()
                                        : sends_.delivered(q, plan.bytes);
}

}  // namespace uet::ses
