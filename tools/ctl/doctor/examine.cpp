// One function for each check.
#include "tools/ctl/doctor/examine.h"

#include "tools/ctl/doctor/examine_backend.h"
#include "tools/ctl/doctor/examine_keys.h"

#include "prov/uet/domain/payload_mtu.h"

#include "io/socket.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <sstream>
#include <string_view>

namespace uet::tools {
namespace {

constexpr uint32_t kBlockPorts = 16;  // of a process that finds 4793 taken
constexpr uint64_t kOpenFiles = 256;  // a domain opens about twenty

class Examination {
 public:
  explicit Examination(const Facts& facts) : facts_(facts), wanted_(wanted_settings(facts)) {}

  std::vector<Finding> run() {
    libfabric();
    environment();
    provider();
    addresses();
    mtu();
    ports();
    ephemeral();
    firewall();
    buffers();
    drops();
    kernel();
    for (Finding& finding : examine_backend(facts_, wanted_.settings)) {
      findings_.push_back(std::move(finding));
    }
    say("shm", Grade::ok,
        wanted_.settings.shm ? "shared memory with processes of this user on this host"
                             : "sockets between processes of this host, too: FI_UET_SHM=off");
    keys();
    files();
    return std::move(findings_);
  }

 private:
  void say(const char* check, Grade grade, std::string text, std::string remedy = {}) {
    findings_.push_back({check, grade, std::move(text), std::move(remedy)});
  }

  void libfabric() {
    const LibfabricFacts& l = facts_.libfabric;
    if (!l.problem.empty()) {
      say("libfabric", Grade::fault, "cannot be asked: " + l.problem,
          "install libfabric 1.17 or later (Debian: libfabric1), or add its folder to "
          "LD_LIBRARY_PATH");
      return;
    }
    unsigned major = 0, minor = 0;
    const bool read = std::sscanf(l.version.c_str(), "%u.%u", &major, &minor) == 2;
    if (!read || major < 1 || (major == 1 && minor < 17)) {
      say("libfabric", Grade::fault, "version " + l.version + " at " + l.path + " is too old",
          "install libfabric 1.17 or later");
      return;
    }
    say("libfabric", Grade::ok, "version " + l.version + " at " + l.path);
  }

  // The provider's log lines: those about settings, and the rest. Lines about settings begin with
  // the name.
  static constexpr std::string_view kSetting = "FI_UET_";
  std::vector<std::string> words(bool of_settings) const {
    std::vector<std::string> out;
    std::istringstream lines(facts_.libfabric.warnings);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(kSetting) == of_settings) out.push_back(line);
    }
    return out;
  }

  // A line is "what is wrong; what to do". [LF-135]
  void say_setting(const std::string& name, const std::string& line, bool is_fatal) {
    const size_t cut = line.find("; ");
    const std::string unset = "unset FI_UET_" + name;
    say("settings", is_fatal ? Grade::fault : Grade::warning, line.substr(0, cut),
        cut == line.npos ? unset : unset + ", or " + line.substr(cut + 2));
  }

  // The table of settings judges; the provider adds problems that it found while it looked for
  // interfaces.
  void environment() {
    std::set<std::string> judged;
    for (const prov::Complaint& complaint : wanted_.complaints) {
      say_setting(complaint.name, complaint.text, complaint.is_fatal);
      judged.insert(complaint.name);
    }
    for (const std::string& line : words(true)) {
      const std::string name =
          line.substr(kSetting.size(), line.find_first_of("= ") - kSetting.size());
      if (!judged.insert(name).second) continue;
      say_setting(name, line, line.find("nothing is offered") != line.npos);
    }
    if (!judged.empty()) return;
    size_t count = 0;
    for (const auto& [name, value] : facts_.environment) count += name.starts_with(kSetting);
    say("settings", Grade::ok,
        count == 0   ? "no FI_UET_ variable is set"
        : count == 1 ? "1 FI_UET_ variable is set and valid"
                     : std::to_string(count) + " FI_UET_ variables are set and valid");
  }

  bool is_filtered_out() const {
    const std::string filter = facts_.variable("FI_PROVIDER", "");
    if (filter.empty()) return false;
    const bool excludes = filter.front() == '^';
    const std::string list = "," + filter.substr(excludes ? 1 : 0) + ",";
    return (list.find(",uet,") != list.npos) == excludes;
  }

  std::string default_folder() const {
    const std::string& path = facts_.libfabric.path;
    return path.substr(0, path.rfind('/') + 1) + "libfabric";
  }

  void provider() {
    const LibfabricFacts& l = facts_.libfabric;
    if (!l.problem.empty()) return;
    const std::string folders = facts_.variable("FI_PROVIDER_PATH", "");
    if (is_filtered_out()) {
      say("provider", Grade::fault,
          "FI_PROVIDER=" + facts_.variable("FI_PROVIDER", "") + " leaves uet out",
          "export FI_PROVIDER=uet, or unset it");
    } else if (l.plugin.empty()) {
      say("provider", Grade::fault,
          "no libuet-fi.so in " +
              (folders.empty() ? default_folder() : "FI_PROVIDER_PATH=" + folders),
          "install it to " + default_folder() +
              ", or set FI_PROVIDER_PATH to the folder that it is in");
    } else if (l.domains.empty()) {
      say("provider", Grade::fault, l.plugin + " offers nothing" + quoted(words(false)),
          l.warnings.empty()     ? "run fi_info -p uet with FI_LOG_LEVEL=info, which says why"
          : words(false).empty() ? "correct the settings"
                                 : "do what the message says");
    } else {
      std::string text = l.plugin + " offers";
      for (const std::string& domain : l.domains) text += " " + domain;
      const std::vector<std::string> other = words(false);
      say("provider", other.empty() ? Grade::ok : Grade::warning, text + quoted(other),
          other.empty() ? "" : "do what the message says");
    }
  }

  static std::string quoted(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? ": " : " ") + word;
    return line;
  }

  // Addresses that other hosts can reach, without the link-local ones, which uet does not offer.
  std::vector<io::Interface> outside() const {
    std::vector<io::Interface> out;
    for (const io::Interface& i : facts_.interfaces) {
      if (!i.is_loopback() && !i.is_link_local()) out.push_back(i);
    }
    return out;
  }

  void addresses() {
    const std::vector<io::Interface> all = outside();
    std::string text;
    for (const io::Interface& i : all) {
      text += (text.empty() ? "" : ", ") + io::ip_text(i.address) + " on " + i.name;
    }
    if (all.empty()) {
      say("addresses", Grade::warning, "only loopback is up: no other host is reached",
          "ip link set dev NAME up; ip addr add ADDRESS/LENGTH dev NAME");
      return;
    }
    say("addresses", Grade::ok, text);
  }

  void mtu() {
    std::set<uint32_t> payloads;
    std::set<std::string> seen;
    for (const io::Interface& i : outside()) {
      if (!seen.insert(i.name).second) continue;
      const std::string head = i.name + ": MTU " + std::to_string(i.mtu_bytes);
      const uint32_t payload = prov::payload_mtu_for(i);
      payloads.insert(payload);
      if (i.mtu_bytes < prov::kMtuMin) {
        say("mtu", Grade::fault, head + " is too small for any packet",
            "ip link set dev " + i.name + " mtu 1500");
      } else if (payload < 4096) {
        say("mtu", Grade::warning,
            head + ", so packets carry " + std::to_string(payload) + " octets of payload",
            "ip link set dev " + i.name +
                " mtu 9000, on all hosts and switches of the fabric, for up to eight times as "
                "much");
      } else {
        say("mtu", Grade::ok, head + ", packets carry " + std::to_string(payload) + " octets");
      }
    }
    if (payloads.size() > 1 && !wanted_.settings.payload_mtu.has_value()) {
      say("mtu", Grade::warning,
          "interfaces lead to different payloads; peers named by socket addresses state none",
          "give all interfaces of a fabric one MTU, or export FI_UET_PAYLOAD_MTU=" +
              std::to_string(*payloads.begin()) + " everywhere");
    }
  }

  bool is_taken(const FabricAddress& at, uint16_t port) const {
    return std::any_of(facts_.udp.begin(), facts_.udp.end(), [&](const UdpSocket& s) {
      const FabricAddress& l = s.local;
      const bool wild = std::all_of(l.ip.begin(), l.ip.end(), [](uint8_t b) { return b == 0; });
      // A socket that takes every IPv6 address usually takes IPv4, too.
      const bool same = l.family == at.family && (wild || l.ip == at.ip);
      return l.port == port && (same || (wild && l.family == FabricAddress::Family::ipv6));
    });
  }

  // For processes that find 4793 taken.
  PortRange ports_of_more() const {
    return {wanted_.settings.port_first, wanted_.settings.port_last};
  }

  uint32_t free_blocks(const FabricAddress& at) const {
    const PortRange range = ports_of_more();
    uint32_t count = 0;
    for (uint32_t base = (range.first + kBlockPorts - 1u) / kBlockPorts * kBlockPorts;
         base + kBlockPorts - 1 <= range.last; base += kBlockPorts) {
      count += is_taken(at, static_cast<uint16_t>(base)) ? 0 : 1;  // it is the block
    }
    return count;
  }

  std::string range_text(char between = '-') const {
    const PortRange range = ports_of_more();
    return std::to_string(range.first) + between + std::to_string(range.last);
  }

  void ports() {
    const std::vector<io::Interface> all = outside();
    for (const io::Interface& i : all.empty() ? facts_.interfaces : all) {
      if (i.is_link_local()) continue;
      const bool taken = is_taken(i.address, kUetPort);
      const uint32_t blocks = free_blocks(i.address);
      const std::string where = " of " + io::ip_text(i.address);
      const std::string owner =
          facts_.uet_port_owner.empty() ? "another process" : "process " + facts_.uet_port_owner;
      if (!taken) {
        say("ports", Grade::ok,
            "UDP 4793" + where + " is free, and " + std::to_string(blocks) +
                " places for more processes in " + range_text());
      } else if (wanted_.settings.strict_port) {
        say("ports", Grade::fault,
            "UDP 4793" + where + " is held by " + owner + ", and FI_UET_STRICT_PORT=1",
            "end that process, unset FI_UET_STRICT_PORT, or use another address (FI_UET_IFACE)");
      } else if (blocks == 0) {
        say("ports", Grade::fault,
            "UDP 4793" + where + " is held by " + owner + ", and no block of 16 ports is free in " +
                range_text(),
            "widen FI_UET_PORT_RANGE, or use another address (FI_UET_IFACE)");
      } else {
        say("ports", Grade::ok,
            "UDP 4793" + where + " is held by " + owner + "; there are " + std::to_string(blocks) +
                " places for more processes in " + range_text());
      }
    }
  }

  // The ports that the system gives away unasked must not be ours, unless they are reserved.
  void ephemeral() {
    unsigned first = 0, last = 0;
    if (std::sscanf(facts_.ephemeral_ports.c_str(), "%u %u", &first, &last) != 2) return;
    const PortRange ours = ports_of_more();
    const bool holds_uet = first <= kUetPort && kUetPort <= last && !is_reserved(kUetPort);
    const bool meets = first <= ours.last && ours.first <= last &&
                       !(is_reserved(ours.first) && is_reserved(ours.last));
    const std::string range = std::to_string(first) + "-" + std::to_string(last);
    if (!holds_uet && !meets) return;
    say("ephemeral", Grade::warning,
        "the system lends ports " + range + " to any program, and UET's are among them",
        "sysctl -w net.ipv4.ip_local_reserved_ports=4793," + range_text());
  }

  bool is_reserved(uint16_t port) const {
    std::string_view text = facts_.reserved_ports;
    while (!text.empty()) {
      const std::string part(text.substr(0, text.find(',')));
      text.remove_prefix(std::min(text.size(), part.size() + 1));
      unsigned first = 0, last = 0;
      const int read = std::sscanf(part.c_str(), "%u-%u", &first, &last);
      if (read == 1) last = first;
      if (read >= 1 && first <= port && port <= last) return true;
    }
    return false;
  }

  void firewall() {
    const FirewallFacts& f = facts_.firewall;
    if (!f.refused.empty()) {
      say("firewall", Grade::warning, f.refused + " may not read the rules",
          "run uet_ctl doctor as root");
      return;
    }
    if (f.readers.empty()) {
      say("firewall", Grade::ok, "not looked at: neither nft nor iptables is installed");
      return;
    }
    bool clear = true;
    for (const bool ipv6 : {false, true}) {
      const auto family = ipv6 ? FabricAddress::Family::ipv6 : FabricAddress::Family::ipv4;
      const std::vector<io::Interface> all = outside();
      if (std::none_of(all.begin(), all.end(),
                       [&](const io::Interface& i) { return i.address.family == family; })) {
        continue;
      }
      clear = judge_port(ipv6, kUetPort, "4793", Grade::fault) && clear;
      clear = judge_port(ipv6, ports_of_more().first, range_text(), Grade::warning) && clear;
    }
    if (clear) say("firewall", Grade::ok, "lets UDP 4793 and " + range_text() + " in");
  }

  bool judge_port(bool ipv6, uint16_t port, const std::string& name, Grade if_blocked) {
    std::string table;
    const Passage how = passage(facts_.firewall.tables, ipv6, port, &table);
    if (how == Passage::open) return true;
    const std::string what = std::string(ipv6 ? "IPv6" : "IPv4") + ": " + table + " ";
    const std::string remedy =
        table.starts_with("iptables") || table.starts_with("ip6tables")
            ? table.substr(0, table.find(' ')) + " -I INPUT -p udp -m multiport --dports 4793," +
                  range_text(':') + " -j ACCEPT"
            : "nft insert rule " + table + " udp dport { 4793, " + range_text() + " } accept";
    if (how == Passage::some) {
      say("firewall", Grade::warning, what + "lets UDP " + name + " in for some senders only",
          "check that the rule admits all peers");
    } else {
      say("firewall", if_blocked,
          what + "keeps UDP " + name + " out" +
              (if_blocked == Grade::fault ? ""
                                          : ": only the first process of this host is reached"),
          remedy);
    }
    return false;
  }

  void buffers() {
    const uint64_t wanted = wanted_.settings.socket_buffer_bytes;
    if (wanted == 0) {
      say("buffers", Grade::ok, "FI_UET_SOCKBUF=0: the system's default");
      return;
    }
    buffer("receive", "rmem_max", facts_.receive_granted, wanted);
    buffer("send", "wmem_max", facts_.send_granted, wanted);
  }

  void buffer(const char* what, const char* setting, uint64_t granted, uint64_t wanted) {
    const std::string text = std::string(what) + " buffer: " + std::to_string(granted) +
                             " octets of " + std::to_string(wanted) + " asked for";
    if (granted >= wanted) {
      say("buffers", Grade::ok, text);
      return;
    }
    say("buffers", Grade::warning,
        text + (*what == 'r' ? ": the congestion window stays as small" : ""),
        std::string("sysctl -w net.core.") + setting + "=" + std::to_string(wanted));
  }

  void drops() {
    if (facts_.receive_drops == 0) return;
    say("drops", Grade::warning,
        "the system dropped " + std::to_string(facts_.receive_drops) +
            " datagrams because a receive buffer was full, of all programs since it started",
        "if the number grows (nstat UdpRcvbufErrors): raise net.core.rmem_max and FI_UET_SOCKBUF");
  }

  void kernel() {
    if (facts_.sends_super_packets && facts_.receives_super_packets) {
      say("kernel", Grade::ok, "Linux " + facts_.kernel + ": UDP segments are cut and joined");
      return;
    }
    say("kernel", Grade::warning,
        "Linux " + facts_.kernel + " does not " +
            (facts_.sends_super_packets ? "join received UDP segments (GRO)"
                                        : "cut UDP segments (GSO)") +
            ": throughput will be several times lower",
        "use Linux 5.0 or later");
  }

  void keys() {
    if (wanted_.settings.tss != prov::TssChoice::file) return;
    findings_.push_back(examine_keys(facts_.keys, wanted_.settings.job_id));
  }

  void files() {
    if (facts_.open_files_max >= kOpenFiles) return;
    say("files", Grade::warning,
        "a process may open " + std::to_string(facts_.open_files_max) +
            " files; a domain needs about twenty",
        "ulimit -n 1024");
  }

  const Facts& facts_;
  const prov::SettingsRead wanted_;
  std::vector<Finding> findings_;
};

}  // namespace

const char* grade_name(Grade grade) {
  switch (grade) {
    case Grade::ok:
      return "ok";
    case Grade::warning:
      return "warning";
    case Grade::fault:
      return "fault";
  }
  return "?";
}

std::vector<Finding> examine(const Facts& facts) { return Examination(facts).run(); }

Grade worst(const std::vector<Finding>& findings) {
  Grade out = Grade::ok;
  for (const Finding& finding : findings) out = std::max(out, finding.grade);
  return out;
}

}  // namespace uet::tools
