// The memory of a FabricEndpoint without a peer, and with a single peer: simulations and hosts with
// many addresses have thousands of them. With AddressSanitizer memory cannot be measured (see
// SetUp), so only the first endpoint is made, and that run stays short.
#include "fep/derive.h"
#include "fep/fabric_endpoint.h"
#include "sim/world/stations.h"

#include "base/zero_pages.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <vector>

namespace uet::fep {
namespace {

constexpr size_t kEndpoints = 10'000;
constexpr size_t kIdleBytesMax = 50'000;      // so all of them fit into 500 MB
constexpr size_t kServingBytesMax = 400'000;  // with one peer

FabricAddress idle_host(uint8_t host) { return FabricAddress::v4(0x0A000000U | host); }

// Memory of this process, in octets. The system counts the pages one by one for this file; statm
// may be late by some pages of each processor.
size_t resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/smaps_rollup", "r");
  if (file == nullptr) return 0;
  size_t kilobytes = 0;
  char line[256];
  while (std::fgets(line, sizeof line, file) != nullptr) {
    if (std::sscanf(line, "Rss: %zu kB", &kilobytes) == 1) break;
  }
  std::fclose(file);
  return kilobytes * 1024;
}

std::unique_ptr<FabricEndpoint> made(uint8_t host) {
  Config config;
  derive(config);
  auto fep = FabricEndpoint::create(config, idle_host(host), host);
  return fep.ok() ? std::move(*fep) : nullptr;
}

class IdleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kGuardBytes != 0) {
      GTEST_SKIP() << "AddressSanitizer: guards between allocations take pages of their own";
    }
    ASSERT_NE(made(1), nullptr);  // code that the first one loads is not counted
    ASSERT_NE(resident_bytes(), 0u);
  }
};

TEST_F(IdleTest, AnIdleEndpointTakesFewPages) {
  std::vector<std::unique_ptr<FabricEndpoint>> all(kEndpoints);
  const size_t before = resident_bytes();
  for (auto& fep : all) ASSERT_NE(fep = made(1), nullptr);
  const size_t idle = resident_bytes() - before;
  std::printf("idle: %zu octets each\n", idle / kEndpoints);
  EXPECT_LE(idle, kEndpoints * kIdleBytesMax);
  EXPECT_GE(idle, kEndpoints * sizeof(FabricEndpoint)) << "pages are not counted";
}

// Pairs of endpoints with an application each, which know each other.
class ServingTest : public IdleTest {
 protected:
  static constexpr uint8_t kPairs = 50;

  struct Side {
    std::unique_ptr<FabricEndpoint> fep;
    ses::EndpointId endpoint;
    PeerId peer;
    uint32_t completions = 0;
  };

  void open(Side& side, uint8_t host, uint8_t other) {
    ASSERT_NE(side.fep = made(host), nullptr);
    ses::CompletionSink sink;
    sink.owner = &side;
    sink.reserve = [](void*) { return true; };
    sink.complete = [](void* me, const ses::Completion& c) {
      if (c.ok()) ++static_cast<Side*>(me)->completions;
    };
    const ses::EndpointName name{JobId(1), PidOnFep(1), ResourceIndex(1), 1, false};
    const auto endpoint = side.fep->ses().open_endpoint(name, {}, sink, sink);
    const auto peer = side.fep->peers().find_or_add(idle_host(other), stations_.now());
    ASSERT_TRUE(endpoint.ok() && peer.ok());
    side.endpoint = *endpoint;
    side.peer = *peer;
    stations_.add(*side.fep, idle_host(host));
  }
  // A message from one to the other, which waits for it.
  void exchange(Side& sender, Side& receiver) {
    const IoSlice payload{payload_.data(), payload_.size()};
    const IoSlice room{room_.data(), room_.size()};
    ses::ReceiveRequest receive;
    receive.iov = {&room, 1};
    ASSERT_TRUE(receiver.fep->ses().receive(receiver.endpoint, receive, stations_.now()).ok());
    ses::SendRequest send;
    send.to = {sender.peer, PidOnFep(1), ResourceIndex(1), 1, false};
    send.iov = {&payload, 1};
    ASSERT_TRUE(sender.fep->ses().send(sender.endpoint, send, stations_.now()).ok());
    stations_.run_until(stations_.now() + Duration::microseconds(50),
                        [](TxPacket&, sim::Datagram&) -> sim::Fate { return {1_us}; });
  }

  sim::Stations<FabricEndpoint> stations_{Instant::from_ns(1'000'000'000)};
  std::array<Side, 2 * kPairs> sides_;
  std::array<std::byte, 1024> payload_{};
  std::array<std::byte, 1024> room_{};
};

TEST_F(ServingTest, OnePeerTakesLittleMore) {
  constexpr uint32_t kMessages = 20;
  const size_t before = resident_bytes();
  for (uint8_t i = 0; i < sides_.size(); ++i) open(sides_[i], i, i ^ 1);
  for (uint8_t i = 0; i < sides_.size(); i += 2) {
    Side& a = sides_[i];
    Side& b = sides_[i + 1u];
    for (uint32_t j = 0; j < kMessages / 2; ++j) {
      exchange(a, b);
      exchange(b, a);
    }
    ASSERT_EQ(a.completions, kMessages);
    ASSERT_EQ(b.completions, kMessages);
    ASSERT_EQ(a.fep->pds().open_pdcs(), 2u) << "one in each direction";
  }
  const size_t each = (resident_bytes() - before) / sides_.size();
  std::printf("with one peer: %zu octets each\n", each);
  EXPECT_LE(each, kServingBytesMax);
}

}  // namespace
}  // namespace uet::fep
