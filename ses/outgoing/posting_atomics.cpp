// Posting atomics: operands are copied and turned to wire order at once, so that the packet is the
// same however often it is sent. [ses.md 4.3]
#include "ses/outgoing/headers.h"
#include "ses/outgoing/posting.h"

#include <array>

namespace uet::ses {
namespace {

// Whether operands and results are as many as the form wants. [SES-080, SES-081]
Result<void> check_lengths(const AtomicRequest& request, uint64_t operand_bytes) {
  const uint64_t element = element_bytes(request.code);
  const uint64_t result_bytes = UET_TRY(total_bytes(request.result));
  if (operand_bytes == 0 || operand_bytes % element != 0) return Errc::invalid;
  if (operand_bytes > kAtomicBytesMax) return Errc::too_long;
  switch (request.form) {
    case AtomicForm::plain:
      return {};
    case AtomicForm::fetch:
      if (result_bytes != operand_bytes) return Errc::invalid;
      return {};
    case AtomicForm::compare: {
      const uint64_t compare_bytes = UET_TRY(total_bytes(request.compare));
      const bool fits = operand_bytes == element && compare_bytes == element;
      return fits && result_bytes == element ? Result<void>() : Errc::invalid;
    }
  }
  return Errc::invalid;
}

}  // namespace

Result<Taken> Posting::atomic(Endpoint& ep, const AtomicRequest& request) {
  if (ep.options.mode == pds::Mode::uud) return Errc::unsupported;
  if (check_atomic(request.code, request.form) != wire::ReturnCode::ok) return Errc::unsupported;
  if ((request.flags & (kOpRemoteData | kOpRudi)) != 0) return Errc::invalid;
  const bool is_fetch = request.form != AtomicForm::plain;
  // A READ has no operand, but as many octets of one travel as come back. [SES-081]
  const bool is_read = request.code.op == wire::AtomicOpcode::read;
  const uint64_t bytes = UET_TRY(total_bytes(is_read ? request.result : request.operand));
  UET_CHECK(check_lengths(request, bytes));

  std::array<std::byte, kAtomicBytesMax> operands{};
  IoSlice staged{operands.data(), bytes};
  if (request.form == AtomicForm::compare) {
    std::array<std::byte, kOperandFieldBytes> element;
    gather(request.compare, element.data());
    to_field(request.code.type, element.data(), operands.data());
    gather(request.operand, element.data());
    to_field(request.code.type, element.data(), operands.data() + kOperandFieldBytes);
    staged.length = kTwoOperandBytes;
  } else if (!is_read) {
    gather(request.operand, operands.data());
    swap_elements(request.code.type, {operands.data(), bytes});
  }
  // An operation that returns values completes when they have arrived.
  const uint32_t flags = (is_fetch ? request.flags & ~kOpRetain : request.flags) | kOpInject;
  TxMessage* m = UET_TRY(make(ep, request.to, {&staged, 1}, flags));
  const Result<void> taken = m->result.assign(request.result, res_.long_iovs);
  if (!taken.ok()) {
    operations_.free(*m);
    return taken.error();
  }
  m->kind = is_fetch ? OpKind::fetching_atomic : OpKind::atomic;
  m->opcode = is_fetch ? wire::SesOpcode::fetching_atomic : wire::SesOpcode::atomic;
  m->atomic = request.code;
  m->result_bytes = static_cast<uint32_t>(m->result.bytes());
  m->match_bits = request.key;
  m->remote_offset = request.remote_offset;
  m->context = request.context;
  m->header = choose_header(res_.config, *m, request.to.capabilities);
  return post(ep, *m);
}

}  // namespace uet::ses
