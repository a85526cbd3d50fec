// The packets that carry UET: IPv4, IPv6, UDP and the entropy header of native IP, for raw
// backends, captures and the decoder. Ethernet is in ethernet.h.
#pragma once

#include "wire/ip_address.h"
#include "wire/parse_error.h"
#include "wire/reader.h"
#include "wire/writer.h"

#include "base/serial.h"

#include <array>
#include <cstdint>
#include <span>

namespace uet::wire {

inline constexpr uint8_t kIpProtocolUdp = 17;

// One's complement sum of 16-bit words; an odd last octet counts as the upper half of a word.
// Feed it pieces of even length, the last may be odd.
uint32_t checksum_add(std::span<const std::byte> octets, uint32_t sum = 0);
// Folds and inverts the sum: the value of a checksum field.
uint16_t checksum_finish(uint32_t sum);

//  |version|  IHL  |   dscp    |ecn|         total_length          |
//  |        identification         |.|D|M|    fragment_offset      |
//  |      ttl      |   protocol    |           checksum            |
//  |                              src                              |
//  |                              dst                              |
// Options are not accepted, fragments neither; emit() fills in the checksum. [WIRE-010, WIRE-012]
struct Ipv4Header {
  static constexpr uint32_t kSize = 20;

  uint8_t ihl = 5;  // 32-bit words
  uint8_t dscp = 0;
  uint8_t ecn = 0;
  uint16_t total_length = 0;
  uint16_t identification = 0;
  bool df = true;
  bool mf = false;
  uint16_t fragment_offset = 0;
  uint8_t ttl = 64;
  uint8_t protocol = kIpProtocolUdp;
  IpAddress src{};
  IpAddress dst{};

  // Options and fragments; the checksum is over octets and so in parse(). [WIRE-116]
  Checked check() const;
  static Ipv4Header read(Reader& r);
  // Refuses with truncated, wrong_type, ipv4_checksum, or what check() finds.
  static Parsed<Ipv4Header> parse(Reader& r);
  void emit(Writer& w) const;
  bool operator==(const Ipv4Header&) const = default;
};

//  |version|   dscp    |ecn|              flow_label               |
//  |        payload_length         |  next_header  |   hop_limit   |
//  |                           src (128)                           |
//  |                           dst (128)                           |
struct Ipv6Header {
  static constexpr uint32_t kSize = 40;

  uint8_t dscp = 0;
  uint8_t ecn = 0;
  uint32_t flow_label = 0;      // 20 bits
  uint16_t payload_length = 0;  // extension headers included
  uint8_t next_header = kIpProtocolUdp;
  uint8_t hop_limit = 64;
  IpAddress src{.family = IpFamily::v6};
  IpAddress dst{.family = IpFamily::v6};

  static Ipv6Header read(Reader& r);
  // Refuses with truncated or wrong_type.
  static Parsed<Ipv6Header> parse(Reader& r);
  void emit(Writer& w) const;
  bool operator==(const Ipv6Header&) const = default;
};

// The IPv6 extension headers that were skipped, and the protocol after them.
struct Ipv6Extensions {
  static constexpr uint32_t kCountMax = 8;

  uint8_t count = 0;
  std::array<uint8_t, kCountMax> types{};
  uint8_t protocol = 0;  // of the payload

  // Skips hop-by-hop, routing, destination options and mobility headers. Refuses with truncated,
  // fragment, or wrong_type for more than kCountMax of them. [WIRE-011, WIRE-012]
  static Parsed<Ipv6Extensions> skip(Reader& r, uint8_t next_header);
  bool operator==(const Ipv6Extensions&) const = default;
};

//  |             sport             |             dport             |
//  |            length             |           checksum            |
// sport carries the entropy value. [WIRE-006, WIRE-007]
struct UdpHeader {
  static constexpr uint32_t kSize = 8;

  uint16_t sport = 0;
  uint16_t dport = 0;
  uint16_t length = kSize;  // with this header
  uint16_t checksum = 0;    // 0: none

  static UdpHeader read(Reader& r) { return {r.u16(), r.u16(), r.u16(), r.u16()}; }
  // Refuses with truncated.
  static Parsed<UdpHeader> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    return read(r);
  }
  void emit(Writer& w) const {
    w.u16(sport);
    w.u16(dport);
    w.u16(length);
    w.u16(checksum);
  }
  bool operator==(const UdpHeader&) const = default;
};

// The checksum of a UDP header and its payload between two addresses; the field itself must be 0.
// Never 0. With the checksum in its field the result is 0xFFFF when it is right. [WIRE-024]
uint16_t udp_checksum(const IpAddress& src, const IpAddress& dst,
                      std::span<const std::byte> header_and_payload);
// A checksum of 0 means no checksum and is always right. [WIRE-024]
bool udp_checksum_is_right(const IpAddress& src, const IpAddress& dst,
                           std::span<const std::byte> header_and_payload);

//  |            entropy            |            reserved           |
// Native IP only, where the UDP ports would be. [WIRE-009, WIRE-013]
struct EntropyHeader {
  static constexpr uint32_t kSize = 4;

  Entropy entropy{};

  static EntropyHeader read(Reader& r) {
    EntropyHeader h{Entropy(r.u16())};
    r.skip(2);
    return h;
  }
  // Refuses with truncated.
  static Parsed<EntropyHeader> parse(Reader& r) {
    if (r.remaining() < kSize) return ParseError::truncated;
    return read(r);
  }
  void emit(Writer& w) const {
    w.u16(entropy.value());
    w.u16(0);
  }
  bool operator==(const EntropyHeader&) const = default;
};

}  // namespace uet::wire
