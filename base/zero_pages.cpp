// Address space by mmap, and the shadow of it that AddressSanitizer keeps.
#include "base/zero_pages.h"

#include <sys/mman.h>

#include <cstdint>

#ifdef UET_GUARDS
#include <sanitizer/asan_interface.h>
#endif

namespace uet {

void* reserve_zero_pages(size_t bytes) {
  if (bytes == 0 || bytes > SIZE_MAX / 2) return nullptr;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  // An error says that the kernel knows no huge pages.
  (void)::madvise(memory, bytes, MADV_NOHUGEPAGE);
  return memory;
}

void release_zero_pages(void* memory, size_t bytes) { (void)::munmap(memory, bytes); }

#ifdef UET_GUARDS
void forbid_use(void* memory, size_t bytes) { ASAN_POISON_MEMORY_REGION(memory, bytes); }
void allow_use(void* memory, size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(memory, bytes); }
#endif

}  // namespace uet
