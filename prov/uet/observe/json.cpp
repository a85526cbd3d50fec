// The few forms of JSON that the provider writes.
#include "prov/uet/observe/json.h"

#include <cstdio>

namespace uet::prov {

void put_text(std::string& out, const std::string& text) {
  out += '"';
  for (const char c : text) {
    const auto octet = static_cast<unsigned char>(c);
    if (octet >= 0x20 && octet < 0x7F && c != '"' && c != '\\') {
      out += c;
      continue;
    }
    char escape[8];
    snprintf(escape, sizeof escape, "\\u%04x", octet);
    out += escape;
  }
  out += '"';
}

void put_member(std::string& out, const char* name) {
  if (out.back() != '{') out += ',';
  put_text(out, name);
  out += ':';
}

void put_member(std::string& out, const char* name, uint64_t value) {
  put_member(out, name);
  out += std::to_string(value);
}

void put_member(std::string& out, const char* name, const std::string& value) {
  put_member(out, name);
  put_text(out, value);
}

void put_member(std::string& out, const char* name, const char* value) {
  put_member(out, name, std::string(value));
}

void put_signed(std::string& out, const char* name, int64_t value) {
  put_member(out, name);
  out += std::to_string(value);
}

void put_flag(std::string& out, const char* name, bool value) {
  put_member(out, name);
  out += value ? "true" : "false";
}

void put_span(std::string& out, const char* name, Duration value) {
  put_signed(out, name, value.ns() / 1000);
}

void put_element(std::string& out) {
  if (out.back() != '[') out += ',';
  out += '{';
}

}  // namespace uet::prov
