// One private mapping, with advice to the kernel.
#include "keys/secret_memory.h"

#include "tss/cipher.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace uet::keys {

SecretMemory::SecretMemory(size_t bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  mapped_bytes_ = (bytes + page - 1) / page * page;
  void* const memory =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  octets_ = {static_cast<std::byte*>(memory), bytes};
  is_undumped_ = madvise(memory, mapped_bytes_, MADV_DONTDUMP) == 0;
  is_wiped_on_fork_ = madvise(memory, mapped_bytes_, MADV_WIPEONFORK) == 0;
  is_locked_ = mlock(memory, mapped_bytes_) == 0;
}

SecretMemory::~SecretMemory() {
  tss::wipe(octets_);
  munmap(octets_.data(), mapped_bytes_);
}

}  // namespace uet::keys
