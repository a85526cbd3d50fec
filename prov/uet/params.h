// The provider's own FI_UET_* parameters: defined with libfabric so that `fi_info -e` lists them,
// read once, checked. The stack's tunables are in fep/config.h. [LF-129, LF-130]
#pragma once

#include "fep/allow_list.h"
#include "ses/profile.h"

#include "base/time.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace uet::fep {
struct Config;
struct Parameter;
}

namespace uet::prov {

enum class ModeChoice : uint8_t {
  automatic,  // ROD where an order was asked for, RUD elsewhere [LF-089]
  rud,
  rod,
  rudi,  // as automatic, and RUDI for RMA to idempotent-safe regions [SES-027]
};

struct Params {
  std::string iface;                   // interface name or local address; empty: all
  std::optional<uint32_t> job_id;      // 1 .. 2^24-1 [LF-018]
  std::optional<uint16_t> pid_on_fep;  // 0 .. 4095
  std::optional<uint32_t> initiator_id;
  bool absolute = false;  // ADDR_MODE
  ModeChoice mode = ModeChoice::automatic;
  uint32_t payload_mtu = 0;  // octets; 0: by interface [LF-131]
  std::string io = "auto";
  uint16_t port_first = 16384;
  uint16_t port_last = 32767;
  bool strict_port = false;
  fep::AllowList allow;  // empty: everybody
  uint32_t socket_buffer_bytes = 4 << 20;
  std::string pcap;   // file; empty: none
  std::string fault;  // fault plan; empty: none
  bool helper = true;
  Duration linger = Duration::seconds(5);  // LINGER: of fi_close and exit()
  bool stats = true;  // uet_ctl may ask
  std::optional<uint8_t> dscp_data;  // 0 .. 63; unset: the stack's default
  std::optional<uint8_t> dscp_ack;
  bool spec_timers = false;  // TIMERS=spec [PDS-220]
  bool meets_refprov = false;  // INTEROP=refprov [PDS 22]
  bool mr_domain = true;     // regions without an endpoint are allowed [LF-038]
  uint8_t profiles = ses::kEveryProfile;  // PROFILE [SES-186]
  bool idempotent = false;   // every region is idempotent-safe [LF-027]
  // Tunables of the stack that the environment names.
  std::vector<std::pair<const fep::Parameter*, int64_t>> stack;

  // False: a parameter whose default would be less safe than what was asked for, or something else
  // (JOB_ID, ALLOW, DATA_PROTECT and the like), has a value that makes no sense; nothing is
  // offered. Of other parameters with such a value the default is used. A line for the user says
  // either. [LF-135]
  bool valid = true;
};

// Names the parameters to libfabric. Called once, from fi_prov_ini.
void define_params();
// Reads them from the environment on the first call; the same values for ever after, and libfabric
// is not asked again: at the end of the process it forgets them while threads still open domains.
const Params& params();

// Sets those tunables of the stack that the environment names, over what `config` has. Wrong values
// change nothing; params() has told the user. [LF-130]
void apply_stack_params(fep::Config& config);

}  // namespace uet::prov
