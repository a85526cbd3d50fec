// Reading and checking of FI_UET_* parameters; see params.h.
#include "prov/uet/params.h"

#include "prov/uet/compat.h"
#include "prov/uet/log.h"
#include "prov/uet/user_message.h"

#include "fep/parameters.h"
#include "io/fault_plan.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

namespace uet::prov {
namespace {

// Every value is taken as a string, so that a wrong one is seen here and not read as zero.
struct Param {
  const char* name;
  const char* help;
  // False: the value makes no sense; what it wrote to `params` is not used.
  bool (*read)(std::string_view value, Params& params);
  // Another value than the one asked for is less safe, or something else: nothing is offered then.
  bool is_strict = false;
};

template <class U>
bool to_number(std::string_view text, U min, U max, U& out) {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, base);
  return error == std::errc{} && end == text.data() + text.size() && out >= min && out <= max;
}

template <class U>
bool to_optional(std::string_view text, U min, U max, std::optional<U>& out) {
  U value{};
  if (!to_number(text, min, max, value)) return false;
  out = value;
  return true;
}

bool to_bool(std::string_view text, bool& out) {
  if (text == "1" || text == "yes" || text == "on" || text == "true") return out = true;
  out = false;
  return text == "0" || text == "no" || text == "off" || text == "false";
}

bool to_text(std::string_view text, std::string& out) {
  out = text;
  return !text.empty();
}

// One of two words; `out` tells whether it was the second.
bool to_choice(std::string_view text, std::string_view first, std::string_view second, bool& out) {
  out = text == second;
  return out || text == first;
}

bool to_mode(std::string_view text, ModeChoice& out) {
  constexpr std::array<std::string_view, 4> kWords = {"auto", "rud", "rod", "rudi"};
  for (size_t i = 0; i < kWords.size(); ++i) {
    if (text != kWords[i]) continue;
    out = static_cast<ModeChoice>(i);
    return true;
  }
  return false;
}

// AI Base is part of the two others. [SES-185]
bool to_profiles(std::string_view text, uint8_t& out) {
  constexpr std::pair<std::string_view, uint8_t> kWords[] = {
      {"ai_base", ses::kAiBase},
      {"ai_full", ses::kAiBase | ses::kAiFull},
      {"hpc", ses::kAiBase | ses::kHpc},
      {"all", ses::kEveryProfile},
  };
  for (const auto& [word, profiles] : kWords) {
    if (text != word) continue;
    out = profiles;
    return true;
  }
  return false;
}

// "first-last", both multiples of 16, so that whole blocks are described. [WIRE-121]
bool to_port_range(std::string_view text, uint16_t& first, uint16_t& last) {
  const size_t dash = text.find('-');
  if (dash == std::string_view::npos) return false;
  return to_number<uint16_t>(text.substr(0, dash), 1024, 65520, first) && first % 16 == 0 &&
         to_number<uint16_t>(text.substr(dash + 1), 1039, 65535, last) && last >= first + 15;
}

bool to_payload_mtu(std::string_view text, uint32_t& out) {
  return to_number<uint32_t>(text, 1024, 8192, out) && (out & (out - 1)) == 0;
}

bool to_allow_list(std::string_view text, fep::AllowList& out) {
  const Result<fep::AllowList> list = fep::AllowList::parse(text);
  if (list.ok()) out = *list;
  return list.ok();
}

constexpr uint32_t kMiB = 1 << 20;

constexpr Param kParams[] = {
    {"IFACE",
     "interface name or local IP address to offer, default: all that are up. An address need not "
     "be configured on the interface if it lies in 127.0.0.0/8.",
     [](std::string_view v, Params& p) { return to_text(v, p.iface); }},
    {"JOB_ID",
     "JobID of endpoints without an authorization key, 1 to 16777215, default 1. Peers talk only "
     "within one job.",
     [](std::string_view v, Params& p) { return to_optional<uint32_t>(v, 1, 0xFF'FFFF, p.job_id); },
     true},
    {"PID_ON_FEP", "PIDonFEP of endpoints that do not ask for one, 0 to 4095, default: random.",
     [](std::string_view v, Params& p) { return to_optional<uint16_t>(v, 0, 4095, p.pid_on_fep); }},
    {"INITIATOR_ID",
     "initiator ID of endpoints that do not ask for one, 32 bits, default: random for each.",
     [](std::string_view v, Params& p) {
       return to_optional<uint32_t>(v, 0, UINT32_MAX, p.initiator_id);
     }},
    {"ADDR_MODE", "addressing of local endpoints: rel (within the job) or abs; default rel.",
     [](std::string_view v, Params& p) { return to_choice(v, "rel", "abs", p.absolute); }},
    {"MODE",
     "packet delivery mode: auto (ROD when the application asks for an order, else RUD), rud, rod, "
     "or rudi (auto, but RMA to idempotent-safe regions goes by RUDI); default auto.",
     [](std::string_view v, Params& p) { return to_mode(v, p.mode); }},
    {"PROFILE",
     "what is offered to peers and served: ai_base, ai_full, hpc or all; default all. Fewer than "
     "all is for peers that take the profiles at their word.",
     [](std::string_view v, Params& p) { return to_profiles(v, p.profiles); }},
    {"PAYLOAD_MTU",
     "payload octets of a packet at most: 1024, 2048, 4096 or 8192; default: the largest that fits "
     "the interface, and 8192 between processes of one host. Toward each peer what both ends and "
     "the route allow is used.",
     [](std::string_view v, Params& p) { return to_payload_mtu(v, p.payload_mtu); }},
    {"IO",
     "packet backend: udp; packet, which passes by the IP stack (Linux 6.2, CAP_NET_RAW, Ethernet; "
     "rules of the firewall, IPsec and tc do not apply); or auto, which is packet where that is "
     "allowed and no such rules are seen when a domain is opened (CAP_NET_ADMIN, to look), else "
     "udp. Default auto.",
     [](std::string_view v, Params& p) {
       return to_text(v, p.io) && (v == "auto" || v == "udp" || v == "packet");
     }},
    {"PORT_RANGE",
     "UDP ports for processes that find port 4793 taken: first-last, first a multiple of 16, at "
     "least 16 ports; default 16384-32767, of which the first 4,096 are taken first.",
     [](std::string_view v, Params& p) { return to_port_range(v, p.port_first, p.port_last); }},
    {"STRICT_PORT",
     "1: fail when UDP port 4793 is taken instead of using FI_UET_PORT_RANGE; default 0.",
     [](std::string_view v, Params& p) { return to_bool(v, p.strict_port); }},
    {"ALLOW",
     "whose packets are taken: IP prefixes joined by commas, for example 10.1.0.0/16,fd00::/8; "
     "all others are dropped before they cost anything. Default: everybody's.",
     [](std::string_view v, Params& p) { return to_allow_list(v, p.allow); }, true},
    {"SOCKBUF",
     "socket buffer octets to ask the system for, 65536 to 1073741824, 0 leaves the system's "
     "default; default 4194304.",
     [](std::string_view v, Params& p) {
       return to_number<uint32_t>(v, 0, 1024 * kMiB, p.socket_buffer_bytes) &&
              (p.socket_buffer_bytes == 0 || p.socket_buffer_bytes >= 65536);
     }},
    {"PCAP", "file to record all packets in (pcapng); default: none.",
     [](std::string_view v, Params& p) { return to_text(v, p.pcap); }},
    {"FAULT", "fault plan for tests, for example loss=0.01,dup=0.001; default: none.",
     [](std::string_view v, Params& p) {
       return to_text(v, p.fault) && io::parse_fault_plan(v).has_value();
     },
     true},
    {"HELPER",
     "0: no helper thread; packets then move only while the application calls; default 1.",
     [](std::string_view v, Params& p) { return to_bool(v, p.helper); }},
    {"LINGER",
     "Milliseconds that closing an endpoint, and exit(), wait at most for peers to confirm what "
     "was "
     "reported as done when its payload was copied; 0 to 600000, default 5000.",
     [](std::string_view v, Params& p) {
       uint32_t ms = 0;
       if (!to_number<uint32_t>(v, 0, 600'000, ms)) return false;
       p.linger = Duration::milliseconds(ms);
       return true;
     }},
    {"STATS",
     "0: uet_ctl of the same user cannot ask for this process's counters; default 1. Needs the "
     "helper thread.",
     [](std::string_view v, Params& p) { return to_bool(v, p.stats); }},
    {"DSCP_DATA", "DSCP of requests without a traffic class, 0 to 63; default: the stack's.",
     [](std::string_view v, Params& p) { return to_optional<uint8_t>(v, 0, 63, p.dscp_data); }},
    {"DSCP_ACK", "DSCP of acknowledgements and control packets, 0 to 63; default: the stack's.",
     [](std::string_view v, Params& p) { return to_optional<uint8_t>(v, 0, 63, p.dscp_ack); }},
    {"TIMERS",
     "soft (patient: time, not a number of retries, gives a peer up) or spec; default soft.",
     [](std::string_view v, Params& p) { return to_choice(v, "soft", "spec", p.spec_timers); }},
    {"INTEROP",
     "none, or refprov: DEFAULT_MPR=1, PDCS_PER_KEY=1, PROBE=0, OPTIONAL_CONTROL=0 and "
     "FATAL_NACKS=0, for peers that are the UEC reference provider; what is set by its own name "
     "comes on top. Default none.",
     [](std::string_view v, Params& p) {
       return to_choice(v, "none", "refprov", p.meets_refprov);
     }},
    {"OVER_UDP",
     "1: packets travel in UDP. Nothing else can be set: native IP needs a backend that sends "
     "protocol 253, with the trailer of that encapsulation, and there is none.",
     [](std::string_view v, Params&) { return v == "1"; }, true},
    {"UDP_DEST_PORT",
     "4793. Nothing else can be set: it is where peers are found. Who finds the port taken here "
     "listens on one of FI_UET_PORT_RANGE and says so in its address.",
     [](std::string_view v, Params&) { return v == "4793"; }, true},
    {"DATA_PROTECT",
     "0: the checksum of UDP and nothing else. Nothing else can be set: 1 is the CRC of native IP, "
     "2 is security, which does not exist yet; better no endpoint than one less safe than asked.",
     [](std::string_view v, Params&) { return v == "0"; }, true},
    {"TRIMMABLE_ACK_SIZE",
     "10240: no ACK may be cut by a switch. Nothing else can be set: an ACK carries 36 octets of "
     "response at most, and nothing of that would be left.",
     [](std::string_view v, Params&) { return v == "10240"; }, true},
    {"MR_DOMAIN",
     "0: applications must offer FI_MR_ENDPOINT and bind regions to endpoints; default 1.",
     [](std::string_view v, Params& p) { return to_bool(v, p.mr_domain); }},
    {"IDEMPOTENT", "1: every memory region may be written twice without harm; default 0.",
     [](std::string_view v, Params& p) { return to_bool(v, p.idempotent); }},
};

// The provider's own parameter of that name comes before the stack's.
bool is_own(std::string_view name) {
  for (const Param& param : kParams) {
    if (name == param.name) return true;
  }
  return false;
}

// The value in the environment; empty: none.
std::string_view value_of(const char* name) {
  char* value = nullptr;
  if (fi_param_get_str(&provider(), name, &value) != 0 || value == nullptr) return {};
  return value;
}

// The unit of a row and its range; "0 or 1" and the like are both.
std::string values_of(const fep::Parameter& row) {
  const std::string unit = row.unit;
  if (unit.find(" or ") != unit.npos || unit.find(" to ") != unit.npos) return unit;
  return unit + ", " + std::to_string(row.min) + " to " + std::to_string(row.max);
}

// A misspelt name would otherwise be a setting that silently does nothing.
void warn_of_unknown() {
  constexpr std::string_view kPrefix = "FI_UET_";
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string_view entry = *at;
    if (!entry.starts_with(kPrefix)) continue;
    const std::string name(entry.substr(kPrefix.size(), entry.find('=') - kPrefix.size()));
    if (is_own(name) || fep::find_parameter(name.c_str()) != nullptr) continue;
    tell_user("FI_UET_%s is no setting of uet and does nothing; `fi_info -g FI_UET` lists all",
              name.c_str());
  }
}

// The tunables of the stack that the environment names; the user is told of wrong values, which
// change nothing.
void read_stack_params(Params& params) {
  fep::Config tried;
  for (const fep::Parameter& row : fep::parameters()) {
    if (is_own(row.name)) continue;
    const std::string_view value = value_of(row.name);
    if (value.data() == nullptr) continue;
    int64_t number = 0;
    if (to_number(value, row.min, row.max, number) &&
        fep::set_parameter(tried, row.name, number).ok()) {
      params.stack.emplace_back(&row, number);
      continue;
    }
    tell_user("FI_UET_%s=%s cannot be used, so its default is; set it to: %s; %s", row.name,
              value.data(), row.help, values_of(row).c_str());
  }
}

Params read_params() {
  Params result;
  for (const Param& param : kParams) {
    const std::string_view value = value_of(param.name);
    if (value.data() == nullptr) continue;
    Params changed = result;
    if (param.read(value, changed)) {
      result = std::move(changed);
      continue;
    }
    if (param.is_strict) result.valid = false;
    tell_user("FI_UET_%s=%s cannot be used, so %s; set it to: %s", param.name, value.data(),
              param.is_strict ? "nothing is offered" : "its default is", param.help);
  }
  read_stack_params(result);
  warn_of_unknown();
  return result;
}

}  // namespace

void define_params() {
  for (const Param& param : kParams) {
    fi_param_define(&provider(), param.name, FI_PARAM_STRING, "%s", param.help);
  }
  const fep::Config defaults;
  for (const fep::Parameter& row : fep::parameters()) {
    if (is_own(row.name)) continue;
    fi_param_define(&provider(), row.name, FI_PARAM_STRING, "%s; %s, default %lld.", row.help,
                    values_of(row).c_str(), static_cast<long long>(row.get(defaults)));
  }
}

void apply_stack_params(fep::Config& config) {
  for (const auto& [row, number] : params().stack) {
    static_cast<void>(fep::set_parameter(config, row->name, number));
  }
}

const Params& params() {
  static const Params* const kRead = new Params(read_params());  // never destroyed [ABI-015]
  return *kRead;
}

}  // namespace uet::prov
