// Settings by name: none is lost on the way into a recording and out of it.
#include "sim/recording/settings.h"

#include "prov/uet/settings/setting.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace uet::recording {
namespace {

// Each setting that users have, at its least, at its most, and as it is by default.
TEST(SettingsTest, EverySettingOfUsersComesBack) {
  for (const prov::Setting& row : prov::all_settings()) {
    const prov::Field& field = row.field;
    if (field.set_stack == nullptr) continue;
    for (const int64_t value : {row.min, row.max, field.get_stack(fep::Config{})}) {
      fep::Config config;
      field.set_stack(config, value);
      fep::Config read;
      ASSERT_EQ(take_settings(settings_of(config), read), "") << row.name;
      EXPECT_EQ(field.get_stack(read), field.get_stack(config)) << row.name;
    }
  }
}

TEST(SettingsTest, NamesAreOfOneMemberEach) {
  std::vector<Create::Setting> all = settings_of(fep::Config{});
  std::ranges::sort(all, {}, &Create::Setting::name);
  const auto same = std::ranges::adjacent_find(all, {}, &Create::Setting::name);
  EXPECT_EQ(same, all.end());
}

TEST(SettingsTest, WhatThisStackDoesNotHaveIsRefused) {
  fep::Config config;
  EXPECT_EQ(take_settings({{"pds.warp", 1}}, config), "this stack has no setting pds.warp");
  EXPECT_EQ(take_settings({{"pds.mpr", 256}}, config), "the setting pds.mpr cannot be 256");
  EXPECT_EQ(take_settings({{"pds.probe", 2}}, config), "the setting pds.probe cannot be 2");
  EXPECT_EQ(take_settings({{"pds.ack_form", 3}}, config), "the setting pds.ack_form cannot be 3");
  EXPECT_EQ(take_settings({{"pds.mpr", -1}}, config), "the setting pds.mpr cannot be -1");
}

}  // namespace
}  // namespace uet::recording
