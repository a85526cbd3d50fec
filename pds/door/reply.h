// A packet without a PDC behind it, queued until there is room in a batch: NACKs, and ACKs for what
// has closed. replies.cpp writes its contents. [PDS 10.1]
#pragma once

#include "pds/client.h"
#include "pds/rx/ack_scheduler.h"

#include "base/packet.h"
#include "base/serial.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace uet::pds {

// The answer to a Probe. [PDS 13]
struct ProbeAnswer {
  PdcHandle pdc;
  AckTrigger trigger;
  Psn base;  // of the bitmap
  uint16_t opaque = 0;
};

// A packet that gets its own ACK, with what the ACK reports about the packet's path. [PDS-064,
// PDS-070]
struct PendingAnswer {
  PdcHandle pdc;
  AckTrigger trigger;
};

struct Reply {
  FabricAddress to;
  Entropy ev;
  std::array<std::byte, 16> octets{};
  uint8_t length = 0;
  uint32_t sdi = 0;
};

}  // namespace uet::pds
