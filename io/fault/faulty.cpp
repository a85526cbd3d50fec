// Deciding each packet's misfortune and carrying it out on copies.
#include "io/fault/faulty.h"

#include "io/socket.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace uet::io {

FaultyIo::FaultyIo(std::unique_ptr<PacketIo> below, const FaultPlan& plan, uint64_t seed)
    : IoLayer(std::move(below)),
      plan_(plan),
      rng_(plan.seed != 0 ? plan.seed : seed),
      created_(monotonic_now()),
      slot_bytes_(inner().caps().max_datagram_bytes),
      memory_(new std::byte[size_t{kHeld} * slot_bytes_]) {}

int FaultyIo::failure() const {
  if (Instant::zero() + (monotonic_now() - created_) >= plan_.fail_at) return EIO;
  return inner().failure();
}

void FaultyIo::report_counters(const CounterSink& sink) const {
  sink("fault_loss_dropped", counters_.loss_dropped);
  sink("fault_burst_dropped", counters_.burst_dropped);
  sink("fault_blackhole_dropped", counters_.blackhole_dropped);
  sink("fault_corrupt_dropped", counters_.corrupt_dropped);
  sink("fault_corrupted", counters_.corrupted);
  sink("fault_duplicated", counters_.duplicated);
  sink("fault_reordered", counters_.reordered);
  sink("fault_spared", counters_.spared);
  inner().report_counters(sink);
}

// Draws the same numbers whatever the plan says.
FaultyIo::Verdict FaultyIo::judge() {
  const bool loss = rng_.chance(plan_.loss);
  const bool burst = rng_.chance(plan_.burst);
  const bool corrupt = rng_.chance(plan_.corrupt);
  const bool duplicate = rng_.chance(plan_.duplicate);
  const bool reorder = rng_.chance(plan_.reorder);

  if (plan_.blackholed(Instant::zero() + (now_ - created_))) {
    ++counters_.blackhole_dropped;
    return Verdict::drop;
  }
  if (burst_left_ == 0 && burst) burst_left_ = plan_.burst_packets;
  if (burst_left_ > 0) {
    --burst_left_;
    ++counters_.burst_dropped;
    return Verdict::drop;
  }
  if (loss) {
    ++counters_.loss_dropped;
    return Verdict::drop;
  }
  if (corrupt && !plan_.deliver_corrupt) {
    ++counters_.corrupted;
    ++counters_.corrupt_dropped;
    return Verdict::drop;
  }
  if (corrupt) return Verdict::corrupt;
  if (duplicate) return Verdict::duplicate;
  return reorder ? Verdict::hold : Verdict::pass;
}

void FaultyIo::send(std::span<TxPacket> packets) {
  now_ = monotonic_now();
  size_t passed = 0;  // start of the untouched packets that are still to be handed on
  for (size_t i = 0; i < packets.size(); ++i) {
    const Verdict verdict = judge();
    if (verdict == Verdict::pass) continue;
    // Neighbours stay together, so that the backend can still join them.
    if (passed < i) inner().send(packets.subspan(passed, i - passed));
    deviate(packets[i], verdict);
    passed = i + 1;
  }
  if (passed < packets.size()) inner().send(packets.subspan(passed));
  release_due();
}

void FaultyIo::deviate(TxPacket& packet, Verdict verdict) {
  packet.error = 0;
  packet.fate = TxFate::sent;
  if (verdict == Verdict::drop) return;

  Held* const held = copy(packet);
  if (held == nullptr) {
    ++counters_.spared;
    return inner().send({&packet, 1});
  }
  switch (verdict) {
    case Verdict::pass:
    case Verdict::drop:
      break;
    case Verdict::hold:
      held->due = now_ + Duration::nanoseconds(static_cast<int64_t>(
                             rng_.below(static_cast<uint64_t>(plan_.reorder_delay.ns()) + 1)));
      held->used = true;
      ++held_count_;
      ++counters_.reordered;
      break;
    case Verdict::corrupt: {
      if (packet.bytes() == 0) return inner().send({&packet, 1});
      const uint64_t bit = rng_.below(uint64_t{packet.bytes()} * 8);
      held->packet.header[bit / 8] ^= std::byte{1} << (bit % 8);
      inner().send({&held->packet, 1});
      packet.fate = held->packet.fate;
      packet.error = held->packet.error;
      if (packet.fate == TxFate::sent) ++counters_.corrupted;
      break;
    }
    case Verdict::duplicate:
      inner().send({&packet, 1});
      if (packet.fate != TxFate::sent) return;
      inner().send({&held->packet, 1});
      ++counters_.duplicated;
      break;
  }
}

// A copy in one of our slots, all of it contiguous from `header` on; null when all are in use or
// the packet is longer than the backend's limit.
FaultyIo::Held* FaultyIo::copy(const TxPacket& packet) {
  if (packet.bytes() > slot_bytes_ || held_count_ == kHeld) return nullptr;
  uint32_t index = 0;
  while (held_[index].used) ++index;
  std::byte* const start = memory_.get() + size_t{index} * slot_bytes_;
  std::byte* at = start;
  std::memcpy(at, packet.header, packet.header_bytes);
  at += packet.header_bytes;
  for (uint32_t i = 0; i < packet.slice_count; ++i) {
    std::memcpy(at, packet.slices[i].data, packet.slices[i].length);
    at += packet.slices[i].length;
  }
  Held& held = held_[index];
  held.payload = {start + packet.header_bytes, packet.payload_bytes};
  held.packet = packet;
  held.packet.header = start;
  held.packet.slices = &held.payload;
  held.packet.slice_count = packet.payload_bytes > 0 ? 1 : 0;
  return &held;
}

void FaultyIo::release_due() {
  if (held_count_ == 0) return;
  for (Held& held : held_) {
    if (!held.used || held.due > now_) continue;
    inner().send({&held.packet, 1});
    if (held.packet.fate == TxFate::later) continue;
    held.used = false;
    --held_count_;
  }
}

std::span<RxDatagram> FaultyIo::receive() {
  if (held_count_ > 0) {
    now_ = monotonic_now();
    release_due();
  }
  return inner().receive();
}

}  // namespace uet::io
