// What keeps a tombstone good: the record of its peer stays its peer's.
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using Lines = std::vector<std::string>;

// [PDS-248, PDS-176] Other addresses fill the table of peers while the tombstone stands. The record
// of its peer is not theirs: the SYN that comes once more is not executed again.
TEST(TombstoneTest, AFloodOfAddressesLosesNoTombstone) {
  Bench b;
  b.open_target();
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  b.lines();
  ASSERT_EQ(b.client.delivered.size(), 1u);
  const FabricAddress peer = b.from;
  for (uint8_t i = 0; i < 200; ++i) {  // three times what the table has
    b.from = address(100, 50000);
    b.from.ip[1] = i;
    std::vector<std::byte> octets(wire::Uud::kSize + 8);
    wire::Writer w(octets);
    wire::Uud h;
    h.next_hdr = wire::NextHeader::standard;
    h.emit(w);
    w.u32(5000u + i);
    w.u32(0);
    b.rx_octets(std::move(octets));
  }
  EXPECT_EQ(b.count(Count::uud_rx), 200u);
  b.client.delivered.clear();
  b.from = peer;
  b.rx(b.request(1000));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1000"}));
  EXPECT_EQ(b.count(Count::tombstone_hits), 1u);
  EXPECT_TRUE(b.client.delivered.empty());
  // It gives its peer back when its time is over.
  EXPECT_EQ(b.peers.spare(), 63u);
  b.elapse(401_ms);
  EXPECT_EQ(b.peers.spare(), 64u);
}

}  // namespace
}  // namespace uet::pds::test
