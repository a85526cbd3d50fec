// What one host still has to do, by time: what is due comes in order of its number, as from a
// program that works down a list.
#pragma once

#include "base/time.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace uet::sim {

// Tasks have numbers from 1 on and belong to a lane, which may be blocked without the others. Each
// call costs O(log tasks).
class Agenda {
 public:
  enum class Lane : uint8_t {
    receive,
    send,
    other
  };
  static constexpr uint32_t kLanes = 3;
  struct Task {
    Instant at;
    uint32_t id;
    Lane lane;
  };

  void add(Lane lane, uint32_t id, Instant at) {
    later_.push_back({at, id, lane});
    std::push_heap(later_.begin(), later_.end(), after);
  }
  // The task counts from the next advance() on.
  void add_next_time(Lane lane, uint32_t id, Instant at) { fresh_.push_back({at, id, lane}); }
  void add_due(Lane lane, uint32_t id) { due(lane).insert(id); }
  void finish(Lane lane, uint32_t id) { due(lane).erase(id); }
  void clear() { *this = {}; }

  // What is due by now can be walked through with first_due().
  void advance(Instant now) {
    for (const Task& t : fresh_) add(t.lane, t.id, t.at);
    fresh_.clear();
    while (!later_.empty() && later_.front().at <= now) {
      add_due(later_.front().lane, later_.front().id);
      drop_first_later();
    }
  }
  // The due task of that lane with the least number above `above`; 0: none.
  uint32_t first_due(Lane lane, uint32_t above) const {
    const std::set<uint32_t>& all = due_[static_cast<size_t>(lane)];
    const auto found = all.upper_bound(above);
    return found == all.end() ? 0 : *found;
  }
  // A task is due by `now`, or counts from the next advance() on.
  bool has_due(Instant now) const {
    const auto is_empty = [](const std::set<uint32_t>& lane) { return lane.empty(); };
    return !fresh_.empty() || !std::ranges::all_of(due_, is_empty) ||
           (!later_.empty() && later_.front().at <= now);
  }
  // The first task that is not due yet; null: none.
  const Task* first_later() const { return later_.empty() ? nullptr : &later_.front(); }
  void drop_first_later() {
    std::pop_heap(later_.begin(), later_.end(), after);
    later_.pop_back();
  }

 private:
  static bool after(const Task& a, const Task& b) { return a.at > b.at; }
  std::set<uint32_t>& due(Lane lane) { return due_[static_cast<size_t>(lane)]; }

  std::array<std::set<uint32_t>, kLanes> due_;
  std::vector<Task> later_;  // binary heap, earliest first
  std::vector<Task> fresh_;
};

}  // namespace uet::sim
