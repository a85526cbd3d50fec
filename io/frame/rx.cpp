// Chooses the next ring, and converts frames to datagrams.
#include "io/frame/rx.h"

#include "io/frame/together.h"

#include <algorithm>
#include <cerrno>

namespace uet::io {
bool FrameRx::open(const Settings& settings) {
  reader_.start(settings.local, settings.native, counters_);
  loopback_index_ = settings.loopback_index;
  const uint32_t packet_bytes = std::max(settings.packet_bytes_max, kShortBytes);
  FrameRing::Settings ring;
  ring.local = settings.local;
  ring.ip_protocol = settings.native.ip_protocol;
  ring.interface_index = settings.interface_index;
  ring.loopback_index = settings.loopback_index;
  ring.frame_bytes_max =
      kEthernetHeader + (packet_bytes > kShortBytesMax ? kShortBytes : packet_bytes);
  ring.ring_bytes = settings.ring_bytes == 0 ? kRingBytesDefault : settings.ring_bytes;
  ring.ring_bytes = std::min(ring.ring_bytes, kRingBytesMax / 2);
  FrameRing::Settings longer = ring;
  longer.frame_bytes_min = ring.frame_bytes_max + 1;
  longer.frame_bytes_max = kLongBytes;
  ring.ring_bytes *= 2;  // the shortest packet takes a whole slot, too
  int error = 0;
  int error_of_longer = 0;
  run_together([&] { error = short_.open(ring) ? 0 : errno; },
               [&] { error_of_longer = long_.open(longer) ? 0 : errno; });
  errno = error != 0 ? error : error_of_longer;
  // Single packets, whose sender waits, come first.
  return errno == 0 && long_.listen() && short_.listen();
}

void FrameRx::close() {
  run_together([&] { short_.close(); }, [&] { long_.close(); });
}

std::span<RxDatagram> FrameRx::receive() {
  const FrameRing* const kept = segments_.is_open() ? cutting_ : nullptr;
  short_.give_back(kept == &short_ ? 1 : 0);
  long_.give_back(kept == &long_ ? 1 : 0);
  uint32_t count = 0;
  bool has_time = false;
  while (count < datagrams_.size()) {
    if (segments_.is_open()) {
      segments_.cut(datagrams_[count++]);
      continue;
    }
    FrameRing* const ring = ring_with_next();
    if (ring == nullptr) break;
    if (!has_time) clock_.read(monotonic_now());
    has_time = true;
    open_frame(*ring);
  }
  counters_.datagrams += count;
  return {datagrams_.data(), count};
}

// The ring with the oldest next frame; null when there is none. The kernel fills the rings in the
// order of arrival: after a frame is seen, all older frames are visible.
FrameRing* FrameRx::ring_with_next() {
  const bool has_short = short_.has_frame();
  if (!long_.has_frame()) return has_short ? &short_ : nullptr;
  if (!has_short && !short_.has_frame()) return &long_;
  return short_.arrived_at() <= long_.arrived_at() ? &short_ : &long_;
}

// Takes the ring's next frame, which may be for another process.
void FrameRx::open_frame(FrameRing& ring) {
  const uint64_t stamp = ring.arrived_at();
  const auto [octets, offload, interface_index] = ring.take();
  ++counters_.frames;
  if (&ring == &long_) ++counters_.long_frames;
  constexpr uint8_t kTrusted = FrameOffload::kNeedsChecksum | FrameOffload::kChecksumValid;
  const auto checksum = (offload.flags & kTrusted) != 0 ? FrameReader::Checksum::right
                                                        : FrameReader::Checksum::unknown;
  RxDatagram pattern;
  // Processes of this host are neighbours, too.
  if (!reader_.read(octets, checksum, interface_index == loopback_index_, pattern)) return;
  pattern.at = clock_.arrival(static_cast<int64_t>(stamp >> 32), static_cast<uint32_t>(stamp));
  cutting_ = &ring;
  segments_.open(pattern, pattern.bytes,
                 offload.gso_type == FrameOffload::kUdpSegments ? offload.segment_bytes : 0);
}

}  // namespace uet::io
