// Chooses the packets that leave as frames, and when the UDP socket is read.
#include "io/xdp/xdp_io.h"

#include "io/frame/frame.h"

#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace uet::io {
namespace {

// MTU of IP packets through this interface; 0: it is gone.
uint32_t mtu_of(const std::string& interface) {
  const Fd any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::memcpy(request.ifr_name, interface.data(),
              std::min(interface.size(), sizeof request.ifr_name - 1));
  if (::ioctl(any.get(), SIOCGIFMTU, &request) != 0) return 0;
  return static_cast<uint32_t>(std::max(request.ifr_mtu, 0));
}

}  // namespace

std::string XdpIo::why_refused() { return XdpPort::why_refused(); }

std::unique_ptr<XdpIo> XdpIo::open(const UdpOptions& options, std::string* error) {
  std::string ignored;
  std::string& why = error == nullptr ? ignored : *error;
  std::unique_ptr<XdpIo> io(new XdpIo);
  UdpOptions udp = options;
  udp.gro = false;  // joined packets fit no frame, where the program runs behind the joining
  io->udp_ = UdpIo::open(udp, &why);
  if (io->udp_ == nullptr || !io->start(options, why)) return nullptr;
  return io;
}

bool XdpIo::start(const UdpOptions& options, std::string& error) {
  const std::vector<Interface> interfaces = list_interfaces();
  const Interface* const own = find_interface(interfaces, options.local);
  if (own == nullptr || own->link != LinkType::ethernet) {
    error = "AF_XDP needs an Ethernet interface with the address " + ip_text(options.local) +
            ", as packets between processes of one host never leave it: choose another "
            "(FI_UET_IFACE), or use FI_UET_IO=udp";
    return false;
  }
  interface_ = *own;
  const FabricAddress local = udp_->local_address();
  XdpPort::Settings settings;
  native_ = native_format(options);
  settings.local = local;
  settings.ip_protocol = native_.ip_protocol;
  settings.interface = interface_;
  settings.receive_buffer_bytes = options.receive_buffer_bytes;
  settings.send_buffer_bytes = options.send_buffer_bytes;
  if (!port_.open(settings, error)) return false;
  for (const XdpQueue& queue : port_.queues()) {
    if (udp_->watch_input(queue.socket().get())) continue;
    error = "cannot watch an AF_XDP socket: " + errno_text(errno) + "; use FI_UET_IO=udp";
    return false;
  }
  rx_.start(
      port_, local, native_,
      interface_.is_virtual ? FrameReader::Checksum::maybe_begun : FrameReader::Checksum::unknown);
  tx_.start(port_, interface_.mac, native_);
  next_hops_ = NextHops::open(local, interface_.index);
  if (next_hops_ == nullptr) {
    error = "cannot read routes from the kernel: " + errno_text(errno) + "; use FI_UET_IO=udp";
  }
  return next_hops_ != nullptr;
}

IoCaps XdpIo::caps() const {
  IoCaps caps = udp_->caps();
  const uint32_t headers = around_bytes(native_, udp_->local_address());
  caps.max_datagram_bytes = std::min(caps.max_datagram_bytes, port_.packet_bytes_max() - headers);
  const bool in_one = caps.max_datagram_bytes <= XdpMemory::kFilledBytes;
  const uint32_t packets = port_.frames_per_queue() / (in_one ? 1 : XdpPort::kPiecesMax);
  caps.receive_buffer_bytes = packets * caps.max_datagram_bytes;
  return caps;
}

// AF_XDP sends longer frames without a word, and the next switch drops them.
void XdpIo::refresh_mtu(Instant now) {
  if (now < limit_.until) return;
  limit_ = {std::min(mtu_of(interface_.name), port_.packet_bytes_max()), now + kMtuKept};
}

void XdpIo::send(std::span<TxPacket> packets) {
  if (packets.size() > kFewPackets && !port_.is_zero_copy() && !native_.is_used()) {
    if (tx_.has_rest()) flush(monotonic_now());  // what an earlier call left behind
    return udp_->send(packets);
  }
  const Instant now = monotonic_now();
  refresh_mtu(now);
  size_t left = 0;  // packets in a row for the IP stack, which takes them together
  const auto pass_to_stack = [&](size_t end) {
    if (left == 0) return;
    tx_.flush();  // packets before them leave before them
    udp_->send(packets.subspan(end - left, left));
    left = 0;
  };
  for (size_t i = 0; i < packets.size(); ++i) {
    const NextHop* const hop = next_hop(packets[i], now);
    if (hop == nullptr) {
      ++left;
      continue;
    }
    pass_to_stack(i);
    send_frame(packets[i], *hop);
  }
  pass_to_stack(packets.size());
  flush(now);
}

// Null when the packet must go to the IP stack.
const NextHop* XdpIo::next_hop(const TxPacket& packet, Instant now) {
  const FabricAddress local = udp_->local_address();
  const uint32_t bytes = packet.bytes() + around_bytes(native_, local, packet);
  if (tx_.is_down() || bytes > limit_.bytes || packet.to.family != local.family) return nullptr;
  const NextHop* const hop = next_hops_->find(packet.to, now);
  // The UDP socket gets a router's refusal, which changes the MTU of the route. [LF-141]
  if (hop != nullptr && hop->mtu_bytes != 0 && bytes > hop->mtu_bytes) return nullptr;
  return hop;
}

void XdpIo::send_frame(TxPacket& packet, const NextHop& hop) {
  FabricAddress from = udp_->local_address();
  from.port = udp_->source_port(packet.ev);
  packet.fate = tx_.add(packet, from, hop) ? TxFate::sent : TxFate::later;
  packet.error = 0;
}

void XdpIo::flush(Instant now) {
  tx_.flush();
  again_at_ = !tx_.has_rest() ? Instant::never() : now + (tx_.is_down() ? kRestDown : kRest);
}

std::span<RxDatagram> XdpIo::receive() {
  if (!again_at_.is_never()) {
    const Instant now = monotonic_now();
    if (now >= again_at_) flush(now);
  }
  if (is_stack_due()) {
    looks_ = 0;
    const std::span<RxDatagram> datagrams = udp_->receive();
    if (!datagrams.empty()) {
      stack_patience_ = kStackPatience;
      return datagrams;
    }
    if (stack_patience_ != 0) --stack_patience_;
  }
  return rx_.receive();
}

bool XdpIo::is_stack_due() { return ++looks_ >= (stack_patience_ != 0 ? 2 : kLooksPerStackLook); }

void XdpIo::report_counters(const CounterSink& sink) const {
  const XdpRxCounters& rx = rx_.counters();
  sink("xdp_rx_frames", rx.frames);
  sink("xdp_rx_joined", rx.joined);
  sink("xdp_rx_malformed", rx.malformed);
  sink("xdp_rx_martian", rx.martian);
  sink("xdp_rx_bad_crc", rx.bad_crc);
  sink("xdp_rx_dropped", rx_.dropped());
  const XdpTxCounters& tx = tx_.counters();
  sink("xdp_tx_frames", tx.frames);
  sink("xdp_tx_system_calls", tx.system_calls);
  sink("xdp_tx_later", tx.later);
  sink("xdp_tx_refused", tx.refused);
  sink("xdp_next_hop_questions", next_hops_->questions());
  udp_->report_counters(sink);
}

}  // namespace uet::io
