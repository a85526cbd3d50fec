// Questions to the kernel, the cheapest first.
#include "io/host/bypass.h"

#include "io/host/netlink.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/rtnetlink.h>
#include <linux/xfrm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string_view>

namespace uet::io {
namespace {

// Packet sockets that may already be listening. Each packet of the host goes through the filters of
// all of them, one after the other.
constexpr uint32_t kFewPacketSockets = 8;

// In this thread's network namespace: /proc/net shows that of the first thread.
const std::string kProcNet = "/proc/thread-self/net/";

std::string no_answer(const char* whom, int error) {
  return std::string("cannot ask ") + whom + ": " + errno_text(error);
}

// A kernel without the protocol has no rules of it either.
bool lacks_protocol(int error) { return error == EPROTONOSUPPORT; }

template <typename Number>
Number number_in(std::span<const std::byte> octets) {
  Number value{};
  std::memcpy(&value, octets.data(), std::min(octets.size(), sizeof value));
  return value;
}

std::string_view text_in(std::span<const std::byte> octets) {
  const std::string_view text(reinterpret_cast<const char*>(octets.data()), octets.size());
  return text.substr(0, text.find('\0'));
}

// A discipline that only decides which packet goes first when there are several.
bool is_plain_queue(std::string_view kind) {
  constexpr std::array<std::string_view, 6> kPlain = {"noqueue",  "pfifo_fast", "pfifo",
                                                      "fq_codel", "mq",         "ingress"};
  return std::find(kPlain.begin(), kPlain.end(), kind) != kPlain.end();
}

std::string shaping_of(uint32_t interface_index) {
  const Fd netlink = open_netlink(NETLINK_ROUTE);
  if (!netlink) return no_answer("for queueing disciplines", errno);
  tcmsg which{};
  which.tcm_ifindex = static_cast<int>(interface_index);
  std::string found;
  const int error =
      Question<tcmsg>(RTM_GETQDISC, which)
          .ask_all(netlink, RTM_NEWQDISC, [&](std::span<const std::byte> answer) {
            if (number_in<tcmsg>(answer).tcm_ifindex != which.tcm_ifindex) return;
            for_each_attribute<tcmsg>(answer, [&](uint16_t type, std::span<const std::byte> value) {
              if (type == TCA_KIND && !is_plain_queue(text_in(value))) found = text_in(value);
            });
          });
  if (error != 0) return no_answer("for queueing disciplines", error);
  return found.empty() ? found : "the interface has a queueing discipline, " + found;
}

// Tables of iptables before nftables; the kernel makes them at the first query.
std::string legacy_tables() {
  if (!std::ifstream(kProcNet + "dev")) return no_answer("iptables: /proc", errno);
  for (const char* const names : {"ip_tables_names", "ip6_tables_names"}) {
    std::ifstream tables(kProcNet + names);
    if (!tables && errno != ENOENT) return no_answer("iptables", errno);
    std::string name;
    if (tables >> name) return "iptables has tables";
  }
  return {};
}

// Whether a chain is entered by packets of IP and could keep one of them.
bool could_stop_packets(std::span<const std::byte> chain) {
  const uint8_t family = number_in<nfgenmsg>(chain).nfgen_family;
  if (family == NFPROTO_ARP || family == NFPROTO_BRIDGE) return false;
  bool is_entered = false;
  bool has_rules = false;
  bool accepts = true;
  for_each_attribute<nfgenmsg>(chain, [&](uint16_t type, std::span<const std::byte> value) {
    if (type == NFTA_CHAIN_HOOK) is_entered = true;
    if (type == NFTA_CHAIN_USE) has_rules = number_in<uint32_t>(value) != 0;
    if (type == NFTA_CHAIN_POLICY) accepts = ntohl(number_in<uint32_t>(value)) == NF_ACCEPT;
  });
  return is_entered && (has_rules || !accepts);
}

std::string filters() {
  const Fd netlink = open_netlink(NETLINK_NETFILTER);
  if (!netlink && lacks_protocol(errno)) return {};
  if (!netlink) return no_answer("nftables", errno);
  bool found = false;
  nfgenmsg all{};
  all.nfgen_family = NFPROTO_UNSPEC;
  constexpr uint16_t kTables = NFNL_SUBSYS_NFTABLES << 8;
  const int error =
      Question<nfgenmsg>(kTables | NFT_MSG_GETCHAIN, all)
          .ask_all(netlink, kTables | NFT_MSG_NEWCHAIN, [&](std::span<const std::byte> chain) {
            found = found || could_stop_packets(chain);
          });
  // EINVAL: the part of the kernel that would know is not there.
  if (error != 0 && error != EINVAL) return no_answer("nftables", error);
  return found ? "nftables has rules" : "";
}

std::string ipsec() {
  const Fd netlink = open_netlink(NETLINK_XFRM);
  if (!netlink && lacks_protocol(errno)) return {};
  if (!netlink) return no_answer("for IPsec policies", errno);
  std::array<std::byte, 1024> room;
  std::span<const std::byte> answer =
      Question<uint32_t>(XFRM_MSG_GETSPDINFO, 0).ask(netlink, 1, XFRM_MSG_NEWSPDINFO, room);
  if (answer.empty()) return "cannot ask for IPsec policies";
  bool found = false;
  for_each_attribute<uint32_t>(answer, [&](uint16_t type, std::span<const std::byte> value) {
    if (type != XFRMA_SPD_INFO) return;
    const auto counts = number_in<xfrmu_spdinfo>(value);
    found = counts.incnt != 0 || counts.outcnt != 0;
  });
  // The action on packets without a policy; older kernels do not support the query.
  answer = Question<xfrm_userpolicy_default>(XFRM_MSG_GETDEFAULT, {})
               .ask(netlink, 2, XFRM_MSG_GETDEFAULT, room);
  const auto otherwise = number_in<xfrm_userpolicy_default>(answer);
  found = found || otherwise.in == XFRM_USERPOLICY_BLOCK || otherwise.out == XFRM_USERPOLICY_BLOCK;
  return found ? "there are IPsec policies" : "";
}

// How many BPF programs are attached to a place, which is a control group or an interface; 0 where
// the kernel knows no such place. Negative: the errno of a refusal.
int programs_at(uint32_t place, uint32_t type, uint32_t flags) {
  bpf_attr question{};
  question.query.target_fd = place;  // in one word with the index of an interface
  question.query.attach_type = type;
  question.query.query_flags = flags;
  if (::syscall(SYS_bpf, BPF_PROG_QUERY, &question, sizeof question) == 0) {
    return static_cast<int>(question.query.prog_cnt);
  }
  return errno == EINVAL || errno == ENOSYS || errno == ENOENT ? 0 : -errno;
}

// The directory of this process's control group; invalid where none is to be seen.
Fd own_control_group() {
  std::ifstream groups("/proc/thread-self/cgroup");
  std::string line;
  while (std::getline(groups, line)) {
    if (!line.starts_with("0::")) continue;
    for (const char* const root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
      Fd group(::open((root + line.substr(3)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
      if (group && ::faccessat(group.get(), "cgroup.procs", F_OK, 0) == 0) return group;
    }
  }
  return Fd();
}

std::string programs(uint32_t interface_index) {
  constexpr uint32_t kTcxEgress = 47;  // Linux 6.6; not in older header files
  int found = programs_at(interface_index, kTcxEgress, 0);
  if (found > 0) return "the interface has a BPF program (tcx)";
  const Fd group = own_control_group();
  for (const uint32_t type : {BPF_CGROUP_INET_INGRESS, BPF_CGROUP_INET_EGRESS,
                              BPF_CGROUP_UDP4_SENDMSG, BPF_CGROUP_UDP6_SENDMSG}) {
    if (found < 0 || !group) break;
    found = programs_at(static_cast<uint32_t>(group.get()), type, BPF_F_QUERY_EFFECTIVE);
    if (found > 0) return "the control group has a BPF program";
  }
  return found < 0 ? no_answer("for BPF programs", -found) : "";
}

std::string crowd(uint32_t own_rings) {
  std::ifstream sockets(kProcNet + "packet");
  if (!sockets) return no_answer("for packet sockets", errno);
  std::string line;
  std::getline(sockets, line);  // the heading
  uint32_t listening = 0;
  std::string at, references, type, protocol;
  while (sockets >> at >> references >> type >> protocol && std::getline(sockets, line)) {
    if (protocol != "0000") ++listening;
  }
  listening -= std::min(listening, own_rings);
  return listening <= kFewPacketSockets
             ? ""
             : "there are " + std::to_string(listening) + " packet sockets already";
}

}  // namespace

std::string why_frames_differ(const Interface& interface, uint32_t own_rings) {
  if (interface.link != LinkType::ethernet) return "the interface is not Ethernet";
  std::string why = shaping_of(interface.index);
  if (why.empty()) why = legacy_tables();
  if (why.empty()) why = filters();
  if (why.empty()) why = ipsec();
  if (why.empty()) why = programs(interface.index);
  if (why.empty()) why = crowd(own_rings);
  return why;
}

}  // namespace uet::io
