// Traffic asked for by a name and some values: a pattern or a collective. For command lines.
#pragma once

#include "sim/traffic/traffic.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace uet::sim {

struct Request {
  uint32_t hosts = 16;
  uint64_t bytes = 2'000'000;  // of each flow; of the vector of a collective
  uint64_t seed = 1;
  uint32_t senders = 8;  // incast
  uint32_t receiver = 0;
  uint32_t receivers = 8;  // outcast
  uint32_t sender = 0;
  uint32_t stride = 1;          // ring
  uint32_t group = 0;           // hosts of a group of all-to-all or a collective; 0: all
  bool is_interleaved = false;  // the hosts of a group are spread evenly; else they are neighbours
  uint32_t parallel = 1;        // all-to-all
  uint32_t chunks = 8;          // trees and broadcast
  double skew = 0;              // experts
  double load = 0.5;            // poisson
  double link_gbps = 100;
  Duration time = Duration::milliseconds(1);
  std::string sizes = "web-search";
  bool shares_connections = false;  // messages of a collective between two hosts
};

struct RequestKey {
  const char* name;
  const char* meaning;
  const char* patterns;  // that it is for, with blanks around each name; empty: all
  void (*set)(Request& request, std::string_view value);  // throws TrafficError
};
std::span<const RequestKey> request_keys();

struct PatternName {
  const char* name;
  const char* meaning;
};
std::span<const PatternName> pattern_names();

// Throws TrafficError when the pattern is unknown, or a value is out of its range.
Traffic traffic_of(std::string_view pattern, const Request& request);

// The same in one text: "incast:senders=8,bytes=2MB". Keys that are not there keep what `request`
// has; a key that the pattern has no use for is an error.
Traffic traffic_of_text(std::string_view text, Request request);

}  // namespace uet::sim
