// One field of a header as data: its name, its width, the meaning of its value, and the value. The
// lists of fields (pds_fields.h, ses_fields.h) are made of these. The packet path does not use it.
#pragma once

#include "wire/code_points.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace uet::wire {

// How the value of a field is to be read.
enum class Meaning : uint8_t {
  flag,    // one bit
  number,  // also of a signed field, in two's complement
  hex,     // an offset, a key, a bitmap: shown in hexadecimal
  code,    // a value with a name: Field::names
  octets,  // more than 64 bits: Field::octets
};

// Where the value of a field comes from.
enum class Role : uint8_t {
  own,    // from separate octets
  given,  // the same, but the kind of header and what follows it decide the value
  view,   // from the octets of another field, as a part of it or under another name
  sum,    // from other fields, such as ack_psn from cack_psn and ack_psn_offset
};

// The names of a code's values, as code_points.h has them.
struct CodeNames {
  const char* (*name)(uint64_t value);
  uint32_t count;  // values that the field can hold

  // The first value with that name.
  std::optional<uint64_t> value_of(std::string_view text) const {
    for (uint64_t value = 0; value < count; ++value) {
      if (text == name(value)) return value;
    }
    return std::nullopt;
  }
};

struct Field {
  std::string_view name;  // of the specification
  uint16_t bits = 0;
  Meaning meaning = Meaning::number;
  Role role = Role::own;
  bool is_signed = false;
  bool is_present = true;               // in this form of the header
  bool is_rare = false;                 // 0 in nearly every packet; flags are always rare
  const CodeNames* names = nullptr;     // with meaning code
  uint64_t value = 0;                   // `bits` bits; of a longer field the last 64
  std::span<const std::byte> octets{};  // with meaning octets: all of them, inside the header

  bool can_be_set() const { return role == Role::own || role == Role::view; }

  // All ones, of a longer field in its last 64 bits.
  uint64_t mask() const { return bits < 64 ? (uint64_t{1} << bits) - 1 : ~uint64_t{0}; }

  // The value with its sign.
  int64_t signed_value() const {
    const unsigned unused = bits < 64 && is_signed ? 64U - bits : 0;
    return static_cast<int64_t>(value << unused) >> unused;
  }

  // The same field, but present only if `has`, rarely not 0, or a view.
  Field when(bool has) const {
    Field f = *this;
    f.is_present = has;
    return f;
  }
  Field rarely() const {
    Field f = *this;
    f.is_rare = true;
    return f;
  }
  Field view() const {
    Field f = *this;
    f.role = Role::view;
    return f;
  }
};

// The words in which the lists are written.
inline Field flag(std::string_view name) {
  return {.name = name, .bits = 1, .meaning = Meaning::flag, .is_rare = true};
}
inline Field number(std::string_view name, uint16_t bits) { return {.name = name, .bits = bits}; }
inline Field hex(std::string_view name, uint16_t bits) {
  return {.name = name, .bits = bits, .meaning = Meaning::hex};
}
inline Field octets(std::string_view name, uint16_t bits) {
  return {.name = name, .bits = bits, .meaning = Meaning::octets};
}
inline Field sum(std::string_view name) { return {.name = name, .bits = 32, .role = Role::sum}; }

template <class Code, uint16_t bits>
Field code(std::string_view name, Role role = Role::own) {
  static constexpr CodeNames kNames{
      [](uint64_t value) { return wire::name(static_cast<Code>(value)); }, 1U << bits};
  return {.name = name, .bits = bits, .meaning = Meaning::code, .role = role, .names = &kNames};
}

}  // namespace uet::wire
