// The loop of a few machines at one network of cards (io::SimNet): each is visited at each event.
// Many machines, of which an event concerns one, are visited through a Clock instead.
#pragma once

#include "base/time.h"

#include <algorithm>
#include <concepts>

namespace uet::sim {

// What moves packets between machines by itself, as time passes.
template <class N>
concept Network = requires(N& n, const N& constant, Instant now) {
  { constant.now() } -> std::convertible_to<Instant>;
  { constant.next_event() } -> std::convertible_to<Instant>;
  n.advance(now);
};

// From event to event until `end`, or until done(). visit(now) lets every machine work and returns
// when one of them wants to work again although nothing arrives. Returns the time; that of the
// network is the same.
template <Network N, class Done, class Visit>
Instant drive(N& network, Instant end, Done&& done, Visit&& visit) {
  Instant now = network.now();
  while (now < end && !done()) {
    const Instant wanted = visit(now);
    const Instant next = std::min(wanted, network.next_event());  // after what the visit sent
    now = std::min(end, std::max(next, now + Duration::nanoseconds(1)));
    network.advance(now);
  }
  return now;
}

}  // namespace uet::sim
