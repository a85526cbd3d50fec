// The headers of a packet in uet_pcap's language: from words to headers and back.
// docs/howto/uet_pcap.md is the manual of the language.
#pragma once

#include "wire/fields.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace uet::tools {

// The headers of one packet.
struct Parts {
  wire::PdsHeader pds{};
  wire::SesHeader ses{};
  wire::SesExtension extension{};
};

// Where in a packet a header stands.
enum class Section : uint8_t {
  pds,
  ses,
  extension,
};

// The fields of the header in that section; none if there is no header.
wire::FieldList fields_of(const Parts& parts, Section section);

// The words of a text, without the blanks between them.
std::vector<std::string_view> words_of(std::string_view text);

// Takes one header of a line: its name and then its fields, each "field=value" or, for a bit, the
// name alone. Values are numbers or names of codes. Returns the error, or nothing.
std::string take_header(Parts& parts, std::span<const std::string_view> words);

// Puts the header of that name into its section, all fields 0; the section, or nothing for an
// unknown name.
std::optional<Section> start_header(Parts& parts, std::string_view name);

// The name of the header in that section; empty if there is none.
std::string_view header_name(const Parts& parts, Section section);

// The value that a text stands for: a decimal number, negative for a field that can be, a number in
// hex with 0x, or the name of a code. It must fit the field.
std::optional<uint64_t> field_value(const wire::Field& field, std::string_view text);

// The numbers that fit the field: "0 to 65535".
std::string range_text(const wire::Field& field);

// The value as the language writes it: the name of a code, a number.
std::string value_text(const wire::Field& field, uint64_t value);

// The value of next_hdr for the SES header of the packet goes into its PDS header.
void set_next_header(Parts& parts);

// Takes octets: hex digits, *N for N octets that count up from 0, *N+S for N that count up from S,
// XX*N for N times the octet XX. False: none of these forms.
bool take_octets(std::string_view text, std::vector<std::byte>& out);

// The headers in the language, with bars between them; fields that are 0 are left out.
std::string print(const Parts& parts);

}  // namespace uet::tools
