// Building the graph, and the names of its parts.
#include "sim/fabric/topology.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace uet::sim::fabric {
namespace {

// The number in `text`; false: it is not a number.
bool read_number(std::string_view text, uint32_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// Splits "leaf12" into "leaf" and 12.
bool split_name(std::string_view name, std::string_view& word, uint32_t& number) {
  const size_t digits = name.find_first_of("0123456789");
  if (digits == std::string_view::npos) return false;
  word = name.substr(0, digits);
  return read_number(name.substr(digits), number);
}

bool is_same_kind(std::string_view asked, std::string_view has) {
  constexpr std::array<std::array<std::string_view, 2>, 2> kSame{
      {{"tor", "leaf"}, {"core", "spine"}}};
  if (asked == has) return true;
  return std::ranges::any_of(kSame, [&](const auto& pair) {
    return (asked == pair[0] && has == pair[1]) || (asked == pair[1] && has == pair[0]);
  });
}

}  // namespace

uint32_t Topology::add_host() {
  if (!switches_.empty()) throw TopologyError("hosts come before switches");
  return hosts_++;
}

uint32_t Topology::add_switch(std::string name, uint8_t tier, Picoseconds latency) {
  switches_.push_back({std::move(name), latency, tier});
  return nodes() - 1;
}

uint32_t Topology::connect(uint32_t lower, uint32_t upper, uint64_t mbps, Picoseconds latency,
                           bool is_scale_up) {
  links_.push_back({lower, upper, mbps, latency, is_scale_up});
  if (lower >= links_up_of_.size()) links_up_of_.resize(lower + size_t{1}, 0);
  numbers_.push_back(links_up_of_[lower]++);
  return static_cast<uint32_t>(links_.size() - 1);
}

std::string Topology::name(uint32_t node) const {
  return is_host(node) ? "host" + std::to_string(node) : switch_at(node).name;
}

uint32_t Topology::node_named(std::string_view name) const {
  std::string_view word, other;
  uint32_t number = 0, other_number = 0;
  if (!split_name(name, word, number)) {
    throw TopologyError("'" + std::string(name) + "' is not the name of a host or switch");
  }
  if (word == "host" && number < hosts_) return number;
  for (uint32_t node = hosts_; node < nodes(); ++node) {
    const bool has_number = split_name(switch_at(node).name, other, other_number);
    if (has_number && number == other_number && is_same_kind(word, other)) return node;
  }
  throw TopologyError("there is no '" + std::string(name) + "'");
}

uint32_t Topology::link_named(std::string_view name) const {
  const size_t colon = name.find(':');
  std::string_view direction;
  uint32_t number = 0;
  const bool is_link = colon != std::string_view::npos &&
                       split_name(name.substr(colon + 1), direction, number) &&
                       (direction == "up" || direction == "down");
  if (!is_link) {
    throw TopologyError("'" + std::string(name) +
                        "' is not the name of a link; write it like leaf0:up1");
  }
  const uint32_t node = node_named(name.substr(0, colon));
  for (uint32_t link = 0; link < links_.size(); ++link) {
    const uint32_t end = direction == "up" ? links_[link].lower : links_[link].upper;
    if (end == node && number-- == 0) return link;
  }
  throw TopologyError("there is no link '" + std::string(name) + "'");
}

std::string Topology::link_name(uint32_t link) const {
  return name(links_[link].lower) + ":up" + std::to_string(numbers_[link]);
}

void Topology::check() const {
  std::vector<bool> has_link(nodes());
  for (const Link& link : links_) {
    if (link.mbps == 0) throw TopologyError("a link has no rate");
    has_link[link.lower] = has_link[link.upper] = true;
  }
  for (uint32_t host = 0; host < hosts_; ++host) {
    if (!has_link[host]) throw TopologyError(name(host) + " has no link");
  }
}

}  // namespace uet::sim::fabric
