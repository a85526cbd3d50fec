// Writes JSON: members one after the other into a text. The caller closes each object that it
// opened itself.
#pragma once

#include "base/time.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace uet::prov {

// A string, escaped to ASCII: interfaces and programs may be named by almost any octet.
void put_text(std::string& out, const std::string& text);
// "name": behind a comma where one is due.
void put_member(std::string& out, const char* name);
void put_member(std::string& out, const char* name, uint64_t value);
void put_member(std::string& out, const char* name, const std::string& value);
void put_member(std::string& out, const char* name, const char* value);
void put_signed(std::string& out, const char* name, int64_t value);
void put_flag(std::string& out, const char* name, bool value);
// In microseconds, which may be negative.
void put_span(std::string& out, const char* name, Duration value);
// Opens the next element of an array.
void put_element(std::string& out);
// "name": [...] of the first `count` entries, or of all if there are fewer. put(entry) writes the
// members of one.
template <class Entries, class Put>
void put_elements(std::string& out, const char* name, const Entries& entries, size_t count,
                  Put&& put) {
  put_member(out, name);
  out += '[';
  for (size_t i = 0; i < std::min<size_t>(count, entries.size()); ++i) {
    put_element(out);
    put(entries[i]);
    out += '}';
  }
  out += ']';
}

}  // namespace uet::prov
