// Contents of the peer's answers for congestion control and for the PDC. Records of a fixed size
// that the reader of an answer fills. [PDS 19.3]
#pragma once

#include "pds/tx/tx_slot.h"

#include "cms/events.h"
#include "wire/code_points.h"

namespace uet::pds {

// The news of one ACK.
struct AckNews {
  // Round trip, EV, CE mark, octets and packets; service time, received octets and out-of-order
  // count as the peer reports them.
  cms::Acked acked{};
  SlotKind closing = SlotKind::data;  // the control packet that it answers, if any
  bool late = false;  // a time-out came too early: its packet was late, not lost [PDS-254]

  bool is_any() const {
    return acked.packets != 0 || acked.rtt_valid || acked.remote.valid || acked.ecn;
  }
};

// Why a packet counts as lost.
struct LossNews {
  cms::LossKind kind{};
  wire::NackCode code{};  // that said so; none: it was inferred, or a time-out
  Psn psn;
  const TxSlot* packet = nullptr;  // its record
  Instant at;
  Duration rtt{};  // of the NACK that said so
  bool rtt_valid = false;
  bool ecn = false;  // M of that NACK
};

}  // namespace uet::pds
