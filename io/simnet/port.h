// One port of a SimNet: the two directions of its link, and the packets that wait there for its
// owner.
#pragma once

#include "io/fault/fault_plan.h"
#include "io/packet_io.h"
#include "io/simnet/parts.h"

#include "base/packet.h"

#include <array>
#include <cstdint>
#include <span>

namespace uet::io::simnet {

// One direction of a link. It sends octet by octet at a rate, in bits per second and not 0; unsent
// packets are queued. Times are ns.
class Wire {
 public:
  // Octets that are still queued at `now`.
  uint64_t queued_bytes(int64_t now, uint64_t rate_bps) const;
  // Queues `bytes` octets. Returns when the last of them has left.
  int64_t queue(uint64_t bytes, int64_t now, uint64_t rate_bps);
  // `bytes` octets leave before all that is queued. Returns when the last of them has left.
  int64_t overtake(uint64_t bytes, int64_t now, uint64_t rate_bps);
  // When at most `bytes` of the octets that are queued now have not left.
  int64_t when_queued(uint64_t bytes, uint64_t rate_bps) const;

 private:
  int64_t idle_at_ = 0;  // when the last octet now queued has left
};

// Unread arrivals at a port: packets in the order of arrival, and errors of paths. Packets are
// given as their numbers in the pool that holds them.
class Inbox {
 public:
  static constexpr uint32_t kErrors = 16;  // that wait; more are not noted

  bool is_empty() const { return head_ == kNone && error_count_ == 0; }
  // Octets that wait.
  uint32_t bytes() const { return bytes_; }
  void add(Packets& packets, uint32_t index);
  // Takes back the packets lent last time, and lends the next ones, at most a batch.
  std::span<RxDatagram> receive(Packets& packets);
  // False: that error of that address waits already, or kErrors do.
  bool report(const FabricAddress& to, int error);
  // The errors that wait. Good until the next call.
  std::span<const PathError> take_errors();
  // Throws everything away. Returns how many packets waited.
  uint32_t clear(Packets& packets);

 private:
  void take_back(Packets& packets);

  uint32_t head_ = kNone;
  uint32_t tail_ = kNone;
  uint32_t bytes_ = 0;
  uint32_t lent_count_ = 0;
  uint32_t error_count_ = 0;
  std::array<uint32_t, TxBatch::kCapacity> lent_{};
  std::array<RxDatagram, TxBatch::kCapacity> datagrams_{};
  std::array<PathError, kErrors> errors_{};
  std::array<PathError, kErrors> taken_{};
};

struct Port {
  // The plan of its link, where `general` is the one for links without a separate plan.
  const FaultPlan& plan_or(const FaultPlan& general) const {
    return has_own_plan ? own_plan : general;
  }

  FabricAddress address;
  Wire uplink;
  Wire downlink;
  uint32_t burst_left = 0;  // packets still to drop of a burst
  bool is_attached = false;
  bool wake_pending = false;  // an event will report that the uplink has room again
  bool has_own_plan = false;
  FaultPlan own_plan;
  Inbox inbox;
};

}  // namespace uet::io::simnet
