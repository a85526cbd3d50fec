// The route between two hosts becomes smaller during a run: three network namespaces, the middle
// one a router, whose second link gets a smaller MTU. Operations under way end with FI_EMSGSIZE,
// later ones pass, and the log names both values. [LF-141, PDS-250]
#include "prov/uet/test/roles.h"

#include <fcntl.h>
#include <sched.h>

#include <fstream>
#include <sstream>

namespace uet::prov::test {
namespace {

constexpr char kInitiator[] = "10.47.95.1";  // behind the router's first link,
constexpr char kTarget[] = "10.47.96.1";     // and behind its second
constexpr char kInitiator6[] = "fd47:95::1";
constexpr char kTarget6[] = "fd47:96::1";

std::string namespace_of(pid_t pid) { return "/proc/" + std::to_string(pid) + "/ns/net"; }

std::string name_of(const std::string& path) {
  char name[64] = {};
  return ::readlink(path.c_str(), name, sizeof name - 1) > 0 ? name : "";
}

// A shell command in the network namespace of a process.
bool in(pid_t where, const std::string& command) {
  const pid_t pid = fork();
  if (pid == 0) {
    const int ns = ::open(namespace_of(where).c_str(), O_RDONLY | O_CLOEXEC);
    if (ns < 0 || ::setns(ns, CLONE_NEWNET) != 0) _exit(2);
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(2);
  }
  int status = -1;
  return ::waitpid(pid, &status, 0) == pid && status == 0;
}

struct Case {
  const char* name;
  const char* io;
  const char* initiator;
  const char* target;
};

class RouteShrinksTest : public RolesTest, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    RolesTest::SetUp();
    router_ = host(0, [](const Line&) {
      for (;;) ::pause();
    });
    if (router_ == 0) GTEST_SKIP() << "no network namespace may be made here";
  }
  void TearDown() override {
    RolesTest::TearDown();
    ::unlink(log_.c_str());
  }

  // A role in a new network namespace, which exists when this returns. 0: not allowed.
  template <class Role>
  pid_t host(int end, Role role) {
    const Settings settings = {{"FI_UET_IO", GetParam().io}, {"FI_LOG_LEVEL", "warn"}};
    const pid_t pid = start(end, settings, [role](const Line& line) {
      if (::unshare(CLONE_NEWNET) != 0) _exit(7);
      role(line);
    });
    const std::string own = name_of("/proc/self/ns/net");
    const auto limit = Clock::now() + kPatience;
    while (name_of(namespace_of(pid)) == own && Clock::now() < limit) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    const std::string made = name_of(namespace_of(pid));
    return made.empty() || made == own ? 0 : pid;
  }
  void join(pid_t host, const std::string& link, const std::string& net, const std::string& net6) {
    ASSERT_TRUE(in(router_, "ip link add " + link +
                                " mtu 9000 type veth peer name eth-uet mtu 9000 "
                                "netns " +
                                std::to_string(host) + " && ip addr add " + net + ".254/24 dev " +
                                link + " && ip addr add " + net6 + "::fe/64 dev " + link +
                                " nodad"
                                " && ip link set " +
                                link + " up"));
    ASSERT_TRUE(in(host, "ip link set lo up && ip addr add " + net +
                             ".1/24 dev eth-uet"
                             " && ip addr add " +
                             net6 +
                             "::1/64 dev eth-uet nodad"
                             " && ip link set eth-uet up && ip route add default via " +
                             net +
                             ".254"
                             " && ip -6 route add default via " +
                             net6 + "::fe"));
  }
  void join_all(pid_t initiator, pid_t target) {
    ASSERT_TRUE(in(router_,
                   "echo 1 > /proc/sys/net/ipv4/ip_forward &&"
                   " echo 1 > /proc/sys/net/ipv6/conf/all/forwarding"));
    join(initiator, "first", "10.47.95", "fd47:95");
    join(target, "second", "10.47.96", "fd47:96");
  }

  // Memory that is written and read, and one message, until the test ends it.
  static void serve(const Line& line) {
    line.hear_value();  // the links are there
    NodeOptions options;
    options.address = GetParam().target;
    Target target(options);
    std::vector<uint8_t> got(kBytes);
    ASSERT_EQ(fi_recv(target.node.ep, got.data(), kBytes, nullptr, FI_ADDR_UNSPEC, nullptr), 0);
    target.introduce(line);
    const Done done = await(target.node.rx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(got, pattern(kBytes, 6));
    char octet;
    while (::recv(line.fd, &octet, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN) {
      fi_cq_read(target.node.rx_cq, nullptr, 0);
    }
  }
  static Done write(Node& node, const Remote& target, const std::vector<uint8_t>& from) {
    EXPECT_EQ(fi_write(node.ep, from.data(), from.size(), nullptr, target.addr, target.base,
                       target.key, nullptr),
              0);
    return await(node.tx_cq);
  }
  static Done read(Node& node, const Remote& target, std::vector<uint8_t>& to) {
    EXPECT_EQ(fi_read(node.ep, to.data(), to.size(), nullptr, target.addr, target.base, target.key,
                      nullptr),
              0);
    return await(node.tx_cq);
  }
  void ask(const Line& line, pid_t target_host) const {
    line.hear_value();
    ASSERT_NE(std::freopen(log_.c_str(), "w", stderr), nullptr);
    NodeOptions options;
    options.address = GetParam().initiator;
    options.tx_op_flags = FI_TRANSMIT_COMPLETE;
    Node node(options);
    const Remote target(node, line);
    const std::vector<uint8_t> mine = pattern(kBytes, 6);
    const std::vector<uint8_t> other = pattern(kBytes, 8);
    std::vector<uint8_t> back(kBytes);
    EXPECT_EQ(write(node, target, other).err, 0);
    EXPECT_EQ(read(node, target, back).err, 0);
    EXPECT_EQ(back, other);

    // Both ends of the second link: this host learns it from the router, the target from its own
    // system.
    ASSERT_TRUE(in(router_, "ip link set second mtu 1500"));
    ASSERT_TRUE(in(target_host, "ip link set eth-uet mtu 1500"));
    const Done failed = write(node, target, mine);
    EXPECT_EQ(failed.err, FI_EMSGSIZE) << failed.text;
    EXPECT_EQ(failed.text.find("the route to the peer carries smaller packets by now"), 0u);

    Done done = write(node, target, mine);
    EXPECT_EQ(done.err, 0) << done.text;
    done = read(node, target, back);
    EXPECT_EQ(done.err, 0) << done.text;
    EXPECT_EQ(back, mine);
    EXPECT_EQ(fi_send(node.ep, mine.data(), kBytes, nullptr, target.addr, nullptr), 0);
    done = await(node.tx_cq);
    EXPECT_EQ(done.err, 0) << done.text;
    line.tell(1);
    std::fflush(stderr);
    std::ostringstream text;
    text << std::ifstream(log_).rdbuf();
    EXPECT_NE(text.str().find("carries packets of at most 1500 octets, too small for a payload of "
                              "8192"),
              std::string::npos)
        << text.str();
  }

  pid_t router_ = 0;
  const std::string log_ = ::testing::TempDir() + "route_shrinks." + std::to_string(getpid());
};

TEST_P(RouteShrinksTest, OperationsUnderWayEndAtOnceAndLaterOnesPass) {
  const pid_t target = host(0, serve);
  const pid_t initiator = host(1, [&](const Line& line) { ask(line, target); });
  ASSERT_NO_FATAL_FAILURE(join_all(initiator, target));
  ends_[0].tell(1);
  ends_[1].tell(1);
  finish(initiator);
  finish(target);
}

INSTANTIATE_TEST_SUITE_P(All, RouteShrinksTest,
                         ::testing::Values(Case{"Udp", "udp", kInitiator, kTarget},
                                           Case{"UdpOverIpv6", "udp", kInitiator6, kTarget6},
                                           Case{"Auto", "auto", kInitiator, kTarget}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace uet::prov::test
