// The doctor's findings about made-up hosts, and its reading of made-up files.
#include "tools/ctl/doctor/examine.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace uet::tools {
namespace {

namespace fs = std::filesystem;

io::Interface interface(const char* name, uint8_t last, uint32_t mtu) {
  io::Interface i;
  i.name = name;
  i.address.family = FabricAddress::Family::ipv4;
  i.address.ip = {10, 0, 0, last};
  i.address.port = 4793;
  i.mtu_bytes = mtu;
  i.link = io::LinkType::ethernet;
  return i;
}

// A host on which everything is as it should be.
Facts good() {
  Facts f;
  f.interfaces = {interface("eth0", 1, 9000)};
  f.ephemeral_ports = "32768 60999";
  f.receive_granted = f.send_granted = 4 << 20;
  f.open_files_max = 1024;
  f.kernel = "6.1.0-18-amd64";
  f.sends_super_packets = f.receives_super_packets = true;
  f.firewall.readers = {"nft"};
  f.libfabric.path = "/usr/lib/libfabric.so.1";
  f.libfabric.version = "1.17";
  f.libfabric.plugin = "/usr/lib/libfabric/libuet-fi.so";
  f.libfabric.domains = {"eth0", "lo"};
  return f;
}

UdpSocket bound(uint8_t last, uint16_t port) {
  UdpSocket s;
  s.local = interface("", last, 0).address;
  s.local.port = port;
  return s;
}

// "grade check: text | remedy" of all that is not ok.
std::vector<std::string> complaints(const Facts& facts) {
  std::vector<std::string> out;
  for (const Finding& f : examine(facts)) {
    EXPECT_EQ(f.grade == Grade::ok, f.remedy.empty()) << f.text << " must say how to mend it";
    if (f.grade != Grade::ok) {
      out.push_back(std::string(grade_name(f.grade)) + " " + f.check + ": " + f.text + " | " +
                    f.remedy);
    }
  }
  return out;
}

TEST(DoctorTest, AGoodHostHasNoComplaints) {
  EXPECT_EQ(complaints(good()), std::vector<std::string>());
  EXPECT_EQ(worst(examine(good())), Grade::ok);
  EXPECT_GE(examine(good()).size(), 9u) << "what was looked at is said";
}

struct Case {
  const char* what;
  void (*spoil)(Facts&);
  const char* complaint;  // its beginning; the only one
  const char* remedy;     // a part of the text
};

const Case kCases[] = {
    {"no libfabric",
     [](Facts& f) {
       f.libfabric = {};
       f.libfabric.problem = "no such file";
     },
     "fault libfabric: cannot be asked: no such file", "libfabric1"},
    {"an old one", [](Facts& f) { f.libfabric.version = "1.11"; },
     "fault libfabric: version 1.11 at /usr/lib/libfabric.so.1 is too old", "1.17"},
    {"a filter", [](Facts& f) { f.environment["FI_PROVIDER"] = "tcp,shm"; },
     "fault provider: FI_PROVIDER=tcp,shm leaves uet out", "FI_PROVIDER=uet"},
    {"a filter the other way", [](Facts& f) { f.environment["FI_PROVIDER"] = "^uet"; },
     "fault provider: FI_PROVIDER=^uet leaves uet out", "unset"},
    {"no plugin",
     [](Facts& f) {
       f.libfabric.plugin = "";
       f.libfabric.domains = {};
     },
     "fault provider: no libuet-fi.so in /usr/lib/libfabric", "FI_PROVIDER_PATH"},
    {"no plugin there",
     [](Facts& f) {
       f.environment["FI_PROVIDER_PATH"] = "/a:/b";
       f.libfabric.plugin = "";
       f.libfabric.domains = {};
     },
     "fault provider: no libuet-fi.so in FI_PROVIDER_PATH=/a:/b", "/usr/lib/libfabric"},
    {"no key file",
     [](Facts& f) {
       f.environment["FI_UET_TSS"] = "file";
       f.keys.can_seal = true;
       f.keys.problem = "/k: cannot be opened";
       f.keys.remedy = "uet_keys generate";
     },
     "fault keys: /k: cannot be opened", "uet_keys generate"},
    {"no key for the job",
     [](Facts& f) {
       f.environment["FI_UET_TSS"] = "file";
       f.environment["FI_UET_JOB_ID"] = "9";
       f.keys.can_seal = true;
     },
     "fault keys: no secure domain of the key file is for job 9", "FI_UET_JOB_ID"},
    {"a key that has expired",
     [](Facts& f) {
       f.environment["FI_UET_TSS"] = "file";
       f.keys.can_seal = f.keys.serves_job = true;
       f.keys.expired = {7};
     },
     "fault keys: the sending key of domain 7 has expired", "uet_keys roll"},
    {"no ciphers", [](Facts& f) { f.environment["FI_UET_TSS"] = "file"; },
     "fault keys: FI_UET_TSS=file: this build has no ciphers", "OpenSSL"},
    {"nothing offered",
     [](Facts& f) {
       f.libfabric.domains = {};
       f.libfabric.warnings = "no network here\n";
     },
     "fault provider: /usr/lib/libfabric/libuet-fi.so offers nothing: no network here", "message"},
    {"a wrong value", [](Facts& f) { f.environment["FI_UET_MODE"] = "x"; },
     "warning settings: FI_UET_MODE=x is not valid, so the default is used",
     "unset FI_UET_MODE, or set it to: auto, rud, rod or rudi, for example FI_UET_MODE=auto"},
    {"a wrong value that has no safe default",
     [](Facts& f) { f.environment["FI_UET_JOB_ID"] = "x"; },
     "fault settings: FI_UET_JOB_ID=x is not valid, so the provider offers nothing",
     "unset FI_UET_JOB_ID, or set it to: 1 to 16777215"},
    {"a misspelt name", [](Facts& f) { f.environment["FI_UET_MOD"] = "rod"; },
     "warning settings: FI_UET_MOD is not a setting of uet and is ignored", "unset FI_UET_MOD"},
    {"a wrong value that the provider complains about, too",
     [](Facts& f) {
       f.environment["FI_UET_MODE"] = "x";
       f.libfabric.warnings = "FI_UET_MODE=x is not valid, so the default is used; set it to: y\n";
     },
     "warning settings: FI_UET_MODE=x is not valid, so the default is used", "auto, rud"},
    {"what the provider finds",
     [](Facts& f) {
       f.environment["FI_UET_IFACE"] = "x";
       f.libfabric.warnings =
           "FI_UET_IFACE=x is no interface, so nothing is offered; `ip addr` lists them\n";
     },
     "fault settings: FI_UET_IFACE=x is no interface, so nothing is offered",
     "unset FI_UET_IFACE, or `ip addr` lists them"},
    {"only loopback", [](Facts& f) { f.interfaces = {}; }, "warning addresses: only loopback is up",
     "ip addr add"},
    {"a small MTU", [](Facts& f) { f.interfaces = {interface("eth0", 1, 1500)}; },
     "warning mtu: eth0: MTU 1500, so packets carry 1024 octets", "ip link set dev eth0 mtu 9000"},
    {"a tiny MTU", [](Facts& f) { f.interfaces = {interface("eth0", 1, 1231)}; },
     "fault mtu: eth0: MTU 1231 is too small", "mtu 1500"},
    {"two MTUs", [](Facts& f) { f.interfaces.push_back(interface("eth1", 2, 4500)); },
     "warning mtu: interfaces lead to different payloads", "FI_UET_PAYLOAD_MTU=4096"},
    {"4793 alone allowed, but taken",
     [](Facts& f) {
       f.udp = {bound(1, 4793)};
       f.uet_port_owner = "47 (named)";
       f.environment["FI_UET_STRICT_PORT"] = "1";
     },
     "fault ports: UDP 4793 of 10.0.0.1 is held by process 47 (named), and FI_UET_STRICT_PORT=1",
     "FI_UET_IFACE"},
    {"no block free",
     [](Facts& f) {
       f.environment["FI_UET_PORT_RANGE"] = "20000-20031";
       f.udp = {bound(1, 4793), bound(0, 20000), bound(1, 20016)};
       f.udp[1].local.ip = {};  // takes every address
     },
     "fault ports: UDP 4793 of 10.0.0.1 is held by another process, and no block of 16 ports is "
     "free in 20000-20031",
     "FI_UET_PORT_RANGE"},
    {"lent ports", [](Facts& f) { f.ephemeral_ports = "1024 65535"; },
     "warning ephemeral: the system lends ports 1024-65535",
     "ip_local_reserved_ports=4793,16384-32767"},
    {"lent ports, half reserved",
     [](Facts& f) {
       f.ephemeral_ports = "1024 65535";
       f.reserved_ports = "16384-20479";
     },
     "warning ephemeral: the system lends ports 1024-65535", "4793"},
    {"rules unread",
     [](Facts& f) {
       f.firewall = {};
       f.firewall.refused = "nft";
     },
     "warning firewall: nft may not read the rules", "root"},
    {"a small receive buffer", [](Facts& f) { f.receive_granted = 212992; },
     "warning buffers: receive buffer: 212992 octets of 4194304 asked for",
     "sysctl -w net.core.rmem_max=4194304"},
    {"a small send buffer", [](Facts& f) { f.send_granted = 212992; },
     "warning buffers: send buffer: 212992 octets of 4194304 asked for",
     "sysctl -w net.core.wmem_max=4194304"},
    {"lost datagrams", [](Facts& f) { f.receive_drops = 12; },
     "warning drops: the system dropped 12 datagrams", "rmem_max"},
    {"an old kernel",
     [](Facts& f) {
       f.kernel = "4.19.0";
       f.receives_super_packets = false;
     },
     "warning kernel: Linux 4.19.0 does not join", "5.0"},
    {"packet sockets without the right",
     [](Facts& f) {
       f.environment["FI_UET_IO"] = "packet";
       f.kernel = "6.2.0";
     },
     "fault packet: FI_UET_IO=packet opens no packet sockets: they need CAP_NET_RAW",
     "setcap cap_net_raw+ep"},
    {"packet sockets on an old kernel",
     [](Facts& f) {
       f.environment["FI_UET_IO"] = "packet";
       f.net_raw = true;
     },
     "fault packet: FI_UET_IO=packet opens no packet sockets: they need Linux 6.2",
     "unset FI_UET_IO"},
    {"a forbidden io_uring",
     [](Facts& f) {
       f.environment["FI_UET_IO"] = "uring";
       f.ring_refused = "cannot open an io_uring: Operation not permitted";
     },
     "fault packet: FI_UET_IO=uring opens no domain: cannot open an io_uring: Operation not",
     "unset FI_UET_IO"},
    {"a forbidden AF_XDP",
     [](Facts& f) {
       f.environment["FI_UET_IO"] = "xdp";
       f.xdp_refused = "cannot load a BPF program: Operation not permitted";
     },
     "fault packet: FI_UET_IO=xdp opens no domain: cannot load a BPF program: Operation not",
     "unset FI_UET_IO"},
    {"an IP protocol without the right", [](Facts& f) { f.environment["FI_UET_IO"] = "ip"; },
     "fault packet: FI_UET_IO=ip opens no raw sockets: they need CAP_NET_RAW",
     "setcap cap_net_raw+ep"},
    {"an IP protocol over packet sockets of an old kernel",
     [](Facts& f) {
       f.environment["FI_UET_IO"] = "ip-packet";
       f.kernel = "6.1.0";
       f.net_raw = true;
     },
     "fault packet: FI_UET_IO=ip-packet opens no packet sockets: they need Linux 6.2 or later",
     "use FI_UET_IO=ip,"},
    {"few files", [](Facts& f) { f.open_files_max = 64; },
     "warning files: a process may open 64 files", "ulimit -n"},
};

TEST(DoctorTest, EachTroubleIsNamedWithItsRemedy) {
  for (const Case& c : kCases) {
    Facts facts = good();
    c.spoil(facts);
    const std::vector<std::string> said = complaints(facts);
    ASSERT_EQ(said.size(), 1u) << c.what;
    EXPECT_TRUE(said[0].starts_with(c.complaint)) << c.what << ": " << said[0];
    EXPECT_NE(said[0].substr(said[0].find(" | ")).find(c.remedy), std::string::npos)
        << c.what << ": " << said[0];
  }
}

// FI_UET_IO=auto takes packet sockets if they bypass no firewall rules, else UDP sockets; neither
// is a problem.
TEST(DoctorTest, TheKindOfSocketsIsReportedForEachInterface) {
  Facts facts = good();
  facts.kernel = "6.2.0";
  facts.net_raw = true;
  facts.passed_by = {{"eth0", "nftables has rules"}, {"eth1", ""}};
  const auto said = [&facts] {
    std::vector<std::string> texts;
    for (const Finding& f : examine(facts)) {
      if (std::string(f.check) == "packet") texts.push_back(f.text);
    }
    return texts;
  };
  const std::string free =
      "eth1: packet sockets; found no firewall, IPsec or tc rules that they would bypass";
  EXPECT_EQ(said(), (std::vector<std::string>{"eth0: UDP sockets: nftables has rules", free}));
  EXPECT_EQ(complaints(facts), std::vector<std::string>());
  facts.environment["FI_UET_IO"] = "packet";
  EXPECT_EQ(said(), (std::vector<std::string>{"eth0: packet sockets, because FI_UET_IO=packet says "
                                              "so: nftables has rules",
                                              free}));
  facts.environment["FI_UET_IO"] = "udp";
  EXPECT_EQ(said(), std::vector<std::string>{"UDP sockets everywhere: FI_UET_IO=udp"});
  facts.environment["FI_UET_IO"] = "uring";
  EXPECT_EQ(said(),
            std::vector<std::string>{"UDP sockets with io_uring everywhere: FI_UET_IO=uring"});
  facts.environment["FI_UET_IO"] = "xdp";
  EXPECT_EQ(said(), std::vector<std::string>{"AF_XDP everywhere: FI_UET_IO=xdp"});
  facts.environment["FI_UET_IO"] = "ip";
  facts.environment["FI_UET_IP_PROTOCOL"] = "200";
  EXPECT_EQ(said(), std::vector<std::string>{"raw sockets of IP protocol 200 everywhere: "
                                             "FI_UET_IO=ip; all peers need that protocol"});
  facts.environment["FI_UET_IO"] = "ip-packet";
  EXPECT_EQ(said(), std::vector<std::string>{"packet sockets of IP protocol 200 everywhere: "
                                             "FI_UET_IO=ip-packet; all peers need that protocol"});
  facts.environment.clear();
  facts.passed_by.clear();
  EXPECT_EQ(said(), std::vector<std::string>{"UDP sockets: no Ethernet interface is up"});
  facts.net_raw = false;
  EXPECT_EQ(said(), std::vector<std::string>{"UDP sockets instead of packet sockets: they need "
                                             "CAP_NET_RAW, which this user lacks"});
}

TEST(DoctorTest, AFirewallIsJudgedForBothKindsOfPorts) {
  Facts facts = good();
  facts.firewall.tables =
      read_iptables("*filter\n:INPUT DROP [0:0]\n-A INPUT -p udp --dport 4793 -j ACCEPT\n", false);
  EXPECT_EQ(complaints(facts),
            std::vector<std::string>{
                "warning firewall: IPv4: iptables filter INPUT keeps UDP 16384-32767 out: only the "
                "first process of this host is reached | iptables -I INPUT -p udp -m multiport "
                "--dports 4793,16384:32767 -j ACCEPT"});
  facts.firewall.tables = read_iptables("*filter\n:INPUT DROP [0:0]\n", false);
  const std::vector<std::string> said = complaints(facts);
  ASSERT_EQ(said.size(), 2u);
  EXPECT_TRUE(said[0].starts_with("fault firewall: IPv4: iptables filter INPUT keeps UDP 4793 out"))
      << said[0];
  facts.interfaces[0].address.family = FabricAddress::Family::ipv6;
  EXPECT_TRUE(complaints(facts).empty()) << "an IPv4 rule and a host without IPv4";
}

// Log lines of libfabric 1.17 with FI_PROVIDER=uet FI_UET_MODE=x, and lines that it always writes.
TEST(DoctorTest, OnlyTheProvidersOwnWordsCount) {
  EXPECT_EQ(words_of_uet("libfabric:27480:1795333917::core:core:verify_filter_names():554<warn> "
                         "provider uet is unknown, misspelled or DL provider?\n"
                         "libfabric:27480:1795333917::uet:core:read_params():190<warn> "
                         "FI_UET_MODE=x cannot be used\n"
                         "libfabric:27480:1795333917:ofi_rxd:core:core:fi_getinfo_():1230<warn> "
                         "fi_getinfo: provider uet returned -61 (No data available)\n"),
            "FI_UET_MODE=x cannot be used\n");
}

// The provider's own parser reads the environment: units, words for flags, defaults for the rest.
TEST(DoctorTest, SettingsAreReadAsTheProviderReadsThem) {
  Facts facts;
  facts.environment = {{"FI_UET_SOCKBUF", "8MiB"},
                       {"FI_UET_STRICT_PORT", "yes"},
                       {"FI_UET_PORT_RANGE", "20001-20047"},
                       {"FI_PROVIDER", "uet"}};
  const prov::SettingsRead wanted = wanted_settings(facts);
  EXPECT_EQ(wanted.settings.socket_buffer_bytes, 8u << 20);
  EXPECT_TRUE(wanted.settings.strict_port);
  EXPECT_EQ(wanted.settings.port_first, 16384) << "not a multiple of 16";
  ASSERT_EQ(wanted.complaints.size(), 1u);
  EXPECT_EQ(wanted.complaints[0].name, "PORT_RANGE");
}

TEST(DoctorTest, AFreeFirstPortIsAFreeBlock) {
  Facts facts = good();
  facts.environment["FI_UET_PORT_RANGE"] = "20000-20047";  // three blocks
  // The second is at another address, the third a port that other programs may have.
  facts.udp = {bound(1, 20000), bound(2, 20016), bound(1, 20035)};
  bool said = false;
  for (const Finding& f : examine(facts)) {
    said = said || f.text ==
                       "UDP 4793 of 10.0.0.1 is free, and 2 places for more processes in "
                       "20000-20047";
  }
  EXPECT_TRUE(said);
}

class DoctorFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("uet-doctor-" + std::to_string(getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  fs::path root_;
};

// The forms are those of Linux's proc(5).
TEST_F(DoctorFilesTest, TheSystemsFilesAreRead) {
  write("proc/net/udp",
        "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  "
        "timeout inode ref pointer drops\n"
        "  121: 0100007F:12B9 00000000:0000 07 00000000:00000000 00:00000000 00000000  1000      "
        "  0 991 2 0000000000000000 0\n");
  write("proc/net/udp6",
        "  sl  local_address                         remote_address                        st\n"
        "  9: 000080FE00000000000000000500FF0A:4000 00000000000000000000000000000000:0000 07 "
        "00000000:00000000 00:00000000 00000000     0        0 77 2 0000000000000000 0\n");
  write("proc/net/snmp",
        "Tcp: RtoAlgorithm RtoMin\nTcp: 1 200\nUdp: InDatagrams NoPorts InErrors OutDatagrams "
        "RcvbufErrors SndbufErrors\nUdp: 900 1 2 800 31 7\n");
  write("proc/self/status", "Name:\tx\nCapPrm:\t0000000000000000\nCapEff:\t0000000000002000\n");
  write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  write("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
  write("proc/sys/net/ipv4/ip_local_reserved_ports", "4793,16384-20479\n");
  write("proc/4711/comm", "fi_pingpong\n");
  fs::create_directories(root_ / "proc/4711/fd");
  fs::create_symlink("socket:[991]", root_ / "proc/4711/fd/7");

  Facts facts;
  read_files(root_.string() + "/", facts);
  ASSERT_EQ(facts.udp.size(), 2u);
  EXPECT_EQ(facts.udp[0].local.family, FabricAddress::Family::ipv4);
  EXPECT_EQ(facts.udp[0].local.port, 4793);
  EXPECT_EQ(facts.udp[0].local.ip[0], 127);
  EXPECT_EQ(facts.udp[0].local.ip[3], 1);
  EXPECT_EQ(facts.udp[0].inode, 991u);
  EXPECT_EQ(facts.udp[1].local.family, FabricAddress::Family::ipv6);
  EXPECT_EQ(facts.udp[1].local.port, 16384);
  EXPECT_EQ(facts.udp[1].local.ip[0], 0xFE);
  EXPECT_EQ(facts.udp[1].local.ip[1], 0x80);
  EXPECT_EQ(facts.receive_drops, 31u);
  EXPECT_TRUE(facts.net_raw);
  EXPECT_EQ(facts.kernel, "6.1.0-18-amd64");
  EXPECT_EQ(facts.ephemeral_ports, "32768\t60999");
  EXPECT_EQ(facts.reserved_ports, "4793,16384-20479");
  EXPECT_EQ(facts.uet_port_owner, "4711 (fi_pingpong)");
}

// [TSS-043, T-19] What a domain would refuse at its start.
TEST_F(DoctorFilesTest, KeysAreJudgedAsADomainReadsThem) {
  prov::Settings settings;
  settings.tss = prov::TssChoice::file;
  settings.tss_keys = root_ / "keys.toml";
  settings.tss_counters = root_ / "counters";
  settings.job_id = 9;
  const auto is_said = [&](const char* problem, const char* remedy) {
    const KeyFacts facts = look_at_keys(settings);
    EXPECT_NE(facts.problem.find(problem), std::string::npos) << facts.problem;
    EXPECT_NE((facts.problem + facts.remedy).find(remedy), std::string::npos) << facts.remedy;
  };
  if (!look_at_keys(settings).can_seal) GTEST_SKIP() << "this build has no ciphers";
  is_said("keys.toml: cannot be opened", "uet_keys generate ");
  const auto write_keys = [&](const std::string& more) {
    write("keys.toml",
          "[[domain]]\nsdi = 7\nmode = \"cluster\"\njobs = [8]\n[[domain.key]]\nan = 0\n" + more +
              "secret = \"" + std::string(64, '1') + "\"\n");
  };
  write_keys("");
  fs::permissions(root_ / "keys.toml", fs::perms{0644});
  is_said("others may read or write it", "chmod 600");
  fs::permissions(root_ / "keys.toml", fs::perms{0600});
  is_said("counters: ", "uet_keys counters ");
  write("keys.toml", "[[domain]\n");
  is_said("keys.toml:1: TOML", "docs/howto/keys.md");

  write("counters", "# Counters used: docs/decisions/0022 of uet. Do not edit or copy.\nend\n");
  fs::permissions(root_ / "counters", fs::perms{0600});
  write_keys("");
  KeyFacts facts = look_at_keys(settings);
  EXPECT_EQ(facts.problem + facts.remedy, "");
  EXPECT_EQ(facts.domains, 1u);
  EXPECT_FALSE(facts.serves_job);
  EXPECT_TRUE(facts.expired.empty());
  settings.job_id = 8;
  write_keys("expires = 2001-09-09T01:46:40Z\n");
  facts = look_at_keys(settings);
  EXPECT_TRUE(facts.serves_job);
  EXPECT_EQ(facts.expired, std::vector<uint32_t>{7});
}

TEST_F(DoctorFilesTest, AHostWithoutFilesIsAccepted) {
  Facts facts;
  read_files(root_.string() + "/", facts);
  EXPECT_TRUE(facts.udp.empty());
  EXPECT_FALSE(facts.net_raw);
  EXPECT_EQ(facts.receive_drops, 0u);
  EXPECT_FALSE(examine(facts).empty());
}

}  // namespace
}  // namespace uet::tools
