// The time that links take, and the queue of a port.
#include "io/simnet/port.h"

#include "base/rng.h"  // uint128

#include <algorithm>
#include <utility>

namespace uet::io::simnet {
namespace {

// How long a link of this rate needs for `bytes` octets, rounded up.
int64_t duration_ns(uint64_t bytes, uint64_t rate_bps) {
  const uint128 bit_ns = uint128{bytes} * 8 * 1'000'000'000u;
  return static_cast<int64_t>((bit_ns + rate_bps - 1) / rate_bps);
}

}  // namespace

uint64_t Wire::queued_bytes(int64_t now, uint64_t rate_bps) const {
  if (idle_at_ <= now) return 0;
  const uint128 bit_ns = uint128{static_cast<uint64_t>(idle_at_ - now)} * rate_bps;
  return static_cast<uint64_t>(bit_ns / (8ull * 1'000'000'000u));
}

int64_t Wire::queue(uint64_t bytes, int64_t now, uint64_t rate_bps) {
  return idle_at_ = std::max(idle_at_, now) + duration_ns(bytes, rate_bps);
}

int64_t Wire::overtake(uint64_t bytes, int64_t now, uint64_t rate_bps) {
  const int64_t needed = duration_ns(bytes, rate_bps);
  idle_at_ += needed;
  return now + needed;
}

int64_t Wire::when_queued(uint64_t bytes, uint64_t rate_bps) const {
  return idle_at_ - duration_ns(bytes, rate_bps);
}

void Inbox::add(Packets& packets, uint32_t index) {
  packets[index].next = kNone;
  (tail_ == kNone ? head_ : packets[tail_].next) = index;
  tail_ = index;
  bytes_ += packets[index].bytes;
}

void Inbox::take_back(Packets& packets) {
  for (uint32_t i = 0; i < lent_count_; ++i) packets.release(lent_[i]);
  lent_count_ = 0;
}

std::span<RxDatagram> Inbox::receive(Packets& packets) {
  take_back(packets);
  while (head_ != kNone && lent_count_ < TxBatch::kCapacity) {
    const uint32_t index = head_;
    const Packet& packet = packets[index];
    head_ = packet.next;
    bytes_ -= packet.bytes;
    lent_[lent_count_] = index;
    datagrams_[lent_count_] = {
        {packets.octets(index), packet.bytes}, packet.from, packet.ev, packet.dscp, packet.ecn,
        Instant::from_ns(packet.arrived_ns)};
    ++lent_count_;
  }
  if (head_ == kNone) tail_ = kNone;
  return {datagrams_.data(), lent_count_};
}

bool Inbox::report(const FabricAddress& to, int error) {
  for (const PathError& e : std::span(errors_.data(), error_count_)) {
    if (e.to == to && e.error == error) return false;
  }
  if (error_count_ == kErrors) return false;  // the next packet that is lost there reports the rest
  errors_[error_count_++] = {to, error};
  return true;
}

std::span<const PathError> Inbox::take_errors() {
  const uint32_t count = std::exchange(error_count_, 0u);
  std::copy_n(errors_.begin(), count, taken_.begin());
  return {taken_.data(), count};
}

uint32_t Inbox::clear(Packets& packets) {
  take_back(packets);
  uint32_t count = 0;
  for (; head_ != kNone; ++count) {
    const uint32_t index = head_;
    head_ = packets[index].next;
    packets.release(index);
  }
  tail_ = kNone;
  bytes_ = error_count_ = 0;
  return count;
}

}  // namespace uet::io::simnet
