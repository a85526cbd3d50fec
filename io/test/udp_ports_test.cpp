// The ports of processes at one Fabric Address, and the error when none is left.
#include "io/test/udp_testing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace uet::io {
namespace {

// [WIRE-121] decision 3, scheme 0.
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
    EXPECT_EQ(later->caps().entropy_values, 8u);
  }
  EXPECT_NE(second->local_address().port, third->local_address().port);

  // Sends from eight of them; the answer to `source port & ~15` reaches the base.
  const uint16_t base = second->local_address().port;
  Outbox out;
  for (uint16_t ev = 0; ev < 16; ++ev) out.add(first->local_address(), "x", ev);
  second->send(out.packets());
  std::set<uint16_t> ports;
  for (const Got& g : receive(*first, 16)) ports.insert(g.from.port);
  ASSERT_EQ(ports.size(), 8u);
  EXPECT_EQ(*ports.begin(), base);
  EXPECT_EQ(*ports.rbegin(), base + 7);

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
  EXPECT_GE(sockets, 9);
  EXPECT_EQ(::fcntl(first->wait_fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

// The descriptors of this process.
size_t open_descriptors() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    static_cast<void>(entry);
    ++count;
  }
  return count;
}

// Sockets for sending come when they are needed, and no more than eight with the receiving one.
TEST(UdpPortsTest, AProcessHasNineDescriptorsAtMost) {
  const size_t before = open_descriptors();
  const auto first = open(at(ipv4(1)));
  EXPECT_EQ(open_descriptors(), before + 2);  // the receive socket and the epoll set
  const auto second = open(at(ipv4(1)));
  EXPECT_EQ(open_descriptors(), before + 4);
  Outbox out;
  for (uint16_t ev = 0; ev < 64; ++ev) out.add(ipv4(1), "x", ev);
  first->send(out.packets());
  second->send(out.packets());
  EXPECT_EQ(open_descriptors(), before + 18);
}

// A port in a block may belong to another program: packets for it leave from the base, and answers
// still arrive. [WIRE-121]
TEST(UdpPortsTest, APortOfTheBlockThatIsTakenIsNotNeeded) {
  const auto first = open(at(ipv4(1)));
  UdpOptions options = at(ipv4(1));
  options.local.port = 18000;
  FabricAddress taken = ipv4(1);
  taken.port = 18003;
  SockAddr name;
  const Fd other = open_udp_socket(taken);
  const socklen_t length = to_sockaddr(taken, name);
  ASSERT_EQ(::bind(other.get(), &name.any, length), 0);
  const auto io = open(options);
  ASSERT_TRUE(io);
  Outbox out;
  for (uint16_t ev = 0; ev < 8; ++ev) out.add(ipv4(1), "x", ev);
  io->send(out.packets());
  std::multiset<uint16_t> ports;
  for (const Got& g : receive(*first, 8)) ports.insert(g.from.port);
  EXPECT_EQ(ports.size(), 8u);
  EXPECT_EQ(ports.count(18000), 2u);
  EXPECT_EQ(ports.count(18003), 0u);
}

// [WIRE-121, decision 3] Ports that firewalls have always allowed are taken first; the rest of the
// range is for later processes.
TEST(UdpPortsTest, AThousandProcessesFitOnOneAddress) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit before = files;
  files.rlim_cur = files.rlim_max;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &files), 0);
  ASSERT_GE(files.rlim_cur, 4096u) << "too few open files are allowed (ulimit -Hn)";
  UdpOptions options = at(ipv4(1));
  options.receive_buffer_bytes = options.send_buffer_bytes = 0;
  std::vector<std::unique_ptr<UdpIo>> all;
  std::set<uint16_t> ports;
  for (uint32_t i = 0; i < 1000; ++i) {
    all.push_back(open(options));
    ASSERT_TRUE(all.back()) << i;
    const uint16_t port = all.back()->local_address().port;
    if (i > 0) {
      EXPECT_EQ(port % 16, 0);
      EXPECT_EQ(port >= 20480, i > 256) << i;
    }
    EXPECT_LT(port, 32768);
    ports.insert(port);
  }
  EXPECT_EQ(ports.size(), 1000u);
  // Each tenth writes to its neighbour, which answers to `source port & ~15`.
  for (size_t i = 10; i < all.size(); i += 10) {
    UdpIo& from = *all[i];
    UdpIo& to = *all[i - 1];
    Outbox out;
    out.add(to.local_address(), "to " + std::to_string(i), 5);
    from.send(out.packets());
    const std::vector<Got> got = receive(to, 1);
    ASSERT_EQ(got.size(), 1u);
    EXPECT_EQ(got[0].text, "to " + std::to_string(i));
    FabricAddress back = got[0].from;
    back.port = static_cast<uint16_t>(back.port & ~15);
    EXPECT_EQ(back, from.local_address());
  }
  all.clear();
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

// Twelve openers at once, fifteen blocks: no two get the same, and none fails.
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
