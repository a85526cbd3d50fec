// The Ethernet header with its 802.1Q tags, for captures and raw backends.
#pragma once

#include "wire/parse_error.h"
#include "wire/reader.h"
#include "wire/writer.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace uet::wire {

// |                   dst (48)                    |   src (48)    |
// |                      src                      |
// |    0x8100 or 0x88A8   |    pcp, dei, vlan id  |  twice at most
// |       ethertype       |
// [WIRE-005]
struct EthernetHeader {
  static constexpr uint32_t kSizeUntagged = 14;
  static constexpr uint32_t kTagBytes = 4;
  static constexpr uint32_t kTagsMax = 2;
  static constexpr uint16_t kIpv4 = 0x0800;
  static constexpr uint16_t kIpv6 = 0x86DD;

  struct Tag {
    uint16_t tpid = 0x8100;
    uint16_t tci = 0;
    uint16_t vlan_id() const { return tci & 0x0FFF; }
    bool operator==(const Tag&) const = default;
  };

  std::array<uint8_t, 6> dst{};
  std::array<uint8_t, 6> src{};
  uint8_t tag_count = 0;
  std::array<Tag, kTagsMax> tags{};
  uint16_t ethertype = kIpv4;

  uint32_t size() const { return kSizeUntagged + kTagBytes * tag_count; }
  static bool is_tag(uint16_t type) { return type == 0x8100 || type == 0x88A8; }

  // Refuses with truncated. A third tag stays in ethertype, where it is not read as IP.
  static Parsed<EthernetHeader> parse(Reader& r) {
    Reader at = r;
    if (at.remaining() < kSizeUntagged) return ParseError::truncated;
    EthernetHeader h;
    std::memcpy(h.dst.data(), at.take(6), 6);
    std::memcpy(h.src.data(), at.take(6), 6);
    h.ethertype = at.u16();
    while (is_tag(h.ethertype) && h.tag_count < kTagsMax) {
      if (at.remaining() < kTagBytes) return ParseError::truncated;
      h.tags[h.tag_count++] = {h.ethertype, at.u16()};
      h.ethertype = at.u16();
    }
    r = at;
    return h;
  }

  // Writes size() octets.
  void emit(Writer& w) const {
    UET_ASSERT(tag_count <= kTagsMax);
    std::memcpy(w.take(6), dst.data(), 6);
    std::memcpy(w.take(6), src.data(), 6);
    for (uint8_t i = 0; i < tag_count; ++i) {
      w.u16(tags[i].tpid);
      w.u16(tags[i].tci);
    }
    w.u16(ethertype);
  }

  bool operator==(const EthernetHeader&) const = default;
};

}  // namespace uet::wire
