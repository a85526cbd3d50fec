// Settings of level user: decisions of a site. Rows of the table; see setting.h. For table.cpp
// only.
#pragma once

#include "prov/uet/settings/fields.h"
#include "prov/uet/settings/port_range.h"
#include "prov/uet/settings/setting.h"

#include <array>

namespace uet::prov {

inline constexpr Word kIoWords[] = {{"auto", static_cast<int64_t>(IoChoice::automatic)},
                                    {"udp", static_cast<int64_t>(IoChoice::udp)},
                                    {"uring", static_cast<int64_t>(IoChoice::uring)},
                                    {"packet", static_cast<int64_t>(IoChoice::packet)},
                                    {"ip", static_cast<int64_t>(IoChoice::ip)},
                                    {"ip-packet", static_cast<int64_t>(IoChoice::ip_packet)},
                                    {"xdp", static_cast<int64_t>(IoChoice::xdp)},
                                    {"ip-xdp", static_cast<int64_t>(IoChoice::ip_xdp)}};
inline constexpr Word kModeWords[] = {{"auto", static_cast<int64_t>(ModeChoice::automatic)},
                                      {"rud", static_cast<int64_t>(ModeChoice::rud)},
                                      {"rod", static_cast<int64_t>(ModeChoice::rod)},
                                      {"rudi", static_cast<int64_t>(ModeChoice::rudi)}};
inline constexpr auto kCcWords = [] {
  std::array<Word, cms::kAlgorithms.size()> words{};
  for (size_t i = 0; i < words.size(); ++i) {
    const cms::NamedAlgorithm& named = cms::kAlgorithms[i];
    words[i] = {named.name, static_cast<int64_t>(named.algorithm)};
  }
  return words;
}();
inline constexpr Word kTssWords[] = {{"off", static_cast<int64_t>(TssChoice::off)},
                                     {"file", static_cast<int64_t>(TssChoice::file)},
                                     {"agent", static_cast<int64_t>(TssChoice::agent)}};
inline constexpr Word kShmWords[] = {{"auto", 1}, {"off", 0}};
inline constexpr Word kInteropWords[] = {{"none", 0}, {"refprov", 1}};

inline constexpr Setting kUserRows[] = {
    {.name = "IFACE",
     .kind = Kind::text,
     .unit = "an interface name or a local IP address",
     .field = UET_TEXT(iface),
     .source = "LF-129",
     .help = "Interface or local address that is offered. An address of 127.0.0.0/8 need not be "
             "configured on the interface",
     .unset = "all interfaces that are up",
     .example = "eth0"},
    {.name = "IO",
     .kind = Kind::choice,
     .field = UET_FIELD(io),
     .source = "LF-129",
     .help =
         "Packet backend. udp: UDP sockets. uring: UDP sockets with io_uring (Linux 6.1). "
         "packet: packet sockets (Linux 6.2, CAP_NET_RAW, Ethernet), which bypass the IP "
         "stack with its rules of firewall, IPsec and tc. ip: raw sockets of IP protocol "
         "IP_PROTOCOL, without UDP (CAP_NET_RAW); all peers must use it, and one address "
         "serves one process. ip-packet and ip-xdp: the same packets, as "
         "packet and xdp send them. xdp: AF_XDP, by a program on the interface that hands packets "
         "over before the IP stack (Linux 5.11, CAP_NET_ADMIN, CAP_BPF, CAP_NET_RAW, Ethernet); "
         "one interface serves one domain. auto: packet sockets if they are allowed and no such "
         "rules are found when a domain is opened (the search needs CAP_NET_ADMIN), otherwise "
         "UDP sockets",
     .words = kIoWords},
    {.name = "SHM",
     .kind = Kind::choice,
     .field = UET_FIELD(shm),
     .source = "LF-142",
     .help = "Shared memory between processes of one host. auto: packets to a process of the "
             "same user on this host go through shared memory and bypass the firewall of the "
             "host; all others use the packet backend. off: all packets use the packet backend",
     .words = kShmWords},
    {.name = "MODE",
     .kind = Kind::choice,
     .field = UET_FIELD(mode),
     .source = "LF-129",
     .help = "Packet delivery mode. auto: ROD when the application asks for an order, else RUD. "
             "rudi: as auto, but RMA to idempotent-safe regions uses RUDI",
     .words = kModeWords},
    {.name = "CC",
     .kind = Kind::choice,
     .max = static_cast<int64_t>(cms::Algorithm::tfc),
     .field = UET_STACK(cms.algorithm),
     .source = "CMS-065",
     .help =
         "Congestion control. nscc: the window of UET, by delay and ECN marks. rccc: credit of "
         "the receiver. both: nscc and rccc. With rccc or both, all peers must use one of the "
         "two: a peer that grants no credit gets few packets. aimd: additive increase, "
         "multiplicative decrease. fixed: a constant window of WINDOW_BYTES_MAX. tfc "
         "(experimental): cells of the receiver's buffer, for networks that lose nothing; all "
         "peers must use it, with the same TFC_ settings. Where this is not set, a domain takes "
         "nscc",
     .words = kCcWords},
    {.name = "JOB_ID",
     .min = 1,
     .max = 0xFF'FFFF,
     .field = UET_FIELD(job_id),
     .source = "LF-129",
     .help = "JobID of endpoints without an authorization key. Peers talk within one job only",
     .is_strict = true},
    {.name = "PID_ON_FEP",
     .max = 4095,
     .field = UET_FIELD(pid_on_fep),
     .source = "LF-129",
     .help = "PIDonFEP of endpoints that do not ask for one",
     .unset = "random",
     .example = "1"},
    {.name = "PORT_RANGE",
     .kind = Kind::text,
     .unit = "first-last, first a multiple of 16 from 1024 on, at least 16 ports",
     .field = {.text = print_port_range, .read = read_port_range},
     .source = "LF-129",
     .help = "UDP ports for processes that find port 4793 taken; the first 4,096 of them are used "
             "first"},
    {.name = "STRICT_PORT",
     .kind = Kind::flag,
     .max = 1,
     .field = UET_FIELD(strict_port),
     .source = "LF-129",
     .help = "1: fail when UDP port 4793 is taken, instead of using FI_UET_PORT_RANGE"},
    {.name = "ALLOW",
     .kind = Kind::text,
     .unit = "IP prefixes joined by commas, 32 at most",
     .field = {.text = [](const Settings& s) { return s.allow_text; },
               .read =
                   [](Settings& s, std::string_view text) {
                     const Result<fep::AllowList> list = fep::AllowList::parse(text);
                     if (!list.ok()) return false;
                     s.allow = *list;
                     s.allow_text = text;
                     return true;
                   }},
     .source = "ours",
     .help = "Hosts whose packets are accepted; packets of all others are dropped before they "
             "are parsed",
     .unset = "all hosts",
     .example = "10.1.0.0/16,fd00::/8",
     .is_strict = true},
    {.name = "SOCKBUF",
     .kind = Kind::octets,
     .min = 65536,
     .max = 1 << 30,
     .field = UET_FIELD(socket_buffer_bytes),
     .source = "ours",
     .help = "Socket buffer, for sending and for receiving each, that the provider requests from "
             "the system; 0: the system's default",
     .grid = Grid::zero_too},
    {.name = "PAYLOAD_MTU",
     .kind = Kind::octets,
     .min = 1024,
     .max = 8192,
     .field = UET_FIELD_AND_STACK(payload_mtu, ses.payload_mtu),
     .source = "SES-032",
     .help =
         "Largest payload of a packet. Toward each peer the smallest value of both ends and the "
         "route is used",
     .unset = "the largest that fits the interface, and 8KiB between processes of one host",
     .example = "4KiB",
     .grid = Grid::powers_of_two},
    {"MAX_PDCS", Kind::count, "contexts", 1, 65000, UET_STACK(pds.max_pdcs), "PDS-010",
     "Packet delivery contexts (connections) at once, in both roles. Below the default the "
     "tables of peers, receives and operations are smaller, too, and a domain reserves less "
     "memory"},
    {"UNEXPECTED_BYTES", Kind::octets, "octets", 65536, int64_t{1} << 40,
     UET_STACK(ses.unexpected_bytes), "SES-126",
     "Memory for messages that arrived before their receive; when it is full, senders retry"},
    {"PEER_TIMEOUT", Kind::time, "us", 1000, 3600 * kSecond, UET_STACK(pds.peer_timeout), "ours",
     "Silence of a peer after which operations fail. A peer that answers only with refusals gets "
     "five times as long"},
    {"DSCP_DATA", Kind::count, "", 0, 63, UET_FIELD(dscp_data), "LF-129",
     "DSCP of data without a traffic class, and of data that answers reads",
     "8 with FI_UET_TRIMMING=1, else 0", "8"},
    {"DSCP_ACK", Kind::count, "", 0, 63, UET_STACK(pds.control_dscp), "PDS-069",
     "DSCP of acknowledgements and control packets"},
    {.name = "HELPER",
     .kind = Kind::flag,
     .max = 1,
     .field = UET_FIELD(helper),
     .source = "LF-081",
     .help = "0: no helper thread; packets then move only while the application calls libfabric"},
    {.name = "STATS",
     .kind = Kind::flag,
     .max = 1,
     .field = UET_FIELD(stats),
     .source = "ours",
     .help = "1: uet_ctl of the same user can ask for this process's counters. Needs the helper "
             "thread"},
    {.name = "PCAP",
     .kind = Kind::text,
     .unit = "a file name; %p in it becomes the process id",
     .field = UET_TEXT(pcap),
     .source = "ours",
     .help = "File in which all packets are recorded (pcapng)",
     .unset = "no recording",
     .example = "/tmp/uet-%p.pcapng"},
    {.name = "TSS",
     .kind = Kind::choice,
     .field = UET_FIELD(tss),
     .source = "TSS-001",
     .help = "Transport security. file: packets are encrypted and authenticated with the keys of "
             "TSS_KEYS, and domains cannot be opened without them. agent: the same with the keys "
             "that the key agent at TSS_AGENT gives. A job communicates in the clear only if a "
             "domain of the keys allows it. off: all packets are sent in the clear",
     .words = kTssWords,
     .is_strict = true},
    {.name = "TSS_KEYS",
     .kind = Kind::text,
     .unit = "a file name",
     .field = UET_TEXT(tss_keys),
     .source = "TSS-045",
     .help = "Key file, made by uet_keys; a process notices a change while packets move. An "
             "error without TSS=file",
     .unset = "/etc/uet/keys.toml",
     .example = "/home/me/keys.toml",
     .is_strict = true},
    {.name = "INTEROP",
     .kind = Kind::choice,
     .field = UET_FIELD(meets_refprov),
     .source = "PDS 22",
     .help = "refprov: DEFAULT_MPR=1, PDCS_PER_KEY=1, PROBE=0, OPTIONAL_CONTROL=0, FATAL_NACKS=0 "
             "and DISABLE_INDEX=1, for peers that are the UEC reference provider; a setting that "
             "is set by its own name overrides this",
     .words = kInteropWords},
};

}  // namespace uet::prov
