// The ring (TPACKET_V2 with virtio-net headers) and the filter before it.
#include "io/frame/ring.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
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
  void load_length() { code_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0)); }
  void mask(uint32_t bits) { code_.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)); }
  // The next instruction but one is reached only if it is `value`; else the frame is refused.
  void require(uint32_t value) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    refuse();
  }
  void require_either(uint32_t one, uint32_t other) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, one, 2, 0));
    require(other);
  }
  void require_between(uint32_t least, uint32_t most) {
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, least, 1, 0));
    refuse();
    code_.push_back(BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, most, 0, 1));
    refuse();
  }
  bool attach(const Fd& socket) {
    code_.push_back(BPF_STMT(BPF_RET | BPF_K, UINT32_MAX));
    const sock_fprog program{static_cast<uint16_t>(code_.size()), code_.data()};
    return ::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
  }

 private:
  void refuse() { code_.push_back(BPF_STMT(BPF_RET | BPF_K, 0)); }

  std::vector<sock_filter> code_;
};

uint16_t ether_type_of(const FabricAddress& a) {
  return a.family == FabricAddress::Family::ipv6 ? ETH_P_IPV6 : ETH_P_IP;
}

bool set_packet_option(const Fd& fd, int name, int value) {
  return set_option(fd, SOL_PACKET, name, value);
}

tpacket2_hdr& header_at(std::byte* slot) { return *reinterpret_cast<tpacket2_hdr*>(slot); }

}  // namespace

void FrameRing::close() {
  if (memory_ != nullptr) ::munmap(memory_, memory_bytes_);
  memory_ = nullptr;
  slot_count_ = next_ = lent_ = 0;
  socket_.close();
}

bool FrameRing::open(const Settings& settings) {
  // Protocol 0: deaf until the filter and the ring are in place.
  socket_ = Fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ether_type_ = ether_type_of(settings.local);
  return socket_ && attach_filter(settings) && make_slots(settings);
}

bool FrameRing::listen() {
  sockaddr_ll name{};
  name.sll_family = AF_PACKET;
  name.sll_protocol = htons(ether_type_);
  return ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) == 0;
}

bool FrameRing::attach_filter(const Settings& settings) {
  constexpr uint32_t kVlanId = 0xfff;  // 0: untagged, or only a priority
  constexpr uint32_t kIp = kEthernetHeader;
  Filter filter;
  filter.load_length();
  filter.require_between(settings.frame_bytes_min, settings.frame_bytes_max);
  filter.load_meta(SKF_AD_PKTTYPE);
  filter.require(PACKET_HOST);
  filter.load_meta(SKF_AD_IFINDEX);
  filter.require_either(settings.interface_index, settings.loopback_index);
  filter.load_meta(SKF_AD_VLAN_TAG);
  filter.mask(kVlanId);
  filter.require(0);
  const bool ipv6 = settings.local.family == FabricAddress::Family::ipv6;
  filter.load(BPF_B, kIp + (ipv6 ? 6 : 9));
  const bool is_native = settings.ip_protocol != 0;
  filter.require(is_native ? settings.ip_protocol : uint32_t{IPPROTO_UDP});
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
  if (!is_native) {
    filter.load(BPF_H, kIp + (ipv6 ? kIpv6Header : kIpv4Header) + 2);
    filter.require(settings.local.port);
  }
  return filter.attach(socket_);
}

bool FrameRing::make_slots(const Settings& settings) {
  constexpr uint32_t kLine = 64;
  slot_bytes_ = (settings.frame_bytes_max + kSlotHead + kLine - 1) / kLine * kLine;
  tpacket_req request{};
  request.tp_block_size = std::max(kBlockBytesMin, std::bit_ceil(slot_bytes_ * kSlotsPerBlock));
  request.tp_frame_size = slot_bytes_;
  request.tp_block_nr = std::max(settings.ring_bytes / request.tp_block_size, 1u);
  const uint32_t slots_per_block = request.tp_block_size / slot_bytes_;
  request.tp_frame_nr = request.tp_block_nr * slots_per_block;
  // Outgoing frames are refused by the filter as well; older kernels lack the option.
  (void)set_packet_option(socket_, PACKET_IGNORE_OUTGOING, 1);
  if (!set_packet_option(socket_, PACKET_VERSION, TPACKET_V2) ||
      !set_packet_option(socket_, PACKET_VNET_HDR, 1) ||
      ::setsockopt(socket_.get(), SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0) {
    return false;
  }
  memory_bytes_ = size_t{request.tp_block_nr} * request.tp_block_size;
  void* const memory = ::mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_POPULATE, socket_.get(), 0);
  if (memory == MAP_FAILED) return false;
  memory_ = static_cast<std::byte*>(memory);
  slot_count_ = request.tp_frame_nr;
  slots_.reset(new std::byte*[slot_count_]);
  for (uint32_t i = 0; i < slot_count_; ++i) {
    slots_[i] = memory_ + size_t{i / slots_per_block} * request.tp_block_size +
                size_t{i % slots_per_block} * slot_bytes_;
  }
  return true;
}

tpacket2_hdr& FrameRing::next() const { return header_at(slots_[next_]); }

bool FrameRing::has_frame() const {
  return lent_ < slot_count_ &&
         (__atomic_load_n(&next().tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0;
}

uint64_t FrameRing::arrived_at() const { return uint64_t{next().tp_sec} << 32 | next().tp_nsec; }

FrameRing::Frame FrameRing::take() {
  std::byte* const at = slots_[next_];
  next_ = next_ + 1 == slot_count_ ? 0 : next_ + 1;
  ++lent_;
  const tpacket2_hdr& header = header_at(at);
  Frame frame;
  if (header.tp_len > header.tp_snaplen || header.tp_mac < sizeof frame.offload ||
      header.tp_mac + header.tp_snaplen > slot_bytes_) {
    return frame;
  }
  sockaddr_ll from;
  std::memcpy(&from, at + TPACKET_ALIGN(sizeof header), sizeof from);
  frame.interface_index = static_cast<uint32_t>(from.sll_ifindex);
  std::memcpy(&frame.offload, at + header.tp_mac - sizeof frame.offload, sizeof frame.offload);
  frame.octets = {at + header.tp_mac, header.tp_snaplen};
  return frame;
}

void FrameRing::give_back(uint32_t kept) {
  for (; lent_ > kept; --lent_) {
    const uint32_t index = (next_ + slot_count_ - lent_) % slot_count_;
    __atomic_store_n(&header_at(slots_[index]).tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
  }
}

uint64_t FrameRing::dropped() const {
  tpacket_stats stats{};
  socklen_t length = sizeof stats;
  // The kernel starts again from zero at every question.
  if (::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &length) == 0) {
    dropped_ += stats.tp_drops;
  }
  return dropped_;
}

}  // namespace uet::io
