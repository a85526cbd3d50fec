// Set-up of an AF_XDP socket: rings, then the bind that starts it.
#include "io/xdp/queue.h"

#include "io/xdp/patience.h"

#include "base/packet.h"

#include <algorithm>
#include <cerrno>

// Linux 6.17.
#ifndef XDP_MAX_TX_SKB_BUDGET
#define XDP_MAX_TX_SKB_BUDGET 9
#endif

namespace uet::io {
bool XdpQueue::open(const Settings& settings, const XdpMemory& memory, const XdpQueue* first) {
  socket_ = Fd(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
  if (!socket_ || (first == nullptr && !memory.register_with(socket_))) return false;
  if (settings.send_buffer_bytes != 0) {
    // In copy mode each frame is a packet buffer until it has left. The system caps this.
    (void)set_option(socket_, SOL_SOCKET, SO_SNDBUF, static_cast<int>(settings.send_buffer_bytes));
  }
  if (!make_rings(settings)) return false;
  // How many frames one call sends in copy mode; older kernels send 32.
  (void)set_ring(XDP_MAX_TX_SKB_BUDGET, TxBatch::kCapacity);
  return bind(settings, first);
}

bool XdpQueue::make_rings(const Settings& settings) {
  // A socket that does not send has frames for nothing, but the kernel wants the ring.
  const uint32_t sent = std::max(settings.tx_frames, 64u);
  if (!set_ring(XDP_UMEM_FILL_RING, settings.rx_frames) ||
      !set_ring(XDP_UMEM_COMPLETION_RING, sent) || !set_ring(XDP_RX_RING, settings.rx_frames) ||
      (settings.tx_frames != 0 && !set_ring(XDP_TX_RING, settings.tx_frames))) {
    return false;
  }
  xdp_mmap_offsets at{};
  socklen_t length = sizeof at;
  if (::getsockopt(socket_.get(), SOL_XDP, XDP_MMAP_OFFSETS, &at, &length) != 0) return false;
  if (length != sizeof at) {  // before Linux 5.4 there were no flags
    errno = EPROTONOSUPPORT;
    return false;
  }
  return fill_.map(socket_, at.fr, XDP_UMEM_PGOFF_FILL_RING, settings.rx_frames) &&
         sent_.map(socket_, at.cr, XDP_UMEM_PGOFF_COMPLETION_RING, sent) &&
         arrived_.map(socket_, at.rx, XDP_PGOFF_RX_RING, settings.rx_frames) &&
         (settings.tx_frames == 0 ||
          to_send_.map(socket_, at.tx, XDP_PGOFF_TX_RING, settings.tx_frames));
}

bool XdpQueue::bind(const Settings& settings, const XdpQueue* first) {
  sockaddr_xdp name{};
  name.sxdp_family = AF_XDP;
  name.sxdp_ifindex = settings.interface_index;
  name.sxdp_queue_id = settings.queue;
  if (first == nullptr) {
    name.sxdp_flags = static_cast<uint16_t>(settings.mode | XDP_USE_NEED_WAKEUP);
  } else {  // the mode comes with the memory
    name.sxdp_flags = XDP_SHARED_UMEM;
    name.sxdp_shared_umem_fd = static_cast<uint32_t>(first->socket_.get());
  }
  return try_while_busy([&] {
    return ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
  });
}

void XdpQueue::give_back() {
  fill_.publish();
  if (fill_.needs_wakeup())
    (void)::recvfrom(socket_.get(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
}

bool XdpQueue::is_zero_copy() const {
  xdp_options options{};
  socklen_t length = sizeof options;
  return ::getsockopt(socket_.get(), SOL_XDP, XDP_OPTIONS, &options, &length) == 0 &&
         (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
}

uint64_t XdpQueue::dropped() const {
  xdp_statistics statistics{};
  socklen_t length = sizeof statistics;
  if (::getsockopt(socket_.get(), SOL_XDP, XDP_STATISTICS, &statistics, &length) != 0) return 0;
  return statistics.rx_dropped + statistics.rx_ring_full;
}

}  // namespace uet::io
