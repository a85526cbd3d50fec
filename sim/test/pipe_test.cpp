// Two stations joined by a pipe.
#include "sim/world/pipe.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace uet::sim {
namespace {

constexpr Instant kStart = Instant::from_ns(1'000);

FabricAddress address(uint8_t number) { return FabricAddress::v4(0x0A000000U | number); }

// Sends numbers, one packet each, with a given length of payload.
struct Talker {
  FabricAddress to;
  std::vector<std::byte> payload;
  std::vector<uint8_t> waiting;
  std::vector<uint8_t> received;
  std::vector<FabricAddress> sources;
  std::vector<size_t> sizes;
  Instant deadline = Instant::never();

  uint32_t transmit(TxBatch& batch, Instant) {
    uint32_t count = 0;
    for (const uint8_t number : std::exchange(waiting, {})) {
      batch.begin()[0] = static_cast<std::byte>(number);
      batch.add_payload(payload.data(), static_cast<uint32_t>(payload.size()));
      batch.commit(1, to, Entropy(7), 8, Ecn::ect0);
      ++count;
    }
    return count;
  }
  void receive(std::span<RxDatagram> datagrams, Instant) {
    for (const RxDatagram& d : datagrams) {
      received.push_back(static_cast<uint8_t>(d.bytes[0]));
      sources.push_back(d.from);
      sizes.push_back(d.bytes.size());
    }
  }
  void advance(Instant) {
    deadline = Instant::never();
    waiting.push_back(99);
  }
  Instant next_deadline() const { return deadline; }
};

TEST(PipeTest, PacketsArriveInTheirOrderWithTheirLength) {
  Talker a, b;
  a.to = address(2);
  a.payload.resize(40);
  a.waiting = {1, 2, 3};
  b.to = address(1);
  b.waiting = {4};
  Pipe<Talker> pipe(kStart);
  pipe.join(a, b);
  const auto other = [](FabricAddress to) {
    to.ip[3] ^= 3;
    return to;
  };
  pipe.run_until([&] { return a.received.size() == 1 && b.received.size() == 3; }, other);
  EXPECT_EQ(b.received, (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_EQ(b.sizes, std::vector<size_t>(3, 41));
  EXPECT_EQ(b.sources, std::vector(3, address(1)));
  EXPECT_EQ(a.received, std::vector<uint8_t>{4});
  EXPECT_EQ(a.sizes, std::vector<size_t>{1});
  EXPECT_EQ(pipe.moved(), 4u);
  EXPECT_EQ(pipe.requests(), 3u);
  EXPECT_EQ(pipe.now(), kStart + Duration::nanoseconds(1000 + 3 * 300));
}

TEST(PipeTest, TimersRunWhenTheirTimeHasCome) {
  Talker a, b;
  a.to = address(2);
  b.to = address(1);
  b.deadline = kStart + Duration::nanoseconds(1500);
  Pipe<Talker> pipe(kStart);
  pipe.join(a, b);
  pipe.run_until([&] { return !a.received.empty(); }, [](FabricAddress to) { return to; });
  EXPECT_EQ(a.received, std::vector<uint8_t>{99});
  EXPECT_EQ(pipe.now(), kStart + Duration::nanoseconds(3000));
}

}  // namespace
}  // namespace uet::sim
