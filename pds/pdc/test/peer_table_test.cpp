// Remote FEPs: found by address, and kept while they are referred to. [decision 15]
#include "pds/pdc/peer_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace uet::pds {
namespace {

constexpr Instant kAtFirst = Instant::from_ns(1'000'000'000);

class PeerTableTest : public ::testing::Test {
 protected:
  static FabricAddress at(uint32_t n, uint16_t port = kUetPort) {
    FabricAddress a;
    a.ip = {10, static_cast<uint8_t>(n >> 16), static_cast<uint8_t>(n >> 8),
            static_cast<uint8_t>(n)};
    a.family = FabricAddress::Family::ipv4;
    a.port = port;
    return a;
  }
  Arena arena_;
  PeerTable table_;
};

TEST_F(PeerTableTest, AddressAndPortMakeAPeer) {
  ASSERT_TRUE(table_.create(arena_, 4, 1).ok());
  const PeerId a = *table_.find_or_add(at(1), kAtFirst);
  const PeerId b = *table_.find_or_add(at(1, 16384), kAtFirst);
  EXPECT_NE(a, b);
  EXPECT_EQ(*table_.find_or_add(at(1), kAtFirst), a);
  EXPECT_EQ(table_[b].address, at(1, 16384));
  EXPECT_TRUE(table_[b].private_mark);
  EXPECT_FALSE(table_[a].private_mark);
  PeerId id;
  EXPECT_EQ(table_.find(at(2), id), nullptr);
  EXPECT_EQ(table_.find(at(1), id), &table_[a]);
  EXPECT_EQ(id, a);
  EXPECT_EQ(table_.size(), 2u);
}

// [T-61] Peers of one IP address share a host; its record goes with the last of them.
TEST_F(PeerTableTest, PortsOfOneAddressShareAHost) {
  ASSERT_TRUE(table_.create(arena_, 4, 1).ok());
  const PeerId a = *table_.find_or_add(at(1), kAtFirst);
  const PeerId b = *table_.find_or_add(at(1, 16384), kAtFirst);
  const PeerId c = *table_.find_or_add(at(2), kAtFirst);
  EXPECT_EQ(&table_.host_of(a), &table_.host_of(b));
  EXPECT_NE(&table_.host_of(a), &table_.host_of(c));
  EXPECT_EQ(table_.host_of(a).peers, 2u);
  EXPECT_EQ(table_.hosts(), 2u);
  for (uint32_t i = 100; i < 1000; ++i) ASSERT_TRUE(table_.find_or_add(at(i), kAtFirst).ok());
  EXPECT_EQ(table_.hosts(), 4u) << "as many as there are peers";
  for (uint16_t p = 1; p <= 4; ++p) ASSERT_TRUE(table_.find_or_add(at(7, p), kAtFirst).ok());
  EXPECT_EQ(table_.hosts(), 1u);
}

// A flood of addresses replaces only peers without references.
TEST_F(PeerTableTest, UnreferencedPeersMakeRoom) {
  ASSERT_TRUE(table_.create(arena_, 4, 1).ok());
  const PeerId kept = *table_.find_or_add(at(0), kAtFirst);
  table_.add_ref(kept);
  for (uint32_t i = 1; i < 1000; ++i) ASSERT_TRUE(table_.find_or_add(at(i), kAtFirst).ok());
  PeerId id;
  EXPECT_EQ(table_.find(at(0), id), &table_[kept]);
  EXPECT_EQ(table_.find(at(996), id), nullptr);
  ASSERT_NE(table_.find(at(999), id), nullptr);
  EXPECT_EQ(table_[id].address, at(999));
  for (uint32_t i = 997; i < 1000; ++i) table_.add_ref(*table_.find_or_add(at(i), kAtFirst));
  EXPECT_EQ(table_.find_or_add(at(5), kAtFirst).error(), Errc::again);
  table_.drop_ref(kept);
  const PeerId next = *table_.find_or_add(at(5), kAtFirst);
  EXPECT_EQ(&table_[next], &table_[kept]) << "the record is used again";
  EXPECT_NE(next, kept) << "and what kept the old id does not match the new peer";
  EXPECT_EQ(table_[next].refs, 0u);
}

TEST_F(PeerTableTest, GrowsWithoutMoving) {
  ASSERT_TRUE(table_.create(arena_, PeerLimits{2, 1000, 1000}, 1).ok());
  std::vector<Peer*> peers;
  for (uint32_t i = 0; i < 100; ++i) {
    const PeerId id = *table_.find_or_add(at(i), kAtFirst);
    table_.add_ref(id);
    peers.push_back(&table_[id]);
  }
  for (uint32_t i = 0; i < 100; ++i) {
    PeerId id;
    ASSERT_EQ(table_.find(at(i), id), peers[i]);
    EXPECT_EQ(id, PeerId(i));
  }
  for (uint32_t i = 100; i < 700; ++i) {
    const PeerId id = *table_.find_or_add(at(i), kAtFirst);
    ASSERT_EQ(table_[id].address, at(i));
  }
}

}  // namespace
}  // namespace uet::pds
