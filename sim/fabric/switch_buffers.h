// The memory of each switch that its packets use, shared by its ports.
#pragma once

#include <cstdint>
#include <vector>

namespace uet::sim::fabric {

class SwitchBuffers {
 public:
  // `bytes`: of one switch; 0: without limit, and nothing is counted.
  SwitchBuffers(uint32_t hosts, size_t switches, uint64_t bytes)
      : hosts_(hosts), bytes_(bytes), used_(bytes != 0 ? switches : 0) {}

  bool are_limited() const { return bytes_ != 0; }
  // `node`: a switch.
  bool fits(uint32_t node, uint32_t bytes) const {
    return !are_limited() || used_[node - hosts_] + bytes <= bytes_;
  }
  void enter(uint32_t node, uint32_t bytes) {
    if (are_limited()) used_[node - hosts_] += bytes;
  }
  void leave(uint32_t node, uint32_t bytes) {
    if (are_limited()) used_[node - hosts_] -= bytes;
  }

 private:
  uint32_t hosts_;  // its nodes come before the switches
  uint64_t bytes_;
  std::vector<uint64_t> used_;  // octets
};

}  // namespace uet::sim::fabric
