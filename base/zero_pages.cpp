// Address space by mmap, and its shadow in AddressSanitizer.
#include "base/zero_pages.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdint>

#ifdef UET_GUARDS
#include <sanitizer/asan_interface.h>
#endif

namespace uet {

namespace {

// mlockall(MCL_FUTURE) was called: usable memory would be filled with pages at once. The kernel
// refuses to drop locked pages, but there are none yet.
bool is_locked(void* memory) {
  return ::madvise(memory, kPageBytes, MADV_DONTNEED) != 0 && errno == EINVAL;
}

}  // namespace

void* reserve_addresses(size_t bytes) {
  if (bytes == 0 || bytes > SIZE_MAX / 2) return nullptr;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // An error says that the kernel knows no huge pages.
  (void)::madvise(memory, bytes, MADV_NOHUGEPAGE);
  // A kernel without MLOCK_ONFAULT (before 4.4) can only lock all of it or none.
  if (is_locked(memory) && ::mlock2(memory, bytes, MLOCK_ONFAULT) != 0) ::munlock(memory, bytes);
  return memory;
}

bool commit_zero_pages(void* first, size_t bytes) {
  return ::mprotect(first, bytes, PROT_READ | PROT_WRITE) == 0;
}

void* reserve_zero_pages(size_t bytes) {
  void* const memory = reserve_addresses(bytes);
  if (memory == nullptr || commit_zero_pages(memory, bytes)) return memory;
  release_zero_pages(memory, bytes);
  return nullptr;
}

void release_zero_pages(void* memory, size_t bytes) { (void)::munmap(memory, bytes); }

#ifdef UET_GUARDS
void forbid_use(void* memory, size_t bytes) { ASAN_POISON_MEMORY_REGION(memory, bytes); }
void allow_use(void* memory, size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(memory, bytes); }
#endif

}  // namespace uet
