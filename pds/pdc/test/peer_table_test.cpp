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
    return FabricAddress::v4(0x0A000000U | (n & 0xFFFFFF), port);
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

// [T-01, T-02, PDS-255] What a peer holds counts for its host as well.
TEST_F(PeerTableTest, AHostHoldsWhatItsPeersHold) {
  ASSERT_TRUE(table_.create(arena_, 4, 1).ok());
  const PeerId a = *table_.find_or_add(at(1), kAtFirst);
  const PeerId b = *table_.find_or_add(at(1, 16384), kAtFirst);
  const PeerId c = *table_.find_or_add(at(2), kAtFirst);
  for (const PeerId peer : {a, b, b, c}) {
    table_.count_target(peer, 1);
    table_.count_half_open(peer, 1);
    table_.count_responses(peer, 2);
    table_.count_reordered(peer, 3);
  }
  table_.count_target(b, -1);
  table_.count_half_open(a, -1);
  table_.count_responses(a, -1);
  table_.count_reordered(b, -5);
  EXPECT_EQ(table_[b].targets, 1u);
  const Host& host = table_.host_of(a);
  EXPECT_EQ(host.targets, 2u);
  EXPECT_EQ(host.half_open, 2u);
  EXPECT_EQ(host.responses, 5u);
  EXPECT_EQ(host.reordered, 4u);
  EXPECT_EQ(table_.host_of(c).targets, 1u);
}

// [decision 15] Entries of address vectors keep a peer, and the last one says so.
TEST_F(PeerTableTest, TheLastEntryOfAPeerIsKnown) {
  ASSERT_TRUE(table_.create(arena_, 4, 1).ok());
  const PeerId a = *table_.find_or_add(at(1), kAtFirst);
  table_.list(a);
  table_.list(a);
  EXPECT_EQ(table_.spare(), 0u);
  EXPECT_FALSE(table_.unlist(a)) << "another entry names it";
  table_.add_ref(a);
  EXPECT_TRUE(table_.unlist(a)) << "a PDC refers to it";
  table_.drop_ref(a);
  EXPECT_EQ(table_.spare(), 1u);
}

// [PDS-249] A peer is unreachable when only ICMP errors came for unreachable_time, and the last one
// came after the last packet was sent.
TEST(PeerTest, APeerIsUnreachableAfterErrorsAlone) {
  Peer peer;
  const auto at = [](int64_t seconds) { return kAtFirst + Duration::seconds(seconds); };
  const Duration limit = Duration::seconds(5);
  EXPECT_FALSE(peer.is_unreachable(at(0), at(0), limit, at(9))) << "no error";
  peer.unreachable_since = at(1);
  peer.unreachable_last = at(7);
  EXPECT_TRUE(peer.is_unreachable(at(0), at(6), limit, at(8)));
  EXPECT_FALSE(peer.is_unreachable(at(0), at(7), limit, at(8))) << "a packet went after it";
  EXPECT_FALSE(peer.is_unreachable(at(3), at(6), limit, at(8))) << "no packet has waited that long";
  EXPECT_FALSE(peer.is_unreachable(at(0), at(6), limit, at(12))) << "the last error is old";
}

// [LF-131, LF-141] Octets of payload: agreed, else stated, else our own; and what does not pass.
// [PDS-148, PDS-256] A packet that is proven to be the peer's shows that it lives, and is
// reachable.
TEST(PeerTest, AProvenPacketShowsThatItLives) {
  Peer peer;
  peer.unreachable_since = Instant::from_ns(1);
  peer.note_heard(Instant::from_ns(2));
  EXPECT_EQ(peer.last_heard, Instant::from_ns(2));
  EXPECT_TRUE(peer.unreachable_since.is_never());
}

TEST(PeerTest, PayloadIsAgreedOrStated) {
  Peer peer;
  EXPECT_EQ(peer.payload_toward(4096), 4096u);
  EXPECT_FALSE(peer.states_payload());
  peer.payload_mtu = 8192;
  EXPECT_EQ(peer.payload_toward(4096), 4096u);
  EXPECT_EQ(peer.implied_payload(4096), 8192u);
  peer.lower_payload(1024);
  EXPECT_EQ(peer.payload_toward(4096), 1024u);
  EXPECT_TRUE(peer.is_beyond_path(1025));
  EXPECT_FALSE(peer.is_beyond_path(1024));
  peer.agree_payload(2048);
  EXPECT_FALSE(peer.is_beyond_path(4096)) << "it may have grown";
}

}  // namespace
}  // namespace uet::pds
