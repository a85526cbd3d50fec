// IP headers and the Internet checksum.
#include "wire/ip.h"

#include <cstring>

namespace uet::wire {

namespace {

constexpr uint8_t kHopByHop = 0;
constexpr uint8_t kRouting = 43;
constexpr uint8_t kFragment = 44;
constexpr uint8_t kDestinationOptions = 60;
constexpr uint8_t kMobility = 135;

IpAddress read_address(const std::byte* p, IpFamily family) {
  IpAddress a{.family = family};
  std::memcpy(a.octets.data(), p, a.size());
  return a;
}

uint32_t pseudo_header(const IpAddress& src, const IpAddress& dst, size_t length) {
  uint32_t sum = checksum_add(std::as_bytes(std::span(src.octets).first(src.size())));
  sum = checksum_add(std::as_bytes(std::span(dst.octets).first(dst.size())), sum);
  return sum + static_cast<uint32_t>(length >> 16) + static_cast<uint32_t>(length & 0xFFFF) +
         kIpProtocolUdp;
}

}  // namespace

uint32_t checksum_add(std::span<const std::byte> octets, uint32_t sum) {
  const std::byte* p = octets.data();
  size_t n = octets.size();
  uint64_t wide = sum;
  for (; n >= 2; n -= 2, p += 2) wide += load_u16(p);
  if (n > 0) wide += static_cast<uint32_t>(load_u8(p)) << 8;
  while (wide >> 32 != 0) wide = (wide & 0xFFFF) + (wide >> 16);
  return static_cast<uint32_t>((wide & 0xFFFF) + (wide >> 16));
}

uint16_t checksum_finish(uint32_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

Checked Ipv4Header::check() const {
  if (ihl != 5) return ParseError::ipv4_options;
  if (mf || fragment_offset != 0) return ParseError::fragment;
  return {};
}

Ipv4Header Ipv4Header::read(Reader& r) {
  const std::byte* p = r.take(kSize);
  const uint16_t fragment = load_u16(p + 6);
  Ipv4Header h;
  h.ihl = bits<uint8_t>(load_u8(p), 0, 4);
  h.dscp = bits<uint8_t>(load_u8(p + 1), 2, 6);
  h.ecn = bits<uint8_t>(load_u8(p + 1), 0, 2);
  h.total_length = load_u16(p + 2);
  h.identification = load_u16(p + 4);
  h.df = bit(fragment, 14);
  h.mf = bit(fragment, 13);
  h.fragment_offset = bits<uint16_t>(fragment, 0, 13);
  h.ttl = load_u8(p + 8);
  h.protocol = load_u8(p + 9);
  h.src = read_address(p + 12, IpFamily::v4);
  h.dst = read_address(p + 16, IpFamily::v4);
  return h;
}

Parsed<Ipv4Header> Ipv4Header::parse(Reader& r) {
  if (r.remaining() < kSize) return ParseError::truncated;
  const std::span<const std::byte> octets(r.peek(kSize), kSize);
  if (load_u8(octets.data()) >> 4 != 4) return ParseError::wrong_type;
  const Ipv4Header h = read(r);
  UET_CHECK(h.check());
  if (checksum_finish(checksum_add(octets)) != 0) return ParseError::ipv4_checksum;
  return h;
}

void Ipv4Header::emit(Writer& w) const {
  UET_ASSERT(src.family == IpFamily::v4 && dst.family == IpFamily::v4);
  std::byte* p = w.take(kSize);
  store_u8(p, static_cast<uint8_t>(put(uint64_t{4}, 4, 4) | put(ihl, 0, 4)));
  store_u8(p + 1, static_cast<uint8_t>(put(dscp, 2, 6) | put(ecn, 0, 2)));
  store_u16(p + 2, total_length);
  store_u16(p + 4, identification);
  store_u16(p + 6, static_cast<uint16_t>(put(df, 14) | put(mf, 13) | put(fragment_offset, 0, 13)));
  store_u8(p + 8, ttl);
  store_u8(p + 9, protocol);
  store_u16(p + 10, 0);
  std::memcpy(p + 12, src.octets.data(), 4);
  std::memcpy(p + 16, dst.octets.data(), 4);
  store_u16(p + 10, checksum_finish(checksum_add({p, kSize})));
}

Ipv6Header Ipv6Header::read(Reader& r) {
  const std::byte* p = r.take(kSize);
  const uint32_t first = load_u32(p);
  Ipv6Header h;
  h.dscp = bits<uint8_t>(first, 22, 6);
  h.ecn = bits<uint8_t>(first, 20, 2);
  h.flow_label = bits<uint32_t>(first, 0, 20);
  h.payload_length = load_u16(p + 4);
  h.next_header = load_u8(p + 6);
  h.hop_limit = load_u8(p + 7);
  h.src = read_address(p + 8, IpFamily::v6);
  h.dst = read_address(p + 24, IpFamily::v6);
  return h;
}

Parsed<Ipv6Header> Ipv6Header::parse(Reader& r) {
  if (r.remaining() < kSize) return ParseError::truncated;
  if (load_u8(r.peek(1)) >> 4 != 6) return ParseError::wrong_type;
  return read(r);
}

void Ipv6Header::emit(Writer& w) const {
  UET_ASSERT(src.family == IpFamily::v6 && dst.family == IpFamily::v6);
  std::byte* p = w.take(kSize);
  store_u32(p, static_cast<uint32_t>(put(uint64_t{6}, 28, 4) | put(dscp, 22, 6) | put(ecn, 20, 2) |
                                     put(flow_label, 0, 20)));
  store_u16(p + 4, payload_length);
  store_u8(p + 6, next_header);
  store_u8(p + 7, hop_limit);
  std::memcpy(p + 8, src.octets.data(), 16);
  std::memcpy(p + 24, dst.octets.data(), 16);
}

Parsed<Ipv6Extensions> Ipv6Extensions::skip(Reader& r, uint8_t next_header) {
  Ipv6Extensions seen;
  seen.protocol = next_header;
  while (seen.protocol == kHopByHop || seen.protocol == kRouting ||
         seen.protocol == kDestinationOptions || seen.protocol == kMobility) {
    if (seen.count == kCountMax) return ParseError::wrong_type;
    if (r.remaining() < 8) return ParseError::truncated;
    const std::byte* p = r.peek(8);
    const uint32_t size = 8U + 8U * load_u8(p + 1);
    if (r.remaining() < size) return ParseError::truncated;
    seen.types[seen.count++] = seen.protocol;
    seen.protocol = load_u8(p);
    r.skip(size);
  }
  if (seen.protocol == kFragment) return ParseError::fragment;
  return seen;
}

uint16_t udp_checksum(const IpAddress& src, const IpAddress& dst,
                      std::span<const std::byte> header_and_payload) {
  const uint32_t sum = pseudo_header(src, dst, header_and_payload.size());
  const uint16_t checksum = checksum_finish(checksum_add(header_and_payload, sum));
  return checksum == 0 ? 0xFFFF : checksum;
}

bool udp_checksum_is_right(const IpAddress& src, const IpAddress& dst,
                           std::span<const std::byte> header_and_payload) {
  if (header_and_payload.size() < UdpHeader::kSize) return false;
  if (load_u16(header_and_payload.data() + 6) == 0) return true;
  return udp_checksum(src, dst, header_and_payload) == 0xFFFF;
}

}  // namespace uet::wire
