// Entropy headers and CRCs around packets.
#include "io/frame/native.h"

#include <cstring>

namespace uet::io {
namespace {

// [WIRE-025, WIRE-089]
bool is_sealed(std::span<const std::byte> octets) {
  constexpr uint32_t kSecured = 1;  // the first five bits behind the entropy header
  return octets.size() > kEntropyHeader &&
         std::to_integer<uint32_t>(octets[kEntropyHeader]) >> 3 == kSecured;
}

// Removes the trailer. False: it is wrong, or missing. [PDS-V3, WIRE-091, WIRE-092]
bool take_crc(const FabricAddress& from, const FabricAddress& local, std::span<std::byte>& octets) {
  if (octets.size() < kEntropyHeader + kCrcBytes) return false;
  const auto trailer = octets.last<kCrcBytes>();
  octets = octets.first(octets.size() - kCrcBytes);
  return crc32c(octets, crc_of_addresses(from, local)) == crc_of(trailer);
}

}  // namespace

NativeVerdict take_native(const NativeFormat& format, RxDatagram& pattern,
                          std::span<std::byte>& octets) {
  if (octets.size() < kEntropyHeader) return NativeVerdict::stump;
  pattern.ev = Entropy(static_cast<uint16_t>(std::to_integer<uint32_t>(octets[0]) << 8 |
                                             std::to_integer<uint32_t>(octets[1])));
  pattern.from.port = kUetPort;  // there are no ports
  const bool is_cut = (format.cut_dscps >> pattern.dscp & 1) != 0;
  if (format.crc && !is_cut && !is_sealed(octets) &&
      !take_crc(pattern.from, format.local, octets)) {
    return NativeVerdict::bad_crc;
  }
  octets = octets.subspan(kEntropyHeader);
  return NativeVerdict::good;
}

uint32_t gather_packet(const TxPacket& packet, iovec* out) {
  out[0] = {packet.header, packet.header_bytes};
  for (uint32_t i = 0; i < packet.slice_count; ++i) {
    // sendmsg does not write through the pointer.
    out[i + 1] = {const_cast<std::byte*>(packet.slices[i].data), packet.slices[i].length};
  }
  return packet.slice_count + 1u;
}

std::byte* put_packet(std::byte* at, const TxPacket& packet) {
  std::memcpy(at, packet.header, packet.header_bytes);
  at += packet.header_bytes;
  for (uint32_t i = 0; i < packet.slice_count; ++i) {
    std::memcpy(at, packet.slices[i].data, packet.slices[i].length);
    at += packet.slices[i].length;
  }
  return at;
}

std::byte* put_native(std::byte* at, const TxPacket& packet, const NativeFormat& format) {
  put_entropy_header(at, packet.ev);
  std::byte* const end = put_packet(at + kEntropyHeader, packet);
  if (!format.has_crc(packet)) return end;
  const CrcOctets trailer =
      crc_octets(crc32c({at, end}, crc_of_addresses(format.local, packet.to)));
  std::memcpy(end, trailer.data(), trailer.size());
  return end + trailer.size();
}

uint32_t gather_native(const TxPacket& packet, const NativeFormat& format, EntropyOctets& entropy,
                       std::byte* room, iovec* out) {
  if (format.has_crc(packet)) {
    out[0] = {room, static_cast<size_t>(put_native(room, packet, format) - room)};
    return 1;
  }
  put_entropy_header(entropy.data(), packet.ev);
  out[0] = {entropy.data(), entropy.size()};
  return 1 + gather_packet(packet, out + 1);
}

}  // namespace uet::io
