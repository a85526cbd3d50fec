// Writes pcapng into memory of the caller: a section, its interfaces, packets. The caller writes
// the octets to a file. Reading is tools/pcap/pcap_file. docs/decisions/0019.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace uet::io {

inline constexpr uint16_t kLinkEthernet = 1;
inline constexpr uint16_t kLinkRawIp = 101;  // a packet starts with its IP header

// The blocks and options that are written, and read by tools/pcap/pcap_file.
struct Pcapng {
  static constexpr uint32_t kSectionBlock = 0x0A0D0D0A;
  static constexpr uint32_t kByteOrderMagic = 0x1A2B3C4D;
  static constexpr uint32_t kInterfaceBlock = 1;
  static constexpr uint32_t kPacketBlock = 6;  // "enhanced packet"
  static constexpr uint16_t kComment = 1;      // option of all blocks
  static constexpr uint16_t kName = 2;         // option of an interface
  static constexpr uint16_t kTimeUnit = 9;     // option of an interface: negative power of ten
  static constexpr uint16_t kFlags = 2;        // option of a packet
};

// An interface, in the words of the file. At most 4096 octets of a text are written; an empty one
// is left out.
struct PcapngInterface {
  uint16_t link_type = kLinkEthernet;
  std::string_view name{};
  std::string_view comment{};
};

struct PcapngPacket {
  enum class Direction : uint8_t {
    not_told = 0,
    inbound = 1,
    outbound = 2
  };

  uint32_t interface = 0;  // from 0, in the order in which they were written
  uint64_t time_ns = 0;    // since 1970
  uint32_t bytes = 0;      // of the packet, which is written whole
  Direction direction = Direction::not_told;
};

// Blocks in the byte order of this machine, times in nanoseconds. Asserts that the room is enough:
// the functions ..._bytes() return the size of a block.
class PcapngWriter {
 public:
  static constexpr size_t kSectionBytes = 28;
  static size_t interface_bytes(const PcapngInterface& interface);
  static size_t packet_bytes(const PcapngPacket& packet);

  PcapngWriter() = default;
  explicit PcapngWriter(std::span<std::byte> room) : room_(room) {}

  // Begins the file.
  void section();
  // Before the first packet that names it.
  void interface(const PcapngInterface& interface);

  // Begins a packet; then put() and take() exactly as many octets as it has, and end_packet().
  void begin_packet(const PcapngPacket& packet);
  void put(const void* octets, size_t length);
  std::byte* take(size_t length);
  // The captured part of the packet.
  std::span<std::byte> packet() { return room_.subspan(packet_at_, used_ - packet_at_); }
  void end_packet();

  // The blocks that are complete.
  std::span<const std::byte> written() const { return room_.first(used_); }
  size_t used() const { return used_; }
  // The room is free again.
  void clear() { used_ = 0; }

 private:
  void put_u16(uint16_t value) { put(&value, sizeof value); }
  void put_u32(uint32_t value) { put(&value, sizeof value); }
  void put_option(uint16_t code, const void* octets, size_t length);
  void put_padding(size_t length);

  std::span<std::byte> room_{};
  size_t used_ = 0;
  PcapngPacket begun_{};
  size_t packet_at_ = 0;  // where the octets of the packet begin
};

}  // namespace uet::io
