// IP header, checksums, and what stands around the packet.
#include "io/frame/reader.h"

namespace uet::io {
namespace {

bool drop(uint64_t& counter) {
  ++counter;
  return false;
}

}  // namespace

bool FrameReader::read(std::span<std::byte> frame, Checksum checksum, bool from_this_host,
                       RxDatagram& datagram) const {
  if (frame.size() < kEthernetHeader) return drop(drops_->malformed);
  const std::span<std::byte> ip = frame.subspan(kEthernetHeader);
  return native_.is_used() ? read_native(ip, from_this_host, datagram)
                           : read_udp(ip, checksum, from_this_host, datagram);
}

bool FrameReader::read_udp(std::span<std::byte> ip, Checksum checksum, bool from_this_host,
                           RxDatagram& datagram) const {
  UdpPacket packet;
  if (!parse_udp_packet(ip, packet) || !is_ip_checksum_right(packet)) {
    return drop(drops_->malformed);
  }
  // [WIRE-022, WIRE-024]
  if (packet.has_checksum && !packet.trimmed && checksum != Checksum::right &&
      !is_udp_checksum_right(packet) &&
      !(checksum == Checksum::maybe_begun && is_udp_checksum_begun(packet))) {
    return drop(drops_->malformed);
  }
  datagram.bytes = packet.datagram;
  datagram.ev = Entropy(packet.from.port);  // [WIRE-007]
  return take_ip_header(packet, from_this_host, datagram);
}

// [WIRE-013, WIRE-089]
bool FrameReader::read_native(std::span<std::byte> ip, bool from_this_host,
                              RxDatagram& datagram) const {
  IpPacket packet;
  if (!parse_ip_packet(ip, native_.ip_protocol, packet) || !is_ip_checksum_right(packet)) {
    return drop(drops_->malformed);
  }
  if (!take_ip_header(packet, from_this_host, datagram)) return false;
  datagram.bytes = packet.payload;
  switch (take_native(native_, datagram, datagram.bytes)) {
    case NativeVerdict::good:
      break;
    case NativeVerdict::stump:
      return drop(drops_->malformed);
    case NativeVerdict::bad_crc:
      return drop(drops_->bad_crc);
  }
  return true;
}

bool FrameReader::take_ip_header(const IpPacket& packet, bool from_this_host,
                                 RxDatagram& datagram) const {
  if (!from_this_host && is_martian(packet.from, local_)) return drop(drops_->martian);
  datagram.from = packet.from;
  if (is_link_local(packet.from)) datagram.from.scope_id = local_.scope_id;
  datagram.dscp = packet.tos >> 2;
  datagram.ecn = static_cast<Ecn>(packet.tos & 3);
  return true;
}

}  // namespace uet::io
