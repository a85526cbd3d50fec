// What a FabricEndpoint costs that nobody talks to, and one that serves a single peer: simulations
// and hosts with many addresses have thousands of them.
#include "fep/fabric_endpoint.h"
#include "fep/settle.h"
#include "fep/test/outbox.h"

#include "base/zero_pages.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>
#include <vector>

namespace uet::fep {
namespace {

constexpr size_t kEndpoints = 1'000;
constexpr size_t kIdleBytesMax = 50'000;      // 10,000 of them fit into 500 MB
constexpr size_t kServingBytesMax = 400'000;  // with one peer

FabricAddress address(uint8_t host) {
  FabricAddress a;
  a.family = FabricAddress::Family::ipv4;
  a.ip = {10, 0, 0, host};
  return a;
}

// Of this process, in octets.
size_t resident_bytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  size_t all = 0;
  size_t resident = 0;
  const bool is_read = std::fscanf(file, "%zu %zu", &all, &resident) == 2;
  std::fclose(file);
  return is_read ? resident * kPageBytes : 0;
}

std::unique_ptr<FabricEndpoint> made(uint8_t host) {
  Config config;
  settle(config);
  auto fep = FabricEndpoint::create(config, address(host), host);
  return fep.ok() ? std::move(*fep) : nullptr;
}

class IdleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kGuardBytes != 0) GTEST_SKIP() << "guards take pages";
    ASSERT_NE(made(1), nullptr);  // what the first one loads is not counted
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

// Two endpoints with an application each, which know each other.
struct Pair {
  struct Side {
    std::unique_ptr<FabricEndpoint> fep;
    ses::EndpointId endpoint;
    PeerId peer;
    uint32_t completions = 0;
  };
  std::array<Side, 2> sides;

  bool open(Instant now) {
    for (uint8_t i = 0; i < 2; ++i) {
      Side& side = sides[i];
      side.fep = made(i);
      if (side.fep == nullptr) return false;
      ses::CompletionSink sink;
      sink.owner = &side;
      sink.reserve = [](void*) { return true; };
      sink.complete = [](void* me, const ses::Completion& c) {
        if (c.ok()) ++static_cast<Side*>(me)->completions;
      };
      const ses::EndpointName name{JobId(1), PidOnFep(1), ResourceIndex(1), 1, false};
      const auto endpoint = side.fep->ses().open_endpoint(name, {}, sink, sink);
      const auto peer = side.fep->peers().find_or_add(address(1 - i), now);
      if (!endpoint.ok() || !peer.ok()) return false;
      side.endpoint = *endpoint;
      side.peer = *peer;
    }
    return true;
  }
};

class ServingTest : public IdleTest {
 protected:
  // A message from one to the other, which waits for it.
  void exchange(Pair& pair, uint8_t from) {
    Pair::Side& sender = pair.sides[from];
    Pair::Side& receiver = pair.sides[1 - from];
    const IoSlice payload{payload_.data(), payload_.size()};
    const IoSlice room{room_.data(), room_.size()};
    ses::ReceiveRequest receive;
    receive.iov = {&room, 1};
    ASSERT_TRUE(receiver.fep->ses().receive(receiver.endpoint, receive, now_).ok());
    ses::SendRequest send;
    send.to = {sender.peer, PidOnFep(1), ResourceIndex(1), 1, false};
    send.iov = {&payload, 1};
    ASSERT_TRUE(sender.fep->ses().send(sender.endpoint, send, now_).ok());
    for (int i = 0; i < 4; ++i) {
      carry(sender, receiver, from);
      carry(receiver, sender, 1 - from);
      now_ = now_ + Duration::microseconds(10);
      for (Pair::Side& side : pair.sides) side.fep->advance(now_);
    }
  }
  void carry(Pair::Side& from, Pair::Side& to, uint8_t host) {
    outbox_.empty(*from.fep, now_, 4, [&](const TxPacket& p, std::vector<std::byte>& octets) {
      RxDatagram d;
      d.bytes = octets;
      d.from = address(host);
      d.ev = p.ev;
      d.at = now_;
      to.fep->receive({&d, 1}, now_);
    });
  }

  Instant now_ = Instant::from_ns(1'000'000'000);
  std::array<std::byte, 1024> payload_{};
  std::array<std::byte, 1024> room_{};
  test::Outbox outbox_;
};

TEST_F(ServingTest, OnePeerTakesLittleMore) {
  constexpr size_t kPairs = 50;
  constexpr uint32_t kMessages = 20;
  std::vector<Pair> pairs(kPairs);
  const size_t before = resident_bytes();
  for (Pair& pair : pairs) {
    ASSERT_TRUE(pair.open(now_));
    for (uint32_t i = 0; i < kMessages; ++i) exchange(pair, i % 2);
    for (const Pair::Side& side : pair.sides) {
      ASSERT_EQ(side.completions, kMessages);
      ASSERT_EQ(side.fep->pds().open_pdcs(), 2u) << "one in each direction";
    }
  }
  const size_t each = (resident_bytes() - before) / (2 * kPairs);
  std::printf("with one peer: %zu octets each\n", each);
  EXPECT_LE(each, kServingBytesMax);
}

}  // namespace
}  // namespace uet::fep
