// The table of settings: a row has the effect of FI_UET_<NAME>, its values and its field of
// Settings. fi_info, the documents, the provider and uet_ctl take all of it from here. To add a
// setting: a field in settings.h (or in a layer's config), and a row in rows_<level>.h.
#pragma once

#include "prov/uet/settings/settings.h"

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace uet::prov {

// The user of a setting, and the purpose.
enum class Level : uint8_t {
  user,      // decisions of a site: interface, ports, permitted peers, limits
  tuning,    // how much and how fast; the defaults suit most
  protocol,  // constants and choices of the protocol; both ends should agree
  test,      // faults on purpose
};
inline constexpr Level kLevels[] = {Level::user, Level::tuning, Level::protocol, Level::test};
// "user", "tuning", "protocol", "test". Never null.
const char* level_name(Level level);

enum class Kind : uint8_t {
  time,    // kept in us; "250us", "3ms", "60s", "2min", "1h"; a plain number counts `unit`s
  octets,  // "65536", "64KiB", "64k", "1MiB", "1M"; powers of 1024
  count,   // "64", "0x40"
  share,   // percent: "12", "12%"
  flag,    // "1", "yes", "on", "true"; "0", "no", "off", "false"
  choice,  // one of `words`
  text,    // judged by the field
};

// Which numbers between min and max are allowed.
enum class Grid : uint8_t {
  every,
  zero_too,  // 0 as well, though it is less than min
  powers_of_two,
};

struct Word {
  const char* word;
  int64_t value;
};

// How a row reaches its field. Numbers have get and set, texts have text and read. A row of the
// stack has get_stack and set_stack; PAYLOAD_MTU is both.
struct Field {
  std::optional<int64_t> (*get)(const Settings&) = nullptr;  // nothing: unset
  void (*set)(Settings&, int64_t) = nullptr;
  std::string (*text)(const Settings&) = nullptr;       // empty: unset
  bool (*read)(Settings&, std::string_view) = nullptr;  // false: no value
  int64_t (*get_stack)(const fep::Config&) = nullptr;
  void (*set_stack)(fep::Config&, int64_t) = nullptr;
};

struct Setting {
  const char* name = nullptr;  // upper snake case, without FI_UET_ [LF-130]
  Kind kind = Kind::count;
  // The unit of a plain number ("us", "octets", "packets"); for a share, the whole; for a text, its
  // form.
  const char* unit = "";
  int64_t min = 0;  // of numbers, in us, octets, ...
  int64_t max = 0;
  Field field{};
  const char* source = nullptr;  // rule id, or "ours"
  const char* help = nullptr;    // its effect, without a full stop at the end
  // The default, if it is not the value of the field: the field has none, or a domain replaces it.
  // Null: the value of the field.
  const char* unset = nullptr;
  const char* example = nullptr;  // null: the default has one
  std::span<const Word> words{};  // of a choice
  Grid grid = Grid::every;
  // True: another value than the one asked for would be less safe, or something else. A wrong value
  // means that nothing is offered. [LF-135]
  bool is_strict = false;
  Level level = Level::user;
};

// Every row, by level, in the order of the documents.
std::span<const Setting> all_settings();
std::span<const Setting> settings_of(Level level);
// The row of that name (without FI_UET_), or null.
const Setting* find_setting(std::string_view name);

// The number or text that `settings` has for a row, as a user would write it; empty: unset.
std::string value_of(const Setting& row, const Settings& settings);
// Sets a row's field from a user's text. Errc::invalid: not a value, or out of range; nothing was
// changed. [PDS-221]
Result<void> set_from_text(const Setting& row, std::string_view text, Settings& settings);

// Sets one of the stack's numbers by name, in us for times. Errc::not_found: no such row of the
// stack. Errc::invalid: out of range; values are rejected, not clamped. [PDS-221]
Result<void> set_stack_number(fep::Config& config, std::string_view name, int64_t value);

}  // namespace uet::prov
