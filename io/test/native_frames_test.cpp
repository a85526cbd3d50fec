// Packets as a separate IP protocol by packet sockets and by AF_XDP, between two hosts: the same
// octets as from raw sockets. See frame_testing.h and xdp_testing.h for when it is skipped.
#include "io/test/native_testing.h"
#include "io/test/xdp_testing.h"

#include <cerrno>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace uet::io {
namespace {

template <class Backend>
class NativeFramesTest : public XdpTest {
 protected:
  void SetUp() override {
    if constexpr (std::is_same_v<Backend, XdpIo>) {
      XdpTest::SetUp();
    } else {
      FrameIoTest::SetUp();
    }
  }
  // The test once for each family.
  template <typename Test>
  void with_each_family(Test test) {
    for (const bool v6 : {false, true}) {
      SCOPED_TRACE(v6 ? "IPv6" : "IPv4");
      v6_ = v6;
      test();
    }
  }
  UdpOptions native_at(int host) const {
    UdpOptions options = here(host, v6_);
    options.ip_protocol = kProtocol;
    return options;
  }
  static std::unique_ptr<Backend> open_frames(const UdpOptions& options) {
    std::string error;
    std::unique_ptr<Backend> io = Backend::open(options, &error);
    EXPECT_NE(io, nullptr) << error;
    return io;
  }
  FabricAddress address(int host) const { return host_address(host, v6_); }
  std::vector<uint8_t> next(const Fd& listener) const { return next_octets(listener, v6_); }
  // A raw socket of this host that receives its packets and sends from its address.
  Fd stranger_on(int host) const {
    TwoHosts::enter(host);
    FabricAddress own = address(host);
    own.port = 0;
    Fd socket = open_raw_socket(own, kProtocol);
    SockAddr name;
    const socklen_t length = to_sockaddr(own, name);
    EXPECT_EQ(::bind(socket.get(), &name.any, length), 0);
    return socket;
  }
  void send_octets(const Fd& from, int host, const std::vector<uint8_t>& octets, int tos) const {
    (void)set_option(from, v6_ ? IPPROTO_IPV6 : IPPROTO_IP, v6_ ? IPV6_TCLASS : IP_TOS, tos);
    FabricAddress to = address(host);
    to.port = 0;
    SockAddr name;
    const socklen_t length = to_sockaddr(to, name);
    EXPECT_EQ(::sendto(from.get(), octets.data(), octets.size(), 0, &name.any, length),
              static_cast<ssize_t>(octets.size()));
  }
  bool v6_ = false;
};

using Backends = ::testing::Types<FrameIo, XdpIo>;
struct BackendNames {
  template <typename Backend>
  static std::string GetName(int) {
    return std::is_same_v<Backend, XdpIo> ? "Xdp" : "Packet";
  }
};
TYPED_TEST_SUITE(NativeFramesTest, Backends, BackendNames);

// [WIRE-008, WIRE-009, WIRE-013] The EV in network order, two octets of zero, then the packet.
TYPED_TEST(NativeFramesTest, AFrameHasAnEntropyHeaderAndNoUdp) {
  this->with_each_family([&] {
    const auto b = open(this->native_at(1));
    const auto a = this->open_frames(this->native_at(0));
    ASSERT_TRUE(a && b);
    EXPECT_EQ(a->caps().ip_protocol, kProtocol);
    EXPECT_EQ(a->caps().entropy_values, 65536u);
    introduce(*a, *b);
    const Fd listener = this->stranger_on(1);
    const uint64_t frames = a->tx_counters().frames;
    EXPECT_EQ(send_text(*a, b->local_address(), "uet", 0x1234), "s");
    EXPECT_EQ(a->tx_counters().frames, frames + 1);
    const std::vector<uint8_t> want{0x12, 0x34, 0, 0, 'u', 'e', 't'};
    EXPECT_EQ(this->next(listener), want);
  });
}

// [WIRE-089, WIRE-091, WIRE-092] And with one, the CRC behind it.
TYPED_TEST(NativeFramesTest, ACrcEndsTheFrame) {
  this->with_each_family([&] {
    const auto b = open(with_crc(this->native_at(1)));
    const auto a = this->open_frames(with_crc(this->native_at(0)));
    ASSERT_TRUE(a && b);
    introduce(*a, *b);
    const Fd listener = this->stranger_on(1);
    const uint64_t frames = a->tx_counters().frames;
    EXPECT_EQ(send_text(*a, b->local_address(), "uet", 0x1234), "s");
    EXPECT_EQ(a->tx_counters().frames, frames + 1);
    EXPECT_EQ(this->next(listener),
              with_trailer(this->address(0), this->address(1), {0x12, 0x34, 0, 0, 'u', 'e', 't'}));
    EXPECT_EQ(receive(*b, 1).size(), 1u);
    EXPECT_EQ(b->rx_counters().bad_crc, 0u);
  });
}

// [LF-144] Packets of a peer with raw sockets arrive as frames, with EV and marks; and the reverse.
TYPED_TEST(NativeFramesTest, RawSocketsArePeers) {
  this->with_each_family([&] {
    const auto a = open(with_crc(this->native_at(0)));
    const auto b = this->open_frames(with_crc(this->native_at(1)));
    ASSERT_TRUE(a && b);
    Outbox out;
    out.add(b->local_address(), "to the ring", 0xfedc, 11, Ecn::ect1);
    a->send(out.packets());
    const std::vector<Got> there = receive(*b, 1);
    ASSERT_EQ(there.size(), 1u);
    EXPECT_EQ(there[0].text, "to the ring");
    EXPECT_EQ(there[0].ev.value(), 0xfedc);
    EXPECT_EQ(there[0].from, a->local_address());
    EXPECT_EQ(there[0].dscp, 11);
    EXPECT_EQ(there[0].ecn, Ecn::ect1);
    EXPECT_EQ(b->rx_counters().frames, 1u);

    introduce(*b, *a);
    Outbox back;
    back.add(a->local_address(), "from a frame", 0x0102, 46, Ecn::ce);
    b->send(back.packets());
    const std::vector<Got> here_again = receive(*a, 1);
    ASSERT_EQ(here_again.size(), 1u);
    EXPECT_EQ(here_again[0].text, "from a frame");
    EXPECT_EQ(here_again[0].ev.value(), 0x0102);
    EXPECT_EQ(here_again[0].from, b->local_address());
    EXPECT_EQ(here_again[0].dscp, 46);
    EXPECT_EQ(here_again[0].ecn, Ecn::ce);
  });
}

// The kernel joins nothing that is not UDP or TCP: a long batch leaves as frames, too, in order.
TYPED_TEST(NativeFramesTest, ALongBatchLeavesAsFrames) {
  this->with_each_family([&] {
    const auto a = this->open_frames(with_crc(this->native_at(0)));
    const auto b = this->open_frames(with_crc(this->native_at(1)));
    ASSERT_TRUE(a && b);
    introduce(*a, *b);
    const uint64_t frames = a->tx_counters().frames;
    Outbox out;
    std::vector<std::string> want;
    for (int i = 0; i < 40; ++i) {
      want.emplace_back(i % 7 == 0 ? 12 : 4160, static_cast<char>('0' + i));
      out.add(b->local_address(), want.back(), static_cast<uint16_t>(i));
    }
    a->send(out.packets());
    EXPECT_EQ(out.fates(), std::string(40, 's'));
    EXPECT_EQ(a->tx_counters().frames, frames + 40);
    const std::vector<Got> got = receive(*b, want.size());
    ASSERT_EQ(got.size(), want.size());
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_TRUE(got[i].text == want[i]) << i;
      EXPECT_EQ(got[i].ev.value(), i);
    }
  });
}

// [PDS-V3, T-44, WIRE-022] A changed octet, no whole CRC, no whole entropy header: dropped and
// counted. A trimmed packet has no CRC, and its DSCP shows it.
TYPED_TEST(NativeFramesTest, AWrongCrcIsDropped) {
  this->with_each_family([&] {
    const auto b = this->open_frames(with_crc(this->native_at(1)));
    ASSERT_TRUE(b);
    const Fd stranger = this->stranger_on(0);
    const std::vector<uint8_t> octets =
        with_trailer(this->address(0), this->address(1), {0xbe, 0xef, 0, 0, 'a', 'b', 'c', 'd'});
    for (size_t at = 0; at < octets.size(); ++at) {
      std::vector<uint8_t> changed = octets;
      changed[at] ^= 0x10;
      this->send_octets(stranger, 1, changed, 0);
    }
    for (const std::ptrdiff_t left : {4, 7, 8, 11}) {
      this->send_octets(stranger, 1, {octets.begin(), octets.begin() + left}, 0);
    }
    this->send_octets(stranger, 1, {octets.begin(), octets.begin() + 3}, 0);
    this->send_octets(stranger, 1, octets, 0);
    this->send_octets(stranger, 1, {octets.begin(), octets.begin() + 7}, 18 << 2);
    const std::vector<Got> got = receive(*b, 2);
    ASSERT_EQ(got.size(), 2u);
    EXPECT_EQ(got[0].text, "abcd");
    EXPECT_EQ(got[0].ev.value(), 0xbeef);
    EXPECT_EQ(got[1].text, "abc") << "a packet that was cut";
    EXPECT_EQ(b->rx_counters().bad_crc, octets.size() + 4);
    // AF_XDP leaves packets without room for the header to the raw socket, which it asks less
    // often.
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(b->receive().empty());
    EXPECT_EQ(b->rx_counters().malformed + counters_of(*b)["udp_rx_truncated"], 1u);
  });
}

// [WIRE-008] A host without a process for the protocol answers with ICMP, to frames as well.
TYPED_TEST(NativeFramesTest, AHostWithoutTheProtocolRefuses) {
  this->with_each_family([&] {
    const auto a = this->open_frames(this->native_at(0));
    auto b = this->open_frames(this->native_at(1));
    ASSERT_TRUE(a && b);
    introduce(*a, *b);
    const FabricAddress there = b->local_address();
    b.reset();
    const uint64_t frames = a->tx_counters().frames;
    send_text(*a, there, "as long as the shortest packet");
    EXPECT_EQ(a->tx_counters().frames, frames + 1);
    const std::vector<PathError> errors = errors_within_a_second(*a);
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].to, there);
    EXPECT_EQ(errors[0].error, ECONNREFUSED);
  });
}

// Only frames of its protocol arrive, and one process owns the address.
TYPED_TEST(NativeFramesTest, OtherProtocolsAreNotSeen) {
  this->with_each_family([&] {
    const auto b = this->open_frames(this->native_at(1));
    ASSERT_TRUE(b);
    std::string error;
    EXPECT_EQ(TypeParam::open(this->native_at(1), &error), nullptr);
    EXPECT_NE(error.find("taken by another process"), error.npos) << error;
    UdpOptions udp = this->native_at(0);
    udp.ip_protocol = 0;
    const auto over_udp = open(udp);
    send_text(*over_udp, b->local_address(), "a datagram");
    const auto native = open(this->native_at(0));
    send_text(*native, b->local_address(), "a packet");
    const std::vector<Got> got = receive(*b, 1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].text, "a packet");
    EXPECT_EQ(b->rx_counters().frames, 1u);
  });
}

}  // namespace
}  // namespace uet::io
