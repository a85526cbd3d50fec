// Assigns the packets of a capture to PDCs. A packet names the PDC of its receiver by DPDCID, known
// once the receiver has shown it; a SYN names that of its sender only. [PDS-014]
#pragma once

#include "tools/pcap/packet_keys.h"
#include "tools/pcap/pcap_file.h"

#include "wire/packet.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace uet::tools::ladder {

struct Member {
  uint32_t index = 0;  // in the capture
  uint8_t way = 0;     // 0: from the initiator, 1: from the target
};

struct Conversation {
  wire::IpAddress address[2];  // of the initiator and the target
  Pdcid pdcid[2];              // 0: not seen
  bool rod = false;
  std::optional<Psn> start_psn;  // the SYN is in the capture
  std::optional<Psn> told_psn;   // the start that the target of a secured PDC sent to its initiator
  std::vector<Member> members;
};

// How captured packets are read: UET on any UDP port. For an opened packet, the headers are those
// inside. Octets that the capture lacks, because it keeps only the beginning of packets, count as
// 0.
class Decoder {
 public:
  explicit Decoder(wire::Trailer trailer);
  // The result views the packet, or room that the next call uses again.
  wire::DecodedPacket operator()(const Captured& packet);

 private:
  wire::DecodeOptions how_;
  std::vector<std::byte> room_;
};

// Opens packets for which there are keys. Returns how many sealed packets stay closed.
uint32_t open_sealed(std::span<Captured> packets, PacketKeys& keys);

// The PDCs in the order of their first packets. Packets without a PDC are left out, and on ports
// other than UET's also packets that a receiver would reject: they belong to other protocols.
std::vector<Conversation> conversations_of(std::span<const Captured> packets,
                                           wire::Trailer trailer);

std::string text_of(const wire::IpAddress& address);

}  // namespace uet::tools::ladder
