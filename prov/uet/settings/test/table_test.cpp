// The table of settings: every row is complete, reads and writes its own field within its range,
// and no other.
#include "prov/uet/settings/describe.h"
#include "prov/uet/settings/setting.h"
#include "prov/uet/settings/values.h"

#include "fep/derive.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace uet::prov {
namespace {

bool is_number(const Setting& row) { return row.kind != Kind::text; }
bool is_of_stack(const Setting& row) { return row.field.set_stack != nullptr; }

// The values of all rows, as text.
std::map<std::string, std::string> picture(const Settings& settings) {
  std::map<std::string, std::string> out;
  for (const Setting& row : all_settings()) out[row.name] = value_of(row, settings);
  return out;
}

std::vector<std::string> changed_by(const Settings& settings) {
  const auto now = picture(settings), before = picture(Settings{});
  std::vector<std::string> names;
  for (const auto& [name, value] : now) {
    if (value != before.at(name)) names.push_back(name);
  }
  return names;
}

// A row's values at the ends of its range, or its words.
std::vector<int64_t> ends_of(const Setting& row) {
  std::vector<int64_t> values{row.min, row.max};
  if (row.kind == Kind::choice) {
    values.clear();
    for (const Word& word : row.words) values.push_back(word.value);
  }
  if (row.grid == Grid::zero_too) values.push_back(0);
  return values;
}

TEST(TableTest, NamesAreUniqueAndFound) {
  std::set<std::string> names;
  for (const Setting& row : all_settings()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(find_setting(row.name), &row);
    for (const char c : std::string(row.name)) {
      EXPECT_TRUE((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_') << row.name;
    }
  }
  EXPECT_EQ(find_setting("NO_SUCH_THING"), nullptr);
  EXPECT_EQ(find_setting(""), nullptr);
}

TEST(TableTest, EveryRowIsDescribedAndHasItsFieldsFunctions) {
  for (const Setting& row : all_settings()) {
    const std::string help = row.help;
    EXPECT_GT(help.size(), 10u) << row.name;
    EXPECT_NE(help.back(), '.') << row.name;
    EXPECT_EQ(help.find('|'), help.npos) << row.name << ": the documents are tables";
    EXPECT_EQ(help.find("Values: "), help.npos) << row.name;
    EXPECT_FALSE(std::string(row.source).empty()) << row.name;
    const Field& f = row.field;
    if (is_number(row)) {
      EXPECT_EQ(f.get != nullptr, f.set != nullptr) << row.name;
      EXPECT_EQ(f.get_stack != nullptr, f.set_stack != nullptr) << row.name;
      EXPECT_TRUE(f.set != nullptr || f.set_stack != nullptr) << row.name;
      EXPECT_EQ(f.read, nullptr) << row.name;
    } else {
      EXPECT_TRUE(f.read != nullptr && f.text != nullptr) << row.name;
      EXPECT_FALSE(std::string(row.unit).empty()) << row.name;
    }
  }
}

// A setting with one legal value does not exist.
TEST(TableTest, EveryRowHasTwoValuesAtLeast) {
  for (const Setting& row : all_settings()) {
    if (row.kind == Kind::choice) {
      EXPECT_GE(row.words.size(), 2u) << row.name;
    } else if (is_number(row)) {
      EXPECT_LT(row.min, row.max) << row.name;
    }
  }
}

TEST(TableTest, LevelsFollowEachOtherAndTheUsersIsShort) {
  size_t count = 0;
  for (const Level level : kLevels) {
    const auto rows = settings_of(level);
    EXPECT_FALSE(rows.empty()) << level_name(level);
    EXPECT_EQ(rows.data(), all_settings().data() + count) << level_name(level);
    for (const Setting& row : rows) EXPECT_EQ(row.level, level) << row.name;
    count += rows.size();
  }
  EXPECT_EQ(count, all_settings().size());
  EXPECT_LE(settings_of(Level::user).size(), 23u);
}

// [LF-129] The names of the provider's own settings.
TEST(TableTest, TheProvidersNamesExist) {
  for (const char* const name :
       {"IFACE",     "JOB_ID",      "PID_ON_FEP", "INITIATOR_ID", "ADDR_MODE",
        "PROFILE",   "PAYLOAD_MTU", "MODE",       "RNDV_SIZE",    "DEFER_SIZE",
        "HDR_SMALL", "HDR_MEDIUM",  "MR_DOMAIN",  "IDEMPOTENT",   "DSCP_DATA",
        "DSCP_ACK",  "IO",          "PORT_RANGE", "STRICT_PORT",  "TIMERS"}) {
    EXPECT_NE(find_setting(name), nullptr) << name;
  }
}

// A domain begins with the congestion control for stacks in software: what users read as a default
// is the value there.
TEST(TableTest, DefaultsAreThoseOfADomain) {
  fep::Config domain;
  domain.cms = cms::Config::software();
  const fep::Config stack;
  for (const Setting& row : all_settings()) {
    if (row.field.get_stack == nullptr) continue;
    const int64_t value = row.field.get_stack(domain);
    if (value == row.field.get_stack(stack)) continue;
    EXPECT_EQ(default_text(row), print_value(row, value)) << row.name;
  }
}

TEST(TableTest, DefaultsAreValuesThatARowTakes) {
  const Settings defaults;
  for (const Setting& row : all_settings()) {
    const std::string text = value_of(row, defaults);
    if (row.field.get_stack == nullptr) {
      EXPECT_EQ(text.empty(), row.unset != nullptr) << row.name << ": " << text;
    }
    if (text.empty()) {
      ASSERT_NE(row.example, nullptr) << row.name;
      continue;
    }
    Settings settings;
    EXPECT_TRUE(set_from_text(row, text, settings).ok()) << row.name << "=" << text;
    EXPECT_TRUE(changed_by(settings).empty()) << row.name << "=" << text;
  }
}

TEST(TableTest, ExamplesAreValuesThatARowTakes) {
  for (const Setting& row : all_settings()) {
    if (row.example == nullptr) continue;
    Settings settings;
    ASSERT_TRUE(set_from_text(row, row.example, settings).ok()) << row.name << "=" << row.example;
    EXPECT_EQ(value_of(row, settings), row.example) << row.name;
  }
}

// [PDS-221] Values are set by name; the ends of the range belong to it, and come back as printed.
TEST(TableTest, EachRowSetsItsOwnFieldOnly) {
  for (const Setting& row : all_settings()) {
    if (!is_number(row)) continue;
    for (const int64_t value : ends_of(row)) {
      const std::string text = print_value(row, value);
      Settings settings;
      ASSERT_TRUE(set_from_text(row, text, settings).ok()) << row.name << "=" << text;
      EXPECT_EQ(value_of(row, settings), text) << row.name;
      const auto changed = changed_by(settings);
      EXPECT_LE(changed.size(), 1u) << row.name << "=" << text;
      for (const std::string& name : changed) EXPECT_EQ(name, row.name);
    }
  }
}

// [PDS-221] Out of range is refused, not clamped, and nothing changes.
TEST(TableTest, ValuesOutOfRangeAreRefused) {
  for (const Setting& row : all_settings()) {
    if (!is_number(row) || row.kind == Kind::choice) continue;
    for (const int64_t value : {row.min - 1, row.max + 1}) {
      if (row.grid == Grid::zero_too && value == 0) continue;
      Settings settings;
      const auto set = set_from_text(row, print_value(row, value), settings);
      ASSERT_FALSE(set.ok()) << row.name << "=" << value;
      EXPECT_EQ(set.error(), Errc::invalid);
      EXPECT_TRUE(changed_by(settings).empty()) << row.name;
      EXPECT_TRUE(settings.stack_set.empty()) << row.name;
    }
  }
}

TEST(TableTest, GarbageIsRefusedByEveryRowButFreeTexts) {
  for (const Setting& row : all_settings()) {
    Settings settings;
    EXPECT_FALSE(set_from_text(row, "", settings).ok()) << row.name;
    // Names of files and interfaces.
    const std::set<std::string> free{"IFACE",     "PCAP",         "TSS_KEYS",
                                     "TSS_AGENT", "TSS_COUNTERS", "TSS_KEYLOG"};
    const bool is_free = free.count(row.name) != 0;
    EXPECT_EQ(set_from_text(row, "no such value", settings).ok(), is_free) << row.name;
    EXPECT_EQ(changed_by(settings).empty(), !is_free) << row.name;
  }
}

// [WIRE-121] Whole blocks of 16 ports.
TEST(TableTest, PortRanges) {
  const Setting* row = find_setting("PORT_RANGE");
  ASSERT_NE(row, nullptr);
  for (const char* const text : {"16384-16399", "1024-65535", "65520-65535"}) {
    Settings settings;
    EXPECT_TRUE(set_from_text(*row, text, settings).ok()) << text;
    EXPECT_EQ(value_of(*row, settings), text);
  }
  for (const char* const text :
       {"16384", "16385-20479", "16384-16398", "1008-2000", "20000-", "-20000", "16384-65536",
        "16384-16399-", "16384 - 16399", "32768-16384"}) {
    Settings settings;
    EXPECT_FALSE(set_from_text(*row, text, settings).ok()) << text;
    EXPECT_EQ(settings.port_first, 16384) << text;
    EXPECT_EQ(settings.port_last, 32767) << text;
  }
}

// [LF-130] Set values are applied; others keep the value of a config.
TEST(TableTest, OnlySetValuesAreApplied) {
  Settings settings;
  ASSERT_TRUE(set_from_text(*find_setting("TX_WINDOW"), "64", settings).ok());
  ASSERT_TRUE(set_from_text(*find_setting("RTO_INIT_TIME"), "7ms", settings).ok());
  fep::Config config;
  config.pds.mpr = 3;
  config.cms.window_bytes_max = 70'000;
  settings.apply_to(config);
  EXPECT_EQ(config.pds.tx_window_packets, 64u);
  EXPECT_EQ(config.pds.rto_init, Duration::milliseconds(7));
  EXPECT_EQ(config.pds.mpr, 3u);
  EXPECT_EQ(config.cms.window_bytes_max, 70'000u);
}

// [PDS-221] By number, for conformance cases.
TEST(TableTest, NumbersOfTheStack) {
  for (const Setting& row : all_settings()) {
    fep::Config config;
    const auto set = set_stack_number(config, row.name, row.max);
    if (!is_of_stack(row)) {
      ASSERT_FALSE(set.ok()) << row.name;
      EXPECT_EQ(set.error(), Errc::not_found) << row.name;
      continue;
    }
    ASSERT_TRUE(set.ok()) << row.name;
    EXPECT_EQ(row.field.get_stack(config), row.max) << row.name;
    const auto beyond = set_stack_number(config, row.name, row.max + 1);
    ASSERT_FALSE(beyond.ok()) << row.name;
    EXPECT_EQ(beyond.error(), Errc::invalid) << row.name;
    EXPECT_EQ(row.field.get_stack(config), row.max) << row.name;
  }
  fep::Config config;
  EXPECT_EQ(set_stack_number(config, "PAYLOAD_MTU", 3000).error(), Errc::invalid);  // [SES-032]
  EXPECT_EQ(set_stack_number(config, "NO_SUCH_THING", 1).error(), Errc::not_found);
}

// [PDS 22] For the reference provider these rows change, as pds.md 22 asks, and nothing else does.
TEST(TableTest, MeetingTheReferenceProviderSetsSixRows) {
  Settings settings;
  fep::meet_refprov(settings.stack);
  const std::map<std::string, std::string> expected = {
      {"DEFAULT_MPR", "1"},      {"PDCS_PER_KEY", "1"},  {"PROBE", "0"},
      {"OPTIONAL_CONTROL", "0"}, {"DISABLE_INDEX", "1"}, {"FATAL_NACKS", "0"}};
  std::map<std::string, std::string> changed;
  const auto now = picture(settings);
  const std::string help = find_setting("INTEROP")->help;
  for (const std::string& name : changed_by(settings)) {
    changed[name] = now.at(name);
    EXPECT_NE(help.find(name + "=" + now.at(name)), help.npos) << help;
  }
  EXPECT_EQ(changed, expected);
}

}  // namespace
}  // namespace uet::prov
