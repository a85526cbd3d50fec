// UET addresses in the forms that applications see: our 40 octets, a string, or a socket address.
// The only place that knows these layouts. Asks no name service. [LF-003 .. LF-008]
#pragma once

#include "base/packet.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace uet::prov {

inline constexpr size_t kUetAddressBytes = 40;  // [LF-006]
inline constexpr uint16_t kBaseRi = 1;          // RI 0 is reserved [LF-011]
inline constexpr uint16_t kFieldMax = 4095;     // PIDonFEP and RI are 12 bits wide [LF-003]

// A UET address, and which of its fields are stated. Fields that are not stated are zero.
struct UetAddress {
  FabricAddress fa;  // family none: not stated; port 4793 unless stated
  bool has_pid = false;
  bool has_ri = false;
  bool has_initiator = false;
  bool absolute = false;  // addressing mode [LF-004]
  uint16_t pid = 0;
  uint16_t ri = 0;
  uint16_t ri_count = 0;
  uint32_t initiator_id = 0;
  uint16_t payload_mtu = 0;   // octets, multiple of 256; 0: not stated [LF-131]
  uint16_t payload_host = 0;  // the same between processes of one host; 0: not stated [LF-140]
  uint16_t capabilities = 0;  // bits of LF-005; 0: not stated

  bool operator==(const UetAddress&) const = default;
};

// Whether fi_info.addr_format may have that value: ours (FI_FORMAT_UNSPEC and the private
// constant), string, socket addresses. [LF-008]
bool is_supported_format(uint32_t addr_format);
// Octets of one element in an array of addresses, as fi_av_insert takes them; 0 for strings, which
// come as an array of char*. FI_SOCKADDR has no fixed size: that of IPv4 unless `ipv6`.
size_t address_bytes(uint32_t addr_format, bool ipv6 = false);

// Reads one address of at most `bytes` octets; a string ends at its zero or there. Errc::invalid:
// not an address of that form.
Result<UetAddress> read_address(uint32_t addr_format, const void* data, size_t bytes);
// The octets of an address in that form; a string includes its zero. Empty when the form cannot
// express it (another IP family).
std::string write_address(uint32_t addr_format, const UetAddress& address);
// The common part of fi_getname and fi_av_lookup: copies what fits in *length octets and sets
// *length to the full size. False when it was cut.
bool copy_address(const std::string& octets, void* data, size_t* length);

// fi_addr_uet://<ip>[:<port>]/<pid>/<ri>/<initiator>[?mode=abs][&mtu=<octets>]; a field that is
// not stated is "*". [LF-007]
std::string to_string(const UetAddress& address);

// Both in one.
inline bool write_address(uint32_t addr_format, const UetAddress& address, void* data,
                          size_t* length) {
  return copy_address(write_address(addr_format, address), data, length);
}

// The service number <-> (PIDonFEP, RI, initiator ID). A number below 4096 is the PIDonFEP with the
// base RI; higher ones also select an RI. The initiator ID equals the number, so that a server
// opened on a service is known by it. [LF-008, LF-014]
void apply_service_number(uint16_t number, UetAddress& address);
uint16_t service_number(const UetAddress& address);

// A request names its sender by Fabric Address, port and initiator ID, and no more. So an endpoint
// that was given no initiator ID has one that says where to reply. [LF-016, SES-123]
uint32_t telling_initiator(uint16_t pid, uint16_t ri, bool absolute);
// Completes an address by what its initiator ID contains; no change if that ID has no such content.
void apply_initiator(uint32_t addr_format, UetAddress& address);

}  // namespace uet::prov
