// Texts of settings for people.
#include "prov/uet/settings/describe.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

namespace uet::prov {
namespace {

const Setting& row(const char* name) { return *find_setting(name); }

TEST(DescribeTest, HelpSaysLevelPurposeValuesAndDefault) {
  EXPECT_EQ(help_text(row("JOB_ID")),
            "[user] JobID of endpoints without an authorization key. Peers talk within one job "
            "only. Values: 1 to 16777215; default: 1.");
  EXPECT_EQ(help_text(row("TAIL_LOSS_TIME")).find("[protocol] "), 0u);
  EXPECT_EQ(values_text(row("PEER_TIMEOUT")), "time (a plain number is us), 1ms to 1h");
  EXPECT_EQ(default_text(row("PEER_TIMEOUT")), "1min");
  EXPECT_EQ(values_text(row("LINGER")), "time (a plain number is ms), 0 to 10min");
  EXPECT_EQ(default_text(row("LINGER")), "5s");
  EXPECT_EQ(values_text(row("UNEXPECTED_BYTES")), "octets, 64KiB to 1TiB");
  EXPECT_EQ(default_text(row("UNEXPECTED_BYTES")), "64MiB");
  EXPECT_EQ(values_text(row("SOCKBUF")), "octets, 0, or 64KiB to 1GiB");
  EXPECT_EQ(values_text(row("PAYLOAD_MTU")), "octets, 1KiB, 2KiB, 4KiB or 8KiB");
  EXPECT_EQ(values_text(row("TARGET_FLOOR")), "percent of MAX_PDCS, 0 to 50%");
  EXPECT_EQ(values_text(row("MODE")), "auto, rud, rod or rudi");
  EXPECT_EQ(values_text(row("HELPER")), "0 or 1");
  EXPECT_EQ(default_text(row("HELPER")), "1");
  EXPECT_EQ(default_text(row("PID_ON_FEP")), "random");
  EXPECT_EQ(default_text(row("PORT_RANGE")), "16384-32767");
}

// scripts/configuration_doc.py takes it apart that way.
TEST(DescribeTest, HelpOfEveryRowHasOneForm) {
  const std::regex form(R"(\[(user|tuning|protocol|test)\] .+\. Values: .+; default: .+\.)");
  for (const Setting& r : all_settings()) {
    EXPECT_TRUE(std::regex_match(help_text(r), form)) << help_text(r);
  }
}

// [LF-135] What is wrong; what to do, with range and example.
TEST(DescribeTest, ALineNamesSettingValueRangeAndExample) {
  EXPECT_EQ(wrong_value_text(row("MAX_PDCS"), "0"),
            "FI_UET_MAX_PDCS=0 is not valid, so the default is used; set it to: contexts, "
            "1 to 65000, for example FI_UET_MAX_PDCS=" +
                default_text(row("MAX_PDCS")));
  EXPECT_EQ(wrong_value_text(row("JOB_ID"), "seven"),
            "FI_UET_JOB_ID=seven is not valid, so the provider offers nothing; set it to: "
            "1 to 16777215, for example FI_UET_JOB_ID=1");
  EXPECT_EQ(unknown_name_text("MAX_PDC"),
            "FI_UET_MAX_PDC is not a setting of uet and is ignored; `fi_info -g FI_UET` lists all");
}

TEST(DescribeTest, ExamplesAreTaken) {
  for (const Setting& r : all_settings()) {
    Settings settings;
    EXPECT_TRUE(set_from_text(r, example_text(r), settings).ok()) << r.name;
  }
}

}  // namespace
}  // namespace uet::prov
