// Two stations joined by a pipe without cost, for measurements of the stations themselves: headers
// are handed over, payload octets are not moved, and time passes with the packets. Nothing is lost.
#pragma once

#include "sim/world/station.h"
#include "sim/world/world.h"

#include "base/assert.h"
#include "base/packet.h"
#include "base/time.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace uet::sim {

template <Station S>
class Pipe {
 public:
  explicit Pipe(Instant start) : turns_{start} {}

  // Call once, before the first run. `a` and `b` must outlive all runs.
  void join(S& a, S& b) {
    ends_ = {&a, &b};
    for (size_t i = 0; i < ends_.size(); ++i) world_.add();
  }
  Instant now() const { return turns_.end; }
  // Packets that moved so far, and those of them with payload.
  uint64_t moved() const { return moved_; }
  uint64_t requests() const { return requests_; }

  // Both ends in turn until `done()`, which may post. A packet comes from source_of(where it goes).
  template <class Done, class SourceOf>
  void run_until(Done&& done, SourceOf&& source_of) {
    UET_ASSERT(ends_[0] != nullptr);
    const auto visit = [&](uint32_t end) {
      S& station = *ends_[end];
      const Instant now = world_.now();
      if (station.next_deadline() <= now) station.advance(now);
      carry(station, *ends_[1 - end], now, source_of);
      return Instant::never();
    };
    while (!done()) world_.step(Instant::never(), visit);
  }

 private:
  // The pipe as a Network: both ends have their turn when the packets of the last turn have passed.
  struct Turns {
    Instant end;        // of the present turn
    uint32_t next = 2;  // the next end that was not returned yet

    Instant next_event() const { return end; }
    void advance(Instant now) {
      end = now + Duration::microseconds(1);
      next = 0;
    }
    // So that timers fire about as often as they would.
    void note_request() { end = end + Duration::nanoseconds(300); }
    uint32_t take_touched() { return next < 2 ? next++ : kNobody; }
  };

  // The largest packet, and an odd number of cache lines: slots do not compete for one set.
  static constexpr uint32_t kSlotBytes = 8192 + 7 * 64;
  static constexpr uint32_t kBatches = 4;  // in a row, as Engine::progress does

  template <class SourceOf>
  void carry(S& from, S& to, Instant now, SourceOf&& source_of) {
    for (uint32_t i = 0; i < kBatches; ++i) {
      std::byte* slot = wire_.data();
      RxDatagram* datagram = datagrams_.data();
      const uint32_t count = take_batch(from, *batch_, now, [&](TxPacket& packet) {
        std::memcpy(slot, packet.header, packet.header_bytes);
        datagram->bytes = {slot, packet.bytes()};
        datagram->from = source_of(packet.to);
        datagram->ev = packet.ev;
        datagram->ecn = packet.ecn;
        datagram->at = now;
        if (packet.payload_bytes != 0) {
          ++requests_;
          turns_.note_request();
        }
        slot += kSlotBytes;
        ++datagram;
      });
      if (count == 0) break;
      moved_ += count;
      to.receive({datagrams_.data(), count}, now);
    }
  }

  Turns turns_;
  World<Turns> world_{turns_, turns_.end};
  std::array<S*, 2> ends_{};
  uint64_t moved_ = 0;
  uint64_t requests_ = 0;
  std::unique_ptr<TxBatch> batch_ = std::make_unique<TxBatch>();
  // One slot for each packet of a batch: its header, then payload as the slot happens to hold it.
  std::vector<std::byte> wire_ = std::vector<std::byte>(size_t{TxBatch::kCapacity} * kSlotBytes);
  std::vector<RxDatagram> datagrams_ = std::vector<RxDatagram>(TxBatch::kCapacity);
};

}  // namespace uet::sim
