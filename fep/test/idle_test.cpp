// What a FabricEndpoint costs that nobody talks to: simulations and hosts with many addresses have
// thousands of them.
#include "fep/fabric_endpoint.h"
#include "fep/parameters.h"

#include <gtest/gtest.h>

namespace uet::fep {
namespace {

// 10,000 idle ones fit into 500 MB.
constexpr size_t kIdleBytesMax = 500'000'000 / 10'000;

FabricAddress address() {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv4;
  a.ip = {10, 0, 0, 1};
  return a;
}

TEST(IdleEndpoint, TakesMemoryForItselfOnly) {
  Config config;
  settle(config);
  const auto fep = FabricEndpoint::create(config, address(), 1);
  ASSERT_TRUE(fep.ok());
  EXPECT_LE((*fep)->memory_bytes() + sizeof(FabricEndpoint), kIdleBytesMax);
}

TEST(IdleEndpoint, AnOpenEndpointAndAPeerChangeLittle) {
  Config config;
  settle(config);
  const auto fep = FabricEndpoint::create(config, address(), 1);
  ASSERT_TRUE(fep.ok());
  ses::CompletionSink sink;
  sink.complete = [](void*, const ses::Completion&) {};
  sink.reserve = [](void*) { return true; };
  const ses::EndpointName name{JobId(1), PidOnFep(1), ResourceIndex(1), 1, false};
  ASSERT_TRUE((*fep)->ses().open_endpoint(name, {}, sink, sink).ok());
  FabricAddress peer = address();
  peer.ip[3] = 2;
  ASSERT_TRUE((*fep)->peers().find_or_add(peer, Instant::from_ns(1)).ok());
  EXPECT_LE((*fep)->memory_bytes() + sizeof(FabricEndpoint), kIdleBytesMax);
}

// The settings are bounds of what may be in use, not of what is taken.
TEST(IdleEndpoint, LargeSettingsTakeNoMoreMemory) {
  Config small;
  settle(small);
  Config large = small;
  large.pds.max_pdcs = 60'000;
  large.pds.gd_entries = 1'000'000;
  large.ses.unexpected_bytes = uint64_t{4} << 30;
  large.ses.unexpected_messages = 1'000'000;
  const auto few = FabricEndpoint::create(small, address(), 1);
  const auto many = FabricEndpoint::create(large, address(), 1);
  ASSERT_TRUE(few.ok());
  ASSERT_TRUE(many.ok());
  EXPECT_EQ((*few)->memory_bytes(), (*many)->memory_bytes());
}

}  // namespace
}  // namespace uet::fep
