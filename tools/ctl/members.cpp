// Reading without trust.
#include "tools/ctl/members.h"

namespace uet::tools {

uint64_t number(const json& o, const char* name) {
  const auto at = o.find(name);
  return at != o.end() && at->is_number_unsigned() ? at->get<uint64_t>() : 0;
}

int64_t signed_number(const json& o, const char* name) {
  const auto at = o.find(name);
  return at != o.end() && at->is_number_integer() ? at->get<int64_t>() : 0;
}

std::string count(const json& o, const char* name) { return std::to_string(number(o, name)); }

std::string word(const json& o, const char* name) {
  const auto at = o.find(name);
  return at != o.end() && at->is_string() ? at->get<std::string>() : "?";
}

bool flag(const json& o, const char* name) {
  const auto at = o.find(name);
  return at != o.end() && at->is_boolean() && at->get<bool>();
}

json objects(const json& o, const char* name) {
  json out = json::array();
  const auto at = o.find(name);
  if (at == o.end() || !at->is_array()) return out;
  for (const json& entry : *at) {
    if (entry.is_object()) out.push_back(entry);
  }
  return out;
}

}  // namespace uet::tools
