// Cost of finding the receive of a message, and the message of a receive, by the number that wait.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace uet::perf {

struct MatchFigure {
  std::string what;
  uint32_t waiting;
  double ns;
};

// Calls `prepare`, then times `work`, which returns how many units it did; several times, and
// returns the fewest nanoseconds a unit.
using Timer = std::function<double(const std::function<void()>& prepare,
                                   const std::function<uint64_t()>& work)>;

// Receives and kept messages in queues of 1,000 to 100,000: each is found and taken out, in the
// order in which they were put in or in one drawn at random. `seed` draws tags and order.
std::vector<MatchFigure> match_figures(const Timer& timer, uint64_t seed);

}  // namespace uet::perf
