// The sending half: rings to other endpoints of this host, and which destinations have none. It is
// found out once whether a destination is local, and now and then whether it shares memory.
#pragma once

#include "io/packet_io.h"
#include "io/shm/counters.h"
#include "io/shm/door.h"
#include "io/shm/memory.h"
#include "io/shm/ring.h"

#include "base/packet.h"
#include "base/time.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace uet::io {

// One ring to one destination.
struct ShmDeparture {
  FabricAddress to;
  Fd connection;
  ShmMemory memory;
  std::optional<ShmRingWriter> writer;
  bool is_agreed = false;                  // the receiver has the ring
  bool is_used = false;                    // in this batch
  Instant stuck_since = Instant::never();  // it was full then, and its reader has not read enough
  uint32_t read = 0;                       // the reader's place then
  uint32_t due = 0;                        // packets that it has to read from there
};

class ShmDepartures {
 public:
  static constexpr uint32_t kRingsMax = 128;
  static constexpr uint32_t kKnownMax = 1024;  // destinations on this host
  // In flight to one destination: half of a ring, so that a ring that is read is never full.
  static constexpr uint32_t kRoomBytes = kShmDataBytes / 2;

  // `epoll` watches the connections, with `watch_base` + the index of the ring as data.
  ShmDepartures(const FabricAddress& local, uint8_t ip_protocol, int epoll, uint64_t watch_base,
                ShmCounters& counters);

  // The ring to that destination; null: none, the packet takes the socket. May try to make one,
  // which takes some system calls, at most once a while for each destination.
  ShmDeparture* find(const FabricAddress& to) {
    if (found_ != nullptr && found_->to == to) return found_;
    if (is_remote(to)) return nullptr;
    return find_known(to);
  }
  // Puts the packet into the ring and sets its fate. False: it has to take the socket.
  bool put(ShmDeparture& departure, TxPacket& packet);
  // The batch is over: wakes sleeping readers.
  void end_batch();

  // Something happened on a connection.
  void on_event(uint32_t index);
  // A process with that address has shown itself on this host.
  void on_local(const FabricAddress& address);

  // Destinations that have a ring since the last call, or have none any more; borrowed until then.
  std::span<const PathError> changes();

  uint32_t ring_count() const;

 private:
  // A destination of this host.
  struct Known {
    FabricAddress address;
    uint32_t ring = kNone;
    int64_t next_try_ns = 0;  // coarse monotonic time
    uint32_t tries = 0;       // failed ones in a row
  };
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr uint32_t kWays = 8;  // places of one destination

  bool is_remote(const FabricAddress& to) {
    const FabricAddress& r = remote_;
    if (r.ip == to.ip && r.family == to.family && r.scope_id == to.scope_id) return true;
    return is_remote_slowly(to);
  }
  bool is_remote_slowly(const FabricAddress& to);
  ShmDeparture* find_known(const FabricAddress& to);
  Known* place_of(const FabricAddress& to);
  void try_to_agree(Known& known, int64_t now_ns);
  bool open_ring(Known& known);
  void drop(uint32_t index, bool is_broken);
  void tell(const PathError& change);

  FabricAddress local_;
  uint8_t ip_protocol_;  // of the socket; 0: UDP
  int epoll_;
  uint64_t watch_base_;
  ShmCounters& counters_;
  std::vector<FabricAddress> host_;  // addresses of this host
  FabricAddress remote_;             // the last one that is not; its port does not matter
  ShmDeparture* found_ = nullptr;    // the last one
  Instant now_ = Instant::zero();    // of this batch; zero: not read yet
  std::array<std::unique_ptr<ShmDeparture>, kRingsMax> rings_;
  std::unique_ptr<std::array<Known, kKnownMax>> known_;
  std::vector<ShmDeparture*> used_;  // in this batch
  std::vector<PathError> changes_;
  bool are_changes_told_ = false;  // the next call clears them
};

}  // namespace uet::io
