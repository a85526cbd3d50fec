// Simulated time, and the next instant at which each actor (a host, a network) has something to do.
#pragma once

#include "base/assert.h"
#include "base/time.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace uet::sim {

inline constexpr uint32_t kNobody = UINT32_MAX;  // no actor

// A binary heap that knows the place of each actor in it: every call costs O(log actors). Of
// several actors with one instant the one added first goes first.
class Clock {
 public:
  explicit Clock(Instant start) : now_(start) {}

  Instant now() const { return now_; }

  // Adds an actor, asleep; returns its number: 0, 1, ...
  uint32_t add() {
    const auto actor = static_cast<uint32_t>(actors_.size());
    actors_.push_back({Instant::never(), kAsleep, false});
    return actor;
  }
  // The actor runs at `at`, or at once if that is past; never(): it sleeps.
  void wake(uint32_t actor, Instant at) {
    Actor& a = actors_[actor];
    a.at = std::max(at, now_);
    if (a.at.is_never()) return remove(actor);
    if (a.place == kAsleep) {
      a.place = static_cast<uint32_t>(heap_.size());
      heap_.push_back(actor);
    }
    sink(rise(a.place));
  }
  // The actor runs now; the time of its next run does not change. O(1).
  void call(uint32_t actor) {
    if (std::exchange(actors_[actor].is_called, true)) return;
    called_.push_back(actor);
  }
  // When the actor runs, unless it is called; never(): it sleeps.
  Instant at(uint32_t actor) const { return actors_[actor].at; }
  // When the first of all runs; never(): all sleep.
  Instant next() const {
    if (!called_.empty()) return now_;
    return heap_.empty() ? Instant::never() : actors_[heap_[0]].at;
  }

  // Moves time on, not beyond next(), and never back.
  void advance(Instant to) {
    UET_ASSERT(to >= now_ && to <= next());
    now_ = to;
  }
  // Puts all due actors to sleep and returns them and the called ones, in their order; valid until
  // the next call. An actor that is woken or called again meanwhile is not among them, even if it
  // is for the same instant.
  std::span<const uint32_t> take_due() {
    due_.swap(called_);
    called_.clear();
    while (!heap_.empty() && actors_[heap_[0]].at <= now_) {
      const uint32_t actor = heap_[0];
      if (!actors_[actor].is_called) due_.push_back(actor);
      actors_[actor].at = Instant::never();
      remove(actor);
    }
    for (const uint32_t actor : due_) actors_[actor].is_called = false;
    if (due_.size() > 1) std::sort(due_.begin(), due_.end());  // all run at one instant
    return due_;
  }

 private:
  static constexpr uint32_t kAsleep = UINT32_MAX;
  struct Actor {
    Instant at;
    uint32_t place;  // in heap_
    bool is_called = false;
  };

  bool before(uint32_t a, uint32_t b) const {
    return actors_[a].at != actors_[b].at ? actors_[a].at < actors_[b].at : a < b;
  }
  void put(uint32_t actor, uint32_t place) {
    heap_[place] = actor;
    actors_[actor].place = place;
  }
  uint32_t rise(uint32_t place) {
    const uint32_t actor = heap_[place];
    while (place > 0 && before(actor, heap_[(place - 1) / 2])) {
      put(heap_[(place - 1) / 2], place);
      place = (place - 1) / 2;
    }
    put(actor, place);
    return place;
  }
  void sink(uint32_t place) {
    const uint32_t actor = heap_[place];
    const auto size = static_cast<uint32_t>(heap_.size());
    while (2 * place + 1 < size) {
      uint32_t child = 2 * place + 1;
      if (child + 1 < size && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], actor)) break;
      put(heap_[child], place);
      place = child;
    }
    put(actor, place);
  }
  void remove(uint32_t actor) {
    const uint32_t place = actors_[actor].place;
    if (place == kAsleep) return;
    actors_[actor].place = kAsleep;
    const uint32_t last = heap_.back();
    heap_.pop_back();
    if (last == actor) return;
    put(last, place);
    sink(rise(place));
  }

  Instant now_;
  std::vector<Actor> actors_;
  std::vector<uint32_t> heap_;
  std::vector<uint32_t> called_;
  std::vector<uint32_t> due_;
};

}  // namespace uet::sim
