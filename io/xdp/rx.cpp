// Which queue is next, and from frames to datagrams.
#include "io/xdp/rx.h"

#include "io/frame.h"

#include <algorithm>
#include <cstring>

namespace uet::io {

void XdpRx::start(XdpPort& port, const FabricAddress& local, bool unfinished_checksums) {
  port_ = &port;
  local_ = local;
  unfinished_checksums_ = unfinished_checksums;
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
    if (open_frame(frame, datagram)) ++count_;
  }
  arrived.release();
}

// The octets of one packet, which lie together; none when they are not as they should be. Copied
// only where it took more than one frame.
std::span<std::byte> XdpRx::take_packet(uint32_t queue, Instant& at) {
  XdpConsumer<xdp_desc>& arrived = port_->queues()[queue].arrived();
  const xdp_desc entry = arrived.take();
  ++counters_.frames;
  lent_frames_[lent_++] = {XdpMemory::address_of(XdpMemory::frame_of(entry.addr)), queue};
  const std::span<std::byte> first = port_->memory().octets(entry.addr, entry.len);
  if (!first.empty()) at = arrival_of(first.data());
  return (entry.options & XDP_PKT_CONTD) == 0 ? first : join(arrived, queue, first);
}

// The kernel shows all frames of a packet together.
std::span<std::byte> XdpRx::join(XdpConsumer<xdp_desc>& arrived, uint32_t queue,
                                 std::span<std::byte> first) {
  ++counters_.joined;
  if (joined_ == nullptr || first.empty()) return {};
  std::byte* const room = joined_.get() + count_ * kJoinedBytes;
  std::memcpy(room, first.data(), first.size());
  size_t bytes = first.size();
  uint32_t pieces = 1;
  for (bool has_more = true; has_more;) {
    if (!arrived.has_entry() || ++pieces > XdpPort::kPiecesMax) return {};
    const xdp_desc entry = arrived.take();
    lent_frames_[lent_++] = {XdpMemory::address_of(XdpMemory::frame_of(entry.addr)), queue};
    const std::span<std::byte> piece = port_->memory().octets(entry.addr, entry.len);
    if (piece.empty()) return {};
    std::memcpy(room + bytes, piece.data(), piece.size());
    bytes += piece.size();
    has_more = (entry.options & XDP_PKT_CONTD) != 0;
  }
  return {room, bytes};
}

// False when it is nothing for us.
bool XdpRx::open_frame(std::span<std::byte> frame, RxDatagram& datagram) {
  UdpPacket packet;
  if (frame.size() < kEthernetHeader || !parse_udp_packet(frame.subspan(kEthernetHeader), packet) ||
      !is_ip_checksum_right(packet)) {
    ++counters_.malformed;
    return false;
  }
  // [WIRE-022, WIRE-024]
  if (packet.has_checksum && !packet.trimmed && !is_udp_checksum_right(packet) &&
      !(unfinished_checksums_ && is_udp_checksum_begun(packet))) {
    ++counters_.malformed;
    return false;
  }
  if (is_martian(packet.from, local_)) {
    ++counters_.martian;
    return false;
  }
  datagram.bytes = packet.datagram;
  datagram.from = packet.from;
  if (is_link_local(packet.from)) datagram.from.scope_id = local_.scope_id;
  datagram.ev = Entropy(packet.from.port);  // [WIRE-007]
  datagram.dscp = packet.tos >> 2;
  datagram.ecn = static_cast<Ecn>(packet.tos & 3);
  return true;
}

// The program's stamp, where the driver has room for it, else now. It is taken away, so that it
// cannot be taken for that of a later frame in the same place. [PDS-141, PDS-241]
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
