// The order of ROD at a receiver: the next PSN to deliver, and the packets that wait for it.
// ReorderBuffer owns their memory. [PDS 7.3]
#pragma once

#include "pds/rx/ack_scheduler.h"
#include "pds/sent_tick.h"

#include "wire/code_points.h"

#include "base/intrusive_list.h"
#include "base/serial.h"
#include "base/time.h"

#include <cstddef>
#include <cstdint>

namespace uet::pds {

// A ROD packet that arrived before its turn. A separate block holds its octets. [PDS-079]
struct ReorderedPacket : ListNode<struct ReorderTag> {
  AckTrigger trigger;
  bool ar = false;
  bool is_counted = false;  // for its peer [PDS-255]
  wire::NextHeader next_hdr{};
  uint32_t length = 0;
  uint32_t nominal_bytes = 0;  // [CMS-015]
  Instant arrival;
  std::byte* octets = nullptr;
};

class Order {
 public:
  void start(Psn first) {
    next_ = first;
    nacked_ = first - 1;
  }

  // The PSN to deliver next.
  Psn next() const { return next_; }
  bool is_next(Psn psn) const { return psn == next_; }
  // It was delivered, or needs no delivery.
  void pass() { ++next_; }

  // Keeps a packet at its place, nearly always at the end.
  void keep(ReorderedPacket& packet) {
    const Psn psn = packet.trigger.psn;
    if (waiting_.back() == nullptr || !waiting_.back()->trigger.psn.after(psn)) {
      return waiting_.push_back(packet);
    }
    for (ReorderedPacket& p : waiting_) {
      if (p.trigger.psn.after(psn)) return waiting_.insert_before(p, packet);
    }
  }
  // The first one that waits; null: none does. It leaves the list when it is freed.
  ReorderedPacket* first() { return waiting_.front(); }
  // The next packet in order; null: it was not kept.
  ReorderedPacket* due() {
    ReorderedPacket* const packet = waiting_.front();
    return packet != nullptr && packet->trigger.psn == next_ ? packet : nullptr;
  }
  bool empty() const { return waiting_.empty(); }

  // The client refused the next packet in order: it is offered again later.
  void stall(bool is_stalled) { is_stalled_ = is_stalled; }
  bool is_stalled() const { return is_stalled_; }

  // Whether the gap at next() is to be refused now: once in `interval`, because every such NACK
  // starts all packets from the gap on again. [PDS-077]
  bool take_nack(Duration interval, Instant now) {
    if (nacked_ == next_ && SentTick::age(nacked_tick_, now) < interval) return false;
    nacked_ = next_;
    nacked_tick_ = SentTick::of(now);
    return true;
  }
  // The last NACK named the gap that is still there.
  bool has_nacked() const { return nacked_ == next_; }

 private:
  IntrusiveList<ReorderedPacket, ReorderTag> waiting_;  // by PSN
  Psn next_;
  Psn nacked_;  // the last ROD_OOO named this gap
  uint32_t nacked_tick_ = 0;
  bool is_stalled_ = false;
};

}  // namespace uet::pds
