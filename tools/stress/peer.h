// Another process as one process knows it: its address, the messages to it, and the contents of its
// memory. A process that restarts is another peer; the old one goes when its last operation ends.
#pragma once

#include "tools/stress/node.h"

#include <memory>
#include <vector>

namespace uet::stress {

constexpr size_t kCounters = 8;
constexpr size_t kLockBytes = 1024;
// A restarted process does not write where packets of its predecessor may still arrive.
constexpr uint32_t kAreasPerWriter = 4;

// Each writer has separate areas in the region of a process: octets, then counters.
struct Layout {
  size_t data_bytes;
  size_t area_bytes;

  static Layout of(const Options& options) {
    const size_t data =
        std::max<size_t>(65536, (options.bytes_max + kLockBytes - 1) / kLockBytes * kLockBytes);
    return {data, data + kCounters * sizeof(uint64_t)};
  }
  static uint32_t area_of(uint32_t writer, uint32_t incarnation) {
    return writer * kAreasPerWriter + incarnation % kAreasPerWriter;
  }
  // The contents of an area before anything is written.
  static Content first_content(uint64_t seed, uint32_t slot, uint32_t incarnation, uint32_t area) {
    return Content(mix(mix(mix(seed ^ slot) + incarnation) + area));
  }
};

struct Peer {
  Peer(Node& its_node, uint32_t its_slot, uint32_t its_incarnation, const std::string& name)
      : node(its_node), slot(its_slot), incarnation(its_incarnation), addr(node.insert(name)) {}
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  std::string text() const { return std::to_string(slot) + "." + std::to_string(incarnation); }

  Node& node;
  uint32_t slot;
  uint32_t incarnation;
  fi_addr_t addr;
  uint64_t key = 0;
  uint64_t base = 0;        // of this process's area there
  bool is_target = false;   // operations go to it
  bool is_suspect = false;  // one has failed: nothing more goes there
  bool is_learnt = true;    // the contents of the area are known
  uint32_t next_seq[kStreams] = {};
  // The contents of the area, and the parts that an operation uses.
  std::vector<uint8_t> bytes;
  std::vector<bool> is_busy;  // by kLockBytes
  uint64_t counters[kCounters] = {};
  bool counter_is_busy[kCounters] = {};
};
using PeerRef = std::shared_ptr<Peer>;

}  // namespace uet::stress
