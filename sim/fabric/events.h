// The pending events of a fabric: a calendar of nanoseconds, with a heap for distant ones.
#pragma once

#include "sim/fabric/mapped_memory.h"
#include "sim/fabric/topology.h"

#include "base/hash.h"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace uet::sim::fabric {

// The kind of an event and its part, in one word.
enum class Kind : uint32_t {
  arrival,  // of a packet, at the end of the cable it is on
  pause,    // PFC stops a port, or lets it go on
  host,     // has something to do
  flow,     // begins
  change,   // of a link
  reroute,  // the switches find new ways
};
inline constexpr uint32_t kKindShift = 28;
inline constexpr uint32_t event(Kind kind, uint32_t index) {
  return static_cast<uint32_t>(kind) << kKindShift | index;
}
inline constexpr Kind kind_of(uint32_t who) { return static_cast<Kind>(who >> kKindShift); }
inline constexpr uint32_t index_of(uint32_t who) { return who & ((uint32_t{1} << kKindShift) - 1); }

struct Event {
  Picoseconds at;
  uint32_t who;
};

// Adding and taking cost O(1) within 33 us, O(log) of the number of events beyond. Events of one
// instant come in an order that follows from the instant and `who`, and favours no port.
class EventQueue {
 public:
  EventQueue() { heads_->fill(kNone); }

  // From now on `events` of the next events are known, if they are close; 1 at first.
  void know_ahead(uint32_t events) { ahead_ = events; }
  // Not before the event that was taken last.
  void add(Picoseconds at, uint32_t who) {
    ++size_;
    const int64_t bucket = at >> kShift;
    if (bucket <= bucket_) return add_now(at, who);
    if (bucket - bucket_ < kBuckets) return add_soon(bucket, at, who);
    add_late(at, who);
  }
  // False: there is none.
  bool take(Event& out) {
    if (!know_next()) return false;
    out = {now_.back().at, now_.back().who};
    now_.pop_back();
    --size_;
    return true;
  }
  // `who` of the event that comes `ahead` (above 0) events later; UINT32_MAX: not known yet.
  uint32_t upcoming(uint32_t ahead) const {
    return now_.size() < ahead ? UINT32_MAX : now_[now_.size() - ahead].who;
  }
  // The time of the next event; kNever: there is none.
  Picoseconds next() { return know_next() ? now_.back().at : kNever; }
  uint64_t size() const { return size_; }

 private:
  static constexpr int kShift = 12;          // a bucket is 4096 ps
  static constexpr int64_t kBuckets = 8192;  // power of two
  static constexpr uint32_t kNone = UINT32_MAX;
  static constexpr int64_t kBucketsAhead = 2;

  struct Soon {
    uint32_t offset;  // from the start of its bucket, ps
    uint32_t who;
  };
  // Two cache lines of events of one bucket. Only the first chunk of a bucket has room.
  struct alignas(64) Chunk {
    uint32_t next;  // of the bucket, or of those not in use
    uint32_t count;
    std::array<Soon, 15> events;
  };
  struct Due {
    Picoseconds at;
    uint32_t order;
    uint32_t who;
    bool operator>(const Due& other) const {
      if (at != other.at) return at > other.at;
      return order != other.order ? order > other.order : who > other.who;
    }
  };

  static Due due(Picoseconds at, uint32_t who) {
    const uint64_t mixed = fold_multiply(static_cast<uint64_t>(at) ^ 0x243F6A8885A308D3,
                                         (uint64_t{who} << 1) ^ 0x9E3779B97F4A7C15);
    return {at, static_cast<uint32_t>(mixed), who};
  }
  void add_soon(int64_t bucket, Picoseconds at, uint32_t who) {
    uint32_t& head = (*heads_)[static_cast<size_t>(bucket & (kBuckets - 1))];
    if (head == kNone || chunks_[head].count == chunks_[head].events.size()) add_chunk(bucket);
    Chunk& chunk = chunks_[head];
    chunk.events[chunk.count++] = {static_cast<uint32_t>(at & ((1 << kShift) - 1)), who};
  }
  // False: there is no event.
  bool know_next() {
    if (now_.size() < ahead_ && now_.size() < size_) look_ahead();
    return !now_.empty();
  }
  bool is_used(int64_t bucket) const {
    const auto place = static_cast<size_t>(bucket & (kBuckets - 1));
    return (used_[place / 64] >> (place % 64) & 1) != 0;
  }
  void add_now(Picoseconds at, uint32_t who);
  void add_late(Picoseconds at, uint32_t who);
  void add_chunk(int64_t bucket);
  void look_ahead();
  void load(int64_t bucket);
  int64_t next_used() const;

  size_t ahead_ = 1;
  int64_t bucket_ = -1;   // now_ has all events up to its end
  std::vector<Due> now_;  // the latest first
  std::unique_ptr<std::array<uint32_t, kBuckets>> heads_ =
      std::make_unique<std::array<uint32_t, kBuckets>>();
  std::array<uint64_t, kBuckets / 64> used_{};
  MappedVector<Chunk> chunks_;
  uint32_t free_ = kNone;
  std::vector<Due> late_;    // a heap, the earliest first
  std::vector<Due> loaded_;  // scratch
  uint64_t size_ = 0;
};

}  // namespace uet::sim::fabric
