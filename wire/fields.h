// The fields of a packet's headers by name: lists them, and sets one. pds_fields.h and ses_fields.h
// have the lists; printing, the ladder, the language of captures and the patterns of conformance
// cases take fields from here.
#pragma once

#include "wire/field.h"
#include "wire/packet.h"

#include "base/assert.h"

#include <array>
#include <cstddef>

namespace uet::wire {

// The fields of one header in the order of the wire. Spans in it view the header.
class FieldList {
 public:
  const Field* begin() const { return fields_.data(); }
  const Field* end() const { return fields_.data() + size_; }
  size_t size() const { return size_; }

  // Null: this kind of header has no such field in any form.
  const Field* find(std::string_view name) const {
    for (const Field& f : *this) {
      if (f.name == name) return &f;
    }
    return nullptr;
  }
  void add(const Field& field) {
    UET_ASSERT(size_ < fields_.size());
    fields_[size_++] = field;
  }

 private:
  static constexpr size_t kFieldsMax = 32;

  std::array<Field, kFieldsMax> fields_{};
  size_t size_ = 0;
};

// All fields of the kind of header, including those of its other forms (Field::is_present). Empty
// for no header.
FieldList fields_of(const PdsHeader& header);
FieldList fields_of(const SesHeader& header);
FieldList fields_of(const SesExtension& header);
FieldList fields_of(const TssHeader& header);
FieldList fields_of(const EntropyHeader& header);

enum class SetField : uint8_t {
  done,
  no_such_field,
  not_settable,  // other fields or the kind of header decide the value
  out_of_range,  // it does not fit the bits of the field
};

// Sets a field. `value` is unsigned: negative values of a signed field come in two's complement of
// its bits. For a field of more than 64 bits it sets the last 64. Nothing is changed unless the
// result is done.
[[nodiscard]] SetField set_field(PdsHeader& header, std::string_view name, uint64_t value);
[[nodiscard]] SetField set_field(SesHeader& header, std::string_view name, uint64_t value);
[[nodiscard]] SetField set_field(SesExtension& header, std::string_view name, uint64_t value);

// The name of the header: a PDS type, or that of the next header; "" for none.
const char* header_name(const PdsHeader& header);
const char* header_name(const SesHeader& header);
const char* header_name(const SesExtension& header);

}  // namespace uet::wire
