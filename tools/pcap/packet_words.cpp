// From words to headers and back, by the lists of fields of wire/.
#include "tools/pcap/packet_words.h"

#include <algorithm>
#include <charconv>

namespace uet::tools {

namespace {

using namespace wire;

// Puts the header of that name in place, if the name is known.
template <class Header, size_t... index>
bool start(Header& out, std::string_view name, std::index_sequence<index...>) {
  const auto is_it = [&](const Header& tried) {
    if (name != header_name(tried)) return false;
    out = tried;
    return true;
  };
  return (is_it(Header(std::in_place_index<index + 1>)) || ...);
}

template <class Header>
bool start(Header& out, std::string_view name) {
  return start(out, name, std::make_index_sequence<std::variant_size_v<Header> - 1>());
}

// One header has four names.
bool start_request(PdsHeader& out, std::string_view name) {
  for (const PdsType type : {PdsType::rud_request, PdsType::rod_request, PdsType::rud_cc_request,
                             PdsType::rod_cc_request}) {
    if (name == wire::name(type)) {
      out = Request{.type = type};
      return true;
    }
  }
  return false;
}

// A number without sign, with 0x in hex.
std::optional<uint64_t> number(std::string_view text, uint64_t max) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number && value <= max ? std::optional(value) : std::nullopt;
}

uint64_t largest(const Field& field) { return field.is_signed ? field.mask() >> 1 : field.mask(); }

// The result of `use` for the header of that section.
template <class AnyParts, class Use>
auto with_header(AnyParts& parts, Section section, Use use) {
  if (section == Section::pds) return use(parts.pds);
  if (section == Section::ses) return use(parts.ses);
  return use(parts.extension);
}

// "field=value", or a bit.
std::string take_field(Parts& parts, Section section, std::string_view word) {
  const size_t equals = word.find('=');
  const std::string name(word.substr(0, equals));
  const FieldList fields = fields_of(parts, section);
  const Field* const field = fields.find(name);
  if (field == nullptr) return "no field " + name + " in this header";
  if (!field->can_be_set()) return name + " follows from other fields";
  const bool is_word = equals == std::string_view::npos;
  if (is_word && field->bits != 1) return name + " needs a value";
  const auto value = field_value(*field, is_word ? "1" : word.substr(equals + 1));
  if (!value) {
    return std::string(word) + ": no such value; " + name + " is " + range_text(*field) +
           (field->names == nullptr ? "" : ", or the name of a code");
  }
  const auto set = [&](auto& header) { return set_field(header, name, *value); };
  return with_header(parts, section, set) == SetField::done ? "" : name + " cannot be set";
}

bool hex_octet(std::string_view text, std::byte& out) {
  uint8_t octet = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), octet, 16);
  out = static_cast<std::byte>(octet);
  return text.size() == 2 && error == std::errc() && end == text.data() + text.size();
}

constexpr uint32_t kOctetsMax = 1U << 26;

}  // namespace

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) return words;
    text.remove_prefix(first);
    const size_t length = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
}

std::optional<Section> start_header(Parts& parts, std::string_view name) {
  if (start_request(parts.pds, name) || start(parts.pds, name)) return Section::pds;
  if (start(parts.ses, name)) return Section::ses;
  if (start(parts.extension, name)) return Section::extension;
  return std::nullopt;
}

std::string take_header(Parts& parts, std::span<const std::string_view> words) {
  const auto section = start_header(parts, words.front());
  if (!section) return "no header " + std::string(words.front());
  for (const std::string_view word : words.subspan(1)) {
    if (std::string problem = take_field(parts, *section, word); !problem.empty()) return problem;
  }
  return {};
}

FieldList fields_of(const Parts& parts, Section section) {
  return with_header(parts, section, [](const auto& header) { return wire::fields_of(header); });
}

std::string_view header_name(const Parts& parts, Section section) {
  return with_header(parts, section, [](const auto& header) { return wire::header_name(header); });
}

std::optional<uint64_t> field_value(const Field& field, std::string_view text) {
  if (text.starts_with('-') && field.is_signed) {
    const auto distance = number(text.substr(1), largest(field) + 1);
    return distance ? std::optional((~*distance + 1) & field.mask()) : std::nullopt;
  }
  const auto value = number(text, text.starts_with("0x") ? field.mask() : largest(field));
  if (value || field.names == nullptr) return value;
  return field.names->value_of(text);
}

std::string range_text(const Field& field) {
  const std::string low = field.is_signed ? "-" + std::to_string(largest(field) + 1) : "0";
  return low + " to " + std::to_string(largest(field));
}

std::string value_text(const Field& field, uint64_t value) {
  if (field.names != nullptr) {
    const char* const text = field.names->name(value);
    if (field.names->value_of(text) == value) return text;
  }
  if (field.is_signed && value > largest(field)) {
    return "-" + std::to_string(field.mask() - value + 1);
  }
  if (field.bits < 64 || value < 1U << 16) return std::to_string(value);
  char hex[16];
  const auto end = std::to_chars(hex, hex + sizeof hex, value, 16).ptr;
  return "0x" + std::string(hex, end);
}

void set_next_header(Parts& parts) {
  const auto next = static_cast<NextHeader>(parts.ses.index());  // in the order of the codes
  std::visit(
      [&](auto& h) {
        if constexpr (requires { h.next_hdr; }) h.next_hdr = next;
        if constexpr (requires { h.ack.next_hdr; }) h.ack.next_hdr = next;
      },
      parts.pds);
}

bool take_octets(std::string_view text, std::vector<std::byte>& out) {
  const size_t star = text.find('*');
  if (star != std::string_view::npos) {
    const size_t plus = std::min(text.find('+', star), text.size());
    const auto count = number(text.substr(star + 1, plus - star - 1), kOctetsMax);
    if (!count) return false;
    if (star > 0) {
      std::byte octet{};
      if (plus != text.size() || !hex_octet(text.substr(0, star), octet)) return false;
      out.insert(out.end(), *count, octet);
      return true;
    }
    const auto first = plus == text.size() ? 0 : number(text.substr(plus + 1), UINT32_MAX);
    if (!first) return false;
    for (uint64_t i = 0; i < *count; ++i) out.push_back(static_cast<std::byte>(*first + i));
    return true;
  }
  if (text.size() % 2 != 0) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    if (!hex_octet(text.substr(i, 2), out.emplace_back())) return false;
  }
  return true;
}

std::string print(const Parts& parts) {
  std::string text;
  for (const Section section : {Section::pds, Section::ses, Section::extension}) {
    const std::string_view name = header_name(parts, section);
    if (name.empty()) continue;
    if (!text.empty()) text += " | ";
    text += name;
    for (const Field& f : fields_of(parts, section)) {
      if (f.role != Role::own || f.value == 0) continue;
      text += ' ';
      text += f.name;
      if (f.bits != 1) text += '=' + value_text(f, f.value);
    }
  }
  return text;
}

}  // namespace uet::tools
