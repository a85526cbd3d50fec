// Arrivals from a host while a case runs: packets and events that no step has taken yet, and the
// last lines of the traffic, in both directions.
#pragma once

#include "conformance/case.h"
#include "conformance/host.h"

#include <cstddef>
#include <deque>
#include <string>

namespace uet::conformance {

inline constexpr size_t kShown = 12;  // lines of the past, at a failure

// The event in the case language.
std::string event_text(const Event& e);

class Arrivals {
 public:
  // trace: each line of the past is printed as well.
  Arrivals(const Case& c, Host& host, bool trace)
      : case_(c), host_(host), trace_(trace), began_(host.now()) {}

  // Takes present arrivals, and lets time pass until more come, or until then.
  void wait(Instant until);
  // The same, to the end.
  void pass(Instant until) {
    while (host_.now() < until) wait(until);
    wait(until);
  }
  void discard();
  // A line of the past.
  void note(std::string text);

  const std::deque<Datagram>& packets() const { return packets_; }
  const std::deque<Event>& events() const { return events_; }
  // The arrivals that a step has expected, by its place there.
  void take_packet(size_t place) {
    packets_.erase(packets_.begin() + static_cast<ptrdiff_t>(place));
  }
  void take_event(size_t place) { events_.erase(events_.begin() + static_cast<ptrdiff_t>(place)); }
  const std::deque<std::string>& past() const { return past_; }
  Duration elapsed() const { return host_.now() - began_; }
  // The name of that peer, or else the address.
  std::string peer_name(const FabricAddress& address) const;

 private:
  const Case& case_;
  Host& host_;
  const bool trace_;
  const Instant began_;
  std::deque<Datagram> packets_;
  std::deque<Event> events_;
  std::deque<std::string> past_;
};

}  // namespace uet::conformance
