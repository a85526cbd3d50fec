// Owns the names that the endpoints of a domain have: PIDonFEP and resource index, each pair once.
// Not for two threads at once. [LF-011]
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace uet::prov {

class EndpointNames {
 public:
  // Takes that index. False: it is taken already.
  bool take(uint16_t pid, uint16_t ri);
  // Takes the lowest free index of that process and returns it; 0: none is free.
  uint16_t take_any(uint16_t pid);
  void release(uint16_t pid, uint16_t ri);

  size_t size() const { return size_; }
  // (PIDonFEP, RI) of all, in order.
  std::vector<std::pair<uint16_t, uint16_t>> list() const;

 private:
  static constexpr size_t kIndices = 4096;  // 12 bits [LF-003]

  struct Process {
    std::bitset<kIndices> taken;
    uint16_t lowest = 1;  // all below are taken
  };

  std::map<uint16_t, Process> processes_;  // by PIDonFEP; those with a name
  size_t size_ = 0;
};

}  // namespace uet::prov
