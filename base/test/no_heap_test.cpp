// Proof that the containers and timers take nothing from the heap once they are set up. A separate
// program, because it counts every allocation of the process.
#include "base/arena.h"
#include "base/bitmap.h"
#include "base/hash_map.h"
#include "base/ring.h"
#include "base/ring_bitmap.h"
#include "base/rng.h"
#include "base/slab.h"
#include "base/timer_wheel.h"

#include <gtest/gtest.h>

#include <sys/types.h>

#include <cstdio>
#include <cstdlib>
#include <new>

namespace {
uint64_t allocations = 0;

void* counted(size_t bytes, size_t align) {
  ++allocations;
  void* const memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (memory == nullptr) std::abort();
  return memory;
}
}  // namespace

// The arena maps zeroed pages: this program is linked with --wrap=mmap.
extern "C" {
void* __real_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset);
void* __wrap_mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t offset) {
  ++allocations;
  return __real_mmap(at, bytes, protection, flags, fd, offset);
}
}

void* operator new(size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(size_t bytes, std::align_val_t align) {
  return counted(bytes, static_cast<size_t>(align));
}
void* operator new(size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<size_t>(align));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }

namespace uet {
namespace {

struct Connection {
  explicit Connection(uint32_t its_id) : id(its_id) {}
  uint32_t id;
  TimerNode timer;
};

struct Stack {
  Arena arena;
  Slab<Connection> connections;
  HashMap<uint32_t, Handle<Connection>> by_id;
  Ring<uint32_t> ring;
  Bitmap bitmap;
  RingBitmap window;
  TimerWheel wheel;
  uint64_t fired = 0;

  bool create() {
    return connections.create(arena, 64).ok() && by_id.create(arena, 64, 1).ok() &&
           ring.create(arena, 64).ok() && bitmap.create(arena, 64).ok() &&
           window.create(arena, 1024).ok();
  }

  void step(Rng& rng, Instant now) {
    const auto id = static_cast<uint32_t>(rng.below(128));
    if (const Handle<Connection>* const known = by_id.find(id)) {
      connections.free(connections.get(*known));
      by_id.erase(id);
    } else if (Connection* const fresh = connections.alloc(id)) {
      UET_ASSERT(by_id.insert(id, connections.handle(fresh)).ok());
      wheel.arm(fresh->timer, now + Duration::microseconds(static_cast<int64_t>(rng.below(99))));
    }
    if (ring.full()) ring.pop_front();
    ring.push(id);
    bitmap.set(id % 64);
    window.set(static_cast<uint32_t>(rng.below(80)));
    window.advance(window.leading_ones());
    wheel.expire(now, [&](TimerNode& n) {
      wheel.arm(n, now + 10_us);
      ++fired;
    });
  }
};

TEST(NoHeapTest, NothingIsAllocatedAfterSetUp) {
  std::printf("seed 8\n");
  Rng rng(8);
  const uint64_t at_start = allocations;
  Stack stack;
  EXPECT_EQ(allocations, at_start);
  ASSERT_TRUE(stack.create());
  EXPECT_GT(allocations, at_start);
  stack.arena.seal();

  const uint64_t after_set_up = allocations;
  for (int i = 0; i < 20000; ++i) stack.step(rng, Instant::zero() + Duration::microseconds(i));
  EXPECT_EQ(allocations, after_set_up);
  EXPECT_GT(stack.fired, 1000u);
}

}  // namespace
}  // namespace uet
