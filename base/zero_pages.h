// Zeroed memory that costs nothing before its first use: addresses are reserved, and the kernel
// gives a page at the first write to it. Pools and tables have their full size from the start, each
// as one array, and only used pages take memory.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define UET_GUARDS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define UET_GUARDS 1
#endif
#endif

namespace uet {

inline constexpr size_t kPageBytes = 4096;

// `bytes` of memory, all zero, that begin on a page. They are private to the process, need no swap
// space (MAP_NORESERVE) and are never huge pages, where one used octet takes 2 MiB. In a process
// that locks its future memory (mlockall) each page is locked at its first use. Null when the
// system has no more addresses, or does not overcommit memory and has none left.
[[nodiscard]] void* reserve_zero_pages(size_t bytes);

// Reserves addresses only, which no system counts as memory. Call commit_zero_pages() before the
// first access. Null when the system has no more addresses.
[[nodiscard]] void* reserve_addresses(size_t bytes);

// Makes whole pages of reserved addresses usable; `first` is the start of one. They count as memory
// from here on where the system does not overcommit. False: it has none left; nothing was changed.
[[nodiscard]] bool commit_zero_pages(void* first, size_t bytes);

// Gives back all memory that one of the first two functions returned for `bytes` octets.
void release_zero_pages(void* memory, size_t bytes);

// Call it before the first use of `bytes` octets of zeros: an instruction that reads before it
// writes would otherwise cause two page faults for each page.
inline void write_first(void* memory, size_t bytes) {
  auto* const octets = static_cast<volatile char*>(memory);
  for (size_t at = 0; at < bytes; at += kPageBytes) octets[at] = 0;
  octets[bytes - 1] = 0;
}

// With AddressSanitizer, which does not know the allocations in mapped memory, kGuardBytes octets
// between two allocations are forbidden. Allow them again before the memory is given back.
#ifdef UET_GUARDS
inline constexpr size_t kGuardBytes = 64;
void forbid_use(void* memory, size_t bytes);
void allow_use(void* memory, size_t bytes);
#else
inline constexpr size_t kGuardBytes = 0;
inline void forbid_use(void*, size_t) {}
inline void allow_use(void*, size_t) {}
#endif

}  // namespace uet
