// Which ring is next, and from frames to datagrams.
#include "io/frame_rx.h"

#include <algorithm>

namespace uet::io {
namespace {

bool is_link_local(const FabricAddress& a) {
  return a.family == FabricAddress::Family::ipv6 && a.ip[0] == 0xfe && (a.ip[1] & 0xc0) == 0x80;
}

}  // namespace

bool FrameRx::open(const Settings& settings) {
  scope_id_ = settings.local.scope_id;
  const uint32_t packet_bytes = std::max(settings.packet_bytes_max, kShortBytesMin);
  FrameRing::Settings ring;
  ring.local = settings.local;
  ring.interface_index = settings.interface_index;
  ring.loopback_index = settings.loopback_index;
  ring.frame_bytes_max =
      kEthernetHeader + (packet_bytes > kShortBytesMax ? kShortBytesMin : packet_bytes);
  ring.ring_bytes = settings.ring_bytes == 0 ? kRingBytesDefault : settings.ring_bytes;
  ring.ring_bytes = std::min(ring.ring_bytes, kRingBytesMax);
  FrameRing::Settings longer = ring;
  longer.frame_bytes_min = ring.frame_bytes_max + 1;
  longer.frame_bytes_max = kLongBytes;
  // A short packet takes a whole slot, too.
  if (packet_bytes != kShortBytesMin) ring.ring_bytes *= 2;
  // The kernel asks the ring opened last first: single packets, whose sender waits.
  return long_.open(longer) && short_.open(ring);
}

std::span<RxDatagram> FrameRx::receive() {
  const FrameRing* const kept = segments_.is_open() ? cutting_ : nullptr;
  short_.give_back(kept == &short_ ? 1 : 0);
  long_.give_back(kept == &long_ ? 1 : 0);
  uint32_t count = 0;
  while (count < datagrams_.size()) {
    if (segments_.is_open()) {
      segments_.cut(datagrams_[count++]);
      continue;
    }
    FrameRing* const ring = ring_with_next();
    if (ring == nullptr) break;
    if (count == 0) received_at_ = monotonic_now();
    if (!open_frame(*ring)) ++counters_.malformed;
  }
  counters_.datagrams += count;
  return {datagrams_.data(), count};
}

// The ring whose next frame is the oldest; null when there is none. The kernel fills the rings in
// the order of arrival: a frame that is older than one seen is seen by looking afterwards.
FrameRing* FrameRx::ring_with_next() {
  const bool has_short = short_.has_frame();
  if (!long_.has_frame()) return has_short ? &short_ : nullptr;
  if (!has_short && !short_.has_frame()) return &long_;
  return short_.arrived_at() <= long_.arrived_at() ? &short_ : &long_;
}

// False when the ring's next frame is nothing for us.
bool FrameRx::open_frame(FrameRing& ring) {
  const auto [octets, offload] = ring.take();
  ++counters_.frames;
  if (&ring == &long_) ++counters_.long_frames;
  if (octets.empty()) {
    ++counters_.truncated;
    return true;
  }
  UdpPacket packet;
  if (octets.size() < kEthernetHeader ||
      !parse_udp_packet(octets.subspan(kEthernetHeader), packet)) {
    return false;
  }
  constexpr uint8_t kTrusted = FrameOffload::kNeedsChecksum | FrameOffload::kChecksumValid;
  // [WIRE-022, WIRE-024]
  if (packet.has_checksum && !packet.trimmed && (offload.flags & kTrusted) == 0 &&
      !is_udp_checksum_right(packet)) {
    return false;
  }
  RxDatagram pattern;
  pattern.from = packet.from;
  if (is_link_local(packet.from)) pattern.from.scope_id = scope_id_;
  pattern.ev = Entropy(packet.from.port);  // [WIRE-007]
  pattern.dscp = packet.tos >> 2;
  pattern.ecn = static_cast<Ecn>(packet.tos & 3);
  pattern.at = received_at_;
  cutting_ = &ring;
  segments_.open(pattern, packet.datagram,
                 offload.gso_type == FrameOffload::kUdpSegments ? offload.segment_bytes : 0);
  return true;
}

}  // namespace uet::io
