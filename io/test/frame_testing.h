// Two hosts for tests of the packet-socket backend. Such tests are skipped without the privilege to
// make namespaces and packet sockets, and before Linux 6.2; with both, none is skipped.
#pragma once

#include "io/frame/frame_io.h"

#include "io/test/frame_checks.h"
#include "io/test/udp_testing.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace uet::io {

// A privilege that the tests need and this process lacks; empty: none.
inline std::string missing_privileges() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2] = {};
  if (::syscall(SYS_capget, &header, data) != 0) return "an answer to capget";
  std::string missing;
  const std::pair<int, const char*> needed[] = {{CAP_SYS_ADMIN, "CAP_SYS_ADMIN "},
                                                {CAP_NET_ADMIN, "CAP_NET_ADMIN "},
                                                {CAP_NET_RAW, "CAP_NET_RAW "}};
  for (const auto& [capability, name] : needed) {
    if ((data[0].effective >> capability & 1) == 0) missing += name;
  }
  return missing;
}

inline bool is_before_linux_6_2() {
  utsname name{};
  int major = 0;
  int minor = 0;
  EXPECT_EQ(::uname(&name), 0);
  EXPECT_EQ(std::sscanf(name.release, "%d.%d", &major, &minor), 2);
  return major < 6 || (major == 6 && minor < 2);
}

// Two hosts: network namespaces of this process with a veth pair between them. They end with it.
class TwoHosts {
 public:
  TwoHosts() {
    for (int& ns : namespaces_) {
      if (::unshare(CLONE_NEWNET) != 0) return;
      ns = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
    }
    const std::string other =
        "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(namespaces_[0]);
    ready_ = run("ip link add eth-uet type veth peer name eth-uet netns " + other) && set_up(0) &&
             set_up(1);
  }
  bool ready() const { return ready_; }
  // Sockets opened from here on belong to this host.
  static void enter(int host) { ASSERT_EQ(::setns(instance().namespaces_[host], CLONE_NEWNET), 0); }
  static TwoHosts& instance() {
    static TwoHosts hosts;
    return hosts;
  }
  bool run(const std::string& command) {
    return std::system((command + " 2>/dev/null").c_str()) == 0;
  }

 private:
  bool set_up(int host) {
    if (::setns(namespaces_[host], CLONE_NEWNET) != 0) return false;
    const std::string last = std::to_string(host + 1);
    return run("ip link set lo up && ip link set eth-uet mtu 9000 up && ip addr add 10.47.94." +
               last + "/24 dev eth-uet && ip addr add fd47:94::" + last + "/64 dev eth-uet nodad");
  }

  int namespaces_[2] = {-1, -1};
  bool ready_ = false;
};

inline FabricAddress host_address(int host, bool v6) {
  FabricAddress a;
  a.family = v6 ? FabricAddress::Family::ipv6 : FabricAddress::Family::ipv4;
  if (v6) {
    a.ip = {0xfd, 0x47, 0, 0x94};
    a.ip[15] = static_cast<uint8_t>(host + 1);
  } else {
    a.ip = {10, 47, 94, static_cast<uint8_t>(host + 1)};
  }
  return a;
}

// In a separate network namespace, prepared by a command. Skipped without the privilege.
class NamespaceTest : public ::testing::Test {
 protected:
  explicit NamespaceTest(std::string command) : command_(std::move(command)) {}
  void SetUp() override {
    const std::string missing = missing_privileges();
    if (!missing.empty()) GTEST_SKIP() << "needs " << missing;
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0) << "with the privilege for it";
    ASSERT_TRUE(run(command_)) << command_;
  }
  static bool run(const std::string& command) {
    return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
  }

 private:
  const std::string command_;
};

class FrameIoTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string missing = missing_privileges();
    if (!missing.empty()) GTEST_SKIP() << "needs " << missing;
    ASSERT_TRUE(TwoHosts::instance().ready()) << "the namespaces could not be set up";
    if (is_before_linux_6_2()) {
      std::string error;
      EXPECT_EQ(FrameIo::open(here(0), &error), nullptr);
      EXPECT_NE(error.find("Linux 6.2"), error.npos) << error;
      GTEST_SKIP() << "needs Linux 6.2";
    }
  }

  // Options for an address of this host, which becomes the current one.
  static UdpOptions here(int host, bool v6 = false) {
    TwoHosts::enter(host);
    return at(host_address(host, v6));
  }
  static std::unique_ptr<FrameIo> open_frames(const UdpOptions& options) {
    std::string error;
    std::unique_ptr<FrameIo> io = FrameIo::open(options, &error);
    EXPECT_NE(io, nullptr) << error;
    return io;
  }
};

}  // namespace uet::io
