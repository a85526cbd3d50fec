// A whole packet decoded: all its headers, its payload, and the decoder's verdict. For logs, tests,
// conformance and the dissector. The packet path uses the single parsers.
#pragma once

#include "wire/crc.h"
#include "wire/ethernet.h"
#include "wire/ip.h"
#include "wire/pds.h"
#include "wire/ses.h"
#include "wire/tss.h"

#include <optional>
#include <span>
#include <variant>

namespace uet::wire {

// The trailer that the receiver expects at the end of a packet. [WIRE-089]
enum class Trailer : uint8_t {
  none,
  crc,
  tss
};

// The meaning of the first octet given to decode().
enum class Start : uint8_t {
  ethernet,
  ip,
  uet,            // after the UDP or entropy header: TSS or PDS
  pds_after_tss,  // the plaintext of a secured packet
};

struct DecodeOptions {
  Start start = Start::uet;
  Trailer trailer = Trailer::none;
  uint16_t udp_port = kUdpPort;  // 0: any
  uint8_t native_protocol = kNativeIpProtocol;
  uint8_t dscp_trimmed = static_cast<uint8_t>(Dscp::trimmed);
  uint8_t dscp_trimmed_lasthop = static_cast<uint8_t>(Dscp::trimmed_lasthop);
};

enum class Outcome : uint8_t {
  accept,
  tolerate,
  reject
};

// Why a packet is only tolerated: a receiver takes it, a sender must not make it. [WIRE-117]
enum class Tolerance : uint8_t {
  none,
  reserved_bits,  // a reserved bit or field is not 0
  reserved_code,  // a code without a meaning
  surplus_bytes,  // octets after the last header
};
const char* name(Outcome o);
const char* name(Tolerance t);

// The header that is short, for ParseError::truncated.
struct Shortfall {
  const char* header = "";  // static text
  uint32_t need = 0;        // octets of the header
  uint32_t have = 0;        // octets left for it
};

// The CRC found and the octets under it; offsets count from the first octet of the IP header.
struct CrcFound {
  CrcTrailer trailer{};
  uint32_t covered_from = 0;
  uint32_t covered_length = 0;  // 0: start was behind the addresses, so nothing was verified
};

using IpHeader = std::variant<std::monostate, Ipv4Header, Ipv6Header>;
using PdsHeader = std::variant<std::monostate, Request, Ack, AckCc, AckCcx, Nack, NackCcx, Control,
                               RudiRequest, RudiResponse, Uud>;
using SesHeader = std::variant<std::monostate, SmallRequest, MediumRequest, StandardRequest,
                               Response, ResponseData, ResponseDataSmall>;
using SesExtension = std::variant<std::monostate, Rendezvous, Atomic, CompareSwap>;

// The spans view the octets given to decode().
struct DecodedPacket {
  Outcome outcome = Outcome::accept;
  ParseError error = ParseError::truncated;  // outcome reject: the first cause
  Tolerance tolerance = Tolerance::none;     // outcome tolerate
  Shortfall shortfall{};                     // error truncated
  bool trimmed = false;                      // by DSCP: only PDS is decoded [WIRE-022]

  std::optional<EthernetHeader> ethernet{};
  IpHeader ip{};
  Ipv6Extensions ipv6_extensions{};
  std::optional<UdpHeader> udp{};
  std::optional<EntropyHeader> entropy{};
  std::optional<CrcFound> crc{};
  std::optional<TssHeader> tss{};
  std::span<const std::byte> ciphertext{};  // with tss
  std::span<const std::byte> icv{};         // with tss
  std::optional<Prologue> prologue{};       // with pds: type, next_hdr and flags as received
  PdsHeader pds{};
  SesHeader ses{};
  SesExtension extension{};
  std::optional<std::span<const std::byte>> payload{};  // of requests and responses with data
  std::span<const std::byte> surplus{};
};

// Never fails: what cannot be decoded is the outcome. A rejected packet still has the headers that
// are complete, those behind a wrong value included. [WIRE-116..120]
DecodedPacket decode(std::span<const std::byte> octets, const DecodeOptions& options);

}  // namespace uet::wire
