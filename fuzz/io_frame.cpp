// Fuzz target: IP packets as the packet-socket backend takes them apart.
#include "fuzz/target.h"
#include "io/frame.h"

#include <algorithm>
#include <cstring>
#include <vector>

using namespace uet;

namespace {

// What was understood can be written again, and is then understood the same way.
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

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::byte> octets(size);
  if (size > 0) std::memcpy(octets.data(), data, size);
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
