// A backend that loses, doubles, delays and damages sent packets by its plan: the FI_UET_FAULT
// knob, to try recovery on a perfect network. Receiving is untouched.
#pragma once

#include "io/fault/fault_plan.h"
#include "io/layer.h"

#include "base/rng.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace uet::io {

struct FaultCounters {
  uint64_t loss_dropped = 0;
  uint64_t burst_dropped = 0;
  uint64_t blackhole_dropped = 0;
  uint64_t corrupt_dropped = 0;  // of those corrupted
  uint64_t corrupted = 0;
  uint64_t duplicated = 0;
  uint64_t reordered = 0;
  uint64_t spared = 0;  // sent without a fault, because no room was left for a copy
  bool operator==(const FaultCounters&) const = default;
};

// Obeys loss, burst, dup, reorder, corrupt, blackhole and fail (times since creation). Faults that
// need a model of the network (delay, jitter, mtu, rate, queue, ecn) are ignored. A packet held
// back leaves with a later send() or receive(), when it is due; wait_fd() does not signal it.
class FaultyIo final : public IoLayer {
 public:
  // The plan's seed, when it has one, wins over `seed`.
  FaultyIo(std::unique_ptr<PacketIo> below, const FaultPlan& plan, uint64_t seed);

  // A packet dropped or held back has fate `sent`.
  void send(std::span<TxPacket> packets) override;
  std::span<RxDatagram> receive() override;
  int failure() const override;
  void report_counters(const CounterSink& sink) const override;

  const FaultCounters& counters() const { return counters_; }

 private:
  static constexpr uint32_t kHeld = 32;

  // A packet with its own memory.
  struct Held {
    bool used = false;
    Instant due;
    IoSlice payload;  // what packet.slices points to
    TxPacket packet;
  };
  enum class Verdict {
    pass,
    drop,
    corrupt,
    duplicate,
    hold
  };

  Verdict judge();
  void deviate(TxPacket& packet, Verdict verdict);
  Held* copy(const TxPacket& packet);
  void release_due();

  FaultPlan plan_;
  Rng rng_;
  Instant created_;
  Instant now_;
  uint32_t burst_left_ = 0;
  uint32_t held_count_ = 0;
  uint32_t slot_bytes_;
  std::array<Held, kHeld> held_{};
  std::unique_ptr<std::byte[]> memory_;
  FaultCounters counters_;
};

}  // namespace uet::io
