// The parts of a SimNet: packets under way, pending events, addresses and paths, and changed ports.
// Each takes its memory when the network is made or a port is added.
#pragma once

#include "io/fault/fault_plan.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/hash_map.h"
#include "base/packet.h"
#include "base/time.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace uet::io::simnet {

inline constexpr uint32_t kNone = UINT32_MAX;  // no packet, no port

struct Packet {
  FabricAddress from;
  uint32_t bytes;
  uint32_t from_port;
  uint32_t to_port;
  uint32_t next;  // in a port's inbox or the free list
  int64_t arrived_ns;
  Entropy ev;
  uint8_t dscp;
  Ecn ecn;
};

// A fixed number of packets, each with room for its octets.
class Packets {
 public:
  // carried_bytes: room of one; datagram_bytes: its length may be greater than that.
  Packets(uint32_t count, uint32_t carried_bytes, uint32_t datagram_bytes);

  // kNone when all are in use.
  uint32_t allocate();
  void release(uint32_t index);
  // A copy with its octets; kNone when all are in use.
  uint32_t copy(uint32_t index);
  Packet& operator[](uint32_t index) { return packets_[index]; }
  std::byte* octets(uint32_t index) const {
    return memory_.get() + uint64_t{index} * carried_bytes_;
  }
  uint32_t carried_bytes() const { return carried_bytes_; }

 private:
  uint32_t carried_bytes_;
  uint32_t count_;
  uint32_t free_head_ = kNone;
  std::vector<Packet> packets_;  // ports that were ever used; there is room for all
  std::unique_ptr<std::byte[]> memory_;
};

struct Event {
  enum class Kind : uint8_t {
    reached_link,  // at the queue of the destination's link
    arrived,       // at the destination
    writable,      // an uplink that pushed back has room again
  };
  int64_t at_ns;
  uint64_t order;    // of creation: breaks ties
  uint32_t subject;  // packet, or port for writable
  Kind kind;
};

// Pending events, the earliest first. Mostly events are added in their order of time: those stand
// in a queue, the others in a binary heap.
class Events {
 public:
  Events() : queue_(kQueued) {}
  // Room in the heap.
  void reserve(size_t count) { heap_.reserve(count); }
  void add(int64_t at_ns, Event::Kind kind, uint32_t subject);
  Instant earliest() const {
    const Event* const first = first_event();
    return first == nullptr ? Instant::never() : Instant::from_ns(first->at_ns);
  }
  bool is_due(Instant now) const {
    const Event* const first = first_event();
    return first != nullptr && first->at_ns <= now.ns();
  }
  // The earliest event; requires that there is one.
  Event take();

 private:
  static constexpr uint32_t kQueued = 1024;  // at most; a power of two

  const Event& queued(uint32_t place) const { return queue_[place & (kQueued - 1)]; }
  // Null: there is none.
  const Event* first_event() const;

  std::vector<Event> queue_;  // a ring
  uint32_t front_ = 0;        // counts events taken from the queue,
  uint32_t back_ = 0;         // and those put in; both wrap
  std::vector<Event> heap_;
  uint64_t made_ = 0;
};

// From addresses to ports.
class Directory {
 public:
  Directory();
  // kNone: the address was never attached.
  uint32_t find(const FabricAddress& address) const {
    const uint32_t* const port = ports_.find({address});
    return port == nullptr ? kNone : *port;
  }
  void add(const FabricAddress& address, uint32_t port);

 private:
  struct Key {
    FabricAddress address;  // has no padding
    bool operator==(const Key&) const = default;
    friend uint64_t hash_of(const Key& k, uint64_t seed) {
      const auto words = std::bit_cast<std::array<uint64_t, 3>>(k.address);
      return hash64(words[0] ^ words[2], words[1], seed);
    }
  };

  Arena arena_;
  HashMap<Key, uint32_t> ports_;
};

struct Path {
  uint64_t key;  // from port << 32 | to port
  FaultPlan plan;
  bool own_plan;
  bool partitioned;
};

// The plan of all paths and links, and the paths that differ from it.
class Paths {
 public:
  const FaultPlan& plan() const { return plan_; }
  void set_plan(const FaultPlan& plan) { plan_ = plan; }
  // The plan of that path, or else the common one. `to` may be kNone.
  const FaultPlan& plan(uint32_t from, uint32_t to) const {
    const Path* const path = to == kNone ? nullptr : find(from, to);
    return path != nullptr && path->own_plan ? path->plan : plan_;
  }
  // Null: it does not differ.
  const Path* find(uint32_t from, uint32_t to) const {
    return paths_.empty() ? nullptr : search(from, to);
  }
  Path& at(uint32_t from, uint32_t to);

 private:
  const Path* search(uint32_t from, uint32_t to) const;

  FaultPlan plan_;
  std::vector<Path> paths_;  // sorted by key
};

// The ports that changed since they were last taken: each once, in order.
class Touched {
 public:
  void add_port();
  void add(uint32_t port);
  // kNone: no port changed.
  uint32_t take();

 private:
  std::vector<uint32_t> ring_;
  std::vector<bool> is_in_;  // by port
  uint32_t head_ = 0;
  uint32_t count_ = 0;
};

}  // namespace uet::io::simnet
