// Operations of several UET messages that make one completion. Its memory follows the largest
// number in use at once. [LF-047]
#pragma once

#include "prov/uet/completion/cq.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace uet::prov {

struct OpGroup {
  void* op_context = nullptr;
  uint64_t user = 0;   // of the operation
  uint64_t bytes = 0;  // transferred so far
  uint32_t open = 0;   // messages that have not ended
  uint32_t next_free = 0;
  bool failed = false;
  CompletionError error;  // of the first message that failed
};

class OpGroups {
 public:
  // `messages_max`: that may be in flight at once.
  explicit OpGroups(uint32_t messages_max) : most_(messages_max / 2) {}

  // A cleared one; its index. False: no memory.
  bool take(uint32_t& index) {
    if (free_ == groups_.size() && !add()) return false;
    index = free_;
    free_ = groups_[index].next_free;
    groups_[index] = OpGroup{};
    return true;
  }
  void give(uint32_t index) {
    groups_[index].next_free = free_;
    free_ = index;
  }
  OpGroup& operator[](uint32_t index) { return groups_[index]; }

 private:
  // Doubles the number. Each group has at least two messages in flight, so the growth is bounded.
  bool add() {
    constexpr size_t kFirst = 16;
    const size_t before = groups_.size();
    try {
      groups_.resize(std::clamp<size_t>(2 * before, kFirst, most_ + kFirst));
    } catch (const std::bad_alloc&) {
      return false;
    }
    for (size_t i = before; i < groups_.size(); ++i) {
      groups_[i].next_free = static_cast<uint32_t>(i + 1);
    }
    return groups_.size() > before;
  }

  uint32_t most_;
  std::vector<OpGroup> groups_;
  uint32_t free_ = 0;  // the size: none is free
};

}  // namespace uet::prov
