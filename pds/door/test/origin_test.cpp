// The port rules: whose a datagram is, and where answers go. [decision 3, WIRE-121]
#include "pds/door/origin.h"

#include "pds/test/part.h"

namespace uet::pds::part {
namespace {

class OriginTest : public PartTest {
 protected:
  static RxDatagram from_port(uint16_t port) {
    RxDatagram d;
    d.from = address(9);
    d.from.port = port;
    return d;
  }
  // Where the answer goes.
  uint16_t port(uint16_t from, PortHint hint, bool strict_ports = false) {
    const FabricAddress to = reply_address(from_port(from), hint, strict_ports, peers_);
    EXPECT_EQ(to.ip, address(9).ip);
    return to.port;
  }
  void know(uint16_t port) {
    FabricAddress a = address(9);
    a.port = port;
    ASSERT_TRUE(peers_.find_or_add(a, kNow).ok());
  }
};

// The process at 4793 may use any source port as entropy; a later one those of its block.
TEST_F(OriginTest, AProcessHasItsSourcePorts) {
  Peer peer;
  peer.address = address(9);
  EXPECT_TRUE(is_from(from_port(1), peer));
  EXPECT_TRUE(is_from(from_port(65535), peer));
  peer.address.port = 0x4010;
  EXPECT_TRUE(is_from(from_port(0x4010), peer));
  EXPECT_TRUE(is_from(from_port(0x401F), peer));
  EXPECT_FALSE(is_from(from_port(0x4020), peer));
  EXPECT_FALSE(is_from(from_port(kUetPort), peer));
}

// [PDS-115] Every part of the address counts.
TEST_F(OriginTest, AnotherAddressIsAnotherPeer) {
  Peer peer;
  peer.address = address(9);
  const auto is_its = [&](FabricAddress from) {
    RxDatagram d;
    d.from = from;
    return is_from(d, peer);
  };
  EXPECT_TRUE(is_its(address(9)));
  EXPECT_FALSE(is_its(address(10)));
  FabricAddress other = address(9);
  other.family = FabricAddress::Family::ipv6;
  EXPECT_FALSE(is_its(other));
  other = address(9);
  other.ip[15] = 1;
  EXPECT_FALSE(is_its(other));
  other = address(9);
  other.scope_id = 2;
  EXPECT_FALSE(is_its(other));
}

// [WIRE-121] The mark says that the sender listens on the block of its source port.
TEST_F(OriginTest, AMarkedPacketIsAnsweredToItsBlock) {
  EXPECT_EQ(port(0x9C4D, PortHint::marked), 0x9C40);
  EXPECT_EQ(port(0x400D, PortHint::standard), kUetPort);
}

// [WIRE-121] In a packet without a field for the mark, a source port counts as the port of a
// process if it lies in the first blocks that processes take, or if it belongs to a known peer.
TEST_F(OriginTest, WithoutAMarkOnlyFirstAndKnownBlocksAreAnswered) {
  EXPECT_EQ(port(16383, PortHint::unstated), kUetPort);
  EXPECT_EQ(port(16384, PortHint::unstated), 16384);
  EXPECT_EQ(port(16399, PortHint::unstated), 16384);
  EXPECT_EQ(port(20479, PortHint::unstated), 20464);
  EXPECT_EQ(port(20480, PortHint::unstated), kUetPort);
  EXPECT_EQ(port(0x9C4D, PortHint::unstated), kUetPort);
  know(0x9C40);
  EXPECT_EQ(port(0x9C4D, PortHint::unstated), 0x9C40);
}

// Where the configuration says so, all answers go to 4793. [decision 3]
TEST_F(OriginTest, WithStrictPortsAllAnswersGoTo4793) {
  know(0x9C40);
  for (const PortHint hint : {PortHint::marked, PortHint::standard, PortHint::unstated}) {
    EXPECT_EQ(port(0x9C4D, hint, true), kUetPort);
    EXPECT_EQ(port(16384, hint, true), kUetPort);
  }
}

}  // namespace
}  // namespace uet::pds::part
