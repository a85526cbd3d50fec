// The state of a waiting endpoint, from which a person can see why it waits. It is a copy, so the
// FEP runs while tools read it. For tools only.
#pragma once

#include "ses/types.h"

#include "base/packet.h"
#include "base/time.h"

#include <cstdint>
#include <span>

namespace uet::pds {
class PeerTable;
}

namespace uet::ses {

class Endpoints;
struct RxMessage;

// A posted operation that is not reported yet.
struct OperationSnapshot {
  ResourceIndex endpoint;  // the local one
  FabricAddress peer;
  PidOnFep peer_pid;
  ResourceIndex peer_ri;
  OpKind kind{};
  const char* state = "";  // never null
  const void* context = nullptr;
  uint64_t tag = 0;  // or key
  uint64_t bytes = 0;
  uint64_t message_start = 0;  // of the message that is on its way now, within the operation
  uint32_t message_bytes = 0;
  uint16_t message_id = 0;
  uint32_t pulled_packets = 0;
  uint32_t done_packets = 0;
  uint32_t retries = 0;
  Duration refused;                        // since it was refused first; zero: it was not
  Duration timer = Duration::seconds(-1);  // until it is tried again; negative: no timer
};

// A posted receive.
struct ReceiveSnapshot {
  ResourceIndex endpoint;  // 0: of several
  FabricAddress from;      // directed ones
  bool directed = false;
  bool tagged = false;
  bool multi = false;
  bool is_matched = false;  // a message is arriving in it
  const void* context = nullptr;
  uint64_t tag = 0;
  uint64_t ignore = 0;
  uint64_t bytes = 0;
};

// A message that no receive matched yet.
struct KeptSnapshot {
  ResourceIndex endpoint;
  FabricAddress peer;
  bool tagged = false;
  bool is_complete = false;
  uint32_t initiator = 0;
  uint64_t tag = 0;
  uint32_t bytes = 0;
};

// A message with packets still to come.
struct ArrivingSnapshot {
  FabricAddress peer;
  uint16_t message_id = 0;
  uint32_t bytes = 0;
  uint32_t arrived = 0;
  Duration silent;  // since its last packet
};

// The caller's room, and how much of it was filled. The totals include items for which there was no
// room.
struct Snapshot {
  std::span<OperationSnapshot> operations;
  std::span<ReceiveSnapshot> receives;
  std::span<KeptSnapshot> kept;
  std::span<ArrivingSnapshot> arriving;
  uint32_t operation_count = 0;
  uint32_t receive_count = 0;
  uint32_t kept_count = 0;
  uint32_t arriving_count = 0;
  uint32_t endpoint_count = 0;
  uint32_t kept_pages = 0;  // of kept_pages_max, kPageBytes octets each
  uint32_t kept_pages_max = 0;
  uint32_t disabled_indices = 0;  // that refuse messages until there is room again [SES-131]
};

// For the layer, which fills it. Adds the operations, receives and kept messages of endpoints.
void add_waiting(Snapshot& out, const Endpoints& endpoints, const pds::PeerTable& peers,
                 Instant now);
// Adds a message that is arriving.
void add_arriving(Snapshot& out, const RxMessage& m, const pds::PeerTable& peers, Instant now);

}  // namespace uet::ses
