// The ring (TPACKET_V2 with virtio-net headers) and the filter before it.
#include "io/frame_rx.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

namespace uet::io {

namespace {

// A classic BPF program that accepts a frame when every test holds.
class Filter {
 public:
  void load(uint16_t size, uint32_t offset) {
    code_.push_back(BPF_STMT(static_cast<uint16_t>(BPF_LD | BPF_ABS | size), offset));
  }
  void load_meta(uint32_t which) { load(BPF_W, static_cast<uint32_t>(SKF_AD_OFF) + which); }
  void mask(uint32_t bits) { code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)); }
  // The next instruction but one is reached only if it is `value`; else the frame is refused.
  void require(uint32_t value) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  }
  void require_either(uint32_t one, uint32_t other) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 2, 0));
    require(other);
  }
  bool attach(const Fd& socket) {
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, UINT32_MAX));
    const sock_fprog program{static_cast<uint16_t>(code_.size()), code_.data()};
    return ::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
  }

 private:
  std::vector<sock_filter> code_;
};

tpacket2_hdr& header_of(std::byte* slot) { return *reinterpret_cast<tpacket2_hdr*>(slot); }

uint32_t status_of(std::byte* slot) {
  return __atomic_load_n(&header_of(slot).tp_status, __ATOMIC_ACQUIRE);
}

uint16_t ether_type_of(const FabricAddress& a) {
  return a.family == FabricAddress::Family::ipv6 ? ETH_P_IPV6 : ETH_P_IP;
}

bool is_link_local(const FabricAddress& a) {
  return a.family == FabricAddress::Family::ipv6 && a.ip[0] == 0xfe && (a.ip[1] & 0xc0) == 0x80;
}

bool set_packet_option(const Fd& fd, int name, int value) {
  return set_option(fd, SOL_PACKET, name, value);
}

}  // namespace

FrameRx::~FrameRx() {
  if (ring_ != nullptr) ::munmap(ring_, ring_bytes_);
}

bool FrameRx::open(const Settings& settings) {
  scope_id_ = settings.local.scope_id;
  // Protocol 0: deaf until the filter and the ring are in place.
  socket_ = Fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket_ || !attach_filter(settings) || !make_ring(settings)) return false;
  long_frames_.reset(new std::byte[size_t{kLongFrames} * kLongBytes]);
  sockaddr_ll name{};
  name.sll_family = AF_PACKET;
  name.sll_protocol = htons(ether_type_of(settings.local));
  return ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

bool FrameRx::attach_filter(const Settings& settings) {
  constexpr uint32_t kVlanId = 0xfff;  // 0: untagged, or only a priority
  constexpr uint32_t kIp = kEthernetHeader;
  Filter filter;
  filter.load_meta(SKF_AD_PKTTYPE);
  filter.require(PACKET_HOST);
  filter.load_meta(SKF_AD_IFINDEX);
  filter.require_either(settings.interface_index, settings.loopback_index);
  filter.load_meta(SKF_AD_VLAN_TAG);
  filter.mask(kVlanId);
  filter.require(0);
  const bool ipv6 = settings.local.family == FabricAddress::Family::ipv6;
  filter.load(BPF_B, kIp + (ipv6 ? 6 : 9));
  filter.require(IPPROTO_UDP);
  if (!ipv6) {
    filter.load(BPF_B, kIp);  // version and length: no options [WIRE-010]
    filter.require(0x45);
  }
  for (uint32_t at = 0; at < settings.local.ip_length(); at += 4) {
    uint32_t word;
    std::memcpy(&word, settings.local.ip.data() + at, sizeof word);
    filter.load(BPF_W, kIp + (ipv6 ? 24 : 16) + at);
    filter.require(ntohl(word));
  }
  filter.load(BPF_H, kIp + (ipv6 ? kIpv6Header : kIpv4Header) + 2);
  filter.require(settings.local.port);
  return filter.attach(socket_);
}

bool FrameRx::make_ring(const Settings& settings) {
  if (settings.socket_bytes != 0) {
    // The system caps this; whatever it grants is fine.
    (void)set_option(socket_, SOL_SOCKET, SO_RCVBUF, static_cast<int>(settings.socket_bytes));
  }
  constexpr uint32_t kAlign = 64;
  slot_bytes_ = (settings.packet_bytes_max + kSlotHead + kAlign - 1) / kAlign * kAlign;
  slot_bytes_ = slot_bytes_ > kSlotBytesMax ? kSlotBytesMin : std::max(slot_bytes_, kSlotBytesMin);
  tpacket_req request{};
  request.tp_block_size = kBlockBytes;
  request.tp_frame_size = slot_bytes_;
  uint64_t wanted = settings.ring_bytes == 0 ? kRingBytesDefault : settings.ring_bytes;
  if (slot_bytes_ > kSlotBytesMin) wanted *= 2;  // a short packet takes a whole slot, too
  wanted = std::clamp<uint64_t>(wanted, kBlockBytes, kRingBytesMax);
  request.tp_block_nr = static_cast<uint32_t>(wanted / kBlockBytes);
  const uint32_t slots_per_block = kBlockBytes / slot_bytes_;
  request.tp_frame_nr = request.tp_block_nr * slots_per_block;
  // Outgoing frames are refused by the filter as well; older kernels lack the option.
  (void)set_packet_option(socket_, PACKET_IGNORE_OUTGOING, 1);
  if (!set_packet_option(socket_, PACKET_VERSION, TPACKET_V2) ||
      !set_packet_option(socket_, PACKET_VNET_HDR, 1) ||
      !set_packet_option(socket_, PACKET_COPY_THRESH, 1) ||
      ::setsockopt(socket_.get(), SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0) {
    return false;
  }
  ring_bytes_ = size_t{request.tp_block_nr} * kBlockBytes;
  void* const memory = ::mmap(nullptr, ring_bytes_, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_POPULATE, socket_.get(), 0);
  if (memory == MAP_FAILED) return false;
  ring_ = static_cast<std::byte*>(memory);
  slot_count_ = request.tp_frame_nr;
  slots_.reset(new std::byte*[slot_count_]);
  for (uint32_t i = 0; i < slot_count_; ++i) {
    slots_[i] = ring_ + size_t{i / slots_per_block} * kBlockBytes +
                size_t{i % slots_per_block} * slot_bytes_;
  }
  return true;
}

uint64_t FrameRx::dropped() const {
  tpacket_stats stats{};
  socklen_t length = sizeof stats;
  // The kernel starts again from zero at every question.
  if (::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &length) == 0) {
    dropped_ += stats.tp_drops;
  }
  return dropped_;
}

// Everything lent by the last receive() but the frame that is still being cut.
void FrameRx::give_back() {
  const uint32_t kept = segments_.is_open() && !cutting_long_ ? 1 : 0;
  for (; lent_slots_ > kept; --lent_slots_) {
    const uint32_t index = (next_slot_ + slot_count_ - lent_slots_) % slot_count_;
    __atomic_store_n(&header_of(slots_[index]).tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
  }
  if (!segments_.is_open() || !cutting_long_) lent_long_ = 0;
}

std::span<RxDatagram> FrameRx::receive() {
  give_back();
  uint32_t count = 0;
  while (count < datagrams_.size()) {
    if (segments_.is_open()) {
      segments_.cut(datagrams_[count++]);
      continue;
    }
    if (lent_slots_ == slot_count_ || lent_long_ == kLongFrames) break;
    if ((status_of(slots_[next_slot_]) & TP_STATUS_USER) == 0) break;
    if (count == 0) received_at_ = monotonic_now();
    if (!take_slot()) ++counters_.malformed;
  }
  counters_.datagrams += count;
  return {datagrams_.data(), count};
}

// Opens the frame in the next slot; false when it is nothing for us.
bool FrameRx::take_slot() {
  std::byte* const at = slots_[next_slot_];
  next_slot_ = next_slot_ + 1 == slot_count_ ? 0 : next_slot_ + 1;
  ++lent_slots_;
  ++counters_.frames;
  const tpacket2_hdr& header = header_of(at);
  if ((header.tp_status & TP_STATUS_COPY) != 0) return take_long_frame();
  FrameOffload offload;
  if (header.tp_len > header.tp_snaplen || header.tp_mac < sizeof offload ||
      header.tp_mac + header.tp_snaplen > slot_bytes_) {
    ++counters_.truncated;
    return true;
  }
  std::memcpy(&offload, at + header.tp_mac - sizeof offload, sizeof offload);
  cutting_long_ = false;
  return take_frame({at + header.tp_mac, header.tp_snaplen}, offload);
}

bool FrameRx::take_long_frame() {
  std::byte* const room = long_frames_.get() + size_t{lent_long_} * kLongBytes;
  ++counters_.system_calls;
  const ssize_t got = ::recv(socket_.get(), room, kLongBytes, MSG_DONTWAIT | MSG_TRUNC);
  FrameOffload offload;
  if (got < static_cast<ssize_t>(sizeof offload) || got > ssize_t{kLongBytes}) {
    ++counters_.truncated;
    return true;
  }
  ++counters_.long_frames;
  ++lent_long_;
  std::memcpy(&offload, room, sizeof offload);
  cutting_long_ = true;
  return take_frame({room + sizeof offload, static_cast<size_t>(got) - sizeof offload}, offload);
}

bool FrameRx::take_frame(std::span<std::byte> frame, const FrameOffload& offload) {
  UdpPacket packet;
  if (frame.size() < kEthernetHeader || !parse_udp_packet(frame.subspan(kEthernetHeader), packet)) {
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
  segments_.open(pattern, packet.datagram,
                 offload.gso_type == FrameOffload::kUdpSegments ? offload.segment_bytes : 0);
  return true;
}

}  // namespace uet::io
