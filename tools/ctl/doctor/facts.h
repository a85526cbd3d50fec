// The facts for `uet_ctl doctor`: the state of this host as far as the provider depends on it.
// Collected in one go, so that the judgement (examine.h) needs no host.
#pragma once

#include "tools/ctl/doctor/firewall.h"
#include "tools/ctl/doctor/keys.h"

#include "io/host/interfaces.h"
#include "prov/uet/settings/read.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace uet::tools {

// A bound UDP socket of this network namespace.
struct UdpSocket {
  FabricAddress local;  // its IP is all zero for one that takes every address
  uint64_t inode = 0;
};

struct FirewallFacts {
  std::vector<FirewallTable> tables;
  std::vector<std::string> readers;  // programs that answered
  std::string refused;               // a program that could not read the rules; empty: none
};

// The answer to a program that asks libfabric for uet.
struct LibfabricFacts {
  std::string problem;               // it could not be loaded or asked; empty: it could
  std::string path;                  // of libfabric
  std::string version;               // "1.17"
  std::string plugin;                // path of the provider that was loaded; empty: none
  std::vector<std::string> domains;  // that the provider offers
  std::string warnings;              // the provider's log meanwhile
};

struct Facts {
  std::map<std::string, std::string> environment;  // FI_*
  std::vector<io::Interface> interfaces;           // that are up, one entry for each address
  std::vector<UdpSocket> udp;
  std::string uet_port_owner;    // "4711 (fi_pingpong)" or empty: not known or free
  std::string ephemeral_ports;   // "32768 60999", as the system has it
  std::string reserved_ports;    // "16384-32767" or empty
  uint64_t receive_granted = 0;  // octets of socket buffer, of those asked for
  uint64_t send_granted = 0;
  uint64_t receive_drops = 0;  // datagrams lost because a buffer was full, since the system started
  uint64_t open_files_max = 0;
  std::string kernel;  // "6.1.0-18-amd64"
  bool sends_super_packets = false;
  bool receives_super_packets = false;
  bool net_raw = false;  // CAP_NET_RAW
  // Firewall rules that packet sockets would bypass, by interface; empty: none.
  std::map<std::string, std::string> passed_by;
  std::string ring_refused;  // why io_uring is not available, with its remedy; empty: it is
  std::string xdp_refused;   // why AF_XDP is not available, with its remedy; empty: it is
  FirewallFacts firewall;
  LibfabricFacts libfabric;
  KeyFacts keys;  // with FI_UET_TSS=file

  // The value of a variable, or `otherwise`.
  std::string variable(const std::string& name, const std::string& otherwise) const;
};

// Reads the files below `root`, usually "/"; everything else is this host's.
Facts collect_facts(const std::string& root);
// The part of the facts that is in files.
void read_files(const std::string& root, Facts& facts);

// The provider's settings in the environment, and their errors.
prov::SettingsRead wanted_settings(const Facts& facts);

// The lines of the provider uet in libfabric's log. The core has others: "provider uet is unknown"
// of every provider that is loaded and named in FI_PROVIDER.
std::string words_of_uet(const std::string& log);
// Loads libfabric in a separate process and asks it for uet, as an application would.
LibfabricFacts ask_libfabric();

}  // namespace uet::tools
