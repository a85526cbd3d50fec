// No memory is taken on the data path: two endpoints move messages of every kind, and the allocator
// of this process counts.
#include "tools/perf/pair.h"

#include <gtest/gtest.h>

#include <sys/types.h>

#include <cstdlib>
#include <new>

namespace {
uint64_t allocations = 0;
}

// Arenas map zeroed pages: this program is linked with --wrap=mmap.
extern "C" {
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset);
void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  ++allocations;
  return __real_mmap(at, bytes, protection, flags, fd, offset);
}
}

[[gnu::noinline]] void* operator new(size_t bytes) {
  ++allocations;
  void* p = std::malloc(bytes);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
[[gnu::noinline]] void* operator new[](size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace uet::perf {
namespace {

class DataPathTest : public ::testing::TestWithParam<uint32_t> {};

TEST_P(DataPathTest, TakesNoMemory) {
  Pair pair(fep::Config{}, GetParam());
  pair.write(100'000, 2);  // opens every context
  pair.tagged(100'000, 2);
  const uint64_t before = allocations;
  uint64_t packets = 0;
  for (const uint64_t bytes :
       {uint64_t{0}, uint64_t{1}, uint64_t{64}, uint64_t{4096}, uint64_t{1'000'000}}) {
    packets += pair.write(bytes, 3);
    packets += pair.tagged(bytes, 3);
  }
  EXPECT_EQ(allocations, before);
  EXPECT_GT(packets, GetParam() * 1000);
}

INSTANTIATE_TEST_SUITE_P(Flows, DataPathTest, ::testing::Values(1u, 16u));

// The counter counts: a test that cannot fail proves nothing.
TEST(DataPathCounterTest, SeesAnAllocation) {
  const uint64_t before = allocations;
  ::operator delete(::operator new(16));
  EXPECT_EQ(allocations, before + 1);
}

}  // namespace
}  // namespace uet::perf
