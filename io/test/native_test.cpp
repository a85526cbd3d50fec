// Packets as a separate IP protocol, over loopback: the octets on the wire, the owner of an
// address, refusals. udp_test.cpp has the tests that also hold with UDP.
#include "io/frame/frame.h"
#include "io/test/native_testing.h"

#include "base/crc32c.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace uet::io {
namespace {

UdpOptions native_at(const FabricAddress& local) { return at(local, Mover::native); }

class NativeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!open_raw_socket(ipv4(9), kProtocol)) GTEST_SKIP() << "raw sockets need CAP_NET_RAW";
  }
};

// The octets after the IP header that these options send for a packet "uet" with EV 0x1234.
std::vector<uint8_t> octets_sent(const UdpOptions& options, const FabricAddress& to) {
  const Fd listener = open_raw_socket(to, kProtocol);
  FabricAddress bound = to;
  bound.port = 0;
  SockAddr name;
  const socklen_t length = to_sockaddr(bound, name);
  EXPECT_EQ(::bind(listener.get(), &name.any, length), 0);
  const auto sender = open(options);
  Outbox out;
  out.add(to, "uet", 0x1234);
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), "s");
  return next_octets(listener, to.family == FabricAddress::Family::ipv6);
}

// [WIRE-008, WIRE-009, WIRE-013] The EV in network order, two octets of zero, then the packet; no
// UDP header.
TEST_F(NativeTest, AnEntropyHeaderStandsBeforeThePacket) {
  const std::vector<uint8_t> want{0x12, 0x34, 0, 0, 'u', 'e', 't'};
  EXPECT_EQ(octets_sent(native_at(ipv4(1)), ipv4(2)), want);
  EXPECT_EQ(octets_sent(native_at(ipv6()), ipv6()), want);
}

// [WIRE-007, WIRE-013] Each EV reaches the wire; the sender is known by its address alone.
TEST_F(NativeTest, EachEvArrives) {
  for (const bool v6 : {false, true}) {
    const auto sender = open(native_at(v6 ? ipv6() : ipv4(1)));
    const auto receiver = v6 ? nullptr : open(native_at(ipv4(2)));
    UdpIo& there = v6 ? *sender : *receiver;
    EXPECT_EQ(sender->caps().entropy_values, 65536u);
    EXPECT_EQ(sender->caps().ip_protocol, kProtocol);
    Outbox out;
    for (const int ev : {0, 1, 0x00ff, 0x8000, 0xffff}) {
      out.add(there.local_address(), "x", static_cast<uint16_t>(ev));
    }
    sender->send(out.packets());
    std::string picture;
    for (const Got& g : receive(there, 5)) {
      picture += std::to_string(g.ev.value()) + " ";
      EXPECT_EQ(g.from, sender->local_address());
      EXPECT_EQ(g.text, "x");
    }
    EXPECT_EQ(picture, "0 1 255 32768 65535 ");
  }
}

// A burst longer than one system call takes, of packets with and without payload.
TEST_F(NativeTest, ABurstArrivesWholeAndInOrder) {
  const auto sender = open(native_at(ipv4(1)));
  const auto receiver = open(native_at(ipv4(2)));
  Outbox out;
  std::vector<std::string> want;
  for (int i = 0; i < 60; ++i) {
    want.push_back(std::string(i % 7 == 0 ? 0 : 4160, static_cast<char>('0' + i)));
    out.add(receiver->local_address(), want.back(), static_cast<uint16_t>(i));
  }
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), std::string(60, 's'));
  const std::vector<Got> got = receive(*receiver, want.size());
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    EXPECT_TRUE(got[i].text == want[i]) << i;
    EXPECT_EQ(got[i].ev.value(), i);
  }
}

TEST_F(NativeTest, OneProcessOwnsAnAddress) {
  const auto first = open(native_at(ipv4(1)));
  std::string error;
  EXPECT_EQ(UdpIo::open(native_at(ipv4(1)), &error), nullptr);
  EXPECT_NE(error.find("taken by another process"), error.npos) << error;
  EXPECT_NE(error.find("FI_UET_IFACE"), error.npos) << error;
  EXPECT_NE(open(native_at(ipv4(2))), nullptr);
  UdpOptions block = native_at(ipv4(3));
  block.local.port = 16384;
  EXPECT_EQ(UdpIo::open(block, &error), nullptr);
  EXPECT_NE(error.find("no ports"), error.npos) << error;
  UdpOptions other = native_at(ipv4(1));
  other.ip_protocol = 254;
  EXPECT_NE(open(other), nullptr);
}

// [WIRE-008] If no process there has opened the IP protocol, the host answers with an ICMP error.
TEST_F(NativeTest, AHostWithoutTheProtocolRefuses) {
  const auto sender = open(native_at(ipv4(1)));
  Outbox out;
  out.add(ipv4(3), "as long as the shortest packet");
  sender->send(out.packets());
  const std::vector<PathError> errors = errors_within_a_second(*sender);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].to, ipv4(3));
  EXPECT_EQ(errors[0].error, ECONNREFUSED);
}

// Shorter than an entropy header: dropped and counted.
TEST_F(NativeTest, AStumpIsDropped) {
  for (const bool v6 : {false, true}) {
    FabricAddress to = v6 ? ipv6() : ipv4(1);
    const auto receiver = open(native_at(to));
    to.port = 0;
    SockAddr name;
    const socklen_t length = to_sockaddr(to, name);
    const Fd stranger = open_raw_socket(to, kProtocol);
    for (const size_t octets : {1u, 3u, 4u}) {
      ASSERT_EQ(::sendto(stranger.get(), "abcd", octets, 0, &name.any, length),
                static_cast<ssize_t>(octets));
    }
    const std::vector<Got> got = receive(*receiver, 1);
    ASSERT_EQ(got.size(), 1u) << "an entropy header and nothing behind it";
    EXPECT_EQ(got[0].text, "");
    EXPECT_EQ(receiver->rx_counters().truncated, 2u);
  }
}

// [WIRE-010, WIRE-012] What does not fit the MTU is refused, not cut.
TEST_F(NativeTest, RoomFollowsTheMtu) {
  UdpOptions options = native_at(ipv4(1));
  options.mtu_bytes = 1500;
  EXPECT_EQ(open(options)->caps().max_datagram_bytes, 1500u - 20 - 4);
  const auto sender = open(native_at(ipv4(1)));
  EXPECT_EQ(sender->caps().max_datagram_bytes, 65535u - 20 - 4);
  const auto receiver = open(native_at(ipv4(2)));
  Outbox out;
  out.add(receiver->local_address(), std::string(65535 - 23, 'x'));
  out.add(receiver->local_address(), std::string(65535 - 24, 'y'));
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), "ns");
  EXPECT_EQ(out.packets()[0].error, EMSGSIZE);
  const std::vector<Got> got = receive(*receiver, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].text, std::string(65535 - 24, 'y'));
}

UdpOptions with_crc(const FabricAddress& local) { return with_crc(native_at(local)); }

// [WIRE-089, WIRE-091, WIRE-092, WIRE-093, WIRE-094] Behind the payload, least significant octet
// first. No bit of the headers announces it.
TEST_F(NativeTest, ACrcEndsThePacket) {
  for (const bool v6 : {false, true}) {
    const FabricAddress from = v6 ? ipv6() : ipv4(1);
    const FabricAddress to = v6 ? ipv6() : ipv4(2);
    const std::vector<uint8_t> want = with_trailer(from, to, {0x12, 0x34, 0, 0, 'u', 'e', 't'});
    EXPECT_EQ(octets_sent(with_crc(from), to), want);
  }
}

// [PDS-V3, T-44] Any octet changed, or no CRC at all: dropped and counted. A trimmed packet has
// none, and its DSCP shows it. [WIRE-022]
TEST_F(NativeTest, AWrongCrcIsDropped) {
  for (const bool v6 : {false, true}) {
    const FabricAddress from = v6 ? ipv6() : ipv4(1);
    FabricAddress to = v6 ? ipv6() : ipv4(2);
    const auto receiver = open(with_crc(to));
    const std::vector<uint8_t> octets =
        with_trailer(from, to, {0xbe, 0xef, 0, 0, 'a', 'b', 'c', 'd', 'e'});
    const Fd stranger = open_raw_socket(from, kProtocol);
    SockAddr name, own;
    to.port = 0;
    const socklen_t length = to_sockaddr(to, name);
    FabricAddress source = from;
    source.port = 0;
    ASSERT_EQ(::bind(stranger.get(), &own.any, to_sockaddr(source, own)), 0);
    const auto send = [&](const std::vector<uint8_t>& packet, int tos) {
      (void)set_option(stranger, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_TCLASS : IP_TOS, tos);
      EXPECT_EQ(::sendto(stranger.get(), packet.data(), packet.size(), 0, &name.any, length),
                static_cast<ssize_t>(packet.size()));
    };
    uint64_t bad = 0;
    for (size_t at = 0; at < octets.size(); ++at, ++bad) {
      std::vector<uint8_t> changed = octets;
      changed[at] ^= 0x10;
      send(changed, 0);
    }
    for (const size_t left : {4u, 7u, 8u, 9u, 12u}) {
      send({octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(left)}, 0);
      ++bad;
    }
    send(octets, 0);
    send({octets.begin(), octets.begin() + 7}, 18 << 2);
    const std::vector<Got> got = receive(*receiver, 2);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].text, "abcde");
    EXPECT_EQ(got[0].ev.value(), 0xbeef);
    EXPECT_EQ(got[1].text, "abc") << "a packet that was cut";
    EXPECT_EQ(receiver->rx_counters().bad_crc, bad);
  }
}

// A refused packet does not affect the CRCs of others; room is four octets less.
TEST_F(NativeTest, ABurstWithCrcsArrives) {
  const auto sender = open(with_crc(ipv4(1)));
  const auto receiver = open(with_crc(ipv4(2)));
  EXPECT_EQ(sender->caps().max_datagram_bytes, 65535u - 20 - 4 - 4);
  Outbox out;
  for (int i = 0; i < 60; ++i) {
    const size_t octets = i == 30 ? 65'600u : 100u + static_cast<size_t>(i);
    out.add(receiver->local_address(), std::string(octets, 'x'));
  }
  sender->send(out.packets());
  EXPECT_EQ(out.fates(), std::string(30, 's') + "n" + std::string(29, 's'));
  EXPECT_EQ(receive(*receiver, 59).size(), 59u);
  EXPECT_EQ(receiver->rx_counters().bad_crc, 0u);
}

// [WIRE-091, WIRE-114] The example of the wire reference.
TEST(NativeHeadersTest, TheCrcOfTheExampleComesOut) {
  FabricAddress from, to;
  from.family = to.family = FabricAddress::Family::ipv4;
  from.ip = {192, 168, 1, 1};
  to.ip = {192, 168, 1, 2};
  const std::array<uint8_t, 32> rest{0xbe, 0xef, 0, 0, 0x30, 0x80, 0,    0,    7,    3,   0,
                                     4,    0,    0, 0, 1,    0,    5,    0,    7,    0,   0,
                                     0,    0,    0, 0, 0,    0,    0xde, 0xad, 0xbe, 0xef};
  EXPECT_EQ(crc32c(std::as_bytes(std::span(rest)), crc_of_addresses(from, to)), 0x264664D5U);
}

// [WIRE-008, WIRE-010, WIRE-013] By hand: an IPv4 packet of 20 + 4 + 5 octets.
TEST(NativeHeadersTest, AsTheReferenceHasThem) {
  FabricAddress from, to;
  from.family = to.family = FabricAddress::Family::ipv4;
  from.ip = {10, 0, 0, 1};
  to.ip = {10, 0, 0, 2};
  std::array<std::byte, 24> octets;
  ASSERT_EQ(put_native_headers(octets.data(), from, to, 0xb8, 253, Entropy(0x0a0b), 5), 24u);
  // The checksum by hand: 45b8+001d+0000+4000+40fd+0a00+0001+0a00+0002 = dad5, and not dad5 = 252a.
  const std::array<uint8_t, 24> want{0x45, 0xb8, 0, 29, 0,  0, 0x40, 0, 64,   253,  0x25, 0x2a,
                                     10,   0,    0, 1,  10, 0, 0,    2, 0x0a, 0x0b, 0,    0};
  EXPECT_EQ(std::memcmp(octets.data(), want.data(), want.size()), 0);
}

}  // namespace
}  // namespace uet::io
