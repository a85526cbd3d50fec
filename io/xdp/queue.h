// An AF_XDP socket on one receive queue of an interface, with its rings. All sockets of an
// interface share one memory. [decision 26]
#pragma once

#include "io/socket.h"
#include "io/xdp/memory.h"
#include "io/xdp/rings.h"

#include <cstdint>

// Linux 6.6: a packet may take several frames, all but the last of which have this option.
#ifndef XDP_USE_SG
#define XDP_USE_SG (1 << 4)
#define XDP_PKT_CONTD (1 << 0)
#endif

namespace uet::io {

class XdpQueue {
 public:
  struct Settings {
    uint32_t interface_index = 0;
    uint32_t queue = 0;
    uint32_t rx_frames = 0;          // a power of two
    uint32_t tx_frames = 0;          // a power of two; 0: only receives
    uint32_t send_buffer_bytes = 0;  // asked of the system; 0: its default
    uint16_t mode = 0;               // XDP_ZEROCOPY or XDP_COPY, XDP_USE_SG; of the first socket
  };

  // The first socket registers the memory, a later one shares what `first` has. False with errno:
  // EBUSY when another socket has the queue.
  bool open(const Settings& settings, const XdpMemory& memory, const XdpQueue* first);

  XdpProducer<uint64_t>& fill() { return fill_; }
  XdpConsumer<uint64_t>& sent() { return sent_; }
  XdpConsumer<xdp_desc>& arrived() { return arrived_; }
  XdpProducer<xdp_desc>& to_send() { return to_send_; }
  // Publishes the entries put into fill(), and wakes the driver if it waits for them.
  void give_back();

  const Fd& socket() const { return socket_; }
  // The driver reads and writes the memory itself.
  bool is_zero_copy() const;
  // Frames that came while no room was there, so far.
  uint64_t dropped() const;

 private:
  bool set_ring(int name, uint32_t entries) {
    return set_option(socket_, SOL_XDP, name, static_cast<int>(entries));
  }
  bool make_rings(const Settings& settings);
  bool bind(const Settings& settings, const XdpQueue* first);

  Fd socket_;
  XdpProducer<uint64_t> fill_;
  XdpConsumer<uint64_t> sent_;
  XdpConsumer<xdp_desc> arrived_;
  XdpProducer<xdp_desc> to_send_;
};

}  // namespace uet::io
