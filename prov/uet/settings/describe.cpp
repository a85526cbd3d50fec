// Texts about settings; see describe.h.
#include "prov/uet/settings/describe.h"

#include "prov/uet/settings/values.h"

namespace uet::prov {
namespace {

std::string range_text(const Setting& row) {
  if (row.grid == Grid::powers_of_two) {
    std::string list;
    for (int64_t value = row.min; value <= row.max; value *= 2) {
      list += value == row.min ? "" : value == row.max ? " or " : ", ";
      list += print_value(row, value);
    }
    return list;
  }
  const std::string range = print_value(row, row.min) + " to " + print_value(row, row.max);
  return row.grid == Grid::zero_too ? "0, or " + range : range;
}

std::string words_text(const Setting& row) {
  std::string list;
  for (size_t i = 0; i < row.words.size(); ++i) {
    if (i > 0) list += i + 1 == row.words.size() ? " or " : ", ";
    list += row.words[i].word;
  }
  return list;
}

}  // namespace

std::string values_text(const Setting& row) {
  std::string unit = row.unit;
  switch (row.kind) {
    case Kind::time:
      return "time (a plain number is " + unit + "), " + range_text(row);
    case Kind::octets:
      return "octets, " + range_text(row);
    case Kind::count:
      return (unit.empty() ? unit : unit + ", ") + range_text(row);
    case Kind::share:
      return "percent" + (unit.empty() ? unit : " of " + unit) + ", " + range_text(row);
    case Kind::flag:
      return "0 or 1";
    case Kind::choice:
      return words_text(row);
    case Kind::text:
      return unit;
  }
  return unit;
}

std::string default_text(const Setting& row) {
  return row.unset != nullptr ? row.unset : value_of(row, Settings{});
}

std::string example_text(const Setting& row) {
  return row.example != nullptr ? row.example : value_of(row, Settings{});
}

std::string help_text(const Setting& row) {
  return std::string("[") + level_name(row.level) + "] " + row.help +
         ". Values: " + values_text(row) + "; default: " + default_text(row) + ".";
}

std::string wrong_value_text(const Setting& row, std::string_view value) {
  const std::string name = std::string("FI_UET_") + row.name + "=";
  return (name + std::string(value)) + " is not valid, so " +
         (row.is_strict ? "the provider offers nothing" : "the default is used") +
         "; set it to: " + values_text(row) + ", for example " + name + example_text(row);
}

std::string unknown_name_text(std::string_view name) {
  return "FI_UET_" + std::string(name) +
         " is not a setting of uet and is ignored; `fi_info -g FI_UET` lists all";
}

}  // namespace uet::prov
