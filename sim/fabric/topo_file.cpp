// Reads the .topo files of htsim: a word and a number a line, the tiers one after the other.
#include "sim/fabric/generate.h"

#include <charconv>
#include <fstream>
#include <iterator>
#include <sstream>

namespace uet::sim::fabric {
namespace {

struct Reader {
  const std::string& name;
  Tree tree{};
  uint32_t line = 0;
  int tier = -1;  // that the lines are about; -1: all

  [[noreturn]] void fail(const std::string& what) const {
    throw TopologyError(name + ":" + std::to_string(line) + ": " + what);
  }

  uint64_t number(const std::string& word) const {
    uint64_t out = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
    if (error != std::errc() || end != word.data() + word.size() || out > UINT32_MAX) {
      fail("expected a number, found '" + word + "'");
    }
    return out;
  }

  void read_global(const std::string& key, uint32_t value) {
    if (key == "nodes") {
      tree.hosts = value;
    } else if (key == "tiers") {
      if (value != 2 && value != 3) fail("Tiers is 2 or 3");
      tree.tiers = value;
    } else if (key == "podsize") {
      tree.pod = value;
    } else {
      fail("unknown key '" + key + "'");
    }
  }

  // False: not a word of a tier. Oversubscription follows from the radixes and is not needed.
  bool read_of_tier(const std::string& key, uint32_t value) {
    Tier& t = tree.tier[static_cast<size_t>(tier)];
    if (key == "radix_down") {
      t.down = value;
    } else if (key == "radix_up") {
      t.up = value;
    } else if (key == "bundle") {
      t.bundle = value;
    } else if (key == "downlink_speed_gbps") {
      t.mbps = uint64_t{value} * 1000;
    } else if (key == "downlink_latency_ns") {
      t.latency = Picoseconds{value} * kNanosecond;
    } else if (key == "switch_latency_ns") {
      t.switch_latency = Picoseconds{value} * kNanosecond;
    } else {
      return key == "oversubscribed" || key == "queue_down" || key == "queue_up";
    }
    return true;
  }

  void read(const std::string& text) {
    std::istringstream words(text);
    std::string key, value, rest;
    if (!(words >> key) || key[0] == '#') return;
    for (char& c : key) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (!(words >> value)) fail("'" + key + "' has no value");
    if (words >> rest && rest[0] != '#') fail("unexpected '" + rest + "' after the value");
    const auto n = static_cast<uint32_t>(number(value));
    if (key == "tier") {
      if (n >= tree.tiers) fail("there is no tier " + value);
      tier = static_cast<int>(n);
    } else if (tier < 0 || !read_of_tier(key, n)) {
      read_global(key, n);
    }
  }
};

}  // namespace

Tree parse_topo(std::string_view text, const std::string& name, const LinkDefaults& defaults) {
  Reader reader{name};
  for (Tier& tier : reader.tree.tier) {
    tier.mbps = defaults.mbps;
    tier.latency = defaults.latency;
    tier.switch_latency = defaults.switch_latency;
  }
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    ++reader.line;
    reader.read(line);
  }
  if (reader.tree.hosts == 0) reader.fail("the number of Nodes is missing");
  if (reader.tree.pod == 0) reader.fail("Podsize is missing");
  try {
    build_tree(reader.tree);
  } catch (const TopologyError& error) {
    reader.fail(error.what());
  }
  return reader.tree;
}

Tree read_topo(const std::string& path, const LinkDefaults& defaults) {
  std::ifstream in(path);
  if (!in) throw TopologyError(path + ": cannot open this file; it is no topology like fattree:4");
  in.peek();  // a folder can be opened, but not read
  if (in.bad()) throw TopologyError(path + ": cannot be read; it must be a file");
  const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return parse_topo(text, path, defaults);
}

}  // namespace uet::sim::fabric
