// One datagram between two stations, with its own memory.
#pragma once

#include "base/assert.h"
#include "base/packet.h"
#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace uet::sim {

struct Datagram {
  std::vector<std::byte> octets;
  FabricAddress from;
  FabricAddress to;
  Entropy ev;
  uint8_t dscp = 0;
  Ecn ecn = Ecn::not_ect;
  uint32_t sdi = 0;  // secure domain that it was sealed in, and is opened in
  Instant left_at;

  // A copy of a packet that leaves `from` now.
  static Datagram copy(const TxPacket& packet, const FabricAddress& from, Instant now) {
    Datagram out;
    out.octets.reserve(packet.bytes());
    out.octets.assign(packet.header, packet.header + packet.header_bytes);
    for (uint32_t i = 0; i < packet.slice_count; ++i) {
      const IoSlice& slice = packet.slices[i];
      out.octets.insert(out.octets.end(), slice.data, slice.data + slice.length);
    }
    UET_ASSERT(out.octets.size() == packet.bytes());
    out.from = from;
    out.to = packet.to;
    out.ev = packet.ev;
    out.dscp = packet.dscp;
    out.ecn = packet.ecn;
    out.sdi = packet.sdi;
    out.left_at = now;
    return out;
  }

  // As its receiver sees it. Borrows the octets of this datagram.
  RxDatagram arriving(Instant now) {
    RxDatagram d;
    d.bytes = octets;
    d.from = from;
    d.ev = ev;
    d.dscp = dscp;
    d.ecn = ecn;
    d.sdi = sdi;
    d.at = now;
    return d;
  }
};

}  // namespace uet::sim
