// How rows of the table name their fields: UET_FIELD for a member of Settings, UET_STACK for one of
// fep::Config. For rows_*.h only.
#pragma once

#include "prov/uet/settings/setting.h"

#include "base/time.h"

#include <cstdint>
#include <optional>

namespace uet::prov {

inline constexpr int64_t kSecond = 1'000'000;  // in us

// A member as a number: times in us, enumerators by their place.
template <class T>
constexpr int64_t to_number(T value) {
  return static_cast<int64_t>(value);
}
constexpr int64_t to_number(Duration value) { return value.us(); }
template <class T>
constexpr std::optional<int64_t> to_number(const std::optional<T>& value) {
  return value.has_value() ? std::optional<int64_t>(*value) : std::nullopt;
}

template <class T>
constexpr void from_number(T& member, int64_t number) {
  member = static_cast<T>(number);
}
constexpr void from_number(Duration& member, int64_t number) {
  member = Duration::microseconds(number);
}
template <class T>
constexpr void from_number(std::optional<T>& member, int64_t number) {
  member = static_cast<T>(number);
}

}  // namespace uet::prov

#define UET_GET_SET(MEMBER)                                                               \
  .get = [](const Settings& s) -> std::optional<int64_t> { return to_number(s.MEMBER); }, \
  .set = [](Settings& s, int64_t number) { from_number(s.MEMBER, number); }
#define UET_GET_SET_STACK(MEMBER)                                        \
  .get_stack = [](const fep::Config& c) { return to_number(c.MEMBER); }, \
  .set_stack = [](fep::Config& c, int64_t number) { from_number(c.MEMBER, number); }

#define UET_FIELD(MEMBER) (Field{UET_GET_SET(MEMBER)})
#define UET_STACK(MEMBER) (Field{UET_GET_SET_STACK(MEMBER)})
#define UET_FIELD_AND_STACK(MEMBER, STACK) (Field{UET_GET_SET(MEMBER), UET_GET_SET_STACK(STACK)})
// A text that is kept unchanged.
#define UET_TEXT(MEMBER)                                     \
  (Field{.text = [](const Settings& s) { return s.MEMBER; }, \
         .read =                                             \
             [](Settings& s, std::string_view text) {        \
               if (!text.empty()) s.MEMBER = text;           \
               return !text.empty();                         \
             }})
