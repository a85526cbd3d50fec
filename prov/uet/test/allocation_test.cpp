// Nothing is allocated once everything is open: messages, reads, writes and completions in both
// directions cost no heap. [performance.md]
#include "prov/uet/test/node.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<uint64_t> allocations{0};
}

// Arenas of the provider map zeroed pages by mmap, which is this program's, too; so is calloc.
extern "C" {
void* __libc_calloc(size_t count, size_t bytes);
void* calloc(size_t count, size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_calloc(count, bytes);
}
#ifndef __SANITIZE_THREAD__  // which must see every mapping
void* mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  const long mapped = syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
  return reinterpret_cast<void*>(mapped);  // -1, which is MAP_FAILED: an error
}
#endif
}

// The provider is loaded into this program, so its operator new is this one. Not inlined, because
// the compiler would give a false warning of a mismatch.
[[gnu::noinline]] void* operator new(size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace uet::prov::test {
namespace {

class AllocationTest : public PairTest {};

TEST_F(AllocationTest, DataPathAllocatesNothing) {
  open();
  fi_cq_attr attr{};
  fid_cq* extra = nullptr;
  const uint64_t before_open = allocations.load();
  ASSERT_EQ(fi_cq_open(a->domain, &attr, &extra, nullptr), 0);
  ASSERT_GT(allocations.load(), before_open) << "the provider's allocations are not seen";
  ASSERT_EQ(fi_close(&extra->fid), 0);

  std::vector<uint8_t> from = pattern(100000, 1);
  std::vector<uint8_t> to(100000);
  fid_mr* region = b->registered(to.data(), to.size(), FI_REMOTE_READ | FI_REMOTE_WRITE, 3);
  const uint64_t key = fi_mr_key(region);
  const auto read_all = [&](fid_cq* cq) {
    fi_cq_tagged_entry entry{};
    ssize_t rc = -FI_EAGAIN;
    while (rc == -FI_EAGAIN) {
      fi_cq_read(a->rx_cq, nullptr, 0);
      fi_cq_read(b->rx_cq, nullptr, 0);
      rc = fi_cq_read(cq, &entry, 1);
    }
    return rc;
  };
  const auto round = [&](size_t size) {
    ASSERT_EQ(fi_trecv(b->ep, to.data(), size, nullptr, FI_ADDR_UNSPEC, 1, 0, nullptr), 0);
    ASSERT_EQ(fi_tsend(a->ep, from.data(), size, nullptr, to_b, 1, nullptr), 0);
    ASSERT_EQ(read_all(b->rx_cq), 1);
    ASSERT_EQ(read_all(a->tx_cq), 1);
    ASSERT_EQ(fi_send(b->ep, from.data(), size, nullptr, to_a, nullptr), 0);  // comes unexpected
    fi_cq_read(a->rx_cq, nullptr, 0);
    ASSERT_EQ(fi_recv(a->ep, to.data(), size, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    ASSERT_EQ(read_all(a->rx_cq), 1);
    ASSERT_EQ(read_all(b->tx_cq), 1);
    ASSERT_EQ(fi_write(a->ep, from.data(), size, nullptr, to_b, 0, key, nullptr), 0);
    ASSERT_EQ(read_all(a->tx_cq), 1);
    ASSERT_EQ(fi_read(a->ep, from.data(), size, nullptr, to_b, 0, key, nullptr), 0);
    ASSERT_EQ(read_all(a->tx_cq), 1);
  };
  constexpr size_t kSizes[] = {0, 64, 256, 4096, 100000};
  // Long enough for both sides to agree on shared memory. [decision 21]
  for (int warm_up = 0; warm_up < 10; ++warm_up) {
    for (const size_t size : kSizes) round(size);
  }
  const uint64_t before = allocations.load();
  for (int i = 0; i < 50; ++i) {
    for (const size_t size : kSizes) round(size);
  }
  EXPECT_EQ(allocations.load() - before, 0u);
  EXPECT_EQ(fi_close(&region->fid), 0);
}

}  // namespace
}  // namespace uet::prov::test
