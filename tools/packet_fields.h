// Which fields the headers of a packet have, by name. The headers themselves are those of wire/;
// nothing here knows where a field is. The words around them: packet_words.h.
#pragma once

#include "wire/pds.h"
#include "wire/ses.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace uet::tools {

using PdsPart =
    std::variant<std::monostate, wire::Request, wire::Ack, wire::AckCc, wire::AckCcx, wire::Nack,
                 wire::NackCcx, wire::Control, wire::RudiRequest, wire::RudiResponse, wire::Uud>;
using SesPart =
    std::variant<std::monostate, wire::SmallRequest, wire::MediumRequest, wire::StandardRequest,
                 wire::Response, wire::ResponseData, wire::ResponseDataSmall>;
using ExtensionPart =
    std::variant<std::monostate, wire::Rendezvous, wire::Atomic, wire::CompareSwap>;

// The headers of one packet, as the line says.
struct Parts {
  PdsPart pds;
  SesPart ses;
  ExtensionPart extension;
};

// Where in a packet a header stands.
enum class Section : uint8_t {
  pds,
  ses,
  extension,
};

// A field of a header of a packet, and what it holds.
struct FieldView {
  std::string_view name;
  unsigned bits = 0;
  uint64_t value = 0;      // of a field of more than 64 bits the last 64
  bool is_signed = false;  // the value is a number of that many bits in two's complement
  // A further name of octets that another field has, or a sum of fields (ack_psn, start_psn).
  bool is_extra = false;
  bool is_sum = false;  // it follows from other fields and cannot be set
  std::optional<uint64_t> (*code_of)(std::string_view) = nullptr;  // null: values have no names
  const char* (*code_text)(uint64_t) = nullptr;
};

// The fields of the header in that section, in the order of the wire; none if there is no header.
std::vector<FieldView> fields_of(const Parts& parts, Section section);

// Sets a field of the header in that section. One that the header does not have, and a sum, is left
// alone.
void set_field(Parts& parts, Section section, std::string_view field, uint64_t value);

}  // namespace uet::tools
