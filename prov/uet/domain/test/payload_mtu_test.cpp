// Payload size of packets to a peer, by the statements of both ends and by the route. [LF-131,
// LF-140, SES-032]
#include "prov/uet/domain/payload_mtu.h"

#include <gtest/gtest.h>

namespace uet::prov {
namespace {

// Octets that a peer states, for the network and for its own host.
UetAddress peer(uint16_t network, uint16_t host) {
  UetAddress a;
  a.payload_mtu = network;
  a.payload_host = host;
  return a;
}

struct Case {
  const char* what;
  OwnPayload own;
  UetAddress peer;
  io::Route route;
  uint32_t agreed;
};

TEST(PayloadMtuTest, EachPeerGetsTheSizeThatBothEndsAndTheRouteAllow) {
  const OwnPayload ethernet{1024, 8192};
  const OwnPayload jumbo{8192, 8192};
  const OwnPayload set{2048, 2048};  // FI_UET_PAYLOAD_MTU=2048
  const io::Route local{65536, true};
  const Case cases[] = {
      {"equal ends", ethernet, peer(1024, 8192), {1500, false}, 1024},
      {"jumbo frames", jumbo, peer(8192, 8192), {9000, false}, 8192},
      {"a peer of MTU 1500", jumbo, peer(1024, 8192), {9000, false}, 1024},
      {"a route of MTU 1500", jumbo, peer(8192, 8192), {1500, false}, 1024},
      {"a route between", jumbo, peer(8192, 8192), {4400, false}, 4096},
      {"a route below 4096", jumbo, peer(8192, 8192), {2300, false}, 2048},
      {"the same host", ethernet, peer(1024, 8192), local, 8192},
      {"the same host, before octet 39 was used", ethernet, peer(1024, 0), local, 1024},
      {"the same host, whose peer has a setting", ethernet, peer(2048, 2048), local, 2048},
      {"the same host, a setting here", set, peer(1024, 8192), local, 2048},
      {"the same host by a small loopback", ethernet, peer(1024, 8192), {1500, true}, 1024},
      {"a setting above the peer's size", jumbo, peer(2048, 2048), {9000, false}, 2048},
      {"nothing stated", jumbo, peer(0, 0), {9000, false}, 8192},
      {"nothing stated, small interface", ethernet, peer(0, 0), {9000, false}, 1024},
      {"nothing stated on the same host", ethernet, peer(0, 0), local, 8192},
      {"no route is known", ethernet, peer(8192, 8192), {0, false}, 1024},
      {"more than there is", jumbo, peer(0xFF00, 0xFF00), {65536, false}, 8192},
      {"no legal size", jumbo, peer(3840, 0), {9000, false}, 2048},
      {"less than there is", jumbo, peer(256, 0), {9000, false}, 1024},
      {"a route for nothing", jumbo, peer(8192, 8192), {1000, false}, 0},
  };
  for (const Case& c : cases) EXPECT_EQ(agree_payload(c.own, c.peer, c.route), c.agreed) << c.what;
}

TEST(PayloadMtuTest, AnInterfaceCarriesTheLargestLegalSize) {
  io::Interface i;
  i.link = io::LinkType::ethernet;
  const std::pair<uint32_t, uint32_t> cases[] = {{9000, 8192}, {8400, 8192}, {8399, 4096},
                                                 {4304, 4096}, {4303, 2048}, {2256, 2048},
                                                 {2255, 1024}, {1500, 1024}, {1280, 1024}};
  for (const auto& [mtu, payload] : cases) {
    i.mtu_bytes = mtu;
    EXPECT_EQ(payload_mtu_for(i), payload) << mtu;
  }
}

}  // namespace
}  // namespace uet::prov
