// Names and addresses as applications write them: node and service, socket addresses, strings and
// our 40-octet form, all to and from one struct. Knows no object of the provider. [LF-003..008]
#pragma once

#include "prov/uet/compat.h"

#include "base/packet.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <string>

namespace uet::prov {

inline constexpr size_t kUetAddressBytes = 40;  // [LF-006]

// A UET address with what of it is stated. Unstated fields are zero.
struct UetAddress {
  FabricAddress fa;  // family none: not stated; port 4793 unless stated
  bool has_pid = false;
  bool has_ri = false;
  bool has_initiator = false;
  bool absolute = false;  // addressing mode [LF-004]
  uint16_t pid = 0;       // 12 bits
  uint16_t ri = 0;        // 12 bits
  uint16_t ri_count = 1;
  uint32_t initiator_id = 0;
  uint16_t payload_mtu = 0;   // octets, multiple of 256; 0: not stated [LF-131]
  uint16_t capabilities = 0;  // [LF-005]

  bool operator==(const UetAddress&) const = default;
};

// One of the forms that fi_info.addr_format may name: ours (unspec and private value), string,
// IPv4 and IPv6 socket address. Other values are not supported. [LF-008]
bool is_supported_format(uint32_t addr_format);
// Octets that one address of that form takes in an array; 0 for strings and unsupported forms.
size_t address_bytes(uint32_t addr_format);

// Reads one address. `bytes`: what may be read, SIZE_MAX for a zero-terminated string.
// Errc::invalid: not an address of that form.
Result<UetAddress> read_address(uint32_t addr_format, const void* data, size_t bytes);
// Writes one, as fi_getname and fi_av_lookup do: copies what fits in *length octets and sets
// *length to the full size; false when it was cut. IPv6 in an IPv4 form: nothing, *length = 0.
bool write_address(uint32_t addr_format, const UetAddress& address, void* data, size_t* length);
// fi_addr_uet://<ip>[:<port>]/<pid>/<ri>/<initiator>[?mode=abs] [LF-007]
std::string to_string(const UetAddress& address);

// A decimal number or "pid:ri" into the fields it stands for. A number below 4096 is a PIDonFEP;
// up to 65535 it also selects an RI. The number is the initiator ID, too, so that a server opened
// on a service is known by it. [LF-008, LF-014]
Result<void> apply_service(const char* service, UetAddress& address);
// The number that apply_service would have been given; for socket address forms.
uint16_t service_number(const UetAddress& address);

// A host name or numeric address; family none allows both. Errc::not_found. With `numeric` no
// name service is asked.
Result<FabricAddress> resolve_node(const char* node, FabricAddress::Family family, bool numeric);
// The local address that the system would send to `remote` from. Errc::not_found: no route.
Result<FabricAddress> local_address_toward(const FabricAddress& remote);

}  // namespace uet::prov
