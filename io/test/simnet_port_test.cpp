// The link and the inbox of a port of the simulated network.
#include "io/simnet/port.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

namespace uet::io::simnet {
namespace {

constexpr uint64_t kRate = 8'000'000'000;  // an octet each ns

FabricAddress address(uint8_t host) { return FabricAddress::v4(0x0A000000U | host); }

TEST(WireTest, SendsOnePacketAfterAnother) {
  Wire wire;
  EXPECT_EQ(wire.queued_bytes(1000, kRate), 0u);
  EXPECT_EQ(wire.queue(500, 1000, kRate), 1500);
  EXPECT_EQ(wire.queue(300, 1100, kRate), 1800);
  EXPECT_EQ(wire.queued_bytes(1100, kRate), 700u);
  EXPECT_EQ(wire.queued_bytes(1800, kRate), 0u);
  EXPECT_EQ(wire.queue(10, 2000, kRate), 2010) << "it was idle";
}

TEST(WireTest, PartsOfNanosecondsAreRoundedUp) {
  Wire wire;
  EXPECT_EQ(wire.queue(1, 0, 3'000'000'000), 3);  // 2.67
}

TEST(WireTest, TellsWhenItHasRoom) {
  Wire wire;
  wire.queue(1000, 0, kRate);
  EXPECT_EQ(wire.when_queued(400, kRate), 600);
  EXPECT_EQ(wire.queued_bytes(600, kRate), 400u);
}

// [WIRE-019]
TEST(WireTest, AnOvertakingPacketDelaysTheQueue) {
  Wire wire;
  wire.queue(1000, 0, kRate);
  EXPECT_EQ(wire.overtake(64, 100, kRate), 164);
  EXPECT_EQ(wire.queued_bytes(100, kRate), 964u);
}

class InboxTest : public ::testing::Test {
 protected:
  static constexpr uint32_t kPackets = 100;

  uint32_t packet(uint32_t bytes) {
    const uint32_t index = packets_.allocate();
    EXPECT_NE(index, kNone);
    if (index == kNone) return kNone;
    packets_[index] = {address(1), bytes, 0, 1, kNone, 7, Entropy(3), 46, Ecn::ect0};
    return index;
  }
  uint32_t count_free() {
    std::vector<uint32_t> taken;
    for (uint32_t i = packets_.allocate(); i != kNone; i = packets_.allocate()) taken.push_back(i);
    for (const uint32_t i : taken) packets_.release(i);
    return static_cast<uint32_t>(taken.size());
  }

  Packets packets_{kPackets, 64, 64};
  Inbox inbox_;
};

TEST_F(InboxTest, LendsPacketsInOrderUntilTheNextCall) {
  for (uint32_t i = 1; i <= 3; ++i) inbox_.add(packets_, packet(10 * i));
  EXPECT_EQ(inbox_.bytes(), 60u);
  const auto got = inbox_.receive(packets_);
  ASSERT_EQ(got.size(), 3u);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(got[i].bytes.size(), 10 * (i + 1));
  EXPECT_EQ(got[0].from, address(1));
  EXPECT_EQ(got[0].at.ns(), 7);
  EXPECT_EQ(inbox_.bytes(), 0u);
  EXPECT_TRUE(inbox_.is_empty());
  EXPECT_EQ(count_free(), kPackets - 3);
  EXPECT_TRUE(inbox_.receive(packets_).empty());
  EXPECT_EQ(count_free(), kPackets);
}

TEST_F(InboxTest, LendsABatchAtMost) {
  for (uint32_t i = 0; i < TxBatch::kCapacity + 1; ++i) inbox_.add(packets_, packet(1));
  EXPECT_EQ(inbox_.receive(packets_).size(), TxBatch::kCapacity);
  EXPECT_FALSE(inbox_.is_empty());
  EXPECT_EQ(inbox_.receive(packets_).size(), 1u);
}

TEST_F(InboxTest, SaysEachErrorOnce) {
  EXPECT_TRUE(inbox_.report(address(1), ECONNREFUSED));
  EXPECT_FALSE(inbox_.report(address(1), ECONNREFUSED)) << "it waits already";
  EXPECT_TRUE(inbox_.report(address(1), EMSGSIZE));
  for (uint8_t i = 2; i < Inbox::kErrors; ++i) EXPECT_TRUE(inbox_.report(address(i), EMSGSIZE));
  EXPECT_FALSE(inbox_.report(address(99), EMSGSIZE)) << "no room";
  EXPECT_FALSE(inbox_.is_empty());
  const auto errors = inbox_.take_errors();
  ASSERT_EQ(errors.size(), size_t{Inbox::kErrors});
  EXPECT_EQ(errors[0].to, address(1));
  EXPECT_EQ(errors[0].error, ECONNREFUSED);
  EXPECT_TRUE(inbox_.is_empty());
  EXPECT_TRUE(inbox_.take_errors().empty());
}

TEST_F(InboxTest, ThrowsEverythingAway) {
  for (uint32_t i = 0; i < 70; ++i) inbox_.add(packets_, packet(1));
  inbox_.receive(packets_);
  inbox_.report(address(1), EMSGSIZE);
  EXPECT_EQ(inbox_.clear(packets_), 70 - uint32_t{TxBatch::kCapacity})
      << "those that were not read";
  EXPECT_TRUE(inbox_.is_empty());
  EXPECT_EQ(inbox_.bytes(), 0u);
  EXPECT_EQ(count_free(), kPackets);
}

}  // namespace
}  // namespace uet::io::simnet
