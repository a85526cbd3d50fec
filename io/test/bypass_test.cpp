// Obstacles to frames, one at a time, each in a separate network namespace that ends with its test.
// Skipped without the privilege to make them; features that this kernel or host lacks are skipped
// by name.
#include "io/host/bypass.h"

#include "io/socket.h"
#include "io/test/frame_testing.h"

#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace uet::io {
namespace {

// Netlink messages of nftables, put together by hand and sent as one batch.
class NftBatch {
 public:
  NftBatch() { message(NFNL_MSG_BATCH_BEGIN, 0, NFPROTO_UNSPEC, NFNL_SUBSYS_NFTABLES); }

  void add(uint16_t type, uint8_t family) {
    message(static_cast<uint16_t>(NFNL_SUBSYS_NFTABLES << 8 | type), NLM_F_CREATE | NLM_F_ACK,
            family, 0);
  }
  void text(uint16_t type, const std::string& value) {
    attribute(type, value.c_str(), value.size() + 1);
  }
  void number(uint16_t type, uint32_t value) {
    value = htonl(value);
    attribute(type, &value, sizeof value);
  }
  void hook(uint32_t where) {
    NftBatch inside(nullptr);
    inside.number(NFTA_HOOK_HOOKNUM, where);
    inside.number(NFTA_HOOK_PRIORITY, 0);
    attribute(NFTA_CHAIN_HOOK | NLA_F_NESTED, inside.octets_.data(), inside.octets_.size());
  }
  // 0, or the errno of the first refusal.
  int send() {
    message(NFNL_MSG_BATCH_END, 0, NFPROTO_UNSPEC, NFNL_SUBSYS_NFTABLES);
    const Fd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER));
    if (!netlink || ::send(netlink.get(), octets_.data(), octets_.size(), 0) < 0) return errno;
    char answer[4096];
    ssize_t got;
    while ((got = ::recv(netlink.get(), answer, sizeof answer, MSG_DONTWAIT)) > 0) {
      nlmsghdr header;
      nlmsgerr error;
      std::memcpy(&header, answer, sizeof header);
      std::memcpy(&error, answer + NLMSG_HDRLEN, sizeof error);
      if (header.nlmsg_type == NLMSG_ERROR && error.error != 0) return -error.error;
    }
    return 0;
  }

 private:
  explicit NftBatch(std::nullptr_t) {}

  void message(uint16_t type, uint16_t flags, uint8_t family, uint16_t resource) {
    last_ = octets_.size();
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = static_cast<uint16_t>(NLM_F_REQUEST | flags);
    header.nlmsg_seq = ++sequence_;
    append(&header, sizeof header);
    const nfgenmsg fixed{family, NFNETLINK_V0, htons(resource)};
    append(&fixed, sizeof fixed);
  }
  void attribute(uint16_t type, const void* value, size_t length) {
    const nlattr head{static_cast<uint16_t>(NLA_HDRLEN + length), type};
    append(&head, sizeof head);
    append(value, length);
    octets_.resize(NLMSG_ALIGN(octets_.size()));
    if (sequence_ != 0) set_length();
  }
  void append(const void* value, size_t length) {
    const auto* const from = static_cast<const char*>(value);
    octets_.insert(octets_.end(), from, from + length);
    if (sequence_ != 0) set_length();
  }
  void set_length() {
    const auto length = static_cast<uint32_t>(octets_.size() - last_);
    std::memcpy(octets_.data() + last_, &length, sizeof length);
  }

  std::vector<char> octets_;
  size_t last_ = 0;
  uint32_t sequence_ = 0;
};

struct Chain {
  uint8_t family = NFPROTO_INET;
  bool is_entered = true;
  uint32_t policy = NF_ACCEPT;
  bool has_rule = false;
};

// 0, or an errno; see lacks_nftables().
int add_chain(const Chain& chain) {
  NftBatch batch;
  batch.add(NFT_MSG_NEWTABLE, chain.family);
  batch.text(NFTA_TABLE_NAME, "t");
  batch.add(NFT_MSG_NEWCHAIN, chain.family);
  batch.text(NFTA_CHAIN_TABLE, "t");
  batch.text(NFTA_CHAIN_NAME, "c");
  if (chain.is_entered) {
    batch.hook(chain.family == NFPROTO_ARP ? 0 /* input */ : uint32_t{NF_INET_LOCAL_IN});
    batch.number(NFTA_CHAIN_POLICY, chain.policy);
    batch.text(NFTA_CHAIN_TYPE, "filter");
  }
  if (chain.has_rule) {
    batch.add(NFT_MSG_NEWRULE, chain.family);
    batch.text(NFTA_RULE_TABLE, "t");
    batch.text(NFTA_RULE_CHAIN, "c");
  }
  return batch.send();
}

// The error of a kernel without nftables. Any other error fails the test.
bool lacks_nftables(int error) { return error == EOPNOTSUPP || error == EPROTONOSUPPORT; }

#define ADD_CHAIN_OR_SKIP(...)                                                 \
  do {                                                                         \
    const int error = add_chain(__VA_ARGS__);                                  \
    if (lacks_nftables(error)) GTEST_SKIP() << "needs a kernel with nftables"; \
    ASSERT_EQ(error, 0);                                                       \
  } while (false)

bool is_linux_before(int major, int minor) {
  utsname name{};
  int ours[2] = {};
  EXPECT_EQ(::uname(&name), 0);
  EXPECT_EQ(std::sscanf(name.release, "%d.%d", &ours[0], &ours[1]), 2);
  return ours[0] < major || (ours[0] == major && ours[1] < minor);
}

bool lacks_ipsec() {
  const Fd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_XFRM));
  return !netlink && errno == EPROTONOSUPPORT;
}

// A host with one interface and its cable.
constexpr const char* kHost =
    "ip link set lo up && ip link add eth-uet type veth peer name eth-far && "
    "ip link set eth-uet up && ip addr add 10.47.95.1/24 dev eth-uet";

// Takes a capability from this thread while it lives.
class Without {
 public:
  explicit Without(uint32_t capability) {
    EXPECT_EQ(::syscall(SYS_capget, &header_, data_), 0);
    effective_ = data_[0].effective;
    set(effective_ & ~(1u << capability));
  }
  ~Without() { set(effective_); }

 private:
  void set(uint32_t effective) {
    data_[0].effective = effective;
    EXPECT_EQ(::syscall(SYS_capset, &header_, data_), 0);
  }
  __user_cap_header_struct header_{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data_[2] = {};
  uint32_t effective_ = 0;
};

class BypassTest : public NamespaceTest {
 protected:
  BypassTest() : NamespaceTest(kHost) {}
  static std::string why(const char* name = "eth-uet", uint32_t own_rings = 0) {
    for (const Interface& interface : list_interfaces()) {
      if (interface.name == name) return why_frames_differ(interface, own_rings);
    }
    return std::string(name) + " is missing";
  }
};

TEST_F(BypassTest, AFreshHostHasNothingToBypass) { EXPECT_EQ(why(), ""); }

TEST_F(BypassTest, LoopbackIsNotEthernet) { EXPECT_EQ(why("lo"), "the interface is not Ethernet"); }

TEST_F(BypassTest, FindsChainsOfNftablesThatStopPackets) {
  ADD_CHAIN_OR_SKIP(Chain{.policy = NF_DROP});
  EXPECT_EQ(why(), "nftables has rules");
}

TEST_F(BypassTest, FindsRulesOfNftablesUnderAPolicyThatAccepts) {
  ADD_CHAIN_OR_SKIP(Chain{.has_rule = true});
  EXPECT_EQ(why(), "nftables has rules");
}

TEST_F(BypassTest, IgnoresChainsOfNftablesThatStopNothing) {
  ADD_CHAIN_OR_SKIP(Chain{});
  EXPECT_EQ(why(), "") << "entered, without rules, accepts";
  ASSERT_EQ(add_chain({.family = NFPROTO_IPV4, .is_entered = false, .has_rule = true}), 0);
  EXPECT_EQ(why(), "") << "never entered";
}

// A separate family in the kernel.
TEST_F(BypassTest, IgnoresChainsOfNftablesForArp) {
  ADD_CHAIN_OR_SKIP(Chain{.family = NFPROTO_ARP, .policy = NF_DROP});
  EXPECT_EQ(why(), "") << "not for packets of IP";
}

TEST_F(BypassTest, AUserWithoutTheRightToLookGetsTheReason) {
  ADD_CHAIN_OR_SKIP(Chain{});
  const Without admin(CAP_NET_ADMIN);
  EXPECT_EQ(why(), "cannot ask nftables: Operation not permitted");
}

// Creates an iptables table by a query with struct ipt_getinfo, whose header file does not compile
// as C++. Returns 0 or an errno: ENOPROTOOPT and ENOENT if the kernel has no such tables,
// EAFNOSUPPORT if it has no IPv6.
int make_older_table(int family, int level) {
  struct {
    char name[32] = "filter";
    unsigned valid_hooks = 0, hook_entry[5] = {}, underflow[5] = {}, num_entries = 0, size = 0;
  } info;
  constexpr int kGetInfo = 64;  // IPT_SO_GET_INFO, IP6T_SO_GET_INFO
  socklen_t length = sizeof info;
  const Fd raw(::socket(family, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW));
  if (!raw) return errno;
  return ::getsockopt(raw.get(), level, kGetInfo, &info, &length) == 0 ? 0 : errno;
}

TEST_F(BypassTest, FindsTablesOfTheOlderIptables) {
  const int error = make_older_table(AF_INET, IPPROTO_IP);
  if (error == ENOPROTOOPT || error == ENOENT) GTEST_SKIP() << "needs a kernel with older iptables";
  ASSERT_EQ(error, 0);
  EXPECT_EQ(why(), "iptables has tables");
}

TEST_F(BypassTest, FindsTablesOfTheOlderIp6tables) {
  const int error = make_older_table(AF_INET6, IPPROTO_IPV6);
  if (error == EAFNOSUPPORT) GTEST_SKIP() << "needs IPv6";
  if (error == ENOPROTOOPT || error == ENOENT)
    GTEST_SKIP() << "needs a kernel with older ip6tables";
  ASSERT_EQ(error, 0);
  EXPECT_EQ(why(), "iptables has tables");
}

TEST_F(BypassTest, FindsPoliciesOfIpsec) {
  if (lacks_ipsec()) GTEST_SKIP() << "needs a kernel with IPsec";
  ASSERT_TRUE(run("ip xfrm policy add src 10.47.0.0/16 dst 10.47.0.0/16 dir out"));
  EXPECT_EQ(why(), "there are IPsec policies");
}

TEST_F(BypassTest, FindsIpsecThatStopsPacketsWithoutAPolicy) {
  if (lacks_ipsec()) GTEST_SKIP() << "needs a kernel with IPsec";
  if (is_linux_before(5, 14)) GTEST_SKIP() << "needs Linux 5.14: a default policy";
  ASSERT_TRUE(run("ip xfrm policy setdefault in block out block"));
  EXPECT_EQ(why(), "there are IPsec policies");
}

// A program that lets everything through, until its link is closed.
TEST_F(BypassTest, FindsBpfProgramsOfTheInterface) {
  if (is_linux_before(6, 6)) GTEST_SKIP() << "needs Linux 6.6: programs of an interface (tcx)";
  const bpf_insn code[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, -1},
                           {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_SCHED_CLS;
  load.insns = reinterpret_cast<uintptr_t>(code);
  load.insn_cnt = 2;
  load.license = reinterpret_cast<uintptr_t>("");
  const Fd program(static_cast<int>(::syscall(SYS_bpf, BPF_PROG_LOAD, &load, sizeof load)));
  bpf_attr attach{};
  attach.link_create.prog_fd = static_cast<uint32_t>(program.get());
  for (const Interface& interface : list_interfaces()) {
    if (interface.name == "eth-uet") attach.link_create.target_fd = interface.index;
  }
  attach.link_create.attach_type = static_cast<bpf_attach_type>(47);  // BPF_TCX_EGRESS
  {
    const Fd link(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &attach, sizeof attach)));
    ASSERT_TRUE(program && link) << errno_text(errno);
    EXPECT_EQ(why(), "the interface has a BPF program (tcx)");
  }
  EXPECT_EQ(why(), "");
}

TEST_F(BypassTest, FindsShapingOfThisInterface) {
  const char* const tbf = " root tbf rate 1gbit burst 64k latency 1ms";
  if (!run("command -v tc")) GTEST_SKIP() << "needs tc";
  const std::string far = std::string("tc qdisc add dev eth-far") + tbf;
  if (run(far + " 2>&1 | grep -q 'kind is unknown'")) GTEST_SKIP() << "needs a kernel with tbf";
  (void)run("tc qdisc del dev eth-far root");
  ASSERT_TRUE(run(far));
  EXPECT_EQ(why(), "") << "of another interface";
  ASSERT_TRUE(run(std::string("tc qdisc add dev eth-uet") + tbf));
  EXPECT_EQ(why(), "the interface has a queueing discipline, tbf");
  ASSERT_TRUE(run("tc qdisc replace dev eth-uet root pfifo limit 100"));
  EXPECT_EQ(why(), "") << "only a queue";
}

std::vector<Fd> listeners(int count) {
  std::vector<Fd> sockets;
  for (int i = 0; i < count; ++i) {
    sockets.emplace_back(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_IP)));
    EXPECT_TRUE(sockets.back());
  }
  return sockets;
}

// Each packet of a host passes the filters of all its packet sockets.
TEST_F(BypassTest, ManyPacketSockets) {
  const Fd hears_nothing(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0));
  const std::vector<Fd> few = listeners(8);
  EXPECT_EQ(why(), "");
  const std::vector<Fd> one_more = listeners(1);
  EXPECT_EQ(why(), "there are 9 packet sockets already");
  EXPECT_EQ(why("eth-uet", 2), "") << "two of them are the caller's";
}

// /proc/net is of the first thread's namespace.
TEST_F(BypassTest, EachThreadSeesItsOwnNamespace) {
  std::thread([] {
    ASSERT_EQ(::unshare(CLONE_NEWNET), 0);
    ASSERT_TRUE(run(kHost));
    const std::vector<Fd> many = listeners(9);
    EXPECT_EQ(why(), "there are 9 packet sockets already");
  }).join();
}

}  // namespace
}  // namespace uet::io
