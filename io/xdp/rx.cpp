// Chooses the next queue, and converts frames to datagrams.
#include "io/xdp/rx.h"

#include <algorithm>
#include <cstring>

namespace uet::io {

void XdpRx::start(XdpPort& port, const FabricAddress& local, const NativeFormat& native,
                  FrameReader::Checksum checksum) {
  port_ = &port;
  reader_.start(local, native, counters_);
  checksum_ = checksum;
  if (port.pieces_max() > 1) joined_.reset(new std::byte[datagrams_.size() * kJoinedBytes]);
}

// Every queue is asked once, each call beginning with the one behind the last that had something.
std::span<RxDatagram> XdpRx::receive() {
  give_back();
  count_ = 0;
  now_ = Instant::zero();
  const auto queues = static_cast<uint32_t>(port_->queues().size());
  const uint32_t first = next_queue_;
  for (uint32_t i = 0; i < queues && count_ < datagrams_.size(); ++i) {
    const uint32_t queue = first + i < queues ? first + i : first + i - queues;
    if (!port_->queues()[queue].arrived().has_entry()) continue;
    take_from(queue);
    next_queue_ = queue + 1 < queues ? queue + 1 : 0;
  }
  return {datagrams_.data(), count_};
}

void XdpRx::give_back() {
  if (lent_ == 0) return;
  uint32_t queue = lent_frames_[0].queue;  // frames of one queue lie together
  for (uint32_t i = 0; i < lent_; ++i) {
    if (lent_frames_[i].queue != queue) port_->queues()[queue].give_back();
    queue = lent_frames_[i].queue;
    port_->queues()[queue].fill().put(lent_frames_[i].address);
  }
  port_->queues()[queue].give_back();
  lent_ = 0;
}

void XdpRx::take_from(uint32_t queue) {
  if (now_ == Instant::zero()) now_ = monotonic_now();
  XdpConsumer<xdp_desc>& arrived = port_->queues()[queue].arrived();
  for (uint32_t i = 0; i < TxBatch::kCapacity && may_take() && arrived.has_entry(); ++i) {
    RxDatagram& datagram = datagrams_[count_];
    datagram = {};
    const std::span<std::byte> frame = take_packet(queue, datagram.at);
    if (reader_.read(frame, checksum_, false, datagram)) ++count_;
  }
  arrived.release();
}

// The contiguous octets of one packet; none when its frames are invalid. Copied only if it has more
// than one frame.
std::span<std::byte> XdpRx::take_packet(uint32_t queue, Instant& at) {
  XdpConsumer<xdp_desc>& arrived = port_->queues()[queue].arrived();
  const xdp_desc entry = arrived.take();
  ++counters_.frames;
  lent_frames_[lent_++] = {XdpMemory::address_of(XdpMemory::frame_of(entry.addr)), queue};
  const std::span<std::byte> first = port_->memory().octets(entry.addr, entry.len);
  if (!first.empty()) at = arrival_of(first.data());
  return (entry.options & XDP_PKT_CONTD) == 0 ? first : join(queue, first);
}

// The kernel shows all frames of a packet together. A packet with too many is read to its end, so
// that its payload is not read as another packet.
std::span<std::byte> XdpRx::join(uint32_t queue, std::span<std::byte> first) {
  ++counters_.joined;
  XdpConsumer<xdp_desc>& arrived = port_->queues()[queue].arrived();
  std::byte* const room = joined_.get() + count_ * kJoinedBytes;
  bool is_whole = joined_ != nullptr && !first.empty();
  if (is_whole) std::memcpy(room, first.data(), first.size());
  size_t bytes = first.size();
  bool has_more = true;
  for (uint32_t pieces = 2; has_more && arrived.has_entry(); ++pieces) {
    const xdp_desc entry = arrived.take();
    has_more = (entry.options & XDP_PKT_CONTD) != 0;
    const uint64_t address = XdpMemory::address_of(XdpMemory::frame_of(entry.addr));
    const std::span<std::byte> piece = port_->memory().octets(entry.addr, entry.len);
    is_whole = is_whole && pieces <= XdpPort::kPiecesMax && !piece.empty();
    if (is_whole) std::memcpy(room + bytes, piece.data(), piece.size());
    bytes += piece.size();
    if (pieces <= XdpPort::kPiecesMax) {
      lent_frames_[lent_++] = {address, queue};
    } else {
      port_->queues()[queue].fill().put(address);  // published with the first one
    }
  }
  if (!is_whole || has_more) return {};
  return {room, bytes};
}

// The program's stamp, if the driver has room for it, else now. It is cleared, so that a later
// frame in the same place does not show it. [PDS-141, PDS-241]
Instant XdpRx::arrival_of(std::byte* frame) const {
  XdpStamp stamp;
  std::memcpy(&stamp, frame - sizeof stamp, sizeof stamp);
  if (stamp.there != XdpStamp::kThere) return now_;
  std::memset(frame - sizeof stamp.there, 0, sizeof stamp.there);
  return std::min(now_, Instant::from_ns(static_cast<int64_t>(stamp.at_ns)));
}

uint64_t XdpRx::dropped() const {
  uint64_t sum = 0;
  for (const XdpQueue& queue : std::as_const(*port_).queues()) sum += queue.dropped();
  return sum;
}

}  // namespace uet::io
