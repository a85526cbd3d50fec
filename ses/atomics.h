// Atomic operations on memory, and the format of their operands: the table of operations and data
// types, element by element. No headers, no messages. [ses.md 4.3]
#pragma once

#include "wire/code_points.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace uet::ses {

// Octets of one operand field of the two-operand form, wire::CompareSwap. [SES-081, SES-085]
inline constexpr uint32_t kOperandFieldBytes = 16;
inline constexpr uint32_t kTwoOperandBytes = 2 * kOperandFieldBytes;

// How an atomic is asked for: without an answer, for the old values, or for the old value with a
// comparison or mask beside the operand.
enum class AtomicForm : uint8_t {
  plain,
  fetch,
  compare
};

// An operation on a data type.
struct AtomicCode {
  wire::AtomicOpcode op{};
  wire::AtomicDatatype type{};

  bool operator==(const AtomicCode&) const = default;
};

// Octets of one element; 0 for a type without a meaning.
inline uint32_t element_bytes(AtomicCode code) { return wire::element_bytes(code.type); }

// OK, AMO_UNSUPPORTED_OP or AMO_UNSUPPORTED_DT: the table of supported operations. INVAL drops
// cached copies, and this stack caches none: the plain form is supported and does nothing.
// [SES-078, SES-079, SES-087]
wire::ReturnCode check_atomic(AtomicCode code, AtomicForm form);

// The address an element must be at a multiple of. [SES-087]
uint32_t element_alignment(wire::AtomicDatatype type);

// Turns elements from host to wire order, or back, in place: every component by itself. `bytes` is
// a multiple of the element. [SES-082]
void swap_elements(wire::AtomicDatatype type, std::span<std::byte> bytes);

// The operand in host order to a 16-octet field, and back: big-endian, the least significant octet
// last, zeros above. The element has at most 16 octets. [SES-082]
void to_field(wire::AtomicDatatype type, const std::byte* element, std::byte* field);
void from_field(wire::AtomicDatatype type, const std::byte* field, std::byte* element);

// Operands of one element, in host order. `compare` is null unless the operation has two operands;
// then it is the value compared, or the mask.
struct AtomicOperands {
  const std::byte* operand = nullptr;
  const std::byte* compare = nullptr;
};

// Applies the operation to one element at `target`, which is aligned; `old` receives the previous
// value. The code was checked. Elements of up to 8 octets that are no complex numbers change in one
// step, also for other threads; larger ones do not. [SES-084]
void apply_atomic(AtomicCode code, std::byte* target, const AtomicOperands& with, std::byte* old);

}  // namespace uet::ses
