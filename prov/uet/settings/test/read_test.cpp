// From an environment to settings and warnings.
#include "prov/uet/settings/read.h"

#include <gtest/gtest.h>

namespace uet::prov {
namespace {

TEST(ReadSettingsTest, AnEmptyEnvironmentGivesTheDefaults) {
  const SettingsRead read = read_settings({});
  EXPECT_TRUE(read.complaints.empty());
  EXPECT_TRUE(read.settings.valid);
  EXPECT_TRUE(read.settings.stack_set.empty());
  EXPECT_EQ(read.settings.job_id, 1u);
}

TEST(ReadSettingsTest, GoodValuesAreTaken) {
  const SettingsRead read = read_settings({{"SOCKBUF", "8MiB"},
                                           {"LINGER", "250"},
                                           {"MODE", "rod"},
                                           {"IO", "udp"},
                                           {"DSCP_ACK", "10"},
                                           {"ALLOW", "10.1.0.0/16"},
                                           {"PROFILE", "hpc"},
                                           {"PAYLOAD_MTU", "2048"},
                                           {"PEER_TIMEOUT", "90s"}});
  EXPECT_TRUE(read.complaints.empty());
  EXPECT_EQ(read.settings.socket_buffer_bytes, 8u << 20);
  EXPECT_EQ(read.settings.linger, Duration::milliseconds(250));
  EXPECT_EQ(read.settings.mode, ModeChoice::rod);
  EXPECT_EQ(read.settings.io, IoChoice::udp);
  EXPECT_EQ(read.settings.profiles, ses::kAiBase | ses::kHpc);
  EXPECT_EQ(read.settings.payload_mtu, 2048u);
  EXPECT_EQ(read.settings.allow.size(), 1u);
  fep::Config config;
  read.settings.apply_to(config);
  EXPECT_EQ(config.pds.peer_timeout, Duration::seconds(90));
  EXPECT_EQ(config.pds.control_dscp, 10);
  EXPECT_EQ(config.ses.payload_mtu, 2048);
}

// [CMS-171, CMS-173, LF-092] Where switches trim, data lets them, unless the user has set its DSCP.
TEST(ReadSettingsTest, DataIsTrimmableWhereSwitchesTrim) {
  EXPECT_EQ(read_settings({}).settings.data_dscp(), 0);
  EXPECT_EQ(read_settings({{"TRIMMING", "0"}}).settings.data_dscp(), 0);
  EXPECT_EQ(read_settings({{"TRIMMING", "1"}}).settings.data_dscp(), 8);
  EXPECT_EQ(read_settings({{"TRIMMING", "1"}, {"DSCP_DATA", "0"}}).settings.data_dscp(), 0);
  EXPECT_EQ(read_settings({{"DSCP_DATA", "10"}}).settings.data_dscp(), 10);
  for (const char* const is_on : {"0", "1"}) {
    fep::Config config;
    read_settings({{"TRIMMING", is_on}}).settings.apply_to(config);
    EXPECT_EQ(config.cms.trimming, *is_on == '1');
  }
}

// [CMS-177, LF-135] Packets with the DSCP of trimmed ones would all count as trimmed.
TEST(ReadSettingsTest, ClassesOfPacketsMustDifferFromThatOfTrimmedOnes) {
  const auto refused = [](const SettingTexts& texts) {
    const SettingsRead read = read_settings(texts);
    EXPECT_EQ(read.complaints.empty(), read.settings.valid);
    return read.complaints.empty() ? "" : read.complaints[0].name;
  };
  EXPECT_EQ(refused({{"DSCP_DATA", "16"}}), "DSCP_DATA");
  EXPECT_EQ(refused({{"DSCP_DATA", "18"}}), "DSCP_DATA");
  EXPECT_EQ(refused({{"DSCP_TRIMMED", "8"}}), "");
  EXPECT_EQ(refused({{"DSCP_TRIMMED", "8"}, {"TRIMMING", "1"}}), "DSCP_DATA");
  EXPECT_EQ(refused({{"DSCP_TRIMMED_LASTHOP", "46"}}), "DSCP_ACK");
  EXPECT_EQ(refused({{"DSCP_TRIMMED", "20"}, {"DSCP_DATA", "16"}}), "");
}

// [LF-135]
TEST(ReadSettingsTest, WrongValuesLeaveTheDefault) {
  const SettingsRead read = read_settings({{"MAX_PDCS", "0"}, {"SOCKBUF", "1"}, {"MODE", "fast"}});
  EXPECT_TRUE(read.settings.valid);
  EXPECT_TRUE(read.settings.stack_set.empty());
  EXPECT_EQ(read.settings.socket_buffer_bytes, 4u << 20);
  ASSERT_EQ(read.complaints.size(), 3u);  // in the order of the table
  EXPECT_EQ(read.complaints[0].name, "MODE");
  EXPECT_EQ(read.complaints[1].name, "SOCKBUF");
  EXPECT_EQ(read.complaints[2].name, "MAX_PDCS");
  for (const Complaint& complaint : read.complaints) {
    EXPECT_FALSE(complaint.is_fatal);
    EXPECT_NE(complaint.text.find(" is not valid, so the default is used; "), std::string::npos);
  }
}

// [LF-135]
TEST(ReadSettingsTest, WrongValuesOfStrictSettingsAreFatal) {
  const struct {
    const char* name;
    const char* value;
  } cases[] = {{"JOB_ID", "0"}, {"ALLOW", "10.0.0.1/8"}, {"FAULT", "loss=often"}};
  for (const auto& c : cases) {
    const SettingsRead read = read_settings({{c.name, c.value}});
    EXPECT_FALSE(read.settings.valid) << c.name;
    ASSERT_EQ(read.complaints.size(), 1u) << c.name;
    EXPECT_TRUE(read.complaints[0].is_fatal) << c.name;
  }
}

TEST(ReadSettingsTest, UnknownNamesDoNothing) {
  const SettingsRead read = read_settings({{"MAX_PDC", "64"}, {"OVER_UDP", "1"}});
  EXPECT_TRUE(read.settings.valid);
  ASSERT_EQ(read.complaints.size(), 2u);
  EXPECT_NE(read.complaints[0].text.find("FI_UET_MAX_PDC is not a setting of uet"),
            std::string::npos);
}

// [LF-135] There is no setting of this name. If a user sets it to ask for protection, no endpoint
// may be offered without it.
TEST(ReadSettingsTest, ProtectionThatDoesNotExistIsNotPromised) {
  for (const char* const value : {"1", "2", "yes"}) {
    const SettingsRead read = read_settings({{"DATA_PROTECT", value}});
    EXPECT_FALSE(read.settings.valid) << value;
    ASSERT_EQ(read.complaints.size(), 1u) << value;
    EXPECT_TRUE(read.complaints[0].is_fatal) << value;
    EXPECT_NE(read.complaints[0].text.find("so nothing is offered"), std::string::npos);
  }
  const SettingsRead none = read_settings({{"DATA_PROTECT", "0"}});
  EXPECT_TRUE(none.settings.valid);
  EXPECT_EQ(none.complaints.size(), 1u);
}

}  // namespace
}  // namespace uet::prov
