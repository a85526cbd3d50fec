// Set-up of the packet sockets, and which packets leave as frames.
#include "io/frame/frame_io.h"

#include "io/frame/together.h"
#include "io/host/interfaces.h"

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

uint32_t loopback_of(const std::vector<Interface>& interfaces, uint32_t otherwise) {
  const auto found = std::find_if(interfaces.begin(), interfaces.end(),
                                  [](const Interface& i) { return i.is_loopback(); });
  return found == interfaces.end() ? otherwise : found->index;
}

// The backend that sends the same packets without packet sockets.
std::string remedy(const UdpOptions& options) {
  return options.ip_protocol != 0 ? "use FI_UET_IO=ip" : "use FI_UET_IO=udp";
}

std::string open_failure(const UdpOptions& options, int error) {
  const bool is_forbidden = error == EPERM || error == EACCES;
  return "cannot open a packet socket: " + errno_text(error) + "; " +
         (is_forbidden ? "give the process CAP_NET_RAW, or " : "") + remedy(options);
}

void set_fate(std::span<TxPacket> packets, TxFate fate) {
  for (TxPacket& packet : packets) {
    packet.fate = fate;
    packet.error = 0;
  }
}

uint8_t tos_of(const TxPacket& packet) {
  return static_cast<uint8_t>(packet.dscp << 2 | static_cast<uint8_t>(packet.ecn));
}

}  // namespace

// Before Linux 6.2 a packet socket drops super-packets of UDP instead of describing them.
bool FrameIo::is_offered_by_kernel() {
  utsname name{};
  unsigned major = 0;
  unsigned minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%u.%u", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 2);
}

std::unique_ptr<FrameIo> FrameIo::open(const UdpOptions& options, std::string* error) {
  std::string ignored;
  std::string& why = error == nullptr ? ignored : *error;
  std::unique_ptr<FrameIo> io(new FrameIo);
  if (!is_offered_by_kernel()) {
    why = "packet sockets need Linux 6.2 or later here; " + remedy(options);
    return nullptr;
  }
  UdpOptions udp = options;
  udp.deaf = true;
  udp.entropy_values = std::min(udp.entropy_values, kEntropyMax);
  io->udp_ = UdpIo::open(udp, &why);
  if (io->udp_ == nullptr || !io->start(options, why)) return nullptr;
  return io;
}

FrameIo::~FrameIo() {
  run_together([&] { rx_.close(); }, [&] { sender_.close(), super_sender_.close(); });
}

bool FrameIo::start(const UdpOptions& options, std::string& error) {
  const std::vector<Interface> interfaces = list_interfaces();
  const Interface* const own = find_interface(interfaces, options.local);
  if (own == nullptr || own->link == LinkType::other) {
    error = "packet sockets need an Ethernet or loopback interface with the address " +
            ip_text(options.local) + "; " + remedy(options);
    return false;
  }
  interface_index_ = own->index;
  mac_ = own->mac;
  const FabricAddress local = udp_->local_address();
  native_ = native_format(options);
  if (native_.crc) parts_.room.reset(new std::byte[kNativeRoomBytes]);
  packet_bytes_max_ = caps().max_datagram_bytes + around_bytes(native_, local);

  FrameRx::Settings rx;
  rx.local = local;
  rx.native = native_;
  rx.interface_index = interface_index_;
  // Peers on this host come in there. Nothing leaves there as a frame: the IP stack takes packets
  // between local addresses from itself only.
  rx.loopback_index = loopback_of(interfaces, own->index);
  rx.packet_bytes_max = packet_bytes_max_;
  rx.ring_bytes = options.receive_buffer_bytes;
  if (!rx_.open(rx) || !open_senders() || !udp_->watch_input(rx_.short_socket().get()) ||
      !udp_->watch_input(rx_.long_socket().get())) {
    error = open_failure(options, errno);
    return false;
  }
  next_hops_ = NextHops::open(local, interface_index_);
  if (next_hops_ == nullptr) {
    error = "cannot read routes from the kernel: " + errno_text(errno) + "; use FI_UET_IO=udp";
  }
  return next_hops_ != nullptr;
}

// Sockets that only send: without a protocol nothing is delivered to them. Single frames bypass the
// queueing discipline, too; one that finds the device's queue full is refused and sent again.
// Super-packets do not bypass it, because the kernel would drop those that the device cannot cut
// itself.
bool FrameIo::open_senders() {
  sockaddr_ll name{};
  name.sll_family = AF_PACKET;
  name.sll_ifindex = static_cast<int>(interface_index_);
  for (Fd* const sender : {&sender_, &super_sender_}) {
    *sender = Fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!*sender || !set_option(*sender, SOL_PACKET, PACKET_VNET_HDR, 1) ||
        ::bind(sender->get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) {
      return false;
    }
  }
  return set_option(sender_, SOL_PACKET, PACKET_QDISC_BYPASS, 1);
}

void FrameIo::send(std::span<TxPacket> packets) {
  if (packets.size() > kFewPackets && !native_.is_used()) return udp_->send(packets);
  const Instant now = monotonic_now();
  size_t left = 0;  // packets in a row for the IP stack, which takes them together
  const auto pass_to_stack = [&](size_t end) {
    if (left > 0) udp_->send(packets.subspan(end - left, left));
    left = 0;
  };
  for (size_t i = 0; i < packets.size();) {
    const NextHop* const hop = next_hop(packets[i], now);
    const size_t count = hop == nullptr ? 1 : run_length(packets.subspan(i));
    if (hop != nullptr) pass_to_stack(i);  // packets before a frame leave before it
    if (hop == nullptr || !send_frame(packets.subspan(i, count), *hop)) left += count;
    i += count;
  }
  pass_to_stack(packets.size());
}

// Null when the packet must go to the IP stack.
const NextHop* FrameIo::next_hop(const TxPacket& packet, Instant now) {
  const FabricAddress local = udp_->local_address();
  const uint32_t bytes = packet.bytes() + around_bytes(native_, local, packet);
  if (bytes > packet_bytes_max_ || packet.to.family != local.family ||
      packet.slice_count > TxBatch::kSlicesPerPacket) {
    return nullptr;
  }
  const NextHop* const hop = next_hops_->find(packet.to, now);
  return hop != nullptr && (hop->on_link || bytes <= kRoutedBytesMax) ? hop : nullptr;
}

// How many packets, from the first on, one frame carries: equal except for a shorter last one.
size_t FrameIo::run_length(std::span<const TxPacket> packets) const {
  if (native_.is_used()) return 1;
  const TxPacket& first = packets[0];
  uint32_t bytes = first.bytes();
  uint32_t slices = first.slice_count;
  const size_t most = std::min<size_t>(packets.size(), kSegmentsMax);
  for (size_t i = 1; i < most; ++i) {
    const TxPacket& packet = packets[i];
    bytes += packet.bytes();
    slices += packet.slice_count;
    if (packet.to != first.to || packet.ev != first.ev || tos_of(packet) != tos_of(first) ||
        packet.bytes() > first.bytes() || packet.bytes() == 0 || bytes > kSuperBytesMax ||
        slices > kSlicesMax) {
      return i;
    }
    if (packet.bytes() < first.bytes()) return i + 1;
  }
  return most;
}

// Sends a run as one frame. False when it was refused, and the packets are some for the IP stack.
bool FrameIo::send_frame(std::span<TxPacket> run, const NextHop& hop) {
  msghdr message{};
  message.msg_iov = parts_.vectors.data();
  message.msg_iovlen = gather(run, hop);
  const Fd& sender = run.size() > 1 ? super_sender_ : sender_;
  if (::sendmsg(sender.get(), &message, 0) >= 0) {
    set_fate(run, TxFate::sent);
    ++tx_.frames;
    return true;
  }
  if (errno == EAGAIN || errno == ENOBUFS || errno == ENOMEM) {
    set_fate(run, TxFate::later);
    tx_.later += run.size();
    return true;
  }
  next_hops_->forget(run[0].to);
  tx_.refused += run.size();
  return false;
}

// Points the vectors at the pieces of the frame; returns how many. The kernel reads the payload, so
// that memory which is gone is an error of the packet, as with a UDP socket.
uint32_t FrameIo::gather(std::span<const TxPacket> run, const NextHop& hop) {
  const TxPacket& packet = run[0];
  std::byte* const ethernet = parts_.headers.data();
  std::memcpy(ethernet, hop.mac.data(), 6);
  std::memcpy(ethernet + 6, mac_.data(), 6);
  const bool ipv6 = packet.to.family == FabricAddress::Family::ipv6;
  const uint16_t type = htons(ipv6 ? ETH_P_IPV6 : ETH_P_IP);
  std::memcpy(ethernet + 12, &type, sizeof type);
  parts_.offload = {};
  const uint32_t bytes = kEthernetHeader + put_headers(run, ethernet + kEthernetHeader);

  parts_.vectors[0] = {&parts_.offload, sizeof parts_.offload};
  parts_.vectors[1] = {parts_.headers.data(), bytes};
  uint32_t count = 2;
  if (native_.is_used()) {
    return count + gather_native(packet, native_, parts_.entropy, parts_.room.get(),
                                 &parts_.vectors[count]);
  }
  for (const TxPacket& each : run) count += gather_packet(each, &parts_.vectors[count]);
  return count;
}

// Writes what stands before a packet or a run, or before its entropy header; returns its length.
uint32_t FrameIo::put_headers(std::span<const TxPacket> run, std::byte* ip) {
  const TxPacket& packet = run[0];
  FabricAddress from = udp_->local_address();
  if (native_.is_used()) {
    return put_ip_header(ip, from, packet.to, tos_of(packet), native_.ip_protocol,
                         packet.bytes() + native_.around_bytes(packet));
  }
  from.port = udp_->source_port(packet.ev);
  uint32_t datagram_bytes = 0;
  for (const TxPacket& each : run) datagram_bytes += each.bytes();
  const uint32_t bytes = put_udp_headers(ip, from, packet.to, tos_of(packet), datagram_bytes);
  // The kernel cuts nothing without a checksum. [WIRE-024]
  if (from.family == FabricAddress::Family::ipv6 || run.size() > 1) {
    put_udp_checksum_begun(ip);
    parts_.offload.flags = FrameOffload::kNeedsChecksum;
    parts_.offload.checksum_start = static_cast<uint16_t>(kEthernetHeader + bytes - kUdpHeader);
    parts_.offload.checksum_offset = 6;
  }
  if (run.size() > 1) {
    parts_.offload.gso_type = FrameOffload::kUdpSegments;
    parts_.offload.header_bytes = static_cast<uint16_t>(kEthernetHeader + bytes);
    parts_.offload.segment_bytes = static_cast<uint16_t>(packet.bytes());
  }
  return bytes;
}

void FrameIo::report_counters(const CounterSink& sink) const {
  const FrameRxCounters& rx = rx_.counters();
  sink("frame_rx_frames", rx.frames);
  sink("frame_rx_datagrams", rx.datagrams);
  sink("frame_rx_long_frames", rx.long_frames);
  sink("frame_rx_malformed", rx.malformed);
  sink("frame_rx_martian", rx.martian);
  sink("frame_rx_bad_crc", rx.bad_crc);
  sink("frame_rx_dropped", rx_.dropped());
  sink("frame_tx_frames", tx_.frames);
  sink("frame_tx_refused", tx_.refused);
  sink("frame_tx_later", tx_.later);
  sink("frame_next_hop_questions", next_hops_->questions());
  udp_->report_counters(sink);
}

}  // namespace uet::io
