// Which packets the BPF program of the AF_XDP backend takes, that it is gone with its process, and
// which interfaces it is refused. See xdp_testing.h for when it is skipped.
#include "io/test/xdp_testing.h"

#include <arpa/inet.h>
#include <signal.h>
#include <sys/wait.h>

namespace uet::io {
namespace {

using XdpProgramTest = XdpTest;

constexpr size_t kIp = kEthernetHeader;

FabricAddress sender() {
  FabricAddress from = host_address(0, false);
  from.port = 5000;
  return from;
}

// The sum of the IPv4 header, after a change of it.
void repair(std::vector<std::byte>& frame, size_t header_bytes) {
  frame[kIp + 10] = frame[kIp + 11] = std::byte{0};
  uint32_t sum = 0;
  for (size_t i = 0; i < header_bytes; i += 2) {
    sum += std::to_integer<uint32_t>(frame[kIp + i]) << 8 |
           std::to_integer<uint32_t>(frame[kIp + i + 1]);
  }
  while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
  frame[kIp + 10] = static_cast<std::byte>(~sum >> 8);
  frame[kIp + 11] = static_cast<std::byte>(~sum);
}

// [LF-144] Packets of other hosts, and packets to us that are not plain, go to the kernel.
TEST_F(XdpProgramTest, OnlyPlainPacketsToThisAddressAndPortAreTaken) {
  const auto b = open_xdp(here(1));
  UdpOptions another = here(1);
  another.local.port = 16400;
  const auto other = open(another);
  ASSERT_TRUE(b && other);
  const Wire wire;
  const FabricAddress to = b->local_address();
  FabricAddress far = to;
  far.ip[3] = 77;

  wire.put(wire.frame(sender(), other->local_address(), "another port"));
  wire.put(wire.frame(sender(), far, "another address"));
  auto frame = wire.frame(sender(), to, "another protocol");
  frame[kIp + 9] = std::byte{6};
  repair(frame, 20);
  wire.put(frame);
  frame = wire.frame(sender(), to, "first fragment");
  frame[kIp + 6] = std::byte{0x20};
  repair(frame, 20);
  wire.put(frame);
  frame = wire.frame(sender(), to, "last fragment");
  frame[kIp + 6] = std::byte{0};
  frame[kIp + 7] = std::byte{9};
  repair(frame, 20);
  wire.put(frame);
  frame = wire.frame(sender(), to, "in a VLAN");
  const std::byte tag[] = {std::byte{0x81}, std::byte{0}, std::byte{0}, std::byte{5}};
  frame.insert(frame.begin() + 12, std::begin(tag), std::end(tag));
  wire.put(frame);
  frame = wire.frame(sender(), to, "to another Ethernet address");
  frame[0] = std::byte{2};
  frame[5] ^= std::byte{1};
  wire.put(frame);
  wire.put(std::vector<std::byte>(frame.begin(), frame.begin() + 30));  // no whole headers
  frame = wire.frame(sender(), to, "with an IP option");  // which the kernel takes, by the socket
  frame.insert(frame.begin() + kIp + 20, 4, std::byte{1});
  frame[kIp] = std::byte{0x46};
  frame[kIp + 3] = static_cast<std::byte>(std::to_integer<uint32_t>(frame[kIp + 3]) + 4);
  repair(frame, 24);
  wire.put(frame);
  wire.put(wire.frame(sender(), to, "for us, this one"));

  std::string got;
  for (const Got& each : receive(*b, 3)) got += each.text + ", ";
  EXPECT_EQ(got, "for us, this one, with an IP option, ");
  EXPECT_EQ(b->rx_counters().frames, 1u);
  EXPECT_EQ(counters_of(*b)["udp_rx_datagrams"], 1u);
  const std::vector<Got> others = receive(*other, 2);
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].text, "another port");
}

// [LF-144] IPv6: all words of the address count, and an extension header is the kernel's.
TEST_F(XdpProgramTest, OnlyPlainPacketsOfIpv6AreTaken) {
  const auto b = open_xdp(here(1, true));
  ASSERT_TRUE(b);
  const Wire wire;
  FabricAddress from = host_address(0, true);
  from.port = 5000;
  const FabricAddress to = b->local_address();
  for (const size_t octet : {0, 5, 9, 15}) {
    FabricAddress far = to;
    far.ip[octet] ^= 1;
    wire.put(wire.frame(from, far, "another address"));
  }
  auto frame = wire.frame(from, to, "another protocol");
  frame[kIp + 6] = std::byte{58};
  wire.put(frame);
  wire.put(wire.frame(from, to, "for us, this one"));
  const std::vector<Got> got = receive(*b, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].text, "for us, this one");
  EXPECT_EQ(b->rx_counters().frames, 1u);
}

TEST_F(XdpProgramTest, PingsOfOtherHostsAreAnswered) {
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(b);
  TwoHosts::enter(0);
  const Fd echo(::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
  ASSERT_TRUE(static_cast<bool>(echo));
  const uint8_t request[8] = {8, 0, 0xf7, 0xfd, 0, 1, 0, 1};  // ~(0x0800 + 0x0001 + 0x0001)
  SockAddr to{};
  const socklen_t length = to_sockaddr(host_address(1, false), to);
  ASSERT_EQ(::sendto(echo.get(), request, sizeof request, 0, &to.any, length), 8);
  pollfd waiting{echo.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&waiting, 1, 1000), 1);
}

// Addresses that no neighbour has, or that are ours, and headers with a wrong checksum: the IP
// stack would not take them. [WIRE-010, WIRE-022, WIRE-024]
TEST_F(XdpProgramTest, PacketsThatTheIpStackRefusesAreDropped) {
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(b);
  const Wire wire;
  const auto from = [](std::array<uint8_t, 4> ip) {
    FabricAddress address = sender();
    std::copy(ip.begin(), ip.end(), address.ip.begin());
    return address;
  };
  const FabricAddress to = b->local_address();
  for (const auto& ip : {std::array<uint8_t, 4>{127, 0, 0, 1},
                         {0, 0, 0, 0},
                         {224, 0, 0, 1},
                         {255, 255, 255, 255},
                         {10, 47, 94, 2}}) {
    wire.put(wire.frame(from(ip), to, "martian"));
  }
  auto frame = wire.frame(from({10, 47, 94, 7}), to, "wrong sum of the header");
  frame[kIp + 10] ^= std::byte{1};
  wire.put(frame);
  frame = wire.frame(from({10, 47, 94, 7}), to, "wrong sum");
  frame[kIp + 27] = std::byte{1};  // no checksum of UDP was there
  wire.put(frame);
  wire.put(wire.frame(from({10, 47, 94, 7}), to, "a neighbour"));
  const std::vector<Got> got = receive(*b, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(ip_text(got[0].from), "10.47.94.7");
  EXPECT_EQ(b->rx_counters().martian, 5u);
  EXPECT_EQ(b->rx_counters().malformed, 2u);
}

// An MTU that has grown lets longer packets in than a room holds: each is dropped to its end.
TEST_F(XdpProgramTest, PacketsOfTooManyFramesAreDroppedWhole) {
  const auto b = open_xdp(here(1));
  ASSERT_TRUE(b);
  for (const int host : {0, 1}) {
    TwoHosts::enter(host);
    ASSERT_TRUE(TwoHosts::instance().run("ip link set eth-uet mtu 30000"));
  }
  const Wire wire;
  FabricAddress from = sender();
  for (int i = 0; i < 200; ++i) {  // around the rings
    wire.put(wire.frame(from, b->local_address(), std::string(29'000, 'l')));
    wire.put(wire.frame(from, b->local_address(), "short " + std::to_string(i)));
    const std::vector<Got> got = receive(*b, 1);
    ASSERT_EQ(got.size(), 1u) << i;
    EXPECT_EQ(got[0].text, "short " + std::to_string(i));
  }
  const bool is_joined = b->caps().max_datagram_bytes > 4096;
  EXPECT_EQ(b->rx_counters().malformed, is_joined ? 200u : 0u);
  EXPECT_EQ(b->rx_counters().frames, is_joined ? 400u : 200u);
  EXPECT_EQ(counters_of(*b)["xdp_rx_dropped"], is_joined ? 0u : 200u);
  for (const int host : {0, 1}) {
    TwoHosts::enter(host);
    EXPECT_TRUE(TwoHosts::instance().run("ip link set eth-uet mtu 9000"));
  }
}

// [LF-144] The kernel takes the program off, whatever ends the process, and the next one has the
// port and the queues at once.
TEST_F(XdpProgramTest, AKilledProcessLeavesNothingBehind) {
  const UdpOptions options = here(1);
  for (int round = 0; round < 3; ++round) {
    int ready[2];
    ASSERT_EQ(::pipe2(ready, O_CLOEXEC), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      const auto io = XdpIo::open(options, nullptr);
      const char octet = io != nullptr && io->owns_uet_port() ? 'y' : 'n';
      (void)!::write(ready[1], &octet, 1);
      for (;;) ::pause();
    }
    char octet = 0;
    ASSERT_EQ(::read(ready[0], &octet, 1), 1);
    EXPECT_EQ(octet, 'y');
    EXPECT_TRUE(has_program());
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    ::close(ready[0]);
    ::close(ready[1]);
    EXPECT_FALSE(has_program());
    const auto next = open_xdp(options);
    ASSERT_TRUE(next);
    EXPECT_TRUE(next->owns_uet_port());
  }
  EXPECT_FALSE(has_program());
}

// [LF-144] An interface has one program: the second process gets an error, and the first continues.
TEST_F(XdpProgramTest, AnotherProgramOnTheInterfaceIsNamed) {
  const auto first = open_xdp(here(1));
  ASSERT_TRUE(first);
  const std::string error = refusal(here(1));
  EXPECT_NE(error.find("another XDP program is on eth-uet"), error.npos) << error;
  EXPECT_NE(error.find("FI_UET_IO=packet"), error.npos) << error;
  const auto peer = open(here(0));
  send_text(*peer, first->local_address(), "still there");
  EXPECT_EQ(receive(*first, 1).size(), 1u);
  EXPECT_EQ(first->rx_counters().frames, 1u);
}

// [LF-144] No packet leaves this host through loopback, so nothing could be a frame.
TEST_F(XdpProgramTest, LoopbackAddressesAreRefused) {
  TwoHosts::enter(0);
  const std::string error = refusal(at(ipv4(1)));
  EXPECT_NE(error.find("Ethernet"), error.npos) << error;
  EXPECT_NE(error.find("FI_UET_IO=udp"), error.npos) << error;
}

TEST_F(XdpProgramTest, WithoutThePrivilegeTheErrorNamesIt) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  ASSERT_EQ(::syscall(SYS_capget, &header, data), 0);
  // This thread only, and only the effective set: it is raised again below.
  const auto without = [&](std::initializer_list<int> capabilities) {
    __user_cap_data_struct fewer[2] = {data[0], data[1]};
    for (const int each : capabilities) {
      fewer[each / 32].effective &= ~(1u << each % 32);
    }
    const UdpOptions options = here(0);
    EXPECT_EQ(::syscall(SYS_capset, &header, fewer), 0);
    std::string error = refusal(options);
    const std::string foreseen = XdpIo::why_refused();
    EXPECT_EQ(::syscall(SYS_capset, &header, data), 0);
    EXPECT_FALSE(foreseen.empty());
    return error;
  };
  for (const std::string& error : {without({CAP_NET_RAW}), without({CAP_NET_ADMIN, CAP_SYS_ADMIN}),
                                   without({CAP_BPF, CAP_SYS_ADMIN, CAP_NET_ADMIN})}) {
    EXPECT_NE(error.find("CAP_NET_"), error.npos) << error;
    EXPECT_NE(error.find("FI_UET_IO=packet"), error.npos) << error;
  }
}

}  // namespace
}  // namespace uet::io
