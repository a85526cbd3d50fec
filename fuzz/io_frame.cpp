// Fuzz target: IP packets as the packet-socket backend takes them apart, over UDP and without.
#include "fuzz/target.h"
#include "io/frame/frame.h"
#include "io/frame/native.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace uet;

namespace {

// An accepted packet can be written again, and is then read in the same way.
void check_round_trip(const io::UdpPacket& packet) {
  const auto bytes = static_cast<uint32_t>(packet.datagram.size());
  if (bytes + io::kUdpPacketHeaderMax > UINT16_MAX) return;
  std::vector<std::byte> built(io::header_bytes_of(packet.from) + bytes);
  const uint32_t headers =
      io::put_udp_headers(built.data(), packet.from, packet.to, packet.tos, bytes);
  std::copy(packet.datagram.begin(), packet.datagram.end(), built.begin() + headers);
  io::put_udp_checksum(built);
  io::UdpPacket again;
  UET_ASSERT(io::parse_udp_packet(built, again));
  UET_ASSERT(again.from == packet.from && again.to == packet.to && again.tos == packet.tos);
  UET_ASSERT(!again.trimmed && again.has_checksum && again.datagram.size() == bytes);
  UET_ASSERT(std::equal(packet.datagram.begin(), packet.datagram.end(), again.datagram.begin()));
  UET_ASSERT(io::is_udp_checksum_right(again));
  built.back() ^= std::byte{1};  // of the datagram, or of the checksum itself
  UET_ASSERT(!io::is_udp_checksum_right(again));
}

// Headers and trailer are removed from both ends; the payload lies between them.
void take_native_apart(std::span<std::byte> octets) {
  constexpr uint8_t kProtocol = 253;
  io::IpPacket packet;
  if (!io::parse_ip_packet(octets, kProtocol, packet)) return;
  UET_ASSERT(packet.whole.data() == octets.data() && packet.whole.size() <= octets.size());
  UET_ASSERT(packet.payload.data() + packet.payload.size() ==
             packet.whole.data() + packet.whole.size());
  for (const bool crc : {false, true}) {
    const io::NativeFormat format{
        .ip_protocol = kProtocol, .crc = crc, .cut_dscps = 1, .local = packet.to};
    RxDatagram pattern;
    pattern.from = packet.from;
    pattern.dscp = packet.tos >> 2;
    std::span<std::byte> left = packet.payload;
    const io::NativeVerdict verdict = io::take_native(format, pattern, left);
    if (verdict != io::NativeVerdict::good) continue;
    UET_ASSERT(left.data() == packet.payload.data() + io::kEntropyHeader);
    UET_ASSERT(left.size() + io::kEntropyHeader <= packet.payload.size());
    UET_ASSERT(crc || left.size() + io::kEntropyHeader == packet.payload.size());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> octets(size);
  if (size > 0) std::memcpy(octets.data(), data, size);
  take_native_apart(octets);
  io::UdpPacket packet;
  if (!io::parse_udp_packet(octets, packet)) return 0;
  const std::byte* const end = octets.data() + octets.size();
  UET_ASSERT(packet.whole.data() == octets.data() && packet.whole.size() <= octets.size());
  UET_ASSERT(packet.datagram.data() >= octets.data() && packet.datagram.data() <= end);
  UET_ASSERT(packet.datagram.data() + packet.datagram.size() ==
             packet.whole.data() + packet.whole.size());
  if (!packet.trimmed && packet.has_checksum) (void)io::is_udp_checksum_right(packet);
  check_round_trip(packet);
  return 0;
}
