// The table of tunables: every row reads and writes its member within its range and nothing else.
#include "fep/parameters.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace uet::fep {
namespace {

// Every value of the table, as text.
std::string picture(const Config& config) {
  std::string out;
  for (const Parameter& p : parameters()) {
    out.append(p.name).append("=").append(std::to_string(p.get(config))).append(" ");
  }
  return out;
}

TEST(ParametersTest, NamesAreUniqueAndEveryRowIsDescribed) {
  std::set<std::string> names;
  for (const Parameter& p : parameters()) {
    EXPECT_TRUE(names.insert(p.name).second) << p.name;
    EXPECT_GT(std::string(p.help).size(), 10u) << p.name;
    EXPECT_FALSE(std::string(p.unit).empty()) << p.name;
    EXPECT_EQ(find_parameter(p.name), &p);
  }
  EXPECT_EQ(find_parameter("NO_SUCH_THING"), nullptr);
}

TEST(ParametersTest, DefaultsLieWithinTheirRanges) {
  const Config config;
  for (const Parameter& p : parameters()) {
    EXPECT_GE(p.get(config), p.min) << p.name;
    EXPECT_LE(p.get(config), p.max) << p.name;
  }
}

// [PDS-221] Values are set by name; the ends of the range belong to it.
TEST(ParametersTest, EachRowSetsItsOwnMemberOnly) {
  for (const Parameter& p : parameters()) {
    for (const int64_t value : {p.min, p.max}) {
      Config config;
      Config expected;
      p.set(expected, value);
      ASSERT_TRUE(set_parameter(config, p.name, value).ok()) << p.name << " " << value;
      EXPECT_EQ(p.get(config), value) << p.name;
      EXPECT_EQ(picture(config), picture(expected)) << p.name;
      size_t changed = 0;
      for (const Parameter& q : parameters()) changed += q.get(config) != q.get(Config{}) ? 1 : 0;
      EXPECT_LE(changed, 1u) << p.name;
    }
  }
}

// [PDS-221] Out of range is refused, not clamped, and nothing changes.
TEST(ParametersTest, ValuesOutOfRangeAreRefused) {
  for (const Parameter& p : parameters()) {
    Config config;
    for (const int64_t value : {p.min - 1, p.max + 1}) {
      const auto result = set_parameter(config, p.name, value);
      ASSERT_FALSE(result.ok()) << p.name << " " << value;
      EXPECT_EQ(result.error(), Errc::invalid) << p.name;
    }
    EXPECT_EQ(picture(config), picture(Config{})) << p.name;
  }
  Config config;
  EXPECT_EQ(set_parameter(config, "NO_SUCH_THING", 1).error(), Errc::not_found);
}

// [SES-032] Only powers of two are payload sizes.
TEST(ParametersTest, PayloadMtuIsAPowerOfTwo) {
  Config config;
  EXPECT_EQ(set_parameter(config, "PAYLOAD_MTU", 3000).error(), Errc::invalid);
  EXPECT_TRUE(set_parameter(config, "PAYLOAD_MTU", 2048).ok());
}

// [PDS 22] For the reference provider five rows change, as pds.md 22 asks, and nothing else does.
TEST(ParametersTest, MeetingTheReferenceProviderSetsFiveRows) {
  const std::map<std::string, int64_t> expected = {{"DEFAULT_MPR", 1},   {"PDCS_PER_KEY", 1},
                                                   {"PROBE", 0},         {"OPTIONAL_CONTROL", 0},
                                                   {"DISABLE_INDEX", 1}, {"FATAL_NACKS", 0}};
  Config config;
  meet_refprov(config);
  std::map<std::string, int64_t> changed;
  for (const Parameter& p : parameters()) {
    if (p.get(config) != p.get(Config{})) changed[p.name] = p.get(config);
  }
  EXPECT_EQ(changed, expected);
}

// [PDS-220] In the soft profile refusals end on the clock of silence; in spec on their own.
TEST(ParametersTest, SettlingMakesTheLayersAgree) {
  Config config;
  config.ses.payload_mtu = 8192;
  config.pds.peer_timeout = Duration::seconds(7);
  settle(config);
  EXPECT_EQ(config.pds.payload_mtu, 8192u);
  EXPECT_GE(config.pds.reorder_packet_bytes, 8192u + 44);
  EXPECT_GT(config.cms.mtu_bytes, 8192u);
  EXPECT_EQ(config.ses.retry_patience, Duration::seconds(7));
  EXPECT_EQ(config.ses.partial_message_time, Duration::seconds(7));

  // [PDS-064] A peer is asked before it counts as silent.
  Config hasty;
  ASSERT_TRUE(set_parameter(hasty, "PEER_TIMEOUT", 1000).ok());
  ASSERT_TRUE(set_parameter(hasty, "QUIET_TIME", 100'000).ok());
  settle(hasty);
  EXPECT_EQ(hasty.pds.quiet_time, Duration::microseconds(500));

  Config spec;
  spec.pds = pds::Config::spec();
  const Duration own = spec.ses.retry_patience;
  spec.pds.peer_timeout = Duration::seconds(7);
  settle(spec);
  EXPECT_EQ(spec.ses.retry_patience, own);
}

}  // namespace
}  // namespace uet::fep
