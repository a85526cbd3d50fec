// The two visitors of the lists of fields: one reads all of them, one sets one.
#include "wire/fields.h"

#include "wire/ses_fields.h"

namespace uet::wire {

namespace {

template <class Value>
concept Wrapped = requires(const Value& v) {
  v.value();
};

template <class Value>
concept OctetArray = requires(const Value& v) {
  v.data();
};

// The last 64 bits of a long field.
uint64_t low_of(std::span<const std::byte> field) {
  return load_u64(field.data() + field.size() - sizeof(uint64_t));
}

class FieldReader {
 public:
  template <class Value>
  void operator()(Field f, const Value& value) {
    f.is_signed = std::is_integral_v<Value> && std::is_signed_v<Value>;
    if constexpr (OctetArray<Value>) {
      f.octets = value;
      f.value = low_of(value);
    } else if constexpr (Wrapped<Value>) {
      f.value = uint64_t{value.value()};
    } else {
      f.value = static_cast<uint64_t>(value);
      if (f.is_signed) f.value &= f.mask();
    }
    fields.add(f);
  }

  FieldList fields;
};

class FieldSetter {
 public:
  FieldSetter(std::string_view name, uint64_t value) : name_(name), value_(value) {}

  template <class Member>
  void operator()(const Field& f, Member&& member) {
    if (f.name != name_) return;
    using Value = std::remove_reference_t<Member>;
    if constexpr (std::is_lvalue_reference_v<Member> && !std::is_const_v<Value>) {
      result = f.can_be_set() ? set(f, member) : SetField::not_settable;
    } else {
      result = SetField::not_settable;
    }
  }

  SetField result = SetField::no_such_field;

 private:
  template <class Value>
  SetField set(const Field& f, Value& member) const {
    if ((value_ & ~f.mask()) != 0) return SetField::out_of_range;
    if constexpr (OctetArray<Value>) {
      store_u64(member.data() + member.size() - sizeof(uint64_t), value_);
    } else if constexpr (Wrapped<Value>) {
      member = Value(static_cast<decltype(member.value())>(value_));
    } else {
      member = static_cast<Value>(value_);
    }
    return SetField::done;
  }

  std::string_view name_;
  uint64_t value_;
};

template <class Headers, class Visitor>
void visit(Headers& headers, Visitor& visitor) {
  std::visit(
      [&](auto& header) {
        if constexpr (requires { visit_fields(header, visitor); }) visit_fields(header, visitor);
      },
      headers);
}

template <class Headers>
FieldList read(const Headers& headers) {
  FieldReader reader;
  visit(headers, reader);
  return reader.fields;
}

template <class Headers>
SetField set(Headers& headers, std::string_view name, uint64_t value) {
  FieldSetter setter(name, value);
  visit(headers, setter);
  return setter.result;
}

}  // namespace

FieldList fields_of(const PdsHeader& header) { return read(header); }
FieldList fields_of(const SesHeader& header) { return read(header); }
FieldList fields_of(const SesExtension& header) { return read(header); }
FieldList fields_of(const TssHeader& header) {
  FieldReader reader;
  visit_fields(header, reader);
  return reader.fields;
}
FieldList fields_of(const EntropyHeader& header) {
  FieldReader reader;
  visit_fields(header, reader);
  return reader.fields;
}

SetField set_field(PdsHeader& header, std::string_view name, uint64_t value) {
  return set(header, name, value);
}
SetField set_field(SesHeader& header, std::string_view name, uint64_t value) {
  return set(header, name, value);
}
SetField set_field(SesExtension& header, std::string_view name, uint64_t value) {
  return set(header, name, value);
}

const char* header_name(const PdsHeader& header) {
  const FieldList fields = fields_of(header);
  const Field* const type = fields.find("type");
  return type == nullptr ? "" : type->names->name(type->value);
}

const char* header_name(const SesHeader& header) {
  // The alternatives stand in the order of the codes.
  return header.index() == 0 ? "" : name(static_cast<NextHeader>(header.index()));
}

const char* header_name(const SesExtension& header) {
  constexpr const char* kNames[] = {"", "RENDEZVOUS", "ATOMIC", "COMPARE_SWAP"};
  static_assert(std::size(kNames) == std::variant_size_v<SesExtension>);
  return kNames[header.index()];
}

}  // namespace uet::wire
