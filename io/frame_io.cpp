// Set-up of the packet sockets, and which packets leave as frames.
#include "io/frame_io.h"

#include "io/interfaces.h"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace uet::io {
namespace {

// Before Linux 6.2 a packet socket drops super-packets of UDP instead of describing them.
bool kernel_describes_super_packets() {
  utsname name{};
  unsigned major = 0;
  unsigned minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%u.%u", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 2);
}

uint32_t loopback_of(const std::vector<Interface>& interfaces, uint32_t otherwise) {
  const auto found = std::find_if(interfaces.begin(), interfaces.end(),
                                  [](const Interface& i) { return i.is_loopback(); });
  return found == interfaces.end() ? otherwise : found->index;
}

std::string open_failure(int error) {
  std::string text = "cannot open a packet socket: " + errno_text(error);
  if (error == EPERM || error == EACCES) {
    text += "; give the process CAP_NET_RAW, or use FI_UET_IO=udp";
  } else {
    text += "; use FI_UET_IO=udp";
  }
  return text;
}

uint8_t tos_of(const TxPacket& packet) {
  return static_cast<uint8_t>(packet.dscp << 2 | static_cast<uint8_t>(packet.ecn));
}

}  // namespace

std::unique_ptr<FrameIo> FrameIo::open(const UdpOptions& options, std::string* error) {
  std::string ignored;
  std::string& why = error == nullptr ? ignored : *error;
  std::unique_ptr<FrameIo> io(new FrameIo);
  if (!kernel_describes_super_packets()) {
    why = "packet sockets need Linux 6.2 or later here; use FI_UET_IO=udp";
    return nullptr;
  }
  UdpOptions udp = options;
  udp.deaf = true;
  io->udp_ = UdpIo::open(udp, &why);
  if (io->udp_ == nullptr || !io->start(options, why)) return nullptr;
  return io;
}

bool FrameIo::start(const UdpOptions& options, std::string& error) {
  const std::vector<Interface> interfaces = list_interfaces();
  const Interface* const own = find_interface(interfaces, options.local);
  if (own == nullptr || own->link == LinkType::other) {
    error = "packet sockets need an Ethernet or loopback interface with the address " +
            ip_text(options.local) + "; use FI_UET_IO=udp";
    return false;
  }
  interface_index_ = own->index;
  mac_ = own->mac;
  const FabricAddress local = udp_->local_address();
  packet_bytes_max_ = std::min(caps().max_datagram_bytes + header_bytes_of(local),
                               kFrameBytesMax - kEthernetHeader);

  FrameRx::Settings rx;
  rx.local = local;
  rx.interface_index = interface_index_;
  // Peers on this host come in there. Nothing leaves there as a frame: the IP stack takes packets
  // between local addresses from itself only.
  rx.loopback_index = loopback_of(interfaces, own->index);
  rx.packet_bytes_max = packet_bytes_max_;
  // Short packets take a slot each, however long the slots are.
  rx.ring_bytes = options.receive_buffer_bytes * (packet_bytes_max_ > 2048 ? 2 : 1);
  rx.socket_bytes = options.receive_buffer_bytes;
  if (!rx_.open(rx) || !open_sender() || !udp_->watch_input(rx_.socket())) {
    error = open_failure(errno);
    return false;
  }
  next_hops_ = NextHops::open(local, interface_index_);
  if (next_hops_ == nullptr) error = "cannot ask for routes: " + errno_text(errno);
  return next_hops_ != nullptr;
}

// A socket that only sends: without a protocol nothing is delivered to it.
bool FrameIo::open_sender() {
  sender_ = Fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_ll name{};
  name.sll_family = AF_PACKET;
  name.sll_ifindex = static_cast<int>(interface_index_);
  return sender_ &&
         ::bind(sender_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

void FrameIo::send(std::span<TxPacket> packets) {
  if (packets.size() > kFewPackets) return udp_->send(packets);
  const Instant now = monotonic_now();
  for (TxPacket& packet : packets) {
    if (!send_frame(packet, now)) udp_->send({&packet, 1});
  }
}

// False when the packet is one for the IP stack.
bool FrameIo::send_frame(TxPacket& packet, Instant now) {
  const FabricAddress local = udp_->local_address();
  const uint32_t bytes = packet.bytes() + header_bytes_of(local);
  if (bytes > packet_bytes_max_ || packet.to.family != local.family) return false;
  const NextHop* const hop = next_hops_->find(packet.to, now);
  if (hop == nullptr || (!hop->on_link && bytes > kRoutedBytesMax)) return false;

  const uint32_t length = build(packet, *hop);
  if (::send(sender_.get(), frame_.data(), length, 0) >= 0) {
    packet.fate = TxFate::sent;
    packet.error = 0;
    ++tx_.frames;
    return true;
  }
  if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) {
    packet.fate = TxFate::later;
    ++tx_.later;
    return true;
  }
  next_hops_->forget(packet.to);
  ++tx_.refused;
  return false;
}

// Gathers the frame; returns its length.
uint32_t FrameIo::build(const TxPacket& packet, const NextHop& hop) {
  FabricAddress from = udp_->local_address();
  from.port = udp_->source_port(packet.ev);
  const bool ipv6 = from.family == FabricAddress::Family::ipv6;
  std::byte* at = frame_.data();
  std::memcpy(at, hop.mac.data(), 6);
  std::memcpy(at + 6, mac_.data(), 6);
  const uint16_t type = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP);
  std::memcpy(at + 12, &type, sizeof type);
  at += kEthernetHeader;
  at += put_udp_headers(at, from, packet.to, tos_of(packet), packet.bytes());
  std::memcpy(at, packet.header, packet.header_bytes);
  at += packet.header_bytes;
  for (uint32_t i = 0; i < packet.slice_count; ++i) {
    std::memcpy(at, packet.slices[i].data, packet.slices[i].length);
    at += packet.slices[i].length;
  }
  if (ipv6) put_udp_checksum({frame_.data() + kEthernetHeader, at});  // [WIRE-024]
  return static_cast<uint32_t>(at - frame_.data());
}

void FrameIo::report_counters(const CounterSink& sink) const {
  const FrameRxCounters& rx = rx_.counters();
  sink("frame_rx_system_calls", rx.system_calls);
  sink("frame_rx_frames", rx.frames);
  sink("frame_rx_datagrams", rx.datagrams);
  sink("frame_rx_long_frames", rx.long_frames);
  sink("frame_rx_malformed", rx.malformed);
  sink("frame_rx_truncated", rx.truncated);
  sink("frame_rx_dropped", rx_.dropped());
  sink("frame_tx_frames", tx_.frames);
  sink("frame_tx_refused", tx_.refused);
  sink("frame_tx_later", tx_.later);
  sink("frame_next_hop_questions", next_hops_->questions());
  udp_->report_counters(sink);
}

}  // namespace uet::io
