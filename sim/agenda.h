// The open tasks of one host, by time: due tasks come in order of their number, as from a program
// that works down a list.
#pragma once

#include "sim/due_list.h"

#include "base/time.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace uet::sim {

// Tasks have numbers from 1 on and belong to a lane, which may be blocked without the others. Each
// call costs O(log tasks) for each task that it adds or takes.
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
  void add_due(Lane lane, uint32_t id) {
    due(lane).add(id);
    due(lane).sort_added();
  }
  void finish(Lane lane, uint32_t id) { due(lane).erase(id); }
  void clear() { *this = {}; }

  // first_due() then walks through the tasks that are due by now.
  void advance(Instant now) {
    if (planned_.empty() && later_.size() >= kMany) plan();
    for (const Task& t : fresh_) add(t.lane, t.id, t.at);
    fresh_.clear();
    bool is_any = false;
    for (const Task* t = first_later(); t != nullptr && t->at <= now; t = first_later()) {
      due(t->lane).add(t->id);
      drop_first_later();
      is_any = true;
    }
    if (!is_any) return;
    for (DueList& lane : due_) lane.sort_added();
  }
  // The due task of that lane with the least number above `above`; 0: none.
  uint32_t first_due(Lane lane, uint32_t above) const {
    return due_[static_cast<size_t>(lane)].first_above(above);
  }
  // A task is due by `now`, or counts from the next advance() on.
  bool has_due(Instant now) const {
    const auto is_empty = [](const DueList& lane) { return lane.empty(); };
    if (!fresh_.empty() || !std::ranges::all_of(due_, is_empty)) return true;
    const Task* const later = first_later();
    return later != nullptr && later->at <= now;
  }
  // The first task that is not due yet; null: none.
  const Task* first_later() const {
    const Task* const planned = planned_.empty() ? nullptr : &planned_.back();
    if (later_.empty()) return planned;
    return planned == nullptr || later_.front().at < planned->at ? &later_.front() : planned;
  }
  void drop_first_later() {
    if (later_.empty() || first_later() != &later_.front()) return planned_.pop_back();
    std::pop_heap(later_.begin(), later_.end(), after);
    later_.pop_back();
  }

 private:
  static constexpr size_t kMany = 32;
  static bool after(const Task& a, const Task& b) { return a.at > b.at; }
  // Taking a task from a heap moves others: many known tasks are rather sorted once.
  void plan() {
    planned_.swap(later_);
    std::sort(planned_.begin(), planned_.end(), after);
  }
  DueList& due(Lane lane) { return due_[static_cast<size_t>(lane)]; }

  std::array<DueList, kLanes> due_;
  std::vector<Task> planned_;  // the earliest last
  std::vector<Task> later_;    // the others: a binary heap, earliest first
  std::vector<Task> fresh_;
};

}  // namespace uet::sim
