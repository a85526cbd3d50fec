// The AF_XDP backend between two hosts, with itself and with the UDP backend: which packets leave
// as frames, how packets arrive, and what is refused. See xdp_testing.h for when it is skipped.
#include "io/test/xdp_testing.h"

namespace uet::io {
namespace {

class XdpFamilyTest : public XdpTest, public ::testing::WithParamInterface<bool> {};

// [LF-144] Marks, ports and octets are those of the UDP backend.
TEST_P(XdpFamilyTest, FewPacketsGoAsFramesAndArriveThroughTheProgram) {
  const auto a = open_xdp(here(0, GetParam()));
  const auto b = open_xdp(here(1, GetParam()));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  const uint64_t by_stack = counters_of(*a)["udp_tx_packets"];
  expect_frames_with_marks(*a, *b);
  EXPECT_EQ(counters_of(*a)["udp_tx_packets"], by_stack);
  EXPECT_EQ(counters_of(*b)["udp_rx_datagrams"], 0u);
}

// Both backends understand each other; the UDP sockets of this kernel leave the checksum of IPv6 to
// a device, and a veth computes none. [WIRE-024]
TEST_P(XdpFamilyTest, PeersOfTheUdpBackendAreUnderstood) {
  const auto udp = open(here(0, GetParam()));
  const auto xdp = open_xdp(here(1, GetParam()));
  ASSERT_TRUE(udp && xdp);
  send_text(*udp, xdp->local_address(), "from a socket");
  const std::vector<Got> got = receive(*xdp, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].text, "from a socket");
  EXPECT_EQ(xdp->rx_counters().frames, 1u);
  introduce(*xdp, *udp);
  send_text(*xdp, udp->local_address(), "from a ring");
  const std::vector<Got> back = receive(*udp, 1);
  ASSERT_EQ(back.size(), 1u);
  EXPECT_EQ(back[0].text, "from a ring");
}

INSTANTIATE_TEST_SUITE_P(Families, XdpFamilyTest, ::testing::Bool());

// [WIRE-007] A frame and a datagram of one EV take the same path through the network.
TEST_F(XdpTest, FramesLeaveFromThePortOfTheirSocket) {
  const auto a = open_xdp(here(0));
  const auto b = open(here(1));
  ASSERT_TRUE(a && b);
  expect_frames_from_the_ports_of_sockets(*a, *b);
}

// Where the kernel copies frames, a long batch leaves by GSO and is cut before the program sees it.
TEST_F(XdpTest, StreamsArriveWholeAndInOrder) {
  const auto xdp = open_xdp(here(0));
  const auto other = open_xdp(here(1));
  ASSERT_TRUE(xdp && other);
  const std::pair<PacketIo*, PacketIo*> ways[] = {{xdp.get(), other.get()},
                                                  {other.get(), xdp.get()}};
  for (const auto& [from, to] : ways) {
    Outbox out;
    std::vector<std::string> want;
    for (int i = 0; i < 60; ++i) {
      want.push_back(std::string(i == 29 || i == 59 ? 777 : 4160, static_cast<char>('0' + i)));
      out.add(to->local_address(), want.back(), 5);
    }
    from->send(out.packets());
    EXPECT_EQ(out.fates(), std::string(60, 's'));
    const std::vector<Got> got = receive(*to, want.size());
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) EXPECT_TRUE(got[i].text == want[i]) << i;
  }
  EXPECT_EQ(other->rx_counters().frames, 60u);
}

// [LF-144] Packets of every length around the ends of frames, in one, two and three of them.
TEST_F(XdpTest, LongPacketsTakeSeveralFrames) {
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  if (b->caps().max_datagram_bytes < 8000)
    GTEST_SKIP() << "needs packets of several frames (XDP_USE_SG), which Linux 6.6 has";
  EXPECT_EQ(b->caps().max_datagram_bytes, 9000u - 28);
  introduce(*a, *b);
  const uint64_t frames = a->tx_counters().frames;
  std::vector<uint32_t> lengths = {8972};
  // The kernel fills 4096 - 256 octets of a frame, we 4096; 42 are headers, 16 the stamp.
  for (const uint32_t end : {3840u - 42 - 16, 3840u - 42, 4096u - 42, 2 * 3840u - 42 - 16,
                             2 * 3840u - 42, 2 * 4096u - 42}) {
    for (const uint32_t length : {end - 1, end, end + 1}) lengths.push_back(length);
  }
  uint64_t seen = b->rx_counters().frames;
  for (const uint32_t length : lengths) {
    std::string want(length, 'a');
    for (uint32_t i = 0; i < length; ++i) want[i] = static_cast<char>('a' + i % 23 + i / 4096);
    EXPECT_EQ(send_text(*a, b->local_address(), want), "s");
    const std::vector<Got> got = receive(*b, 1);
    ASSERT_EQ(got.size(), 1u) << length;
    EXPECT_TRUE(got[0].text == want) << length;
    EXPECT_EQ(b->rx_counters().frames, ++seen);
  }
  EXPECT_EQ(a->tx_counters().frames, frames + lengths.size());
  EXPECT_GE(b->rx_counters().joined, 12u);
  EXPECT_EQ(b->rx_counters().malformed, 0u);
  for (int i = 0; i < 2000; ++i) {  // around the rings, with three frames each
    send_text(*a, b->local_address(), std::string(8200, static_cast<char>('a' + i % 26)));
    const std::vector<Got> got = receive(*b, 1);
    ASSERT_EQ(got.size(), 1u) << i;
    EXPECT_TRUE(got[0].text == std::string(8200, static_cast<char>('a' + i % 26)));
  }
  EXPECT_EQ(counters_of(*b)["xdp_rx_dropped"], 0u);
}

// Where no packet is longer than a frame, none is copied.
TEST_F(XdpTest, PacketsOfAShortMtuTakeOneFrame) {
  for (const int host : {0, 1}) {
    TwoHosts::enter(host);
    ASSERT_TRUE(TwoHosts::instance().run("ip link set eth-uet mtu 3500"));
  }
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  EXPECT_EQ(b->caps().max_datagram_bytes, 3500u - 28);
  introduce(*a, *b);
  send_text(*a, b->local_address(), std::string(3472, 'l'));
  const std::vector<Got> got = receive(*b, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_TRUE(got[0].text == std::string(3472, 'l'));
  EXPECT_EQ(b->rx_counters().joined, 0u);
  for (const int host : {0, 1}) {
    TwoHosts::enter(host);
    EXPECT_TRUE(TwoHosts::instance().run("ip link set eth-uet mtu 9000"));
  }
}

// The rings lend their memory until the next receive(), and wake no thread once they are empty.
TEST_F(XdpTest, WaitFdIsNotReadableAfterAllIsRead) {
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  pollfd waiting{b->wait_fd(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
  send_text(*a, b->local_address(), "something to wake for");
  EXPECT_EQ(::poll(&waiting, 1, 1000), 1);
  EXPECT_EQ(b->receive().size(), 1u);
  EXPECT_EQ(b->receive().size(), 0u);
  EXPECT_EQ(::poll(&waiting, 1, 0), 0);
}

// [PDS-141, PDS-241] The program stamps a frame when it comes, not when it is read.
TEST_F(XdpTest, ArrivalTimesAreThoseOfTheProgram) {
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  for (int round = 0; round < 3; ++round) {
    const Instant before = monotonic_now();
    send_text(*a, b->local_address(), "how late is it");
    pollfd waiting{b->wait_fd(), POLLIN, 0};
    ASSERT_EQ(::poll(&waiting, 1, 1000), 1);
    const Instant there = monotonic_now();
    ::usleep(20'000);
    Instant at = Instant::zero();
    for (int i = 0; i < 20 && at == Instant::zero(); ++i) {
      for (const RxDatagram& d : b->receive()) at = d.at;
    }
    EXPECT_GE(at, before);
    EXPECT_LE(at, there);
  }
}

// Processes of one host have one interface, and the second one's packets never reach it.
TEST_F(XdpTest, PeersOfThisHostTakeTheUdpSocket) {
  const auto xdp = open_xdp(here(0));
  const auto udp = open(here(0));
  ASSERT_TRUE(xdp && udp);
  EXPECT_NE(udp->local_address().port, kUetPort);
  for (int i = 0; i < 100; ++i) {
    send_text(*udp, xdp->local_address(), "neighbour " + std::to_string(i));
    const std::vector<Got> got = receive(*xdp, 1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].text, "neighbour " + std::to_string(i));
    send_text(*xdp, udp->local_address(), "answer");
    ASSERT_EQ(receive(*udp, 1).size(), 1u);
  }
  EXPECT_EQ(xdp->rx_counters().frames, 0u);
  EXPECT_EQ(xdp->tx_counters().frames, 0u);
}

// Neither path keeps the other from being read.
TEST_F(XdpTest, FramesAndDatagramsAreReadInTurn) {
  const auto far = open_xdp(here(0));
  const auto xdp = open_xdp(here(1));
  const auto near = open(here(1));
  ASSERT_TRUE(far && xdp && near);
  introduce(*far, *xdp);
  for (int i = 0; i < 200; ++i) {
    send_text(*near, xdp->local_address(), "n");
    send_text(*far, xdp->local_address(), "f");
  }
  std::string order;
  for (const Got& got : receive(*xdp, 400)) order += got.text;
  EXPECT_EQ(order.size(), 400u);
  const std::string middle = order.substr(0, 350);
  EXPECT_NE(middle.find('n'), middle.npos) << order;
  EXPECT_NE(middle.find('f'), middle.npos) << order;
}

TEST_F(XdpTest, AMissingReceiverIsAPathError) {
  const auto a = open_xdp(here(0));
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(a && b);
  introduce(*a, *b);
  expect_path_error_of_a_closed_port(*a, *b);
}

TEST_F(XdpTest, ForeignFamiliesAreRefusedAsByUdp) {
  const auto a = open_xdp(here(0));
  ASSERT_TRUE(a);
  expect_ipv6_refused(*a);
}

TEST_F(XdpTest, TheDocumentNamesEveryCounter) {
  const auto a = open_xdp(here(0));
  ASSERT_TRUE(a);
  expect_documented_counters(*a);
}

}  // namespace
}  // namespace uet::io
