// Proof that sealing and opening take nothing from the heap, and that OpenSSL does not either. A
// separate program, because it counts every allocation of the process. [TSS-137]
#include "tss/test/end.h"

#include <openssl/crypto.h>

#include <cstdlib>
#include <new>

namespace {

uint64_t allocations = 0;

void* count_malloc(size_t bytes, const char*, int) {
  ++allocations;
  return std::malloc(bytes);
}
void* count_realloc(void* memory, size_t bytes, const char*, int) {
  ++allocations;
  return std::realloc(memory, bytes);
}
void plain_free(void* memory, const char*, int) { std::free(memory); }

// Before OpenSSL allocates for the first time.
const bool is_counting = CRYPTO_set_mem_functions(count_malloc, count_realloc, plain_free) == 1;

}  // namespace

void* operator new(size_t bytes) {
  ++allocations;
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace uet::tss::test {
namespace {

// [TSS-137] Keys that are ready, keys that are derived, forged packets, and a rollover.
TEST(NoHeapTest, NothingIsAllocatedForAPacket) {
  ASSERT_TRUE(is_counting);
  End a, b;
  for (End* end : {&a, &b}) {
    end->add(terms_of(Mode::cluster));
    end->take(key_with(Mode::cluster, 0x11));
  }
  ASSERT_GT(allocations, 0u);
  const Octets octets = content(1000);
  const IoSlice slices[] = {{octets.data() + 12, octets.size() - 12}};
  Octets room(octets.size() + kSealBytesMax);
  const auto send = [&](uint8_t host, bool is_forged) {
    const Route route = udp_route(v4(host), v4(2));
    ClearPacket packet{.header = std::span(octets).first(12),
                       .payload = slices,
                       .sdi = kSdi,
                       .route = route,
                       .client_ssi = {},
                       .room = room};
    bool is_right = a.sealer.seal(packet, kBegin);
    const auto sealed = std::span(room).first(packet.sealed_bytes);
    if (is_forged) sealed.back() ^= std::byte{1};
    is_right = is_right && b.opener.unseal(sealed, route, kBegin).ok() != is_forged;
    return is_right;
  };
  const Key next = key_with(Mode::cluster, 0x22, true);
  send(1, true);  // the error queue of the thread is made once
  const uint64_t before = allocations;
  bool is_right = true;
  for (uint32_t i = 0; i < 1000; ++i) {
    is_right = is_right && send(static_cast<uint8_t>(1 + i % 20), i % 7 == 0);
  }
  for (End* end : {&a, &b}) {
    is_right = is_right && end->domains.install(next, kBegin).ok();
    is_right = is_right && end->domains.find(kSdi)->transmit_with(true, kBegin).ok();
    end->domains.find(kSdi)->grant(true, 0, 100);
  }
  is_right = is_right && send(3, false);
  EXPECT_EQ(allocations, before);
  EXPECT_TRUE(is_right);
}

}  // namespace
}  // namespace uet::tss::test
