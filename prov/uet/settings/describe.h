// Texts of a setting for people: its values, its default, the text of fi_info, the warning for a
// wrong value. All of it comes from the table.
#pragma once

#include "prov/uet/settings/setting.h"

#include <string>
#include <string_view>

namespace uet::prov {

// "1 to 65000", "time (a plain number is us), 1ms to 1h", "auto, rud, rod or rudi", ...
std::string values_text(const Setting& row);
// "64MiB", "random", ...
std::string default_text(const Setting& row);
// A value that the row takes, as a user writes it.
std::string example_text(const Setting& row);

// "[user] What it does. Values: ...; default: ...": what fi_info shows, and the documents take it
// apart.
std::string help_text(const Setting& row);

// Why a value does nothing: "FI_UET_X=y is not valid, so the default is used; set it to: ...". A
// line is "what is wrong; what to do".
std::string wrong_value_text(const Setting& row, std::string_view value);
std::string unknown_name_text(std::string_view name);

}  // namespace uet::prov
