// SPDX-License-Identifier: GPL-2.0-or-later
// The names that are taken, and their replacements.
#include "dissector/names.h"

#include <cstring>

namespace uet::dissector {

namespace {

constexpr size_t kReplaced = 3;  // "uet", the first characters of each name that can be replaced

bool has_description(int protocol, const char* description) {
  return strcmp(proto_get_protocol_long_name(find_protocol_by_id(protocol)), description) == 0;
}

bool is_description_taken(const char* description) {
  void* cookie = nullptr;
  int protocol = proto_get_first_protocol(&cookie);
  while (protocol != -1 && !has_description(protocol, description)) {
    protocol = proto_get_next_protocol(&cookie);
  }
  return protocol != -1;
}

bool is_any_taken(const ProtocolNames& names) {
  return proto_get_id_by_filter_name(names.filter) != -1 ||
         proto_get_id_by_short_name(names.short_name) != -1 ||
         is_description_taken(names.description);
}

enum class Kind : uint8_t {
  unsigned32,
  signed32,
  unsigned64,
  signed64,
  octets,
  other
};

Kind kind_of(ftenum type) {
  switch (type) {
    case FT_UINT8:
    case FT_UINT16:
    case FT_UINT24:
    case FT_UINT32:
      return Kind::unsigned32;
    case FT_INT8:
    case FT_INT16:
    case FT_INT24:
    case FT_INT32:
      return Kind::signed32;
    case FT_UINT40:
    case FT_UINT48:
    case FT_UINT56:
    case FT_UINT64:
      return Kind::unsigned64;
    case FT_INT40:
    case FT_INT48:
    case FT_INT56:
    case FT_INT64:
      return Kind::signed64;
    case FT_BYTES:
    case FT_PROTOCOL:
      return Kind::octets;
    default:
      return Kind::other;
  }
}

// Whether one display filter can be compared with values of both.
bool compare(ftenum one, ftenum other) {
  return one == other || (kind_of(one) != Kind::other && kind_of(one) == kind_of(other));
}

// Whether there is a field of that name with values that do not compare with those of `type`.
bool is_field_taken(const char* name, ftenum type) {
  const header_field_info* field = proto_registrar_get_byname(name);
  while (field != nullptr && compare(field->type, type)) field = field->same_name_next;
  return field != nullptr;
}

}  // namespace

int register_protocol(const ProtocolNames& wanted, const ProtocolNames& spare) {
  const ProtocolNames& names = is_any_taken(wanted) ? spare : wanted;
  return proto_register_protocol(names.description, names.short_name, names.filter);
}

void register_rows(int protocol, std::span<hf_register_info> rows) {
  for (hf_register_info& row : rows) {
    header_field_info& field = row.hfinfo;
    field.abbrev = spare_if(is_field_taken(field.abbrev, field.type), field.abbrev);
  }
  proto_register_field_array(protocol, rows.data(), static_cast<int>(rows.size()));
}

void register_remarks(expert_module_t* module, std::span<ei_register_info> remarks) {
  for (ei_register_info& remark : remarks) {
    expert_field_info& field = remark.eiinfo;
    field.name = spare_if(is_field_taken(field.name, FT_NONE), field.name);  // what remarks are
  }
  expert_register_field_array(module, remarks.data(), static_cast<int>(remarks.size()));
}

const char* spare_if(bool taken, const char* name) {
  return taken ? wmem_strconcat(wmem_epan_scope(), "uetx", name + kReplaced, nullptr) : name;
}

}  // namespace uet::dissector
