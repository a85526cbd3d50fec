// Members of an answer. An answer of another program may lack a member, or have another type: then
// it is 0, "?" or false.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace uet::tools {

using json = nlohmann::ordered_json;

uint64_t number(const json& object, const char* name);
int64_t signed_number(const json& object, const char* name);
// number() as text.
std::string count(const json& object, const char* name);
std::string word(const json& object, const char* name);
bool flag(const json& object, const char* name);
// The objects of an array; empty if it is not an array.
json objects(const json& object, const char* name);

}  // namespace uet::tools
