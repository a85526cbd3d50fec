// What the stubs of a part test note: the calls that the part under test makes of other parts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace uet::test {

using Calls = std::vector<std::string>;

// Since the last look, by the names of the functions. A test clears it before it acts.
inline Calls& calls() {
  static Calls all;
  return all;
}
inline void note(std::string call) { calls().push_back(std::move(call)); }
inline uint32_t count_of(const std::string& call) {
  uint32_t count = 0;
  for (const std::string& one : calls()) count += one == call;
  return count;
}
inline bool was_called(const std::string& call) { return count_of(call) > 0; }
// Those that begin so.
inline Calls calls_of(const std::string& begin) {
  Calls found;
  for (const std::string& one : calls()) {
    if (one.compare(0, begin.size(), begin) == 0) found.push_back(one);
  }
  return found;
}

}  // namespace uet::test
