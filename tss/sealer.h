// Seals packets: the only copy on the way out, from header and payload into the room of the sealed
// packet. A resend is sealed again, with a new counter. [TSS-039, TSS-040]
#pragma once

#include "tss/domains.h"
#include "tss/route.h"

#include "base/packet.h"

#include <optional>
#include <span>

namespace uet::tss {

constexpr uint32_t seal_bytes(bool use_ssi) {
  return (use_ssi ? wire::TssHeader::kSizeSsi : wire::TssHeader::kSize) + kIcvBytes;
}
constexpr uint32_t kSealBytesMax = seal_bytes(true);

// A packet in clear: from its PDS header on, in pieces that may lie anywhere.
struct ClearPacket {
  std::span<const std::byte> header;
  std::span<const IoSlice> payload;
  uint32_t sdi = 0;
  Route route;
  // For mode server with SSI: the client. Nothing: it is found by its address. [TSS-033, TSS-147]
  std::optional<uint32_t> client_ssi;
  std::span<std::byte> room;  // for security header, content and ICV

  // Results.
  uint32_t sealed_bytes = 0;  // 0: not sealed
  Refusal refusal = Refusal::count_;
};

class Sealer {
 public:
  explicit Sealer(Domains& domains) : domains_(domains) {}

  // Writes the sealed packet to the beginning of its room. A packet that is refused must not leave,
  // least of all in the clear: it fails here, and its cause is counted. [TSS-109]
  bool seal(ClearPacket& packet, Instant now);
  // Seals all of them, each separately; returns how many were sealed.
  uint32_t seal(std::span<ClearPacket> packets, Instant now);

 private:
  std::optional<Refusal> try_seal(ClearPacket& packet, SecureDomain& domain, Instant now);
  std::optional<Refusal> write(ClearPacket& packet, KeySlot& slot, const wire::TssHeader& header);
  ReadyKey* key_for(KeySlot& slot, const wire::TssHeader& header, const wire::IpAddress& owner);

  Domains& domains_;
  ReadyKey* last_ = nullptr;
};

}  // namespace uet::tss
