// Proof that no backend takes memory from the heap for a packet. A separate program, because it
// counts every allocation of the process.
#include "io/fault/faulty.h"
#include "io/simnet/simnet.h"
#include "io/tap/pcap_tap.h"
#include "io/test/xdp_testing.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

namespace {
uint64_t allocations = 0;
}  // namespace

void* operator new(size_t bytes) {
  ++allocations;
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
void* operator new[](size_t bytes) { return ::operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

namespace uet::io {
namespace {

// Rounds of a batch there and everything back out, on backends that are set up.
uint64_t exchange(PacketIo& from, PacketIo& to, SimNet* net, int rounds, uint16_t packets = 40) {
  static TxBatch batch;
  static char payload[1000];
  uint64_t received = 0;
  for (int round = 0; round < rounds; ++round) {
    batch.clear();
    for (uint16_t i = 0; i < packets; ++i) {
      batch.begin();
      batch.add_payload(payload, i % 7 == 0 ? 500 : 1000);
      batch.commit(64, to.local_address(), Entropy(i / 8), 8, Ecn::ect0);
    }
    from.send(batch.packets());
    if (net != nullptr) net->advance(net->now() + Duration::milliseconds(1));
    for (auto got = to.receive(); !got.empty(); got = to.receive()) received += got.size();
    (void)from.path_errors();
    (void)to.path_errors();
  }
  return received;
}

TEST(IoNoHeapTest, SimulatedPacketsCostNoAllocation) {
  SimNet net(1);
  const auto a = net.attach(ipv4(1));
  const auto b = net.attach(ipv4(2));
  net.set_plan(
      *parse_fault_plan("loss=0.1,dup=0.1,reorder=0.1,corrupt=0.1,delay=5us,jitter=5us,"
                        "rate=10g,queue=20k,ecn=5k"));
  const uint64_t before = allocations;
  EXPECT_GT(before, 0u);  // they are being counted
  EXPECT_GT(exchange(*a, *b, &net, 100), 1000u);
  EXPECT_EQ(allocations, before);
}

TEST(IoNoHeapTest, PacketsThroughSocketsCostNoAllocation) {
  for (const auto& [offload, mover] :
       {std::pair(true, Mover::calls), std::pair(false, Mover::calls), std::pair(true, Mover::ring),
        std::pair(false, Mover::ring)}) {
    if (mover == Mover::ring && !why_no_ring().empty()) continue;
    UdpOptions options = at(ipv4(1), mover);
    options.gso = options.gro = offload;
    const auto a = open(options);
    options.local = ipv4(2);
    const auto b = open(options);
    const uint64_t before = allocations;
    EXPECT_GT(exchange(*a, *b, nullptr, 100), 1000u);
    EXPECT_EQ(allocations, before);
  }
}

using XdpNoHeapTest = XdpTest;

TEST_F(XdpNoHeapTest, FramesCostNoAllocation) {
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  const uint64_t before = allocations;
  EXPECT_GT(exchange(*a, *b, nullptr, 500, 4), 1500u);
  EXPECT_EQ(allocations, before);
  EXPECT_GT(b->rx_counters().frames, 1500u);
}

TEST(IoNoHeapTest, DecoratorsCostNoAllocation) {
  const auto receiver = open(at(ipv4(2)));
  std::unique_ptr<PacketIo> inner = open(at(ipv4(1)));
  inner = std::make_unique<FaultyIo>(
      std::move(inner), *parse_fault_plan("loss=0.1,dup=0.1,reorder=0.1,corrupt=0.1"), 1);
  std::string error;
  const auto outer = PcapTap::open(inner, "/dev/null", {"lo", ""}, &error);
  ASSERT_TRUE(outer) << error;
  const uint64_t before = allocations;
  EXPECT_GT(exchange(*outer, *receiver, nullptr, 100), 1000u);
  EXPECT_EQ(allocations, before);
}

}  // namespace
}  // namespace uet::io
