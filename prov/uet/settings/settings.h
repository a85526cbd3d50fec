// The values of all settings of a process: a plain record. Each field belongs to one row of the
// table in setting.h, which names it FI_UET_<NAME>; the defaults are here, and for the stack in
// fep/config.h.
#pragma once

#include "fep/allow_list.h"
#include "fep/config.h"
#include "ses/profile.h"
#include "wire/defaults.h"

#include "base/time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uet::prov {

struct Setting;

enum class ModeChoice : uint8_t {
  automatic,  // ROD where an order was asked for, RUD elsewhere [LF-089]
  rud,
  rod,
  rudi,  // as automatic, and RUDI for RMA to idempotent-safe regions [SES-027]
};

enum class IoChoice : uint8_t {
  automatic,  // packet sockets where they are allowed and pass by no rules, else UDP [decision 8]
  udp,
  uring,  // UDP sockets by io_uring [decision 24]
  packet,
  ip,         // raw sockets: a separate IP protocol, without UDP [decision 25]
  xdp,        // AF_XDP [decision 26]
  ip_packet,  // as ip, over packet sockets
  ip_xdp,     // as ip, over AF_XDP
};
// Packets use a separate IP protocol.
constexpr bool is_without_udp(IoChoice io) {
  return io == IoChoice::ip || io == IoChoice::ip_packet || io == IoChoice::ip_xdp;
}

// Where keys of transport security come from. [decision 23]
enum class TssChoice : uint8_t {
  off,  // packets go in the clear
  file,
  agent,  // docs/key-agent.md
};

struct Settings {
  std::string iface;  // interface name or local address; empty: all
  IoChoice io = IoChoice::automatic;
  uint8_t ip_protocol = wire::kNativeIpProtocol;  // with IO=ip, ip-packet and ip-xdp [WIRE-008]
  bool ip_crc = true;                             // likewise [WIRE-089]
  bool shm = true;  // SHM=auto: shared memory between processes of one host [decision 21]
  ModeChoice mode = ModeChoice::automatic;
  uint32_t job_id = 1;                   // 1 .. 2^24-1 [LF-018]
  std::optional<uint16_t> pid_on_fep;    // 0 .. 4095; unset: random
  std::optional<uint32_t> initiator_id;  // unset: random for each endpoint
  bool absolute = false;                 // ADDR_MODE
  std::optional<uint32_t> payload_mtu;   // octets; unset: by interface [LF-131]
  uint16_t port_first = 16384;
  uint16_t port_last = 32767;
  bool strict_port = false;
  fep::AllowList allow;                    // empty: everybody
  std::string allow_text;                  // as the user wrote it
  uint32_t socket_buffer_bytes = 4 << 20;  // 0: the system's
  std::string pcap;                        // file; empty: none
  std::string fault;                       // fault plan; empty: none
  TssChoice tss = TssChoice::off;          // else packets are sealed [decision 23]
  std::string tss_keys;                    // files; empty: those under /etc/uet, and no log
  std::string tss_agent;                   // a socket; empty: the usual one
  std::string tss_counters;
  std::string tss_keylog;
  uint32_t engines = 1;  // of each domain [LF-145]
  bool helper = true;
  Duration linger = Duration::seconds(5);  // of fi_close and exit()
  bool stats = true;                       // uet_ctl may ask
  std::optional<uint8_t> dscp_data;        // 0 .. 63; of data without a traffic class
  bool trimming = false;                   // the switches trim [CMS-049]
  bool spec_timers = false;                // TIMERS=spec [PDS-220]
  bool meets_refprov = false;              // INTEROP=refprov [PDS 22]
  bool mr_domain = true;                   // regions without an endpoint are allowed [LF-038]
  uint8_t profiles = ses::kEveryProfile;   // PROFILE [SES-186]
  bool idempotent = false;                 // every region is idempotent-safe [LF-027]

  // The stack's values, and the rows that were set: only these are applied, because a domain has
  // different defaults for some (TIMERS, INTEROP, the socket's buffer).
  fep::Config stack;
  // DSCP of data without a traffic class. [CMS-171, CMS-173, LF-092]
  uint8_t data_dscp() const {
    const wire::Dscp usual = trimming ? wire::Dscp::trimmable : wire::Dscp::no_trim;
    return dscp_data.value_or(static_cast<uint8_t>(usual));
  }
  // DSCPs of trimmed packets; bit i: DSCP i. [WIRE-016, WIRE-022]
  uint64_t cut_dscps() const {
    return uint64_t{1} << stack.pds.trimmed_dscp | uint64_t{1} << stack.pds.trimmed_lasthop_dscp;
  }
  std::vector<const Setting*> stack_set;

  // False: a setting whose default would be less safe than the requested value, or something else
  // (JOB_ID, ALLOW, FAULT), has a wrong value; the provider offers nothing. [LF-135]
  bool valid = true;

  // Copies the stack's values that were set to `config`. [LF-130]
  void apply_to(fep::Config& config) const;
};

}  // namespace uet::prov
