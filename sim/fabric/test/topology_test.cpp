// Files and generators of topologies.
#include "sim/fabric/generate.h"
#include "sim/fabric/units.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace uet::sim::fabric {
namespace {

std::string folder_of_topologies() {
  const char* const set = std::getenv("UET_GOLDEN_DIR");
  const std::string golden =
      set != nullptr ? set : std::string(UET_SOURCE_DIR) + "/../shared/golden";
  return golden + "/htsim/topologies";
}

// Why the topology is refused.
template <class Make>
std::string problem(Make&& make) {
  try {
    make();
  } catch (const TopologyError& error) {
    return error.what();
  }
  return "";
}

uint32_t switches_of_tier(const Topology& t, uint8_t tier) {
  uint32_t count = 0;
  for (const Switch& s : t.switches()) count += s.tier == tier ? 1 : 0;
  return count;
}

class SharedTopologyTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(folder_of_topologies())) {
      GTEST_SKIP() << "no folder " << folder_of_topologies() << "; set UET_GOLDEN_DIR";
    }
  }
};

struct Shape {
  uint32_t hosts, low, middle, high;  // switches by tier
  size_t links;
  uint64_t mbps;
};

// Hosts, switches and links computed by hand from the numbers in the files.
TEST_F(SharedTopologyTest, EveryFileIsRead) {
  const std::map<std::string, Shape> files{
      {"fat_tree_1024.topo", {1024, 128, 128, 64, 3 * 1024, 100'000}},
      {"fat_tree_1024_1os.topo", {1024, 128, 128, 64, 3 * 1024, 200'000}},
      {"fat_tree_1024_4os.topo", {1024, 128, 32, 16, 1024 + 256 + 256, 200'000}},
      {"fat_tree_1024_8os.topo", {1024, 128, 32, 8, 1024 + 256 + 128, 100'000}},
      {"fat_tree_128_1os.topo", {128, 32, 32, 16, 3 * 128, 100'000}},
      {"fat_tree_128_4os.topo", {128, 32, 32, 4, 128 + 128 + 32, 100'000}},
      {"fat_tree_128_8os.topo", {128, 32, 8, 2, 128 + 32 + 16, 100'000}},
      {"leaf_spine_1024.topo", {1024, 32, 32, 0, 2 * 1024, 100'000}},
      {"leaf_spine_1024_oversub.topo", {1024, 32, 8, 0, 1024 + 256, 100'000}},
      {"leaf_spine_1024_oversub_8-1.topo", {1024, 32, 4, 0, 1024 + 128, 100'000}},
      {"leaf_spine_tiny.topo", {32, 4, 2, 0, 32 + 8, 100'000}},
  };
  size_t there = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of_topologies())) {
    const std::string name = entry.path().filename();
    ASSERT_TRUE(files.contains(name)) << name;
    const Shape& shape = files.at(name);
    const Topology t = make_topology(entry.path());
    EXPECT_EQ(t.hosts(), shape.hosts) << name;
    EXPECT_EQ(switches_of_tier(t, 0), shape.low) << name;
    EXPECT_EQ(switches_of_tier(t, 1), shape.middle) << name;
    EXPECT_EQ(switches_of_tier(t, 2), shape.high) << name;
    EXPECT_EQ(t.links().size(), shape.links) << name;
    for (const Link& link : t.links()) {
      ASSERT_EQ(link.mbps, shape.mbps) << name;
      ASSERT_EQ(link.latency, kMicrosecond) << name;
    }
    ++there;
  }
  EXPECT_EQ(there, files.size());
}

constexpr const char* kSmall =
    "# two leaves\n"
    "Nodes 4\nTiers 2\nPodsize 4\n\n"
    "Tier 0\nDownlink_speed_Gbps 25\nRadix_Down 2\nRadix_Up 4\nDownlink_Latency_ns 300\n"
    "Switch_Latency_ns 50\nOversubscribed 1\n"
    "Tier 1\nDownlink_speed_Gbps 100\nRadix_Down 4\nBundle 2\nDownlink_Latency_ns 700";

TEST(TopologyFileTest, SpeedsLatenciesAndBundlesBelongToTheirTier) {
  const Topology t = build_tree(parse_topo(kSmall, "small", {}));
  EXPECT_EQ(t.hosts(), 4u);
  EXPECT_EQ(switches_of_tier(t, 1), 2u);
  ASSERT_EQ(t.links().size(), 4u + 8u);
  EXPECT_EQ(t.links()[0].mbps, 25'000u);
  EXPECT_EQ(t.links()[0].latency, 300 * kNanosecond);
  EXPECT_EQ(t.links()[4].mbps, 100'000u);
  EXPECT_EQ(t.links()[4].latency, 700 * kNanosecond);
  EXPECT_EQ(t.switch_at(4).latency, 50 * kNanosecond);
  EXPECT_EQ(t.links()[4].upper, t.links()[5].upper) << "two links to the same switch";
  EXPECT_NE(t.links()[5].upper, t.links()[6].upper);
}

TEST(TopologyFileTest, MistakesAreNamedWithTheirLine) {
  const auto says = [](const std::string& text) {
    return problem([&] { parse_topo(text, "f.topo", {}); });
  };
  EXPECT_EQ(says("Nodes 4\nTiers 5\n"), "f.topo:2: Tiers is 2 or 3");
  EXPECT_EQ(says("Nodes four\n"), "f.topo:1: expected a number, found 'four'");
  EXPECT_EQ(says("Nodes 4\nColour 3\n"), "f.topo:2: unknown key 'colour'");
  EXPECT_EQ(says("Nodes\n"), "f.topo:1: 'nodes' has no value");
  EXPECT_EQ(says("Nodes 4 5\n"), "f.topo:1: unexpected '5' after the value");
  EXPECT_EQ(says("Tiers 2\nTier 2\n"), "f.topo:2: there is no tier 2");
  EXPECT_EQ(says("# nothing\n"), "f.topo:1: the number of Nodes is missing");
  std::string text = kSmall;
  text.replace(text.find("Radix_Down 4"), 12, "Radix_Down 3");
  EXPECT_EQ(says(text),
            "f.topo:17: the radix down of tier 1 is not the number of tier 0 switches in a pod");
  EXPECT_EQ(problem([] { make_topology("/nowhere.topo"); }),
            "/nowhere.topo: cannot open this file; it is no topology like fattree:4");
}

TEST(GenerateTest, AFatTreeHasTheHostsOfItsRadix) {
  const Topology three = make_topology("fattree:4,gbps=400,latency=500ns,switch=20ns");
  EXPECT_EQ(three.hosts(), 16u);
  EXPECT_EQ(three.switches().size(), 8u + 8u + 4u);
  EXPECT_EQ(three.links().size(), 48u);
  EXPECT_EQ(three.links()[0].mbps, 400'000u);
  EXPECT_EQ(three.links()[0].latency, 500 * kNanosecond);
  EXPECT_EQ(three.switch_at(16).latency, 20 * kNanosecond);
  EXPECT_EQ(make_topology("fattree:32").hosts(), 8192u);

  const Topology two = make_topology("fattree:4,tiers=2");
  EXPECT_EQ(two.hosts(), 8u);
  EXPECT_EQ(two.switches().size(), 4u + 2u);
  // Half of the uplinks: 4 of each pod's 4 hosts become 2.
  EXPECT_EQ(make_topology("fattree:4,oversub=2").links().size(), 16u + 8u + 8u);
}

TEST(GenerateTest, EachPlaneIsASeparateTree) {
  const Topology t = make_topology("leafspine:2x4x3,planes=2");
  EXPECT_EQ(t.hosts(), 8u);
  EXPECT_EQ(t.switches().size(), 2 * (2u + 3u));
  EXPECT_EQ(t.links().size(), 2 * (8u + 6u));
  EXPECT_EQ(t.name(t.links()[t.link_named("host0:up1")].upper), "leaf2");
}

// Host 5 of 2 nodes of 4: rail 1 and node 1.
TEST(GenerateTest, HostsOfANodeAreOnDifferentRails) {
  const Topology t = make_topology("rail:2x4,scaleup=900,spines=3");
  EXPECT_EQ(t.hosts(), 8u);
  EXPECT_EQ(t.switches().size(), 4u + 2u + 3u);
  EXPECT_EQ(t.name(t.links()[t.link_named("host5:up0")].upper), "rail1");
  EXPECT_EQ(t.name(t.links()[t.link_named("host5:up1")].upper), "node1");
  EXPECT_EQ(t.links()[t.link_named("host5:up1")].mbps, 900'000u);
}

TEST(GenerateTest, ImpossibleTopologiesAreRefused) {
  const auto says = [](const std::string& text) { return problem([&] { make_topology(text); }); };
  EXPECT_EQ(says("fattree:5"), "fattree:5: K must be even and at most 128");
  EXPECT_EQ(says("fattree:4,oversub=3"), "fattree:4,oversub=3: oversub does not divide K / 2");
  EXPECT_EQ(says("torus:4"),
            "'torus' is not a kind of topology; use one of fattree, leafspine, rail, railonly");
  EXPECT_EQ(says("leafspine:4x4"), "leafspine:4x4: leafspine takes LEAVESxDOWNxUP");
  EXPECT_EQ(says("fattree:x"), "fattree:x: '' is not a number above 0");
  EXPECT_EQ(
      says("fattree:4,colour=3"),
      "fattree:4,colour=3: 'colour=3' is not an option of fattree, which takes gbps=, latency=, "
      "switch=, oversub=, planes=, tiers=");
  EXPECT_EQ(says("fattree:4,tiers=2,tiers=3"), "fattree:4,tiers=2,tiers=3: tiers is there twice");
  EXPECT_EQ(says("fattree:4,latency=3"),
            "fattree:4,latency=3: '3' is not a time; write it with its unit, like 50us");
}

// What would change nothing is refused.
TEST(GenerateTest, OptionsOfAnotherKindAreRefused) {
  const auto says = [](const std::string& text) { return problem([&] { make_topology(text); }); };
  EXPECT_EQ(
      says("leafspine:4x8x8,oversub=4"),
      "leafspine:4x8x8,oversub=4: 'oversub=4' is not an option of leafspine, which takes gbps=, "
      "latency=, switch=, planes=");
  const std::string common = ",gbps=1,latency=1us,switch=1ns";
  const struct {
    std::string kind, takes, refuses;
  } kCases[] = {{"fattree:4", ",oversub=2,planes=2,tiers=2", "spines=1 scaleup=9 "},
                {"leafspine:2x2x2", ",planes=2", "oversub=2 tiers=2 spines=1 scaleup=9 "},
                {"rail:2x2", ",spines=2,scaleup=9", "oversub=2 planes=2 tiers=2 "},
                {"railonly:2x2", ",scaleup=9", "oversub=2 planes=2 tiers=2 spines=2 "}};
  for (const auto& [kind, takes, refuses] : kCases) {
    EXPECT_NO_THROW(make_topology(kind + common + takes)) << kind;
    for (size_t at = 0; at < refuses.size(); at = refuses.find(' ', at) + 1) {
      const std::string word = refuses.substr(at, refuses.find(' ', at) - at);
      EXPECT_THROW(make_topology(kind + "," + word), TopologyError) << kind << word;
    }
  }
}

// The rate of a file that states none.
TEST(TopologyFileTest, AFileWithoutRatesTakesThoseOfTheDefaults) {
  const std::string path = testing::TempDir() + "without_rates.topo";
  std::ofstream(path) << "Nodes 4\nTiers 2\nPodsize 4\nTier 0\nRadix_Down 2\nRadix_Up 2\n"
                         "Tier 1\nRadix_Down 2\n";
  EXPECT_EQ(make_topology(path, {.mbps = 7'000}).links()[0].mbps, 7'000u);
  EXPECT_EQ(problem([] { make_topology("/"); }), "/: cannot be read; it must be a file");
}

// 524,288 leaves of one host with 65,536 cables each; and 1,024 pods of one leaf whose 64 switches
// have 512 cables upward each: 33,554,432.
TEST(GenerateTest, ATreeWithBillionsOfCablesIsRefused) {
  const auto says = [](const std::string& text) {
    return problem([&] { parse_topo(text, "F", {}); });
  };
  EXPECT_EQ(says("Nodes 524288\nTiers 3\nPodsize 8\nTier 0\nRadix_Down 1\nRadix_Up 65536\n"
                 "Tier 1\nRadix_Down 8\nRadix_Up 1\nTier 2\nRadix_Down 65536\n"),
            "F:11: a topology has at most 16,777,216 cables");
  EXPECT_EQ(says("Nodes 1024\nTiers 3\nPodsize 1\nTier 0\nRadix_Down 1\nRadix_Up 64\n"
                 "Tier 1\nRadix_Down 1\nRadix_Up 512\nTier 2\nRadix_Down 1024\n"),
            "F:11: a topology has at most 16,777,216 cables");
}

TEST(TopologyTest, LinksHaveNames) {
  const Topology t = make_topology("fattree:4");
  const uint32_t link = t.link_named("tor1:up1");
  EXPECT_EQ(t.name(t.links()[link].lower), "leaf1");
  EXPECT_EQ(t.name(t.links()[link].upper), "agg1");
  EXPECT_EQ(t.link_name(link), "leaf1:up1");
  EXPECT_EQ(t.link_named("agg1:down1"), link);
  EXPECT_EQ(t.name(t.links()[t.link_named("spine3:down2")].lower), "agg5");
  EXPECT_EQ(problem([&] { t.link_named("leaf9:up0"); }), "there is no 'leaf9'");
  EXPECT_EQ(problem([&] { t.link_named("leaf0:up7"); }), "there is no link 'leaf0:up7'");
  EXPECT_EQ(problem([&] { t.link_named("leaf0"); }),
            "'leaf0' is not the name of a link; write it like leaf0:up1");
}

TEST(UnitsTest, TimesAndRatesHaveUnits) {
  EXPECT_EQ(parse_time("1.5us"), 1'500'000);
  EXPECT_EQ(parse_time("300ps"), 300);
  EXPECT_EQ(parse_time("2s"), 2'000'000'000'000);
  EXPECT_EQ(parse_gbps("0.2"), 200u);
  EXPECT_EQ(problem([] { parse_time("-1us"); }),
            "'-1us' is not a time; write it with its unit, like 50us");
  EXPECT_EQ(problem([] { parse_gbps("fast"); }), "'fast' is not a rate in Gbit/s");
}

}  // namespace
}  // namespace uet::sim::fabric
