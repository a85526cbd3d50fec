// The layouts of the blocks.
#include "io/tap/pcapng.h"

#include "base/assert.h"

#include <algorithm>
#include <cstring>

namespace uet::io {
namespace {

constexpr size_t kAroundBlock = 12;  // type, and the length twice
constexpr size_t kOptionHead = 4;    // code and length; all of the option that ends a list
constexpr size_t kPacketHead = 20;   // interface, time, lengths
constexpr size_t kTextMax = 4096;

constexpr size_t padding(size_t length) { return (4 - length % 4) % 4; }

constexpr size_t option_bytes(size_t length) { return kOptionHead + length + padding(length); }

std::string_view cut(std::string_view text) { return text.substr(0, kTextMax); }

size_t text_bytes(std::string_view text) {
  return text.empty() ? 0 : option_bytes(cut(text).size());
}

bool is_told(PcapngPacket::Direction direction) {
  return direction != PcapngPacket::Direction::not_told;
}

}  // namespace

size_t PcapngWriter::interface_bytes(const PcapngInterface& interface) {
  constexpr size_t kLinkAndLength = 8;
  return kAroundBlock + kLinkAndLength + text_bytes(interface.name) + option_bytes(1) +
         text_bytes(interface.comment) + kOptionHead;
}

size_t PcapngWriter::packet_bytes(const PcapngPacket& packet) {
  const size_t options = is_told(packet.direction) ? option_bytes(4) + kOptionHead : 0;
  return kAroundBlock + kPacketHead + packet.bytes + padding(packet.bytes) + options;
}

void PcapngWriter::section() {
  put_u32(Pcapng::kSectionBlock);
  put_u32(kSectionBytes);
  put_u32(Pcapng::kByteOrderMagic);
  put_u16(1);  // version 1.0
  put_u16(0);
  put_u32(UINT32_MAX);  // section length: not given
  put_u32(UINT32_MAX);
  put_u32(kSectionBytes);
}

void PcapngWriter::interface(const PcapngInterface& interface) {
  const auto length = static_cast<uint32_t>(interface_bytes(interface));
  const std::string_view name = cut(interface.name);
  const std::string_view comment = cut(interface.comment);
  const uint8_t nanoseconds = 9;
  put_u32(Pcapng::kInterfaceBlock);
  put_u32(length);
  put_u16(interface.link_type);
  put_u16(0);
  put_u32(0);  // whole packets
  if (!name.empty()) put_option(Pcapng::kName, name.data(), name.size());
  put_option(Pcapng::kTimeUnit, &nanoseconds, 1);
  if (!comment.empty()) put_option(Pcapng::kComment, comment.data(), comment.size());
  put_u32(0);  // end of the options
  put_u32(length);
}

void PcapngWriter::begin_packet(const PcapngPacket& packet) {
  begun_ = packet;
  put_u32(Pcapng::kPacketBlock);
  put_u32(static_cast<uint32_t>(packet_bytes(packet)));
  put_u32(packet.interface);
  put_u32(static_cast<uint32_t>(packet.time_ns >> 32));
  put_u32(static_cast<uint32_t>(packet.time_ns));
  put_u32(packet.bytes);
  put_u32(packet.bytes);
  packet_at_ = used_;
}

void PcapngWriter::end_packet() {
  UET_ASSERT(used_ - packet_at_ == begun_.bytes);
  put_padding(begun_.bytes);
  if (is_told(begun_.direction)) {
    const auto flags = static_cast<uint32_t>(begun_.direction);
    put_option(Pcapng::kFlags, &flags, sizeof flags);
    put_u32(0);  // end of the options
  }
  put_u32(static_cast<uint32_t>(packet_bytes(begun_)));
}

std::byte* PcapngWriter::take(size_t length) {
  UET_ASSERT(length <= room_.size() - used_);
  used_ += length;
  return room_.data() + used_ - length;
}

void PcapngWriter::put(const void* octets, size_t length) {
  if (length > 0) std::memcpy(take(length), octets, length);
}

void PcapngWriter::put_option(uint16_t code, const void* octets, size_t length) {
  put_u16(code);
  put_u16(static_cast<uint16_t>(length));
  put(octets, length);
  put_padding(length);
}

void PcapngWriter::put_padding(size_t length) {
  const uint32_t zero = 0;
  put(&zero, padding(length));
}

}  // namespace uet::io
