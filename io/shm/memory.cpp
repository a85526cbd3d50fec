// memfd_create, seals and mmap.
#include "io/shm/memory.h"

#include "io/shm/ring.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

namespace uet::io {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

// A file beyond the limit of the process would end it by a signal.
bool is_allowed_size() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur >= kShmRingBytes;
}

std::byte* map_whole(int fd) {
  void* const at = ::mmap(nullptr, kShmRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) return nullptr;
  // A child has no use for it, and would keep it alive.
  (void)::madvise(at, kShmRingBytes, MADV_DONTFORK);
  return static_cast<std::byte*>(at);
}

}  // namespace

ShmMemory::~ShmMemory() {
  if (memory_ != nullptr) ::munmap(memory_, kShmRingBytes);
}

ShmMemory ShmMemory::make(Fd& descriptor) {
  ShmMemory made;
  if (!is_allowed_size()) {
    errno = EFBIG;
    return made;
  }
  descriptor = Fd(::memfd_create("uet-ring", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!descriptor || ::ftruncate(descriptor.get(), kShmRingBytes) != 0 ||
      ::fcntl(descriptor.get(), F_ADD_SEALS, kSeals) != 0) {
    return made;
  }
  made.memory_ = map_whole(descriptor.get());
  return made;
}

ShmMemory ShmMemory::map(const Fd& descriptor) {
  ShmMemory mapped;
  const int seals = ::fcntl(descriptor.get(), F_GET_SEALS);
  struct stat status {};
  struct statfs file_system {};
  const bool is_ours = seals >= 0 && (seals & kSeals) == kSeals &&
                       ::fstat(descriptor.get(), &status) == 0 &&
                       status.st_size == static_cast<off_t>(kShmRingBytes) &&
                       ::fstatfs(descriptor.get(), &file_system) == 0 &&
                       file_system.f_type == TMPFS_MAGIC;  // huge pages may run out later
  if (is_ours) mapped.memory_ = map_whole(descriptor.get());
  return mapped;
}

}  // namespace uet::io
