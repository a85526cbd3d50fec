// The arithmetic of atomics: every operation on every data type, with values worked out by hand.
#include "ses/atomics.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace uet::ses::test {
namespace {

using wire::AtomicDatatype;
using wire::AtomicOpcode;
using wire::ReturnCode;

__extension__ using Int128 = __int128;

constexpr int kTypes = 0x12;
constexpr int kOps = 0x15;

AtomicOpcode op(int code) { return static_cast<AtomicOpcode>(code); }
AtomicDatatype type(int code) { return static_cast<AtomicDatatype>(code); }

// Memory afterwards; checks that the old value is reported.
template <class T>
T apply(AtomicOpcode o, AtomicDatatype t, T memory, T operand) {
  const T before = memory;
  T old{};
  AtomicOperands with;
  with.operand = reinterpret_cast<const std::byte*>(&operand);
  apply_atomic({o, t}, reinterpret_cast<std::byte*>(&memory), with,
               reinterpret_cast<std::byte*>(&old));
  EXPECT_TRUE(old == before);
  return memory;
}
template <class T>
T swap(AtomicOpcode o, AtomicDatatype t, T memory, T compare, T operand) {
  AtomicOperands with;
  with.operand = reinterpret_cast<const std::byte*>(&operand);
  with.compare = reinterpret_cast<const std::byte*>(&compare);
  apply_atomic({o, t}, reinterpret_cast<std::byte*>(&memory), with, nullptr);
  return memory;
}

struct Row {
  AtomicOpcode op;
  int8_t expected;
};

// 12 in memory, operand 10: 0b1100 and 0b1010.
constexpr Row kTwelveAndTen[] = {
    {AtomicOpcode::min, 10},   {AtomicOpcode::max, 12},   {AtomicOpcode::sum, 22},
    {AtomicOpcode::diff, 2},   {AtomicOpcode::prod, 120}, {AtomicOpcode::lor, 1},
    {AtomicOpcode::land, 1},   {AtomicOpcode::bor, 14},   {AtomicOpcode::band, 8},
    {AtomicOpcode::lxor, 0},   {AtomicOpcode::bxor, 6},   {AtomicOpcode::read, 12},
    {AtomicOpcode::write, 10},
};

template <class T>
void check_rows(AtomicDatatype t) {
  for (const Row& row : kTwelveAndTen) {
    if (check_atomic({row.op, t}, AtomicForm::fetch) != ReturnCode::ok) continue;
    EXPECT_TRUE(apply<T>(row.op, t, T(int8_t{12}), T(int8_t{10})) == T(row.expected))
        << wire::name(row.op) << " " << wire::name(t);
  }
}

// [SES-054, SES-078, SES-079] The same row of results for every data type that has the operation.
TEST(AtomicsTest, EveryOperationOnEveryType) {
  check_rows<int8_t>(AtomicDatatype::int8);
  check_rows<uint8_t>(AtomicDatatype::uint8);
  check_rows<int16_t>(AtomicDatatype::int16);
  check_rows<uint16_t>(AtomicDatatype::uint16);
  check_rows<int32_t>(AtomicDatatype::int32);
  check_rows<uint32_t>(AtomicDatatype::uint32);
  check_rows<int64_t>(AtomicDatatype::int64);
  check_rows<uint64_t>(AtomicDatatype::uint64);
  check_rows<Int128>(AtomicDatatype::int128);
  check_rows<Int128>(AtomicDatatype::uint128);
  check_rows<float>(AtomicDatatype::float32);
  check_rows<double>(AtomicDatatype::float64);
  check_rows<std::complex<float>>(AtomicDatatype::float_complex);
  check_rows<std::complex<double>>(AtomicDatatype::double_complex);
  check_rows<long double>(AtomicDatatype::long_double);
  check_rows<std::complex<long double>>(AtomicDatatype::long_double_complex);
}

// [SES-078] Signed and unsigned numbers differ where the top bit counts; all of them wrap.
TEST(AtomicsTest, SignsAndWrapping) {
  EXPECT_EQ(apply<int8_t>(AtomicOpcode::min, AtomicDatatype::int8, 1, -1), -1);
  EXPECT_EQ(apply<uint8_t>(AtomicOpcode::min, AtomicDatatype::uint8, 1, 255), 1);
  EXPECT_EQ(apply<int8_t>(AtomicOpcode::sum, AtomicDatatype::int8, 127, 1), -128);
  EXPECT_EQ(apply<int16_t>(AtomicOpcode::prod, AtomicDatatype::int16, 32767, 32767), 1);
  EXPECT_EQ(apply<uint16_t>(AtomicOpcode::prod, AtomicDatatype::uint16, 65535, 65535), 1);
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  EXPECT_EQ(apply<int32_t>(AtomicOpcode::diff, AtomicDatatype::int32, kMin, 1), 2147483647);
  constexpr int64_t kMax64 = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(apply<int64_t>(AtomicOpcode::sum, AtomicDatatype::int64, kMax64, 1), -kMax64 - 1);
  EXPECT_EQ(apply<uint64_t>(AtomicOpcode::diff, AtomicDatatype::uint64, 0, 1), UINT64_MAX);
  EXPECT_EQ(apply<uint64_t>(AtomicOpcode::max, AtomicDatatype::uint64, 1, UINT64_MAX), UINT64_MAX);
  const Int128 big = Int128{1} << 100;
  EXPECT_TRUE(apply<Int128>(AtomicOpcode::max, AtomicDatatype::int128, -big, big) == big);
  EXPECT_TRUE(apply<Int128>(AtomicOpcode::max, AtomicDatatype::uint128, -big, big) == -big);
}

// [SES-079] Floats: fractions are kept; complex numbers multiply as such.
TEST(AtomicsTest, RealAndComplexNumbers) {
  EXPECT_EQ(apply<double>(AtomicOpcode::sum, AtomicDatatype::float64, 0.5, 0.25), 0.75);
  EXPECT_EQ(apply<float>(AtomicOpcode::min, AtomicDatatype::float32, -0.5f, 0.25f), -0.5f);
  EXPECT_EQ(apply<long double>(AtomicOpcode::prod, AtomicDatatype::long_double, 1.5L, -2.0L),
            -3.0L);
  using C = std::complex<double>;
  EXPECT_EQ(apply<C>(AtomicOpcode::prod, AtomicDatatype::double_complex, C(1, 2), C(3, 4)),
            C(-5, 10));
  EXPECT_EQ(apply<C>(AtomicOpcode::lxor, AtomicDatatype::double_complex, C(0, 2), C(0, 0)),
            C(1, 0));
}

// [SES-079] 16-bit floats, as bits. fp16: 1 is 3c00, 2 is 4000, 65504 is 7bff; bf16: 1 is 3f80.
TEST(AtomicsTest, SixteenBitFloatsRoundToEven) {
  const auto fp = [](AtomicOpcode o, uint16_t x, uint16_t y) {
    return apply<uint16_t>(o, AtomicDatatype::fp16, x, y);
  };
  EXPECT_EQ(fp(AtomicOpcode::sum, 0x3C00, 0x3C00), 0x4000);
  EXPECT_EQ(fp(AtomicOpcode::diff, 0x3C00, 0x4000), 0xBC00);
  EXPECT_EQ(fp(AtomicOpcode::prod, 0x4000, 0xC000), 0xC400);  // -4
  EXPECT_EQ(fp(AtomicOpcode::sum, 0x7BFF, 0x7BFF), 0x7C00);   // infinity
  EXPECT_EQ(fp(AtomicOpcode::sum, 0x7BFF, 0x4B00), 0x7BFF);   // +14: less than half a step
  EXPECT_EQ(fp(AtomicOpcode::sum, 0x7BFF, 0x4C00), 0x7C00);   // +16: half a step, to even
  EXPECT_EQ(fp(AtomicOpcode::sum, 0x0001, 0x0001), 0x0002);   // subnormal: 2^-24 twice
  EXPECT_EQ(fp(AtomicOpcode::sum, 0x03FF, 0x0001), 0x0400);   // the smallest normal one
  EXPECT_EQ(fp(AtomicOpcode::prod, 0x0001, 0x3800), 0x0000);  // half of 2^-24: to even
  EXPECT_EQ(fp(AtomicOpcode::prod, 0x0003, 0x3800), 0x0002);  // 1.5 steps: to even
  EXPECT_EQ(fp(AtomicOpcode::min, 0xC000, 0x3C00), 0xC000);
  EXPECT_EQ(fp(AtomicOpcode::sum, 0x7C00, 0xFC00) & 0x7E00, 0x7E00);  // no number
  EXPECT_EQ(fp(AtomicOpcode::lor, 0x8000, 0x0000), 0x0000);           // minus zero is zero
  const auto bf = [](AtomicOpcode o, uint16_t x, uint16_t y) {
    return apply<uint16_t>(o, AtomicDatatype::bf16, x, y);
  };
  EXPECT_EQ(bf(AtomicOpcode::sum, 0x3F80, 0x3F80), 0x4000);
  EXPECT_EQ(bf(AtomicOpcode::sum, 0x3F80, 0x3B80), 0x3F80);  // +2^-8: half a step, to even
  EXPECT_EQ(bf(AtomicOpcode::sum, 0x3F81, 0x3B80), 0x3F82);
  EXPECT_EQ(bf(AtomicOpcode::max, 0xBF80, 0xC000), 0xBF80);
  EXPECT_EQ(bf(AtomicOpcode::sum, 0x7F80, 0xFF80) & 0x7FC0, 0x7FC0);
  EXPECT_EQ(bf(AtomicOpcode::lor, 0x8000, 0x3F80), 0x3F80);
}

// [SES-078, WIRE-085] CSWAP and its comparisons: the compare value stands on the left.
TEST(AtomicsTest, ConditionalSwaps) {
  struct Case {
    AtomicOpcode op;
    const char* swapped;  // with 4, 5, 6 compared to the 5 in memory: y or n
  };
  constexpr Case kCases[] = {
      {AtomicOpcode::cswap, "nyn"},    {AtomicOpcode::cswap_ne, "yny"},
      {AtomicOpcode::cswap_le, "yyn"}, {AtomicOpcode::cswap_lt, "ynn"},
      {AtomicOpcode::cswap_ge, "nyy"}, {AtomicOpcode::cswap_gt, "nny"},
  };
  for (const Case& c : kCases) {
    for (int i = 0; i < 3; ++i) {
      const int expected = c.swapped[i] == 'y' ? 9 : 5;
      EXPECT_EQ(swap<int32_t>(c.op, AtomicDatatype::int32, 5, 4 + i, 9), expected);
      EXPECT_EQ(swap<double>(c.op, AtomicDatatype::float64, 5, 4 + i, 9), expected);
      EXPECT_EQ(swap<uint8_t>(c.op, AtomicDatatype::uint8, 5, static_cast<uint8_t>(4 + i), 9),
                expected);
    }
  }
  EXPECT_EQ(swap<int64_t>(AtomicOpcode::cswap_lt, AtomicDatatype::int64, 0, -1, 7), 7);
  EXPECT_EQ(swap<uint64_t>(AtomicOpcode::cswap_lt, AtomicDatatype::uint64, 0, UINT64_MAX, 7), 0u);
  using C = std::complex<float>;
  EXPECT_EQ(swap<C>(AtomicOpcode::cswap, AtomicDatatype::float_complex, C(1, 2), C(1, 2), C(3, 4)),
            C(3, 4));
  EXPECT_EQ(swap<C>(AtomicOpcode::cswap, AtomicDatatype::float_complex, C(1, 2), C(1, 3), C(3, 4)),
            C(1, 2));
}

// [SES-085, WIRE-086] (memory AND NOT mask) OR (value AND mask).
TEST(AtomicsTest, MaskedSwap) {
  EXPECT_EQ(swap<uint32_t>(AtomicOpcode::mswap, AtomicDatatype::uint32, 0xAAAA5555, 0x00FF00FF,
                           0x12345678),
            0xAA345578u);
}

// [SES-087] The supported combinations: rows by operation, columns by data type.
TEST(AtomicsTest, TheTableOfSupportedOperations) {
  //                                 i8u8..    i128 f d fc dc ld lc bf fp
  const auto row = [](AtomicOpcode o, AtomicForm form) {
    std::string out;
    for (int t = 0; t < kTypes; ++t) {
      switch (check_atomic({o, type(t)}, form)) {
        case ReturnCode::ok:
          out += 'y';
          break;
        case ReturnCode::amo_unsupported_op:
          out += 'o';
          break;
        default:
          out += '.';
      }
    }
    return out;
  };
  const std::string all = "yyyyyyyyyyyyyyyyyy";
  const std::string none = "oooooooooooooooooo";
  const std::string integers = "yyyyyyyyyy........";
  const std::string ordered = "yyyyyyyyyyyy..y.yy";
  const std::string narrow = "yyyyyyyyyyyyyyy.yy";  // fits 16 octets
  const std::string narrow_ordered = "yyyyyyyyyyyy..y.yy";
  for (const AtomicForm form : {AtomicForm::plain, AtomicForm::fetch}) {
    for (const int o : {0x00, 0x01}) EXPECT_EQ(row(op(o), form), ordered) << o;
    for (const int o : {0x02, 0x03, 0x04, 0x05, 0x06, 0x09, 0x0C}) {
      EXPECT_EQ(row(op(o), form), all) << o;
    }
    for (const int o : {0x07, 0x08, 0x0A}) EXPECT_EQ(row(op(o), form), integers) << o;
    for (int o = 0x0D; o <= 0x13; ++o) EXPECT_EQ(row(op(o), form), none) << o;
  }
  EXPECT_EQ(row(AtomicOpcode::read, AtomicForm::plain), none);
  EXPECT_EQ(row(AtomicOpcode::read, AtomicForm::fetch), all);
  EXPECT_EQ(row(AtomicOpcode::inval, AtomicForm::plain), all);
  EXPECT_EQ(row(AtomicOpcode::inval, AtomicForm::fetch), none);
  for (int o = 0; o < 0x0D; ++o) EXPECT_EQ(row(op(o), AtomicForm::compare), none) << o;
  for (const int o : {0x0D, 0x0E}) EXPECT_EQ(row(op(o), AtomicForm::compare), narrow) << o;
  for (int o = 0x0F; o <= 0x12; ++o) {
    EXPECT_EQ(row(op(o), AtomicForm::compare), narrow_ordered) << o;
  }
  EXPECT_EQ(row(AtomicOpcode::mswap, AtomicForm::compare), integers);
  for (int o = kOps; o < 0x100; ++o) {
    EXPECT_EQ(check_atomic({op(o), AtomicDatatype::int8}, AtomicForm::plain),
              ReturnCode::amo_unsupported_op);
  }
  for (int t = kTypes; t < 0x100; ++t) {
    EXPECT_EQ(check_atomic({AtomicOpcode::sum, type(t)}, AtomicForm::plain),
              ReturnCode::amo_unsupported_dt);
  }
}

std::vector<int> swapped(AtomicDatatype t, int count) {
  std::vector<std::byte> bytes;
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<std::byte>(i));
  swap_elements(t, bytes);
  std::vector<int> out;
  for (const std::byte b : bytes) out.push_back(static_cast<int>(b));
  return out;
}

// [SES-082] Big-endian, each part of a complex number by itself; fields hold the value in their
// last octets.
TEST(AtomicsTest, WireOrder) {
  EXPECT_EQ(swapped(AtomicDatatype::uint8, 3), (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(swapped(AtomicDatatype::uint16, 4), (std::vector<int>{1, 0, 3, 2}));
  EXPECT_EQ(swapped(AtomicDatatype::float32, 8), (std::vector<int>{3, 2, 1, 0, 7, 6, 5, 4}));
  EXPECT_EQ(swapped(AtomicDatatype::float_complex, 8), (std::vector<int>{3, 2, 1, 0, 7, 6, 5, 4}));
  EXPECT_EQ(swapped(AtomicDatatype::uint64, 8), (std::vector<int>{7, 6, 5, 4, 3, 2, 1, 0}));

  const uint32_t value = 0x01020304;
  std::array<std::byte, kOperandFieldBytes> field;
  field.fill(std::byte{0xFF});
  to_field(AtomicDatatype::uint32, reinterpret_cast<const std::byte*>(&value), field.data());
  std::vector<int> octets;
  for (const std::byte b : field) octets.push_back(static_cast<int>(b));
  EXPECT_EQ(octets, (std::vector<int>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}));
  uint32_t back = 0;
  from_field(AtomicDatatype::uint32, field.data(), reinterpret_cast<std::byte*>(&back));
  EXPECT_EQ(back, value);
}

// [SES-087] Natural alignment; for complex numbers that of a component.
TEST(AtomicsTest, Alignment) {
  EXPECT_EQ(element_alignment(AtomicDatatype::int8), 1u);
  EXPECT_EQ(element_alignment(AtomicDatatype::fp16), 2u);
  EXPECT_EQ(element_alignment(AtomicDatatype::float64), 8u);
  EXPECT_EQ(element_alignment(AtomicDatatype::uint128), 16u);
  EXPECT_EQ(element_alignment(AtomicDatatype::float_complex), 4u);
  EXPECT_EQ(element_alignment(AtomicDatatype::long_double_complex), 16u);
}

}  // namespace
}  // namespace uet::ses::test
