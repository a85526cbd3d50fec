// The rows of all levels as one table; see setting.h.
#include "prov/uet/settings/rows_protocol.h"
#include "prov/uet/settings/rows_test.h"
#include "prov/uet/settings/rows_tuning.h"
#include "prov/uet/settings/rows_user.h"
#include "prov/uet/settings/setting.h"
#include "prov/uet/settings/values.h"

#include "base/assert.h"

#include <algorithm>
#include <array>

namespace uet::prov {
namespace {

constexpr size_t kCount =
    std::size(kUserRows) + std::size(kTuningRows) + std::size(kProtocolRows) + std::size(kTestRows);

constexpr std::array<Setting, kCount> join() {
  std::array<Setting, kCount> table{};
  size_t count = 0;
  const auto add = [&](std::span<const Setting> rows, Level level) {
    for (const Setting& row : rows) {
      table[count] = row;
      table[count++].level = level;
    }
  };
  add(kUserRows, Level::user);
  add(kTuningRows, Level::tuning);
  add(kProtocolRows, Level::protocol);
  add(kTestRows, Level::test);
  return table;
}

constexpr std::array<Setting, kCount> kTable = join();

}  // namespace

const char* level_name(Level level) {
  switch (level) {
    case Level::user:
      return "user";
    case Level::tuning:
      return "tuning";
    case Level::protocol:
      return "protocol";
    case Level::test:
      return "test";
  }
  return "unknown";
}

std::span<const Setting> all_settings() { return kTable; }

std::span<const Setting> settings_of(Level level) {
  const auto is_of = [&](const Setting& row) { return row.level == level; };
  const auto first = std::find_if(kTable.begin(), kTable.end(), is_of);
  return {first, std::find_if_not(first, kTable.end(), is_of)};
}

const Setting* find_setting(std::string_view name) {
  for (const Setting& row : kTable) {
    if (name == row.name) return &row;
  }
  return nullptr;
}

std::string value_of(const Setting& row, const Settings& settings) {
  const Field& field = row.field;
  if (field.text != nullptr) return field.text(settings);
  std::optional<int64_t> value;
  if (field.get != nullptr) {
    value = field.get(settings);
  } else {
    value = field.get_stack(settings.stack);
  }
  return value.has_value() ? print_value(row, *value) : "";
}

Result<void> set_from_text(const Setting& row, std::string_view text, Settings& settings) {
  if (row.kind == Kind::text) {
    if (!row.field.read(settings, text)) return Errc::invalid;
    return {};
  }
  const std::optional<int64_t> value = parse_value(row, text);
  if (!value.has_value()) return Errc::invalid;
  if (row.field.set != nullptr) row.field.set(settings, *value);
  if (row.field.set_stack != nullptr) {
    row.field.set_stack(settings.stack, *value);
    settings.stack_set.push_back(&row);
  }
  return {};
}

Result<void> set_stack_number(fep::Config& config, std::string_view name, int64_t value) {
  const Setting* row = find_setting(name);
  if (row == nullptr || row->field.set_stack == nullptr) return Errc::not_found;
  if (!is_in_range(*row, value)) return Errc::invalid;
  row->field.set_stack(config, value);
  return {};
}

void Settings::apply_to(fep::Config& config) const {
  for (const Setting* row : stack_set) row->field.set_stack(config, row->field.get_stack(stack));
}

}  // namespace uet::prov
