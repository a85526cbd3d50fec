// Fuzz target: Ethernet, IPv4, IPv6 with extensions, UDP, entropy header, CRC.
#include "fuzz/header_properties.h"
#include "fuzz/target.h"
#include "wire/crc.h"
#include "wire/ethernet.h"
#include "wire/ip.h"

using namespace uet;

namespace {

void check_extensions(std::span<const std::byte> octets) {
  wire::Reader r(octets);
  const auto seen = wire::Ipv6Extensions::skip(r, 0);
  if (!seen.ok()) return;
  UET_ASSERT(seen->count >= 1 && seen->count <= wire::Ipv6Extensions::kCountMax);
  UET_ASSERT(r.position() >= 8U * seen->count);
}

// A checksum put into its field is right, and a flipped bit makes it wrong.
void check_udp_checksum(std::span<const std::byte> octets) {
  std::byte datagram[256];
  const size_t size = std::min(octets.size(), sizeof datagram);
  if (size < wire::UdpHeader::kSize) return;
  std::copy_n(octets.begin(), size, datagram);
  wire::store_u16(datagram + 6, 0);
  const wire::IpAddress a = wire::IpAddress::v4(wire::load_u32(datagram));
  const std::span<const std::byte> view(datagram, size);
  wire::store_u16(datagram + 6, wire::udp_checksum(a, a, view));
  UET_ASSERT(wire::udp_checksum_is_right(a, a, view));
  datagram[0] ^= std::byte{1};
  UET_ASSERT(!wire::udp_checksum_is_right(a, a, view));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto octets = fuzz::octets_of(data, size);
  fuzz::check_header<wire::EthernetHeader>(octets);
  fuzz::check_header<wire::Ipv4Header>(octets);
  fuzz::check_header<wire::Ipv6Header>(octets);
  fuzz::check_header<wire::UdpHeader>(octets);
  fuzz::check_header<wire::EntropyHeader>(octets);
  check_extensions(octets);
  check_udp_checksum(octets);
  UET_ASSERT(crc32c(octets) == crc32c_software(octets));
  return 0;
}
