// Two stations joined by a pipe without cost, for measurements of the stations themselves: headers
// are handed over, payload octets are not moved, and time passes with the packets. Nothing is lost.
#pragma once

#include "sim/world/station.h"

#include "base/assert.h"
#include "base/packet.h"
#include "base/time.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace uet::sim {

template <Station S>
class Pipe {
 public:
  explicit Pipe(Instant start) : now_(start) {}

  // Both outlive the pipe's runs. Once, before the first.
  void join(S& a, S& b) {
    a_ = &a;
    b_ = &b;
  }
  Instant now() const { return now_; }
  // Packets that moved so far, and those of them with payload.
  uint64_t moved() const { return moved_; }
  uint64_t requests() const { return requests_; }

  // One visit after the other until `done()`. A packet comes from source_of(where it goes).
  template <class Done, class SourceOf>
  void run_until(Done&& done, SourceOf&& source_of) {
    UET_ASSERT(a_ != nullptr && b_ != nullptr);
    while (!done()) {
      const uint64_t before = requests_;
      carry(*a_, *b_, source_of);
      carry(*b_, *a_, source_of);
      // So that timers fire about as often as they would.
      const auto carried = static_cast<int64_t>(requests_ - before);
      now_ = now_ + Duration::nanoseconds(1000 + 300 * carried);
      if (a_->next_deadline() <= now_) a_->advance(now_);
      if (b_->next_deadline() <= now_) b_->advance(now_);
    }
  }

 private:
  // The largest packet, and an odd number of cache lines: slots do not compete for one set.
  static constexpr uint32_t kSlotBytes = 8192 + 7 * 64;
  static constexpr uint32_t kBatches = 4;  // in a row, as Engine::progress does

  template <class SourceOf>
  void carry(S& from, S& to, SourceOf&& source_of) {
    for (uint32_t i = 0; i < kBatches; ++i) {
      std::byte* slot = wire_.data();
      RxDatagram* datagram = datagrams_.data();
      const uint32_t count = take_batch(from, *batch_, now_, [&](TxPacket& packet) {
        std::memcpy(slot, packet.header, packet.header_bytes);
        datagram->bytes = {slot, packet.bytes()};
        datagram->from = source_of(packet.to);
        datagram->ev = packet.ev;
        datagram->ecn = packet.ecn;
        datagram->at = now_;
        if (packet.payload_bytes != 0) ++requests_;
        slot += kSlotBytes;
        ++datagram;
      });
      if (count == 0) break;
      moved_ += count;
      to.receive({datagrams_.data(), count}, now_);
    }
  }

  S* a_ = nullptr;
  S* b_ = nullptr;
  Instant now_;
  uint64_t moved_ = 0;
  uint64_t requests_ = 0;
  std::unique_ptr<TxBatch> batch_ = std::make_unique<TxBatch>();
  // One slot for each packet of a batch: its header, then payload as the slot happens to hold it.
  std::vector<std::byte> wire_ = std::vector<std::byte>(size_t{TxBatch::kCapacity} * kSlotBytes);
  std::vector<RxDatagram> datagrams_ = std::vector<RxDatagram>(TxBatch::kCapacity);
};

}  // namespace uet::sim
