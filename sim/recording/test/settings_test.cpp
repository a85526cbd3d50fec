// Settings by name: none is lost on the way into a recording and out of it.
#include "sim/recording/settings.h"

#include "fep/parameters.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace uet::recording {
namespace {

// Each setting that users have, at its least, at its most, and as it is by default.
TEST(SettingsTest, EverySettingOfUsersComesBack) {
  for (const fep::Parameter& p : fep::parameters()) {
    for (const int64_t value : {p.min, p.max, p.get(fep::Config{})}) {
      fep::Config config;
      p.set(config, value);
      fep::Config read;
      ASSERT_EQ(take_settings(settings_of(config), read), "") << p.name;
      EXPECT_EQ(p.get(read), p.get(config)) << p.name;
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
