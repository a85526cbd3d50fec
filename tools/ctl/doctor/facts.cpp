// Collecting from files, sockets and programs.
#include "tools/ctl/doctor/facts.h"

#include "io/host/bypass.h"
#include "io/socket.h"
#include "io/udp/ring.h"
#include "io/xdp/xdp_io.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/udp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

extern char** environ;

namespace uet::tools {
namespace {

constexpr uint64_t kCapNetRaw = 13;

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// /proc/net/udp writes an address as words of 32 bits in the host's order.
FabricAddress address_of(std::string_view hex) {
  FabricAddress out;
  const size_t colon = hex.find(':');
  if (colon != 8 && colon != 32) return out;
  out.family = colon == 8 ? FabricAddress::Family::ipv4 : FabricAddress::Family::ipv6;
  for (size_t word = 0; word < colon / 8; ++word) {
    uint32_t value = 0;
    std::from_chars(hex.data() + word * 8, hex.data() + word * 8 + 8, value, 16);
    std::memcpy(out.ip.data() + word * 4, &value, 4);
  }
  std::from_chars(hex.data() + colon + 1, hex.data() + hex.size(), out.port, 16);
  return out;
}

void read_sockets(const std::string& path, std::vector<UdpSocket>& out) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);  // the head
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string slot, local, remote, state, queues, timer, retransmits;
    uint64_t uid = 0, timeout = 0;
    UdpSocket socket;
    words >> slot >> local >> remote >> state >> queues >> timer >> retransmits >> uid >> timeout >>
        socket.inode;
    socket.local = address_of(local);
    if (words && socket.local.valid()) out.push_back(socket);
  }
}

// The column RcvbufErrors of the two lines "Udp:".
uint64_t read_receive_drops(const std::string& path) {
  std::ifstream in(path);
  std::string names, values;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("Udp:")) continue;
    (names.empty() ? names : values) = line;
  }
  std::istringstream name(names), value(values);
  for (std::string n, v; name >> n && value >> v;) {
    if (n == "RcvbufErrors") return std::strtoull(v.c_str(), nullptr, 10);
  }
  return 0;
}

bool read_capability(const std::string& path) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("CapEff:")) continue;
    return (std::strtoull(line.c_str() + 7, nullptr, 16) >> kCapNetRaw & 1) != 0;
  }
  return false;
}

// The process that holds the socket: /proc/PID/fd has a link "socket:[INODE]". Other users'
// processes are not listed.
std::string owner_of(const std::string& root, uint64_t inode) {
  const std::string wanted = "socket:[" + std::to_string(inode) + "]";
  const auto entries = [](const std::string& path, auto&& visit) {
    DIR* const directory = ::opendir(path.c_str());
    if (directory == nullptr) return;
    for (const dirent* e = ::readdir(directory); e != nullptr; e = ::readdir(directory)) {
      visit(std::string(e->d_name));
    }
    ::closedir(directory);
  };
  std::string owner;
  entries(root + "proc", [&](const std::string& pid) {
    if (!owner.empty() || pid.find_first_not_of("0123456789") != pid.npos) return;
    const std::string process = root + "proc/" + pid;
    entries(process + "/fd", [&](const std::string& fd) {
      std::array<char, 64> link;
      const ssize_t length = ::readlink((process + "/fd/" + fd).c_str(), link.data(), link.size());
      if (length > 0 && std::string_view(link.data(), static_cast<size_t>(length)) == wanted) {
        owner = pid + " (" + first_line(process + "/comm") + ")";
      }
    });
  });
  return owner;
}

// The socket buffer that the system grants; it counts twice the memory that holds octets.
uint64_t granted(int option, uint64_t asked) {
  const io::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd || !io::set_option(fd, SOL_SOCKET, option, static_cast<int>(asked))) return 0;
  return static_cast<uint64_t>(io::get_option(fd, SOL_SOCKET, option, 0)) / 2;
}

void probe_sockets(Facts& facts) {
  const uint64_t asked = wanted_settings(facts).settings.socket_buffer_bytes;
  facts.receive_granted = granted(SO_RCVBUF, asked);
  facts.send_granted = granted(SO_SNDBUF, asked);
  const io::Fd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  facts.sends_super_packets = fd && io::set_option(fd, SOL_UDP, UDP_SEGMENT, 1400);
  facts.receives_super_packets = fd && io::set_option(fd, SOL_UDP, UDP_GRO, 1);
  (void)io::UdpRing::open(fd, io::UdpRing::kSettledCalls, &facts.ring_refused);
  facts.xdp_refused = io::XdpIo::why_refused();
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0) facts.open_files_max = files.rlim_cur;
}

struct Printed {
  std::string out;
  int status = -1;  // 127: the program does not exist
};

Printed run(const char* command) {
  Printed printed;
  std::FILE* const pipe = ::popen(command, "r");
  if (pipe == nullptr) return printed;
  std::array<char, 4096> part;
  while (const size_t got = std::fread(part.data(), 1, part.size(), pipe)) {
    printed.out.append(part.data(), got);
  }
  const int status = ::pclose(pipe);
  if (WIFEXITED(status)) printed.status = WEXITSTATUS(status);
  return printed;
}

FirewallFacts read_firewall() {
  FirewallFacts out;
  const auto take = [&out](const char* program, const char* command, auto&& read) {
    // Administrators' programs are not in everybody's path.
    const Printed printed =
        run((std::string("PATH=$PATH:/usr/sbin:/sbin; ") + command + " 2>/dev/null").c_str());
    if (printed.status == 127) return;
    if (printed.status != 0) {
      out.refused = program;
      return;
    }
    out.readers.emplace_back(program);
    for (FirewallTable& table : read(printed.out)) out.tables.push_back(std::move(table));
  };
  take("nft", "nft -j list ruleset", read_nft);
  take("iptables-save", "iptables-save",
       [](std::string_view text) { return read_iptables(text, false); });
  take("ip6tables-save", "ip6tables-save",
       [](std::string_view text) { return read_iptables(text, true); });
  return out;
}

}  // namespace

std::string Facts::variable(const std::string& name, const std::string& otherwise) const {
  const auto at = environment.find(name);
  return at == environment.end() ? otherwise : at->second;
}

prov::SettingsRead wanted_settings(const Facts& facts) {
  constexpr std::string_view kPrefix = "FI_UET_";
  prov::SettingTexts texts;
  for (const auto& [name, value] : facts.environment) {
    if (name.starts_with(kPrefix)) texts.emplace(name.substr(kPrefix.size()), value);
  }
  return prov::read_settings(texts);
}

void read_files(const std::string& root, Facts& facts) {
  read_sockets(root + "proc/net/udp", facts.udp);
  read_sockets(root + "proc/net/udp6", facts.udp);
  const std::string settings = root + "proc/sys/net/ipv4/";
  facts.ephemeral_ports = first_line(settings + "ip_local_port_range");
  facts.reserved_ports = first_line(settings + "ip_local_reserved_ports");
  facts.receive_drops = read_receive_drops(root + "proc/net/snmp");
  facts.kernel = first_line(root + "proc/sys/kernel/osrelease");
  facts.net_raw = read_capability(root + "proc/self/status");
  for (const UdpSocket& socket : facts.udp) {
    if (socket.local.port != kUetPort || !facts.uet_port_owner.empty()) continue;
    facts.uet_port_owner = owner_of(root, socket.inode);
  }
}

Facts collect_facts(const std::string& root) {
  Facts facts;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const size_t equal = text.find('=');
    if (equal == text.npos || !text.starts_with("FI_")) continue;
    facts.environment[text.substr(0, equal)] = text.substr(equal + 1);
  }
  facts.interfaces = io::list_interfaces();
  for (const io::Interface& i : facts.interfaces) {
    if (i.link == io::LinkType::ethernet) facts.passed_by[i.name] = io::why_frames_differ(i);
  }
  read_files(root, facts);
  probe_sockets(facts);
  facts.firewall = read_firewall();
  facts.libfabric = ask_libfabric();
  const prov::Settings settings = wanted_settings(facts).settings;
  if (settings.tss == prov::TssChoice::file) facts.keys = look_at_keys(settings);
  return facts;
}

}  // namespace uet::tools
