// The AF_XDP backend when the network under it changes or is too slow: rings that are full,
// interfaces that go down, other MTUs and addresses, several queues, drivers without XDP. See
// xdp_testing.h for when it is skipped.
#include "io/test/xdp_testing.h"

#include <signal.h>
#include <sys/wait.h>

#include <cerrno>

namespace uet::io {
namespace {

class XdpFaultsTest : public XdpTest {
 protected:
  void TearDown() override {
    if (IsSkipped()) return;
    for (const int host : {0, 1}) {
      TwoHosts::enter(host);
      run("ip link set eth-uet mtu 9000 up");
      run("ip addr replace fd47:94::" + std::to_string(host + 1) + "/64 dev eth-uet nodad");
    }
  }
  static bool run(const std::string& command) { return TwoHosts::instance().run(command); }
  // Until a message arrives, five seconds at most.
  static bool comes_through(PacketIo& from, PacketIo& to) {
    for (int i = 0; i < 500; ++i) {
      send_text(from, to.local_address(), "again");
      for (int k = 0; k < 20; ++k) {
        if (!to.receive().empty()) return true;
      }
      ::usleep(10'000);
    }
    return false;
  }
};

// A receiver that does not look loses packets, and counts them; then it continues.
TEST_F(XdpFaultsTest, AFullRingDropsAndCounts) {
  const auto a = open_xdp(here(0));
  UdpOptions small = here(1);
  small.receive_buffer_bytes = 1 << 16;  // 64 frames at least
  const auto b = open_xdp(small);
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(send_text(*a, b->local_address(), "number " + std::to_string(i)), "s");
  }
  const std::vector<Got> got = receive(*b, 100);
  const uint64_t dropped = counters_of(*b)["xdp_rx_dropped"];
  EXPECT_EQ(got.size() + dropped, 100u);
  EXPECT_GE(dropped, 30u);
  ASSERT_FALSE(got.empty());
  EXPECT_EQ(got[0].text, "number 0");
  for (int round = 0; round < 200; ++round) {  // around the rings, three times
    send_text(*a, b->local_address(), "round " + std::to_string(round));
    const std::vector<Got> one = receive(*b, 1);
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].text, "round " + std::to_string(round));
  }
}

// Lent memory is not written again, however many packets come.
TEST_F(XdpFaultsTest, LentFramesAreLeftAlone) {
  const auto a = open_xdp(here(0));
  UdpOptions small = here(1);
  small.receive_buffer_bytes = 1 << 16;
  const auto b = open_xdp(small);
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  for (int i = 0; i < 20; ++i) send_text(*a, b->local_address(), std::string(500, 'k'));
  std::span<RxDatagram> kept = b->receive();
  for (int i = 0; i < 20 && kept.empty(); ++i) kept = b->receive();
  ASSERT_EQ(kept.size(), 20u);
  for (int i = 0; i < 200; ++i) send_text(*a, b->local_address(), std::string(500, 'z'));
  for (const RxDatagram& d : kept) {
    EXPECT_TRUE(std::all_of(d.bytes.begin(), d.bytes.end(),
                            [](std::byte octet) { return octet == std::byte{'k'}; }));
  }
}

// A child that lives on takes no memory from the rings, and no frame is lost to it.
TEST_F(XdpFaultsTest, AForkLeavesTheFramesWithItsParent) {
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    for (;;) ::pause();
  }
  for (int i = 0; i < 3000; ++i) {  // each frame once
    EXPECT_EQ(send_text(*a, b->local_address(), "number " + std::to_string(i)), "s");
    const std::vector<Got> got = receive(*b, 1);
    ASSERT_EQ(got.size(), 1u) << i;
    EXPECT_EQ(got[0].text, "number " + std::to_string(i));
  }
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

// Frames that no device takes fill the ring; then it is `later`, and all leave when it is back.
TEST_F(XdpFaultsTest, AFullTransmitRingIsReportedAndEmptiesLater) {
  TwoHosts::enter(0);
  const std::vector<Interface> all = list_interfaces();
  const Interface* const own = find_interface(all, host_address(0, false));
  ASSERT_NE(own, nullptr);
  XdpPort port;
  std::string error;
  ASSERT_TRUE(port.open({.local = host_address(0, false), .interface = *own}, error)) << error;
  XdpTx tx;
  tx.start(port, own->mac, {});
  ASSERT_TRUE(run("ip link set eth-uet down"));
  Outbox out;
  out.add(host_address(1, false), "into the ring");
  FabricAddress from = host_address(0, false);
  uint32_t taken = 0;
  while (taken <= XdpPort::kTxFrames && tx.add(out.packets()[0], from, {})) ++taken;
  EXPECT_EQ(taken, XdpPort::kTxFrames / port.pieces_max());
  EXPECT_EQ(tx.counters().later, 1u);
  tx.flush();
  EXPECT_TRUE(tx.has_rest());
  EXPECT_TRUE(tx.is_down());
  ASSERT_TRUE(run("ip link set eth-uet up"));
  for (int i = 0; i < 200 && tx.has_rest(); ++i) {
    tx.flush();
    ::usleep(10'000);
  }
  EXPECT_FALSE(tx.has_rest());
  EXPECT_FALSE(tx.is_down());
  EXPECT_TRUE(tx.add(out.packets()[0], from, {}));
}

TEST_F(XdpFaultsTest, AnInterfaceMayGoDownAndComeBack) {
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  for (const int host : {0, 1}) {
    TwoHosts::enter(host);
    ASSERT_TRUE(run("ip link set eth-uet down"));
    EXPECT_EQ((host == 0 ? *a : *b).failure(), ENETDOWN);
    for (int i = 0; i < 30; ++i) {
      send_text(*a, b->local_address(), "into the void");
      (void)a->receive();
      ::usleep(1'000);
    }
    ASSERT_TRUE(run("ip link set eth-uet up"));
    EXPECT_EQ((host == 0 ? *a : *b).failure(), 0);
    EXPECT_TRUE(comes_through(*a, *b)) << host;
    while (!receive(*b, 64).empty()) continue;
    introduce(*a, *b);
    EXPECT_TRUE(has_program());
  }
  EXPECT_EQ(counters_of(*a)["xdp_tx_later"], 0u);
}

// [LF-141] AF_XDP would send frames that are too long for the interface, without an error.
TEST_F(XdpFaultsTest, ASmallerMtuIsAnErrorOfThePath) {
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  TwoHosts::enter(0);
  ASSERT_TRUE(run("ip link set eth-uet mtu 1500"));
  ::usleep(150'000);
  const uint64_t frames = a->tx_counters().frames;
  EXPECT_EQ(send_text(*a, b->local_address(), std::string(2000, 'x')), "n");
  EXPECT_EQ(a->tx_counters().frames, frames);
  EXPECT_EQ(a->route_mtu(b->local_address()), 1500u);
  send_text(*a, b->local_address(), std::string(1400, 'x'));
  EXPECT_EQ(receive(*b, 1).size(), 1u);
  ASSERT_TRUE(run("ip link set eth-uet mtu 9000"));
  ::usleep(150'000);
  introduce(*a, *b);
  send_text(*a, b->local_address(), std::string(2000, 'x'));
  EXPECT_EQ(receive(*b, 1).size(), 1u);
}

// [LF-141] Frames go through routers, too; the IP stack reports a packet that is too long for the
// route.
TEST_F(XdpFaultsTest, AFrameIsNoLongerThanItsRouteCarries) {
  TwoHosts::enter(1);
  ASSERT_TRUE(run("ip addr add 10.47.98.2/32 dev eth-uet"));
  FabricAddress beyond = host_address(1, false);
  beyond.ip[2] = 98;
  const auto b = open_xdp(at(beyond));
  const auto a = open_xdp(here(0));
  ASSERT_TRUE(a && b);
  const auto route = [](const char* more) {
    return run("ip route replace 10.47.98.0/24 via 10.47.94.2 " + std::string(more));
  };
  ASSERT_TRUE(route(""));
  introduce(*a, *b);
  const uint64_t frames = a->tx_counters().frames;
  send_text(*a, b->local_address(), std::string(2000, 'x'));
  EXPECT_EQ(receive(*b, 1).size(), 1u);
  EXPECT_EQ(a->tx_counters().frames, frames + 1);
  ASSERT_TRUE(route("mtu 1500"));
  ::usleep(1'100'000);  // answers of the kernel are kept for a second
  introduce(*a, *b);
  EXPECT_EQ(send_text(*a, b->local_address(), std::string(2000, 'x')), "n");
  EXPECT_EQ(a->route_mtu(b->local_address()), 1500u);
  EXPECT_TRUE(run("ip route del 10.47.98.0/24"));
  TwoHosts::enter(1);
  EXPECT_TRUE(run("ip addr del 10.47.98.2/32 dev eth-uet"));
}

// A neighbour's new Ethernet address: the kernel learns it, and so do we within a second. Packets
// to it pass the neighbour's program, which knows the old one, and take its UDP socket.
TEST_F(XdpFaultsTest, ANeighbourMayChangeItsAddress) {
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  TwoHosts::enter(1);
  ASSERT_TRUE(run("ip link set eth-uet address 02:00:00:00:47:94"));
  TwoHosts::enter(0);
  ASSERT_TRUE(run("ip neigh flush dev eth-uet"));
  for (int i = 0; i < 300 && counters_of(*b)["udp_rx_datagrams"] == 0; ++i) {
    EXPECT_TRUE(comes_through(*a, *b));
    ::usleep(10'000);
  }
  EXPECT_GT(counters_of(*b)["udp_rx_datagrams"], 0u);
}

// Packets of different EVs come by different queues; each has its socket.
TEST_F(XdpFaultsTest, EveryReceiveQueueIsRead) {
  TwoHosts::enter(0);
  ASSERT_TRUE(
      run("ip link add eth-q0 numrxqueues 4 numtxqueues 4 type veth peer name eth-q1 "
          "numrxqueues 4 numtxqueues 4 && ip link set eth-q0 up && ip link set eth-q1 up && "
          "ip addr add 10.47.95.1/24 dev eth-q0 && "
          "ip neigh add 10.47.95.2 lladdr 02:00:00:00:47:95 dev eth-q0 && "
          "ip link set eth-q1 address 02:00:00:00:47:95 && ip addr add 10.47.96.2/24 dev "
          "eth-q1"));
  FabricAddress there = host_address(1, false);
  there.ip[2] = 96;  // not of the sender's network: else it would take loopback
  std::string error;
  const auto b = XdpIo::open(at(there), &error);
  ASSERT_NE(b, nullptr) << error;
  EXPECT_EQ(b->queue_count(), 4u);
  const std::vector<Interface> all = list_interfaces();
  FabricAddress here = there;
  here.ip = {10, 47, 95, 1};
  const Interface* const own = find_interface(all, here);
  ASSERT_NE(own, nullptr);
  const Fd wire(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  sockaddr_ll name{};
  name.sll_family = AF_PACKET;
  name.sll_ifindex = static_cast<int>(own->index);
  const std::array<uint8_t, 6> to = {2, 0, 0, 0, 0x47, 0x95};
  for (uint16_t port = 5000; port < 5200; ++port) {  // more than a batch
    std::array<std::byte, kEthernetHeader + kIpv4Header + kUdpHeader + 16> frame{};
    std::memcpy(frame.data(), to.data(), 6);
    std::memcpy(frame.data() + 6, own->mac.data(), 6);
    frame[12] = std::byte{8};
    here.port = port;
    put_udp_headers(frame.data() + kEthernetHeader, here, b->local_address(), 0, 16);
    ASSERT_GT(::sendto(wire.get(), frame.data(), frame.size(), 0,
                       reinterpret_cast<const sockaddr*>(&name), sizeof name),
              0);
  }
  std::vector<bool> seen(200);
  for (const Got& got : receive(*b, 200)) seen[got.from.port - 5000u] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 200);
  EXPECT_EQ(b->rx_counters().frames, 200u);
  EXPECT_EQ(counters_of(*b)["udp_rx_datagrams"], 0u);
  EXPECT_TRUE(run("ip link del eth-q0"));
}

// [LF-144] A bridge has no XDP itself, and packets from its ports may be joined.
TEST_F(XdpFaultsTest, AVirtualInterfaceWithoutXdpIsRefused) {
  TwoHosts::enter(1);
  ASSERT_TRUE(
      run("ip link add eth-br type bridge && ip link set eth-br up && "
          "ip addr add 10.47.95.2/24 dev eth-br"));
  UdpOptions options = here(1);
  options.local.ip[2] = 95;
  const std::string error = refusal(options);
  EXPECT_NE(error.find("cannot attach an XDP program to eth-br"), error.npos) << error;
  EXPECT_NE(error.find("FI_UET_IO=packet"), error.npos) << error;
  EXPECT_FALSE(has_program("eth-br"));
  EXPECT_TRUE(run("ip link del eth-br"));
}

// Behind the driver the same program does the same.
TEST_F(XdpFaultsTest, TheGenericProgramTakesPacketsToo) {
  TwoHosts::enter(1);
  const std::vector<Interface> all = list_interfaces();
  const FabricAddress local = host_address(1, false);
  const Interface* const own = find_interface(all, local);
  ASSERT_NE(own, nullptr);
  XdpPort port;
  std::string error;
  ASSERT_TRUE(port.open({.local = local, .interface = *own, .generic = true}, error)) << error;
  EXPECT_EQ(port.mode_text(), "generic");
  XdpRx rx;
  rx.start(port, local, {}, FrameReader::Checksum::maybe_begun);
  const auto a = open_xdp(here(0));
  ASSERT_TRUE(a);
  std::string got;
  for (int i = 0; i < 3000 && got.size() < 9; ++i) {
    send_text(*a, local, std::string(got.size() * 1000 + 100, 'x'));
    ::usleep(1000);
    for (const RxDatagram& d : rx.receive()) {
      if (d.bytes.size() == got.size() * 1000 + 100) got += 'x';
      EXPECT_EQ(ip_text(d.from), ip_text(a->local_address()));
    }
  }
  EXPECT_EQ(got.size(), 9u);
  EXPECT_EQ(rx.counters().malformed, 0u);
}

// The device is gone: the error queue and failure() say so, and nothing else happens.
TEST_F(XdpFaultsTest, AnInterfaceMayVanish) {
  TwoHosts::enter(0);
  ASSERT_TRUE(
      run("ip link add eth-v0 type veth peer name eth-v1 && ip link set eth-v0 up && "
          "ip link set eth-v1 up && ip addr add 10.47.95.1/24 dev eth-v0"));
  UdpOptions options = at(host_address(0, false));
  options.local.ip[2] = 95;
  const auto io = open_xdp(options);
  ASSERT_TRUE(io);
  ASSERT_TRUE(run("ip link del eth-v0"));
  EXPECT_EQ(io->failure(), ENODEV);
  FabricAddress to = options.local;
  to.ip[3] = 2;
  send_text(*io, to, "nowhere");
  EXPECT_EQ(io->receive().size(), 0u);
}

}  // namespace
}  // namespace uet::io
