// Settings by name: each one is recorded and read back.
#include "sim/recording/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <string>

namespace uet::recording {
namespace {

// The members of that struct in the header of a layer, in its order, except nested structs of that
// kind.
std::vector<std::string> members_of(const std::string& layer, const std::string& type,
                                    const std::string& prefix) {
  std::ifstream header(std::string(UET_SOURCE_DIR) + "/" + layer + "/config.h");
  const std::regex member(R"(  (?!\w+Config )[A-Za-z_:0-9]+ (\w+)( =.*)?(;.*)?)");
  std::vector<std::string> names;
  bool is_inside = false;
  for (std::string line; std::getline(header, line);) {
    if (line == "struct " + type + " {") is_inside = true;
    if (line == "};") is_inside = false;
    std::smatch found;
    const bool is_complete = line.find('=') != std::string::npos || line.find(';') < line.size();
    if (!is_inside || line.find('(') < line.find('=') || !is_complete) continue;
    if (std::regex_match(line, found, member)) names.push_back(prefix + found[1].str());
  }
  return names;
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (const Create::Setting& s : settings_of(fep::Config{})) out.push_back(s.name);
  return out;
}

TEST(SettingsTest, EveryMemberHasOneName) {
  const std::vector<std::string> known = names();
  size_t found = 2;  // peers_max and pressure_percent, of fep::Config itself
  const struct {
    const char* layer;
    const char* type;
    const char* prefix;
  } structs[] = {{"pds", "Config", "pds."},
                 {"ses", "Config", "ses."},
                 {"cms", "Config", "cms."},
                 {"cms", "NsccConfig", "cms.nscc."},
                 {"cms", "CreditConfig", "cms.credit."},
                 {"cms", "TfcConfig", "cms.tfc."},
                 {"cms", "EntropyConfig", "cms.entropy."}};
  for (const auto& s : structs) {
    const std::vector<std::string> members = members_of(s.layer, s.type, s.prefix);
    found += members.size();
    for (const std::string& name : members) {
      // It was called a path when the first recordings were made.
      const std::string recorded = name == "pds.max_contexts" ? "pds.max_paths" : name;
      EXPECT_EQ(std::ranges::count(known, recorded), 1) << name;
    }
  }
  EXPECT_EQ(found, known.size());
}

// Each setting separately, with another value than its default; the others stay.
TEST(SettingsTest, EverySettingComesBack) {
  const std::vector<Create::Setting> before = settings_of(fep::Config{});
  for (size_t i = 0; i < before.size(); ++i) {
    const int64_t value = before[i].value == 0 ? 1 : before[i].value - 1;
    fep::Config config;
    ASSERT_EQ(take_settings({{before[i].name, value}}, config), "");
    const std::vector<Create::Setting> after = settings_of(config);
    for (size_t k = 0; k < before.size(); ++k) {
      EXPECT_EQ(after[k].value, k == i ? value : before[k].value)
          << before[k].name << " after a change of " << before[i].name;
    }
  }
}

TEST(SettingsTest, NamesAreOfOneMemberEach) {
  std::vector<Create::Setting> all = settings_of(fep::Config{});
  std::ranges::sort(all, {}, &Create::Setting::name);
  const auto same = std::ranges::adjacent_find(all, {}, &Create::Setting::name);
  EXPECT_EQ(same, all.end());
}

TEST(SettingsTest, UnknownSettingsAreRefused) {
  fep::Config config;
  EXPECT_EQ(take_settings({{"pds.warp", 1}}, config), "this stack has no setting pds.warp");
  EXPECT_EQ(take_settings({{"pds.mpr", 256}}, config), "the setting pds.mpr cannot be 256");
  EXPECT_EQ(take_settings({{"pds.probe", 2}}, config), "the setting pds.probe cannot be 2");
  EXPECT_EQ(take_settings({{"pds.ack_form", 3}}, config), "the setting pds.ack_form cannot be 3");
  EXPECT_EQ(take_settings({{"pds.mpr", -1}}, config), "the setting pds.mpr cannot be -1");
}

}  // namespace
}  // namespace uet::recording
