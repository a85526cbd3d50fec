// Firewall rules as far as they bear on one UDP port: read from what nft and iptables-save print,
// and followed as a first packet of a stranger would be. Runs no program.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace uet::tools {

// Verdict on a packet.
enum class Passage : uint8_t {
  open,
  some,  // only under conditions that are not checked: a source, an interface
  blocked,
};

struct PortRange {
  uint16_t first = 0;
  uint16_t last = 65535;
};

struct FirewallRule {
  enum class Verdict : uint8_t {
    none,
    accept,
    block,
    jump,  // and come back
    leave,
  };
  Verdict verdict = Verdict::none;
  std::string target;  // of a jump
  bool takes_udp = true;
  bool conditional = false;      // it asks for more than a protocol and a port
  std::vector<PortRange> ports;  // empty: all
  bool names_ports() const { return !ports.empty(); }
};

struct FirewallChain {
  bool base = false;   // packets that come in begin here
  bool drops = false;  // its policy
  std::vector<FirewallRule> rules;
};

// The chains of one table that is asked about one family of addresses.
struct FirewallTable {
  std::string name;
  bool ipv4 = true;
  bool ipv6 = true;
  std::map<std::string, FirewallChain> chains;
};

// From `nft -j list ruleset`; empty for any other text.
std::vector<FirewallTable> read_nft(std::string_view text);
// From iptables-save (ip6tables-save with `ipv6`).
std::vector<FirewallTable> read_iptables(std::string_view text, bool ipv6);

// Verdict on UDP packets to `port` that belong to no known connection. `table`: the table that
// decided.
Passage passage(const std::vector<FirewallTable>& tables, bool ipv6, uint16_t port,
                std::string* table = nullptr);

}  // namespace uet::tools
