// fi_getinfo: which domains there are, and what of the application's hints they meet.
// [LF-068 .. LF-092, ABI-033]
#pragma once

#include "prov/uet/address/address.h"
#include "prov/uet/api/compat.h"
#include "prov/uet/settings/settings.h"

#include "io/host/interfaces.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace uet::prov {

// One local address that a domain can be opened on.
struct DomainCandidate {
  std::string name;  // interface, or interface/address for its further addresses
  io::Interface interface;
  bool leave_uet_port = false;  // port 4793 of this address is the peer's [LF-132]
};
// All local addresses, best first, loopback last; restricted by FI_UET_IFACE.
std::vector<DomainCandidate> list_domains(const Settings& settings);
// The one with that name or local address; 127.0.0.0/8 needs no configured address.
std::optional<DomainCandidate> find_domain(const Settings& settings, const std::string& name);
std::optional<DomainCandidate> find_domain(const Settings& settings, const FabricAddress& address);

// The fabric that an interface belongs to. Fabric Addresses of different families do not reach each
// other, nor does loopback reach anything else, so each is a separate fabric: programs that treat
// all domains of one fabric as ports of one network (Open MPI does) then choose right. [LF-001]
const char* fabric_name(const io::Interface& interface);
// Whether any fabric has that name, in any case of letters.
bool is_fabric_name(const char* name);

// Octets of payload a packet carries on that interface. [LF-131]
uint32_t payload_mtu_of(const Settings& settings, const io::Interface& interface);

// The agreement between provider and application, apart from addresses.
struct Agreement {
  fi_ep_type type = FI_EP_RDM;  // or FI_EP_DGRAM [LF-072]
  size_t message_bytes = 0;     // that the application wants in one message; 0: not stated
  uint64_t caps = 0;
  uint64_t tx_caps = 0;
  uint64_t rx_caps = 0;
  uint64_t peer_caps = 0;  // FI_PEER, FI_AV_USER_ID: only on request [LF-159, LF-160]
  uint64_t tx_order = 0;
  uint64_t rx_order = 0;
  uint64_t tx_op_flags = 0;
  uint64_t rx_op_flags = 0;
  size_t tx_size = 0;
  size_t rx_size = 0;
  size_t rx_iov_limit = 0;
  size_t rma_iov_limit = 0;
  size_t mr_count = 0;  // regions at once
  uint64_t mem_tag_format = kTagFormat;
  uint32_t ep_tclass = 0;
  uint32_t domain_tclass = 0;
  fi_threading threading = FI_THREAD_SAFE;
  fi_progress control_progress = FI_PROGRESS_MANUAL;
  fi_progress data_progress = FI_PROGRESS_MANUAL;
  fi_av_type av_type = FI_AV_UNSPEC;  // both are accepted; programs keep the returned value
                                      // [LF-012]
  int mr_mode = 0;
  uint32_t addr_format = FI_FORMAT_UNSPEC;
  // 4 octets each, or null; borrowed from the hints.
  const uint8_t* domain_key = nullptr;
  const uint8_t* endpoint_key = nullptr;
  bool has_av_keys = false;      // FI_AV_AUTH_KEY [LF-019]
  size_t endpoint_keys = 1;      // that an endpoint may have
  bool shares_receives = false;  // FI_SHARED_CONTEXT [LF-077]
};
// Nothing when a hint cannot be met. `hints` may be null. [ABI-033]
std::optional<Agreement> agree(const Settings& settings, uint32_t version, const fi_info* hints);
// Writes all attributes but names and addresses into `info`.
void fill_attributes(const Agreement& agreement, fi_info& info);

// The provider's getinfo operation.
int get_info(const Settings& settings, uint32_t version, const char* node, const char* service,
             uint64_t flags, const fi_info* hints, fi_info** out);

// A description of the interface for fi_info.nic; the driver is the backend that FI_UET_IO chooses
// there. Null without memory. [LF-087, LF-143, ABI-025]
fid_nic* make_nic(const io::Interface& interface, IoChoice choice);

// Limits that endpoints, queues and regions enforce. [LF-073 .. LF-078]
inline constexpr size_t kIovLimit = 64;
inline constexpr size_t kQueueSizeDefault = 1024;
inline constexpr size_t kQueueSizeMax = 16384;
inline constexpr size_t kEndpointCount = 4095;  // RIs of one PIDonFEP
inline constexpr size_t kObjectCount = 65536;
inline constexpr size_t kErrDataBytes = 96;
inline constexpr size_t kJobKeyBytes = 4;  // [LF-017]
// The JobID in an authorization key; nothing when its size or value is wrong. [LF-017]
std::optional<uint32_t> job_of_key(const uint8_t* key, size_t bytes);

}  // namespace uet::prov
