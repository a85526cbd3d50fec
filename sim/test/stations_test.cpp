// Datagrams in flight and their order of arrival; and two stations that count.
#include "sim/world/stations.h"

#include <gtest/gtest.h>

#include <vector>

namespace uet::sim {
namespace {

constexpr Instant kStart = Instant::from_ns(1'000);
constexpr Duration kShort = Duration::nanoseconds(10);
constexpr Duration kLong = Duration::nanoseconds(30);

FabricAddress address(uint8_t number) { return FabricAddress::v4(0x0A000000U | number); }

TEST(TransitTest, ItemsArriveByTimeAndThenInTheOrderInWhichTheyLeft) {
  Transit<int> transit;
  EXPECT_TRUE(transit.next().is_never());
  transit.add(1, kStart + kLong);
  transit.add(2, kStart + kShort);
  transit.add(3, kStart + kShort);
  EXPECT_EQ(transit.next(), kStart + kShort);
  EXPECT_EQ(transit.take(), 2);
  EXPECT_EQ(transit.take(), 3);
  EXPECT_EQ(transit.next(), kStart + kLong);
  EXPECT_EQ(transit.take(), 1);
  EXPECT_TRUE(transit.empty());
}

TEST(TransitTest, AnyItemCanBeTakenOutOfTurn) {
  Transit<int> transit;
  for (int i = 0; i < 4; ++i) transit.add(i, kStart);
  EXPECT_EQ(transit[2], 2);
  EXPECT_EQ(transit.take(2), 2);
  EXPECT_EQ(transit.size(), 3u);
  EXPECT_EQ(transit[2], 3);
}

// Sends `waiting` octets, one a packet, to `to`, and once more at `deadline`.
struct Counter {
  FabricAddress to;
  std::vector<std::byte> waiting;
  std::vector<std::byte> received;
  std::vector<TxFate> fates;
  Instant received_at;
  Instant deadline = Instant::never();
  uint32_t advanced = 0;     // times
  uint32_t transmitted = 0;  // times

  uint32_t transmit(TxBatch& batch, Instant) {
    ++transmitted;
    uint32_t count = 0;
    for (const std::byte octet : std::exchange(waiting, {})) {
      batch.begin()[0] = octet;
      batch.commit(1, to, Entropy(7), 8, Ecn::ect0);
      ++count;
    }
    return count;
  }
  bool on_sent(const TxBatch& batch, Instant) {
    for (const TxPacket& packet : batch.packets()) fates.push_back(packet.fate);
    return false;
  }
  void end_too_long(TxBatch&, Instant) {}
  void receive(std::span<RxDatagram> datagrams, Instant now) {
    for (const RxDatagram& d : datagrams) {
      received.push_back(d.bytes[0]);
      EXPECT_EQ(d.ev, Entropy(7));
      EXPECT_EQ(d.dscp, 8);
      EXPECT_EQ(d.ecn, Ecn::ect0);
      EXPECT_EQ(d.at, now);
      received_at = now;
    }
  }
  void advance(Instant now) {
    ++advanced;
    if (now < deadline) return;
    deadline = Instant::never();
    waiting.push_back(std::byte{99});
  }
  Instant next_deadline() const { return deadline; }
};

class StationsTest : public ::testing::Test {
 protected:
  StationsTest() {
    stations_.add(a_, address(1));
    stations_.add(b_, address(2));
    a_.to = address(2);
    b_.to = address(1);
  }
  Counter a_, b_;
  Stations<Counter> stations_{kStart};
};

TEST_F(StationsTest, ADatagramArrivesAfterItsDelayAndTimersRunMeanwhile) {
  a_.waiting = {std::byte{1}};
  b_.deadline = kStart + kShort;
  stations_.run_until(kStart + kLong * 2, [](TxPacket&, Datagram&) -> Fate { return {kLong}; });
  EXPECT_EQ(b_.received, std::vector{std::byte{1}});
  EXPECT_EQ(b_.received_at, kStart + kLong);
  EXPECT_EQ(a_.received, std::vector{std::byte{99}});
  EXPECT_EQ(a_.received_at, kStart + kShort + kLong);
  EXPECT_EQ(stations_.now(), kStart + kLong * 2);
}

TEST_F(StationsTest, TheFateOfAPacketLosesRepeatsDelaysAndChangesIt) {
  a_.waiting = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  stations_.run_until(kStart + kLong, [](TxPacket&, Datagram& d) -> Fate {
    if (d.octets[0] == std::byte{1}) return {};
    if (d.octets[0] == std::byte{2}) return {kShort, kLong};
    if (d.octets[0] == std::byte{4}) d.octets[0] = std::byte{5};
    return {kShort};
  });
  EXPECT_EQ(b_.received, (std::vector{std::byte{2}, std::byte{3}, std::byte{5}, std::byte{2}}));
  EXPECT_TRUE(stations_.transit().empty());
}

TEST_F(StationsTest, ARefusedPacketDoesNotLeaveAndIsReportedToItsStation) {
  a_.waiting = {std::byte{1}, std::byte{2}};
  stations_.transmit_all([](TxPacket& packet, Datagram& d) -> Fate {
    if (d.octets[0] == std::byte{1}) packet.fate = TxFate::never;
    return {kShort};
  });
  EXPECT_EQ(a_.fates, (std::vector{TxFate::never, TxFate::sent}));
  ASSERT_EQ(stations_.transit().size(), 1u);
  EXPECT_EQ(stations_.transit()[0].octets[0], std::byte{2});
}

// Only the station that something arrives at, or whose time has come, is called at an event.
TEST_F(StationsTest, AnEventCallsTheStationsThatItConcerns) {
  Counter c;
  stations_.add(c, address(3));
  a_.waiting = {std::byte{1}};
  b_.deadline = kStart + kShort;
  stations_.run_until(kStart + kLong * 3, [](TxPacket&, Datagram&) -> Fate { return {kLong}; });
  EXPECT_EQ(b_.received, std::vector{std::byte{1}});
  EXPECT_EQ(a_.received, std::vector{std::byte{99}});
  EXPECT_EQ(c.advanced, 0u);
  EXPECT_EQ(c.transmitted, 1u) << "at the beginning, where each is asked";
  EXPECT_EQ(a_.advanced, 0u);
  EXPECT_EQ(b_.advanced, 1u);
}

TEST_F(StationsTest, ADatagramToAnUnknownAddressIsLost) {
  a_.to = address(9);
  a_.waiting = {std::byte{1}};
  stations_.run_until(kStart + kLong, [](TxPacket&, Datagram&) -> Fate { return {kShort}; });
  EXPECT_TRUE(stations_.transit().empty());
  EXPECT_TRUE(a_.received.empty());
  EXPECT_TRUE(b_.received.empty());
}

}  // namespace
}  // namespace uet::sim
