// Mutations of overheard packets.
#include "sim/faults/stranger.h"

#include "wire/pds.h"

#include <algorithm>
#include <array>

namespace uet::sim {
namespace {

FabricAddress address_of_stranger() { return FabricAddress::v4(0x0A630001U); }

constexpr uint32_t kHeard = 80;  // octets of a packet that are remembered
// A request that is executed as it comes: from a new address it is as legitimate as a SYN.
bool needs_no_pdc(std::byte first) {
  const auto type = static_cast<wire::PdsType>(static_cast<uint8_t>(first) >> 3);
  return type == wire::PdsType::rudi_request || type == wire::PdsType::uud_request;
}

constexpr std::byte kSynBit{1 << wire::kFlagSyn};

}  // namespace

Stranger::Stranger(io::SimNet& net, double rate, uint64_t seed)
    : net_(net), port_(net.attach(address_of_stranger())), rate_(rate), rng_(seed, 0x68657265) {}

void Stranger::hear(const TxPacket& packet) {
  while (!port_->receive().empty()) continue;  // it does not listen to answers
  if (!rng_.chance(rate_)) return;
  const uint64_t burst = rng_.chance(0.02) ? 150 : 1 + rng_.below(3);
  for (uint64_t i = 0; i < burst; ++i) {
    std::array<std::byte, kHeard> octets{};
    uint32_t length = std::min<uint32_t>(packet.header_bytes, kHeard);
    std::copy_n(packet.header, length, octets.begin());
    if (rng_.chance(0.2)) length = static_cast<uint32_t>(rng_.below(length + 1));
    const uint64_t flips = rng_.below(4);
    for (uint64_t f = 0; f < flips && length > 0; ++f) {
      // The first octets decide most.
      const uint64_t at = rng_.below(rng_.chance(0.5) ? std::min<uint32_t>(length, 2) : length);
      octets[at] ^= static_cast<std::byte>(1 << rng_.below(8));
    }
    if (needs_no_pdc(octets[0])) continue;
    octets[1] &= ~kSynBit;
    TxPacket forged;
    forged.header = octets.data();
    forged.header_bytes = static_cast<uint16_t>(length);
    forged.to = packet.to;
    forged.dscp = packet.dscp;
    port_->send({&forged, 1});
  }
}

}  // namespace uet::sim
