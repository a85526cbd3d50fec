// Converts packets to frames, and notifies the kernel.
#include "io/xdp/tx.h"

#include "io/frame/frame.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace uet::io {
namespace {

// Octets of the whole frame at `at`.
uint32_t write_frame(std::byte* at, const TxPacket& packet, const FabricAddress& from,
                     const NextHop& hop, const std::array<uint8_t, 6>& mac,
                     const NativeFormat& native) {
  const bool ipv6 = from.family == FabricAddress::Family::ipv6;
  std::memcpy(at, hop.mac.data(), 6);
  std::memcpy(at + 6, mac.data(), 6);
  const uint16_t type = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP);
  std::memcpy(at + 12, &type, sizeof type);
  std::byte* const ip = at + kEthernetHeader;
  const auto tos = static_cast<uint8_t>(packet.dscp << 2 | static_cast<uint8_t>(packet.ecn));
  if (native.is_used()) {
    const uint32_t bytes = packet.bytes() + native.around_bytes(packet);
    std::byte* const to = ip + put_ip_header(ip, from, packet.to, tos, native.ip_protocol, bytes);
    return static_cast<uint32_t>(put_native(to, packet, native) - at);
  }
  std::byte* const to = ip + put_udp_headers(ip, from, packet.to, tos, packet.bytes());
  std::byte* const end = put_packet(to, packet);
  if (ipv6) put_udp_checksum({ip, end});  // [WIRE-024]
  return static_cast<uint32_t>(end - at);
}

}  // namespace

void XdpTx::start(XdpPort& port, const std::array<uint8_t, 6>& mac, const NativeFormat& native) {
  port_ = &port;
  mac_ = mac;
  native_ = native;
  slot_frames_ = port.pieces_max();
  free_count_ = XdpPort::kTxFrames / slot_frames_;
  for (uint32_t i = 0; i < free_count_; ++i) free_[i] = static_cast<uint16_t>(free_count_ - 1 - i);
}

bool XdpTx::add(const TxPacket& packet, const FabricAddress& from, const NextHop& hop) {
  XdpProducer<xdp_desc>& to_send = port_->queues()[0].to_send();
  if (free_count_ == 0) reap();
  if (free_count_ == 0 || to_send.room() < slot_frames_) {
    flush();
    reap();
  }
  if (free_count_ == 0 || to_send.room() < slot_frames_) {
    ++counters_.later;
    return false;
  }
  const uint32_t slot = free_[--free_count_];
  uint64_t address = XdpMemory::address_of(slot * slot_frames_);
  uint32_t left = write_frame(port_->memory().at(address), packet, from, hop, mac_, native_);
  UET_ASSERT(left <= slot_frames_ * XdpMemory::kFrameBytes);
  unsent_[slot] = 0;
  for (;;) {
    xdp_desc piece{};
    piece.addr = address;
    piece.len = std::min(left, XdpMemory::kFrameBytes);
    left -= piece.len;
    piece.options = left != 0 ? XDP_PKT_CONTD : 0;
    to_send.put(piece);
    ++unsent_[slot];
    if (left == 0) break;
    address += XdpMemory::kFrameBytes;
  }
  is_published_ = false;
  ++counters_.frames;
  return true;
}

// In copy mode a call sends the frames; each moves a part of them, and the last finds none.
void XdpTx::flush() {
  XdpQueue& queue = port_->queues()[0];
  if (is_published_ && !has_rest_) return;
  queue.to_send().publish();
  is_published_ = true;
  is_down_ = false;
  uint32_t left = queue.to_send().untaken();
  for (int i = 0; i < kCallsPerFlush && left != 0 && queue.to_send().needs_wakeup(); ++i) {
    ++counters_.system_calls;
    const bool is_done = ::sendto(queue.socket().get(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) >= 0;
    const int error = is_done ? 0 : errno;
    const uint32_t still = queue.to_send().untaken();
    is_down_ = error == ENETDOWN || error == ENXIO;
    if (error != 0 && error != EAGAIN && error != ENOBUFS && error != EBUSY) ++counters_.refused;
    // No progress: the device or the socket's buffer is full.
    if (is_done || still == left) break;
    left = still;
    if (error != EAGAIN) reap();
  }
  has_rest_ = queue.to_send().needs_wakeup() && queue.to_send().untaken() != 0;
}

void XdpTx::reap() {
  XdpConsumer<uint64_t>& sent = port_->queues()[0].sent();
  while (sent.has_entry()) {
    const uint32_t slot = XdpMemory::frame_of(sent.take()) / slot_frames_;
    UET_ASSERT(slot < unsent_.size() && unsent_[slot] != 0);
    if (--unsent_[slot] == 0) free_[free_count_++] = static_cast<uint16_t>(slot);
  }
  sent.release();
}

}  // namespace uet::io
