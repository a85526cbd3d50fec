// The one loop of simulated time. A world has a network and actors at it: hosts, stations,
// accidents. It goes from event to event and visits the actors that the event concerns.
#pragma once

#include "sim/world/clock.h"

#include "base/time.h"

#include <algorithm>
#include <concepts>
#include <cstdint>

namespace uet::sim {

// What moves packets between actors as time passes: Mail, io::SimNet, HostNetwork, the turns of a
// Pipe.
template <class N>
concept Network = requires(N& n, const N& constant, Instant now) {
  // When advance() next has something to do; never(): nothing is in flight.
  { constant.next_event() } -> std::same_as<Instant>;
  // Moves time on; what is due arrives.
  n.advance(now);
  // An actor that has to be visited: something has arrived for it, or it may send again. Each is
  // returned once; kNobody (of io::SimNet: kNoPort): there is none.
  { n.take_touched() } -> std::same_as<uint32_t>;
};

template <Network N>
class World {
 public:
  // The network outlives this. Its actors are those of add(), by number.
  World(N& network, Instant start) : network_(network), clock_(start) {}

  Instant now() const { return clock_.now(); }
  // Adds an actor, asleep; returns its number: 0, 1, ...
  uint32_t add() { return clock_.add(); }
  // The actor is visited at `at`, or at once if `at` is past; never(): only when it is touched.
  void wake(uint32_t actor, Instant at) { clock_.wake(actor, at); }
  // When the next event is; never(): nothing will ever happen.
  Instant next() const { return std::max(now(), std::min(clock_.next(), network_.next_event())); }

  // Nothing happens before `at` or at it: time moves on to it.
  void pass(Instant at) {
    clock_.advance(at);
    network_.advance(at);
  }

  // One event. What is due arrives; then visit(actor) is called for each actor that is touched or
  // awake, in the order of their numbers. It returns when the actor wants to be visited again
  // although nothing arrives. False: the next event is after `end`, and nothing happened.
  template <class Visit>
  bool step(Instant end, Visit&& visit) {
    const Instant at = next();
    if (at > end || at.is_never()) return false;
    clock_.advance(at);
    network_.advance(at);
    for (uint32_t actor; (actor = network_.take_touched()) != kNobody;) clock_.call(actor);
    for (const uint32_t actor : clock_.take_due()) clock_.wake(actor, visit(actor));
    return true;
  }

 private:
  N& network_;
  Clock clock_;
};

}  // namespace uet::sim
