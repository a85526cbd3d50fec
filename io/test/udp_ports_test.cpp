// Which ports the processes of one Fabric Address get, and what they are told when there are none.
#include "io/test/udp_testing.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace uet::io {
namespace {

// [WIRE-121] architecture 7, scheme 0.
TEST(UdpPortsTest, TheSecondProcessTakesABlockOfSixteenPorts) {
  const auto first = open(at(ipv4(1)));
  const auto second = open(at(ipv4(1)));
  const auto third = open(at(ipv4(1)));
  ASSERT_TRUE(first && second && third);
  EXPECT_TRUE(first->owns_uet_port());
  EXPECT_EQ(first->local_address(), ipv4(1));
  for (const UdpIo* later : {second.get(), third.get()}) {
    EXPECT_FALSE(later->owns_uet_port());
    EXPECT_EQ(later->local_address().ip, ipv4(1).ip);
    EXPECT_EQ(later->local_address().port % 16, 0);
    EXPECT_GE(later->local_address().port, 16384);
    EXPECT_LE(later->local_address().port, 20479 - 15);
    EXPECT_EQ(later->caps().entropy_values, 16u);
  }
  EXPECT_NE(second->local_address().port, third->local_address().port);

  // Sends from all sixteen; the answer to `source port & ~15` reaches the base.
  const uint16_t base = second->local_address().port;
  Outbox out;
  for (uint16_t ev = 0; ev < 16; ++ev) out.add(first->local_address(), "x", ev);
  second->send(out.packets());
  std::set<uint16_t> ports;
  for (const Got& g : receive(*first, 16)) ports.insert(g.from.port);
  ASSERT_EQ(ports.size(), 16u);
  EXPECT_EQ(*ports.begin(), base);
  EXPECT_EQ(*ports.rbegin(), base + 15);

  FabricAddress answer_to = ipv4(1);
  answer_to.port = static_cast<uint16_t>(*ports.rbegin() & ~15);
  Outbox answer;
  answer.add(answer_to, "answer");
  first->send(answer.packets());
  const std::vector<Got> got = receive(*second, 1);
  ASSERT_EQ(got.size(), 1u);
  EXPECT_EQ(got[0].text, "answer");
}

TEST(UdpPortsTest, AGivenBlockIsTakenExactly) {
  UdpOptions options = at(ipv4(1));
  options.local.port = 18000;
  const auto io = open(options);
  ASSERT_TRUE(io);
  EXPECT_EQ(io->local_address().port, 18000);
  std::string error;
  EXPECT_EQ(UdpIo::open(options, &error), nullptr);
  EXPECT_NE(error.find("cannot bind UDP port 18000 of 127.77."), std::string::npos) << error;
}

TEST(UdpPortsTest, StrictPortNamesTheRemedy) {
  const auto first = open(at(ipv4(1)));
  UdpOptions strict = at(ipv4(1));
  strict.strict_port = true;
  std::string error;
  EXPECT_EQ(UdpIo::open(strict, &error), nullptr);
  EXPECT_NE(error.find("UDP port 4793 of 127.77."), std::string::npos) << error;
  EXPECT_NE(error.find("FI_UET_IFACE"), std::string::npos) << error;
  EXPECT_NE(error.find("unset FI_UET_STRICT_PORT"), std::string::npos) << error;
}

TEST(UdpPortsTest, AnExhaustedRangeNamesTheRemedy) {
  UdpOptions options = at(ipv4(1));
  options.port_first = 17001;
  options.port_last = 17038;  // one whole block: 17008 to 17023
  const auto first = open(options);
  const auto second = open(options);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->local_address().port, 17008);
  std::string error;
  EXPECT_EQ(UdpIo::open(options, &error), nullptr);
  EXPECT_NE(error.find("no block of 16 ports is free in 17001-17038"), std::string::npos) << error;
  EXPECT_NE(error.find("FI_UET_PORT_RANGE"), std::string::npos) << error;
}

TEST(UdpPortsTest, ForeignAndWildcardAddressesAreRefused) {
  UdpOptions options;
  options.local.family = FabricAddress::Family::ipv4;
  std::string error;
  EXPECT_EQ(UdpIo::open(options, &error), nullptr);
  EXPECT_NE(error.find("wildcard"), std::string::npos) << error;
  options.local.ip = {192, 0, 2, 1};
  EXPECT_EQ(UdpIo::open(options, &error), nullptr);
  EXPECT_NE(error.find("FI_UET_IFACE"), std::string::npos) << error;
}

// Every descriptor is closed on exec, so that no child keeps a port.
TEST(UdpPortsTest, DescriptorsAreCloseOnExec) {
  const auto first = open(at(ipv4(1)));
  const auto second = open(at(ipv4(1)));
  Outbox out;
  for (uint16_t ev = 0; ev < 16; ++ev) out.add(ipv4(1), "x", ev);
  first->send(out.packets());
  int sockets = 0;
  for (int fd = 3; fd < 256; ++fd) {
    SockAddr name{};
    socklen_t length = sizeof name;
    if (::getsockname(fd, &name.any, &length) != 0) continue;
    EXPECT_EQ(::fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC) << fd;
    ++sockets;
  }
  EXPECT_GE(sockets, 33);
  EXPECT_EQ(::fcntl(first->wait_fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

// Twelve openers at once, fifteen blocks: no two get the same, nobody fails.
TEST(UdpPortsTest, ProcessesThatStartTogetherShareNothing) {
  UdpOptions options = at(ipv4(1));
  options.port_first = 19008;
  options.port_last = 19008 + 15 * 16 - 1;
  std::vector<std::unique_ptr<UdpIo>> opened(12);
  std::vector<std::thread> threads;
  for (std::unique_ptr<UdpIo>& slot : opened) {
    threads.emplace_back([&slot, &options] { slot = UdpIo::open(options, nullptr); });
  }
  for (std::thread& t : threads) t.join();
  std::set<uint16_t> ports;
  for (const std::unique_ptr<UdpIo>& io : opened) {
    ASSERT_TRUE(io);
    ports.insert(io->local_address().port);
  }
  EXPECT_EQ(ports.size(), opened.size());
  EXPECT_EQ(ports.count(kUetPort), 1u);
}

}  // namespace
}  // namespace uet::io
