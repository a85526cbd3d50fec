// The two enumerations of operations and data types, side by side. [LF-061, LF-062]
#include "prov/uet/endpoint/atomic.h"

#include "ses/types.h"

#include <iterator>

namespace uet::prov {
namespace {

using wire::AtomicDatatype;
using wire::AtomicOpcode;

// By fi_op.
constexpr AtomicOpcode kOps[] = {
    AtomicOpcode::min,      AtomicOpcode::max,      AtomicOpcode::sum,      AtomicOpcode::prod,
    AtomicOpcode::lor,      AtomicOpcode::land,     AtomicOpcode::bor,      AtomicOpcode::band,
    AtomicOpcode::lxor,     AtomicOpcode::bxor,     AtomicOpcode::read,     AtomicOpcode::write,
    AtomicOpcode::cswap,    AtomicOpcode::cswap_ne, AtomicOpcode::cswap_le, AtomicOpcode::cswap_lt,
    AtomicOpcode::cswap_ge, AtomicOpcode::cswap_gt, AtomicOpcode::mswap,
#if UET_FI_HEADERS_AT_LEAST(2, 0)
    AtomicOpcode::diff,
#endif
};
static_assert(kOps[FI_MSWAP] == AtomicOpcode::mswap);

// By fi_datatype.
constexpr AtomicDatatype kTypes[] = {
    AtomicDatatype::int8,          AtomicDatatype::uint8,
    AtomicDatatype::int16,         AtomicDatatype::uint16,
    AtomicDatatype::int32,         AtomicDatatype::uint32,
    AtomicDatatype::int64,         AtomicDatatype::uint64,
    AtomicDatatype::float32,       AtomicDatatype::float64,
    AtomicDatatype::float_complex, AtomicDatatype::double_complex,
    AtomicDatatype::long_double,   AtomicDatatype::long_double_complex,
    AtomicDatatype::int128,        AtomicDatatype::uint128,
#if UET_FI_HEADERS_AT_LEAST(2, 0)
    AtomicDatatype::fp16,          AtomicDatatype::bf16,
#endif
};
static_assert(kTypes[FI_LONG_DOUBLE_COMPLEX] == AtomicDatatype::long_double_complex);
static_assert(kTypes[FI_UINT128] == AtomicDatatype::uint128);
#if UET_FI_HEADERS_AT_LEAST(2, 0)
static_assert(kOps[FI_DIFF] == AtomicOpcode::diff && kTypes[FI_BFLOAT16] == AtomicDatatype::bf16);
#endif

}  // namespace

std::optional<ses::AtomicCode> to_atomic_code(fi_datatype datatype, fi_op op) {
  const auto type_index = static_cast<size_t>(datatype);
  const auto op_index = static_cast<size_t>(op);
  if (type_index >= std::size(kTypes) || op_index >= std::size(kOps)) return std::nullopt;
  return ses::AtomicCode{kOps[op_index], kTypes[type_index]};
}

std::optional<fi_atomic_attr> atomic_limits(fi_datatype datatype, fi_op op, ses::AtomicForm form) {
  const std::optional<ses::AtomicCode> code = to_atomic_code(datatype, op);
  if (!code || check_atomic(*code, form) != wire::ReturnCode::ok) return std::nullopt;
  fi_atomic_attr limits{};
  limits.size = ses::element_bytes(*code);
  limits.count = form == ses::AtomicForm::compare ? 1 : ses::kAtomicBytesMax / limits.size;
  return limits;
}

int atomic_count(fi_datatype datatype, fi_op op, ses::AtomicForm form, size_t* count) {
  const std::optional<fi_atomic_attr> limits = atomic_limits(datatype, op, form);
  if (!limits) return -FI_EOPNOTSUPP;
  if (count == nullptr) return -FI_EINVAL;
  *count = limits->count;
  return 0;
}

int query_atomic(fi_datatype datatype, fi_op op, fi_atomic_attr* attr, uint64_t flags) {
  constexpr uint64_t kForms = FI_FETCH_ATOMIC | FI_COMPARE_ATOMIC;
  if ((flags & ~(kForms | FI_TAGGED)) != 0 || (flags & kForms) == kForms) return -FI_EBADFLAGS;
  if ((flags & FI_TAGGED) != 0) return -FI_EOPNOTSUPP;
  const auto form = (flags & FI_FETCH_ATOMIC) != 0     ? ses::AtomicForm::fetch
                    : (flags & FI_COMPARE_ATOMIC) != 0 ? ses::AtomicForm::compare
                                                       : ses::AtomicForm::plain;
  const std::optional<fi_atomic_attr> limits = atomic_limits(datatype, op, form);
  if (!limits) return -FI_EOPNOTSUPP;
  if (attr == nullptr) return -FI_EINVAL;
  *attr = *limits;
  return 0;
}

}  // namespace uet::prov
