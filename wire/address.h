// The UET libfabric address: what fi_getname gives and fi_av_insert takes. No public standard
// fixes its octets; this file and address.cpp are the only ones that know them. [LF-006]
#pragma once

#include "wire/ip_address.h"
#include "wire/reader.h"
#include "wire/writer.h"

#include "base/result.h"
#include "base/serial.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace uet::wire {

// Why 40 octets, or a text, are not an address.
enum class AddressError : uint8_t {
  truncated,       // fewer than 40 octets
  version,         // not 0
  family,          // neither 4 nor 6, or other than the address type flag
  magic,           // not "UET"
  pid_on_fep,      // wider than 12 bits
  resource_index,  // the range leaves 12 bits
  text,            // not the text form
};
const char* name(AddressError e);

//  0                   1                   2                   3
//  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
// |    version    |  family 4/6   |             flags             |
// |         capabilities          |          pid_on_fep           |
// |     start_resource_index      |     resource_index_count      |
// |                         initiator_id                          |
// |                   fabric address (128 bits)                   |
// |     'U'       |      'E'      |      'T'      |       0       |
// |           udp_port            |  payload_mtu  |   reserved    |
// [LF-003..LF-006]
struct UetAddress {
  static constexpr uint32_t kSize = 40;

  // Flag bits. The receiver chooses a field whose valid bit is clear. All bits of the reference
  // have a name, here and below, also those that nothing reads. [LF-004]
  static constexpr uint16_t kCapabilitiesValid = 1U << 0;
  static constexpr uint16_t kFabricAddressValid = 1U << 1;
  static constexpr uint16_t kPidOnFepValid = 1U << 2;
  static constexpr uint16_t kResourceIndexValid = 1U << 3;
  static constexpr uint16_t kInitiatorIdValid = 1U << 4;
  static constexpr uint16_t kAbsolute = 1U << 5;       // addressing mode, else relative
  static constexpr uint16_t kIpv6 = 1U << 6;           // set by emit() from the family
  static constexpr uint16_t kOnePayloadMtu = 1U << 7;  // messages of one payload MTU at most

  // Capability bits. [LF-005]
  static constexpr uint16_t kAiBase = 1U << 0;
  static constexpr uint16_t kAiFull = 1U << 1;
  static constexpr uint16_t kHpc = 1U << 2;
  static constexpr uint16_t kReordering = 1U << 6;
  static constexpr uint16_t kOptimizedNonMatching = 1U << 7;

  static constexpr uint32_t kPayloadMtuUnit = 256;

  uint16_t flags = 0;  // without kIpv6, which is fabric_address.family
  uint16_t capabilities = 0;
  PidOnFep pid_on_fep{};                 // 12 bits
  ResourceIndex start_resource_index{};  // 12 bits
  uint16_t resource_index_count = 0;     // start + count stays within 4096
  uint32_t initiator_id = 0;
  IpAddress fabric_address{};
  uint16_t udp_port = 0;           // of the process; 0 means 4793
  uint32_t payload_mtu_bytes = 0;  // multiple of 256, up to 65280; 0 not stated [LF-131]

  bool has(uint16_t flag) const { return (flags & flag) == flag; }

  // Reads kSize octets and judges them; trailing octets stay in the reader.
  static Result<UetAddress, AddressError> parse(Reader& r);
  // Writes kSize octets; values out of range assert.
  void emit(Writer& w) const;
  bool operator==(const UetAddress&) const = default;
};

// Renders fi_addr_uet://<ip>[:<udp port>]/<pidonfep>/<ri>/<initiator>[?mode=abs] into the buffer,
// an IPv6 address in brackets. Returns the length of the whole text as snprintf does. [LF-007]
size_t print(std::span<char> out, const UetAddress& address);

// The reverse. The result states address, PIDonFEP, one resource index and initiator as valid;
// capabilities and payload MTU have no place in the text.
Result<UetAddress, AddressError> parse_uet_address(std::string_view text);

}  // namespace uet::wire
