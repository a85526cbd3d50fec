// Settings by name: each one is recorded and read back.
#include "sim/recording/settings.h"

#include "prov/uet/settings/setting.h"

#include <gtest/gtest.h>

namespace uet::recording {
namespace {

// Each user setting, at its minimum, at its maximum, and at its default.
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

}  // namespace
}  // namespace uet::recording
