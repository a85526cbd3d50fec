// How many rings of shared memory this process has mapped. [LF-142]
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace uet::io::test {

inline uint32_t mapped_rings() {
  std::ifstream maps("/proc/self/maps");
  uint32_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:uet-ring") != std::string::npos) ++count;
  }
  return count;
}

}  // namespace uet::io::test
