// Reports of the UDP backend about routes that carry less than a packet: in a separate network
// namespace, on a device that drops everything. Skipped without the privilege to make one. [LF-141]
#include "io/udp/udp.h"

#include "io/test/frame_testing.h"

#include <cerrno>

namespace uet::io {
namespace {

class PathMtuTest : public NamespaceTest, public ::testing::WithParamInterface<Mover> {
 protected:
  PathMtuTest()
      : NamespaceTest(
            "ip link set lo up && ip link add uet0 mtu 9000 type veth peer name uet1 mtu 9000 && "
            "ip link set uet1 arp off up && ip link set uet0 arp off up && "
            "ip addr add 10.47.97.1/24 dev uet0 && "
            "ip addr add fd47:97::1/64 dev uet0 nodad") {}
  static FabricAddress at(uint8_t host, bool v6) {
    FabricAddress a = host_address(host, v6);
    a.ip[v6 ? 3 : 2] = v6 ? 0x97 : 97;
    return a;
  }
  static std::unique_ptr<UdpIo> open(bool v6, bool gso = true) {
    UdpOptions options = io::at(at(0, v6), GetParam());
    options.gso = gso;
    std::string error;
    auto io = UdpIo::open(options, &error);
    EXPECT_NE(io, nullptr) << error;
    return io;
  }
  static std::string send(UdpIo& io, const FabricAddress& to, uint32_t bytes, int count = 1) {
    Outbox out;
    for (int i = 0; i < count; ++i) out.add(to, std::string(bytes, 'x'), 3);
    io.send(out.packets());
    return out.fates();
  }
  static std::string errors(UdpIo& io) {
    std::string text;
    for (const PathError& e : io.path_errors()) {
      text += e.error == EMSGSIZE ? "too long for " + std::to_string(io.route_mtu(e.to)) : "other";
    }
    return text;
  }
  static uint64_t insisted(const UdpIo& io) { return io.tx_counters().insisted; }
};

INSTANTIATE_TEST_SUITE_P(Each, PathMtuTest, ::testing::Values(Mover::calls, Mover::ring), name_of);

TEST_P(PathMtuTest, ARefusalNamesTheMtuOfTheRoute) {
  for (const bool v6 : {false, true}) {
    const auto io = open(v6);
    ASSERT_NE(io, nullptr);
    const FabricAddress to = at(1, v6);
    EXPECT_EQ(send(*io, to, 8000), "s");
    EXPECT_EQ(errors(*io), "");
    ASSERT_TRUE(run("ip route add " + ip_text(to) + " dev uet0 mtu 1500"));
    EXPECT_EQ(send(*io, to, 8000), "n");
    EXPECT_EQ(errors(*io), "too long for 1500");
    EXPECT_EQ(send(*io, to, 1400), "s");
    EXPECT_EQ(errors(*io), "");
    EXPECT_EQ(insisted(*io), 0u);
  }
}

// The answer of a moment ago is of no use: it is since then that packets do not pass.
TEST_P(PathMtuTest, ARouteMayBecomeSmallerTwiceInAMoment) {
  const auto io = open(false);
  ASSERT_NE(io, nullptr);
  const FabricAddress to = at(1, false);
  for (const uint32_t mtu : {3000u, 1500u}) {
    ASSERT_TRUE(run("ip route replace " + ip_text(to) + " dev uet0 mtu " + std::to_string(mtu)));
    EXPECT_EQ(send(*io, to, mtu), "n");
    EXPECT_EQ(errors(*io), "too long for " + std::to_string(mtu));
  }
  ASSERT_TRUE(run("ip route del " + ip_text(to)));
  for (const uint32_t mtu : {8000u, 7000u}) {
    ASSERT_TRUE(run("ip link set uet0 mtu " + std::to_string(mtu)));
    EXPECT_EQ(io->route_mtu(to), mtu);
  }
}

// An error may be forged, and each costs questions to the kernel.
TEST_P(PathMtuTest, QuestionsToTheKernelAreLimitedPerSecond) {
  const auto io = open(false);
  ASSERT_NE(io, nullptr);
  uint32_t answers = 0;
  for (int i = 0; i < 10'000; ++i) answers += io->route_mtu(at(1, false)) != 0;
  EXPECT_GE(answers, 500u);
  EXPECT_LT(answers, 10'000u);
}

// The system would keep the value of an ICMP error, which may be forged, for ten minutes.
TEST_P(PathMtuTest, ShortPacketsLeaveAfterAnyReportOfTheRoute) {
  for (const bool gso : {true, false}) {
    const auto io = open(false, gso);
    ASSERT_NE(io, nullptr);
    const FabricAddress to = at(1, false);
    ASSERT_TRUE(run("ip route replace " + ip_text(to) + " dev uet0 mtu 600"));
    EXPECT_EQ(send(*io, to, 1232, 3), "sss");
    EXPECT_EQ(errors(*io), "too long for 600");
    EXPECT_EQ(insisted(*io), 1u);
    EXPECT_EQ(io->tx_counters().gso_disabled, 0u);
    EXPECT_EQ(send(*io, to, 1232, 3), "sss");
    EXPECT_EQ(insisted(*io), 1u);
    EXPECT_EQ(send(*io, to, 9001), "n");  // the device's own limit stays
  }
}

TEST_P(PathMtuTest, LongPacketsDoNot) {
  const auto io = open(false);
  ASSERT_NE(io, nullptr);
  const FabricAddress to = at(1, false);
  ASSERT_TRUE(run("ip route replace " + ip_text(to) + " dev uet0 mtu 600"));
  EXPECT_EQ(send(*io, to, 1233), "n");
  EXPECT_EQ(send(*io, to, 4000, 3), "nnn");
  EXPECT_EQ(insisted(*io), 0u);
}

}  // namespace
}  // namespace uet::io
