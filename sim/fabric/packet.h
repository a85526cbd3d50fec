// Packets in flight: a header, a length, and no payload. Records of two cache lines, and switches
// only read the first; they are recycled, so no packet costs an allocation.
#pragma once

#include "sim/fabric/mapped_memory.h"
#include "sim/fabric/topology.h"

#include "base/packet.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace uet::sim::fabric {

inline constexpr uint32_t kNoPacket = UINT32_MAX;

struct alignas(64) Packet {
  static constexpr uint32_t kHeaderBytes = 68;

  uint64_t path_hash;  // of source, destination and entropy value
  uint32_t next;       // in a queue
  uint32_t previous;
  uint32_t port;           // the port whose cable it is on
  uint32_t wire_bytes;     // that links and queues count
  uint32_t payload_bytes;  // 0 when a switch has cut it
  uint32_t from;           // hosts
  uint32_t to;
  uint32_t in_port;  // through which it came into the switch it is in
  uint32_t flow;     // that it belongs to, for counting
  Entropy ev;
  uint8_t dscp;
  Ecn ecn;
  uint8_t header_bytes;
  bool is_trimmable;
  bool is_high;          // control, ACKs, trimmed: served before data
  uint8_t epoch;         // of the port when it went on the cable
  uint32_t likely_port;  // that it probably takes next, for prefetching
  std::array<std::byte, kHeaderBytes> header;
};
static_assert(sizeof(Packet) == 128);

class PacketPool {
 public:
  // It still has the contents of an earlier packet.
  uint32_t take() {
    ++in_use_;
    if (free_ == kNoPacket) {
      UET_ASSERT(used_ < kMost);
      return used_++;
    }
    const uint32_t taken = free_;
    free_ = packets_[taken].next;
    return taken;
  }
  void give(uint32_t packet) {
    packets_[packet].next = free_;
    free_ = packet;
    --in_use_;
  }
  Packet& operator[](uint32_t packet) { return packets_[packet]; }
  uint32_t in_use() const { return in_use_; }

 private:
  static constexpr uint32_t kMost = uint32_t{1} << 28;

  MappedMemory memory_{uint64_t{kMost} * sizeof(Packet)};
  Packet* packets_ = reinterpret_cast<Packet*>(memory_.data());
  uint32_t used_ = 0;  // largest number in use at once
  uint32_t free_ = kNoPacket;
  uint32_t in_use_ = 0;
};

// Packets one behind the other.
struct Queue {
  uint32_t head = kNoPacket;
  uint32_t tail = kNoPacket;

  bool empty() const { return head == kNoPacket; }
  void push(PacketPool& pool, uint32_t packet) {
    pool[packet].next = kNoPacket;
    pool[packet].previous = tail;
    if (empty()) {
      head = packet;
    } else {
      pool[tail].next = packet;
    }
    tail = packet;
  }
  // Requires that the list is not empty.
  uint32_t pop(PacketPool& pool) {
    const uint32_t taken = head;
    head = pool[taken].next;
    if (empty()) tail = kNoPacket;
    return taken;
  }
  uint32_t pop_last(PacketPool& pool) {
    const uint32_t taken = tail;
    if (taken == head) {
      head = tail = kNoPacket;
    } else {
      tail = pool[taken].previous;
      pool[tail].next = kNoPacket;
    }
    return taken;
  }
};

}  // namespace uet::sim::fabric
