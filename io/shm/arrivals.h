// The receiving half: rings from other endpoints of this host. Each call looks at the few that were
// busy last, and at some of the others in turn.
#pragma once

#include "io/shm/counters.h"
#include "io/shm/door.h"
#include "io/shm/memory.h"
#include "io/shm/ring.h"

#include "base/packet.h"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace uet::io {

class ShmArrivals {
 public:
  static constexpr uint32_t kRingsMax = 128;

  // See ShmDepartures for `epoll` and `watch_base`. `on_agreed` gets the address of a sender whose
  // ring was taken.
  ShmArrivals(int epoll, uint64_t watch_base, ShmCounters& counters,
              std::function<void(const FabricAddress&)> on_agreed);

  // A process connects that may share memory with this one.
  void add(Fd connection);
  // Something happened on a connection.
  void on_event(uint32_t index);

  bool none() const { return order_.empty(); }
  // Received packets, at most a batch. Lent until the next call of receive(), add() or on_event().
  std::span<RxDatagram> receive();

  // For all rings, including later ones; then check has_packet().
  void set_asleep(bool asleep);
  bool has_packet() const;

 private:
  struct Arrival {
    FabricAddress from;
    Fd connection;
    ShmMemory memory;
    std::optional<ShmRingReader> reader;  // empty: the sender has not passed its ring yet
    bool is_over = false;                 // the sender is gone; its packets are still taken
  };
  static constexpr uint32_t kBusy = 8;            // rings looked at in each call
  static constexpr uint32_t kOthers = 8;          // and the idle rings
  static constexpr uint32_t kPacketsInARow = 32;  // of one ring

  void take_hello(uint32_t index, const FabricAddress& from, const Fd& descriptor);
  // Packets of a ring go to the batch. False: the ring is gone.
  bool take_from(uint32_t index);
  void look_at(uint32_t place);
  void lend(const Arrival& arrival, const ShmPacket& packet);
  void release();
  void drop(uint32_t index);

  int epoll_;
  uint64_t watch_base_;
  ShmCounters& counters_;
  std::function<void(const FabricAddress&)> on_agreed_;
  std::array<std::unique_ptr<Arrival>, kRingsMax> rings_;
  std::vector<uint32_t> order_;  // rings that have a reader; the busy ones lead
  uint32_t next_other_ = 0;      // of the places behind the busy ones
  uint32_t next_busy_ = 0;       // the place for the next idle one
  bool asleep_ = false;
  std::vector<uint32_t> lent_;  // rings that packets are lent of
  uint32_t count_ = 0;          // of the batch
  Instant now_;                 // of the batch; zero: not read yet
  std::array<RxDatagram, TxBatch::kCapacity> datagrams_{};
  std::array<std::array<std::byte, kShmInlineBytes>, TxBatch::kCapacity> short_{};
};

}  // namespace uet::io
