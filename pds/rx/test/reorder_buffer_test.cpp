// ROD packets that came before their turn: their octets, and whose room they take. [PDS-079]
#include "pds/rx/reorder_buffer.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

constexpr uint32_t kRoom = 16;

class ReorderBufferPartTest : public AllParts {
 protected:
  ReorderBufferPartTest() {
    res_.config.reorder_packets = kRoom;
    res_.config.reorder_packet_bytes = 64;
    EXPECT_TRUE(reorder_.create(arena_).ok());
  }
  ~ReorderBufferPartTest() override {
    table_.for_each([&](Pdc& pdc) { free_all(pdc); });
  }

  bool keep(Pdc& pdc, int offset, uint32_t bytes = 8) {
    octets_.fill(static_cast<std::byte>(offset));
    Inbound in;
    in.trigger.psn = kFirst + offset;
    in.ses = std::span(octets_).first(bytes);
    return reorder_.keep(pdc, in);
  }
  void free_all(Pdc& pdc) {
    while (ReorderedPacket* const p = pdc.order.first()) reorder_.free(pdc, *p);
  }

  std::array<std::byte, 128> octets_{};
};

// The memory of the datagram is used again after the call.
TEST_F(ReorderBufferPartTest, OctetsAreKeptInTheOrderOfThePsns) {
  Pdc& pdc = target(Mode::rod);
  for (const int offset : {3, 1, 2}) EXPECT_TRUE(keep(pdc, offset));
  octets_.fill(std::byte{0xFF});
  for (int offset = 1; offset <= 3; ++offset) {
    ReorderedPacket* const p = pdc.order.first();
    ASSERT_NE(p, nullptr);
    EXPECT_EQ(p->trigger.psn, kFirst + offset);
    EXPECT_EQ(p->octets[7], static_cast<std::byte>(offset));
    reorder_.free(pdc, *p);
  }
  EXPECT_EQ(reorder_.size(), 0u);
}

// [PDS-079] A packet longer than a block is not kept.
TEST_F(ReorderBufferPartTest, APacketThatIsTooLongIsNotKept) {
  Pdc& pdc = target(Mode::rod);
  EXPECT_FALSE(keep(pdc, 1, 65));
  EXPECT_TRUE(keep(pdc, 1, 64));
}

// [PDS-255] A peer that alone holds packets back leaves an eighth of the room to others.
TEST_F(ReorderBufferPartTest, OnePeerLeavesAPartOfTheRoom) {
  Pdc& pdc = target(Mode::rod);
  int kept = 0;
  while (keep(pdc, kept + 1)) ++kept;
  EXPECT_EQ(kept, static_cast<int>(kRoom - kRoom / 8) - 0);
  EXPECT_EQ(peers_[peer_].reordered, static_cast<uint32_t>(kept));
  free_all(pdc);
  EXPECT_EQ(peers_[peer_].reordered, 0u);
  EXPECT_TRUE(keep(pdc, 1));
}

// [PDS-255] A source that may be forged leaves a quarter, and counts for no peer.
TEST_F(ReorderBufferPartTest, AnUnprovenSourceLeavesMore) {
  Pdc& pdc = target(Mode::rod, false);
  int kept = 0;
  while (keep(pdc, kept + 1)) ++kept;
  EXPECT_EQ(kept, static_cast<int>(kRoom - kRoom / 4));
  EXPECT_EQ(peers_[peer_].reordered, 0u);
  pdc.proof.confirm();
  free_all(pdc);
  EXPECT_EQ(peers_[peer_].reordered, 0u) << "it was not counted, so it is not taken off";
}

}  // namespace
}  // namespace uet::pds::part
