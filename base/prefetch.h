// Prefetching: cache lines are asked for ahead of their use. Loops over many contexts know which
// one comes next while they still work on another: prefetched then, its state is there in its turn.
#pragma once

#include <algorithm>
#include <cstddef>

namespace uet {

inline constexpr size_t kLineBytes = 64;

// The first `bytes` octets from `at`; nothing happens for null.
inline void prefetch(const void* at, size_t bytes) {
  if (at == nullptr) return;
  const char* const first = static_cast<const char*>(at);
  for (size_t offset = 0; offset < bytes; offset += kLineBytes) __builtin_prefetch(first + offset);
  // Without it a function that only prefetches has no effect for GCC, and its calls are left out.
  asm volatile("");
}

// From one member of an object up to a later one, a page at most.
inline void prefetch_between(const void* first, const void* end) {
  const auto bytes = static_cast<const char*>(end) - static_cast<const char*>(first);
  prefetch(first, static_cast<size_t>(std::clamp<ptrdiff_t>(bytes, 0, 4096)));
}

}  // namespace uet
