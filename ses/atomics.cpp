// The arithmetic of atomics, by data type. Integers wrap, floats follow the host's rounding, halves
// are computed in float and rounded to even.
#include "ses/atomics.h"

#include "base/assert.h"
#include "wire/ses_extension.h"

#include <algorithm>
#include <bit>
#include <complex>
#include <cstring>
#include <type_traits>

namespace uet::ses {
namespace {

using wire::AtomicDatatype;
using wire::AtomicOpcode;
using wire::ReturnCode;

__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

uint32_t bits_of(float f) { return std::bit_cast<uint32_t>(f); }
float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }

// The upper half of a float.
struct Bf16 {
  uint16_t bits = 0;

  static Bf16 of(float f) {
    uint32_t b = bits_of(f);
    if (f != f) return {static_cast<uint16_t>(b >> 16 | 0x40)};  // stays a NaN
    b += 0x7FFF + (b >> 16 & 1);
    return {static_cast<uint16_t>(b >> 16)};
  }
  float value() const { return float_of(uint32_t{bits} << 16); }
};

// IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits.
struct Fp16 {
  uint16_t bits = 0;

  static Fp16 of(float f) {
    const uint32_t b = bits_of(f);
    const auto sign = static_cast<uint16_t>(b >> 16 & 0x8000);
    const uint32_t magnitude = b & 0x7FFF'FFFF;
    if (magnitude > 0x7F80'0000) return {static_cast<uint16_t>(sign | 0x7E00)};   // NaN
    if (magnitude >= 0x477F'F000) return {static_cast<uint16_t>(sign | 0x7C00)};  // 65520 and up
    if (magnitude >= 0x3880'0000) {  // normal: 2^-14 and up
      const uint32_t rebiased = magnitude - 0x3800'0000;
      return {static_cast<uint16_t>(sign | (rebiased + 0xFFF + (rebiased >> 13 & 1)) >> 13)};
    }
    // Subnormal: adding 2^-1 leaves the fraction, rounded to even, in the last bits.
    const float sum = float_of(magnitude) + 0.5f;
    return {static_cast<uint16_t>(sign | (bits_of(sum) - bits_of(0.5f)))};
  }
  float value() const {
    const uint32_t sign = uint32_t{bits & 0x8000u} << 16;
    const uint32_t rest = bits & 0x7FFFu;
    if (rest >= 0x7C00) return float_of(sign | 0x7F80'0000 | (rest & 0x3FF) << 13);
    if (rest >= 0x0400) return float_of(sign | (rest + 0x1C000) << 13);
    const float small = static_cast<float>(rest) * 0x1p-24f;
    return (sign != 0) ? -small : small;
  }
};

template <class T>
constexpr bool is_half = std::is_same_v<T, Bf16> || std::is_same_v<T, Fp16>;
template <class T>
struct IsComplex : std::false_type {};
template <class T>
struct IsComplex<std::complex<T>> : std::true_type {};
template <class T>
constexpr bool is_complex = IsComplex<T>::value;
template <class T>
constexpr bool is_integer =
    std::is_integral_v<T> || std::is_same_v<T, Int128> || std::is_same_v<T, Uint128>;

// In what an operation on T is computed: integers without a sign and wide enough not to be
// promoted to something with one, so that they wrap.
template <class T>
auto widen(T value) {
  if constexpr (is_half<T>) {
    return value.value();
  } else if constexpr (is_integer<T> && sizeof(T) <= 8) {
    return static_cast<uint64_t>(value);
  } else if constexpr (is_integer<T>) {
    return static_cast<Uint128>(value);
  } else {
    return value;
  }
}
template <class T, class Wide>
T narrow(Wide value) {
  if constexpr (is_half<T>) {
    return T::of(value);
  } else {
    return static_cast<T>(value);
  }
}

// The type for comparison: float for half, the type itself for all others.
template <class T>
auto ordered(T value) {
  if constexpr (is_half<T>) {
    return value.value();
  } else {
    return value;
  }
}

template <class T>
bool is_true(T value) {
  return ordered(value) != decltype(ordered(value)){};
}
template <class T>
T truth(bool value) {
  return narrow<T>(static_cast<decltype(widen(T{}))>(value ? 1 : 0));
}

// Complex numbers have no order, and only integers have bits; other types leave x unchanged.
template <class T>
T lesser(T x, T y) {
  if constexpr (!is_complex<T>) return ordered(y) < ordered(x) ? y : x;
  return x;
}
template <class T>
T greater(T x, T y) {
  if constexpr (!is_complex<T>) return ordered(x) < ordered(y) ? y : x;
  return x;
}
template <class T, class Fn>
T bitwise(T x, T y, Fn combine) {
  if constexpr (is_integer<T>) return narrow<T>(combine(widen(x), widen(y)));
  return x;
}

// x is in memory, y the operand.
template <class T>
T one_operand(AtomicOpcode op, T x, T y) {
  switch (op) {
    case AtomicOpcode::min:
      return lesser(x, y);
    case AtomicOpcode::max:
      return greater(x, y);
    case AtomicOpcode::sum:
      return narrow<T>(widen(x) + widen(y));
    case AtomicOpcode::diff:
      return narrow<T>(widen(x) - widen(y));
    case AtomicOpcode::prod:
      return narrow<T>(widen(x) * widen(y));
    case AtomicOpcode::lor:
      return truth<T>(is_true(x) || is_true(y));
    case AtomicOpcode::land:
      return truth<T>(is_true(x) && is_true(y));
    case AtomicOpcode::lxor:
      return truth<T>(is_true(x) != is_true(y));
    case AtomicOpcode::bor:
      return bitwise(x, y, [](auto a, auto b) { return a | b; });
    case AtomicOpcode::band:
      return bitwise(x, y, [](auto a, auto b) { return a & b; });
    case AtomicOpcode::bxor:
      return bitwise(x, y, [](auto a, auto b) { return a ^ b; });
    case AtomicOpcode::write:
      return y;
    case AtomicOpcode::read:
    case AtomicOpcode::inval:
    case AtomicOpcode::cswap:  // those with two operands do not come here
    case AtomicOpcode::cswap_ne:
    case AtomicOpcode::cswap_le:
    case AtomicOpcode::cswap_lt:
    case AtomicOpcode::cswap_ge:
    case AtomicOpcode::cswap_gt:
    case AtomicOpcode::mswap:
      break;
  }
  return x;
}

// The comparison has the given value on its left: CSWAP_LE swaps when compare <= memory, as
// FI_CSWAP_LE does. [OURS: the direction is libfabric's]
template <class T>
T two_operands(AtomicOpcode op, T x, T y, T compare) {
  const auto c = ordered(compare);
  const auto v = ordered(x);
  bool swaps = false;
  switch (op) {
    case AtomicOpcode::cswap:
      swaps = c == v;
      break;
    case AtomicOpcode::cswap_ne:
      swaps = c != v;
      break;
    case AtomicOpcode::mswap:
      if constexpr (is_integer<T>) {
        return narrow<T>((widen(x) & ~widen(compare)) | (widen(y) & widen(compare)));
      }
      break;
    case AtomicOpcode::cswap_le:
      if constexpr (!is_complex<T>) swaps = c <= v;
      break;
    case AtomicOpcode::cswap_lt:
      if constexpr (!is_complex<T>) swaps = c < v;
      break;
    case AtomicOpcode::cswap_ge:
      if constexpr (!is_complex<T>) swaps = c >= v;
      break;
    case AtomicOpcode::cswap_gt:
      if constexpr (!is_complex<T>) swaps = c > v;
      break;
    case AtomicOpcode::min:  // those with one operand do not come here
    case AtomicOpcode::max:
    case AtomicOpcode::sum:
    case AtomicOpcode::diff:
    case AtomicOpcode::prod:
    case AtomicOpcode::lor:
    case AtomicOpcode::land:
    case AtomicOpcode::bor:
    case AtomicOpcode::band:
    case AtomicOpcode::lxor:
    case AtomicOpcode::bxor:
    case AtomicOpcode::read:
    case AtomicOpcode::write:
    case AtomicOpcode::inval:
      break;
  }
  return swaps ? y : x;
}

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The unsigned type of the same size, which the processor exchanges in one step.
template <size_t kBytes>
struct Word;
template <>
struct Word<1> {
  using Type = uint8_t;
};
template <>
struct Word<2> {
  using Type = uint16_t;
};
template <>
struct Word<4> {
  using Type = uint32_t;
};
template <>
struct Word<8> {
  using Type = uint64_t;
};

template <class T>
T compute(AtomicOpcode op, T x, const AtomicOperands& with) {
  const T y = load<T>(with.operand);
  return with.compare == nullptr ? one_operand(op, x, y)
                                 : two_operands(op, x, y, load<T>(with.compare));
}

template <class T>
void apply_to(AtomicOpcode op, std::byte* target, const AtomicOperands& with, std::byte* old) {
  if constexpr (sizeof(T) <= 8 && !is_complex<T>) {
    using W = typename Word<sizeof(T)>::Type;
    auto* const memory = reinterpret_cast<W*>(target);
    W before = __atomic_load_n(memory, __ATOMIC_RELAXED);
    W after{};
    do {
      after = std::bit_cast<W>(compute(op, std::bit_cast<T>(before), with));
    } while (!__atomic_compare_exchange_n(memory, &before, after, true, __ATOMIC_ACQ_REL,
                                          __ATOMIC_RELAXED));
    if (old != nullptr) std::memcpy(old, &before, sizeof before);
  } else {
    const T before = load<T>(target);
    const T after = compute(op, before, with);
    if (old != nullptr) std::memcpy(old, &before, sizeof before);
    std::memcpy(target, &after, sizeof after);
  }
}

bool is_complex_type(AtomicDatatype type) {
  return type == AtomicDatatype::float_complex || type == AtomicDatatype::double_complex ||
         type == AtomicDatatype::long_double_complex;
}

bool is_integer_type(AtomicDatatype type) { return type <= AtomicDatatype::uint128; }

}  // namespace

ReturnCode check_atomic(AtomicCode code, AtomicForm form) {
  const auto [op, type] = code;
  if (op > AtomicOpcode::inval) return ReturnCode::amo_unsupported_op;
  if ((form == AtomicForm::compare) != wire::is_compare_swap(op)) {
    return ReturnCode::amo_unsupported_op;
  }
  if (op == AtomicOpcode::read && form == AtomicForm::plain) return ReturnCode::amo_unsupported_op;
  if (op == AtomicOpcode::inval && form != AtomicForm::plain) {
    return ReturnCode::amo_unsupported_op;
  }
  const uint32_t bytes = wire::element_bytes(type);
  if (bytes == 0) return ReturnCode::amo_unsupported_dt;
  if (form == AtomicForm::compare && bytes > kOperandFieldBytes) {
    return ReturnCode::amo_unsupported_dt;
  }
  switch (op) {
    case AtomicOpcode::bor:
    case AtomicOpcode::band:
    case AtomicOpcode::bxor:
    case AtomicOpcode::mswap:
      return is_integer_type(type) ? ReturnCode::ok : ReturnCode::amo_unsupported_dt;
    case AtomicOpcode::min:
    case AtomicOpcode::max:
    case AtomicOpcode::cswap_le:
    case AtomicOpcode::cswap_lt:
    case AtomicOpcode::cswap_ge:
    case AtomicOpcode::cswap_gt:
      return is_complex_type(type) ? ReturnCode::amo_unsupported_dt : ReturnCode::ok;
    case AtomicOpcode::sum:
    case AtomicOpcode::diff:
    case AtomicOpcode::prod:
    case AtomicOpcode::lor:
    case AtomicOpcode::land:
    case AtomicOpcode::lxor:
    case AtomicOpcode::read:
    case AtomicOpcode::write:
    case AtomicOpcode::cswap:
    case AtomicOpcode::cswap_ne:
    case AtomicOpcode::inval:
      break;
  }
  return ReturnCode::ok;
}

uint32_t element_alignment(AtomicDatatype type) {
  const uint32_t bytes = wire::element_bytes(type);
  return is_complex_type(type) ? bytes / 2 : bytes;
}

void swap_elements(AtomicDatatype type, std::span<std::byte> bytes) {
  const uint32_t component = element_alignment(type);
  UET_ASSERT(component != 0 && bytes.size() % component == 0);
  if constexpr (std::endian::native == std::endian::little) {
    for (size_t i = 0; i < bytes.size(); i += component) {
      std::reverse(bytes.begin() + static_cast<ptrdiff_t>(i),
                   bytes.begin() + static_cast<ptrdiff_t>(i + component));
    }
  }
}

void to_field(AtomicDatatype type, const std::byte* element, std::byte* field) {
  const uint32_t bytes = wire::element_bytes(type);
  UET_ASSERT(bytes <= kOperandFieldBytes);
  std::memset(field, 0, kOperandFieldBytes);
  std::byte* const at = field + kOperandFieldBytes - bytes;
  std::memcpy(at, element, bytes);
  swap_elements(type, {at, bytes});
}

void from_field(AtomicDatatype type, const std::byte* field, std::byte* element) {
  const uint32_t bytes = wire::element_bytes(type);
  UET_ASSERT(bytes <= kOperandFieldBytes);
  std::memcpy(element, field + kOperandFieldBytes - bytes, bytes);
  swap_elements(type, {element, bytes});
}

void apply_atomic(AtomicCode code, std::byte* target, const AtomicOperands& with, std::byte* old) {
  switch (code.type) {
    case AtomicDatatype::int8:
      return apply_to<int8_t>(code.op, target, with, old);
    case AtomicDatatype::uint8:
      return apply_to<uint8_t>(code.op, target, with, old);
    case AtomicDatatype::int16:
      return apply_to<int16_t>(code.op, target, with, old);
    case AtomicDatatype::uint16:
      return apply_to<uint16_t>(code.op, target, with, old);
    case AtomicDatatype::int32:
      return apply_to<int32_t>(code.op, target, with, old);
    case AtomicDatatype::uint32:
      return apply_to<uint32_t>(code.op, target, with, old);
    case AtomicDatatype::int64:
      return apply_to<int64_t>(code.op, target, with, old);
    case AtomicDatatype::uint64:
      return apply_to<uint64_t>(code.op, target, with, old);
    case AtomicDatatype::int128:
      return apply_to<Int128>(code.op, target, with, old);
    case AtomicDatatype::uint128:
      return apply_to<Uint128>(code.op, target, with, old);
    case AtomicDatatype::float32:
      return apply_to<float>(code.op, target, with, old);
    case AtomicDatatype::float64:
      return apply_to<double>(code.op, target, with, old);
    case AtomicDatatype::float_complex:
      return apply_to<std::complex<float>>(code.op, target, with, old);
    case AtomicDatatype::double_complex:
      return apply_to<std::complex<double>>(code.op, target, with, old);
    case AtomicDatatype::long_double:
      return apply_to<long double>(code.op, target, with, old);
    case AtomicDatatype::long_double_complex:
      return apply_to<std::complex<long double>>(code.op, target, with, old);
    case AtomicDatatype::bf16:
      return apply_to<Bf16>(code.op, target, with, old);
    case AtomicDatatype::fp16:
      return apply_to<Fp16>(code.op, target, with, old);
  }
}

}  // namespace uet::ses
