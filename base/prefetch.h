// Asking for cache lines ahead of their use. Loops over many contexts know which one comes next
// while they still work on another: asked for then, its state is there when its turn comes.
#pragma once

#include <cstddef>

namespace uet {

// The first `bytes` octets from `at`; nothing happens for null.
inline void prefetch(const void* at, size_t bytes) {
  constexpr size_t kLine = 64;
  if (at == nullptr) return;
  const char* const first = static_cast<const char*>(at);
  for (size_t offset = 0; offset < bytes; offset += kLine) __builtin_prefetch(first + offset);
}

}  // namespace uet
