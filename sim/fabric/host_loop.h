// When and in which order hosts work: the part that all kinds of hosts share.
//
// A packet of a host reaches no other node within the latency of its cable. So all events of a host
// within such a window are handled at once, in their order, and each host's memory is loaded once
// for a handful of packets: with a thousand hosts these loads take most of the time of a run.
#pragma once

#include "sim/fabric/events.h"
#include "sim/fabric/topology.h"

#include "base/prefetch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace uet::sim::fabric {

// The result of a flow.
struct FlowRecord {
  Picoseconds start = kNever;
  Picoseconds finish = kNever;  // the source has the last ACK
  uint32_t sent = 0;            // packets with payload
  uint32_t resent = 0;          // of them, sent again
  uint32_t trimmed = 0;
  bool failed = false;
};

// State of a sender in a sample.
struct SenderSample {
  uint64_t window_bytes = 0;
  uint64_t inflight_bytes = 0;
  uint64_t rtt_ns = 0;  // 0: not known
};

// Work that is due at a host, by its own clock.
struct HostDue {
  struct Arrival {
    Picoseconds at;
    uint32_t packet;
  };
  struct Start {
    Picoseconds at;
    uint32_t flow;
  };
  struct End {
    uint32_t flow;
    bool is_ok;
  };

  uint32_t index = 0;
  bool is_due = false;            // it has something to do in this window
  std::vector<Arrival> arrivals;  // in their order; those before next_arrival are dealt with
  size_t next_arrival = 0;
  std::vector<Start> starts;     // of flows, the latest first
  Picoseconds pull_at = kNever;  // its card is free again
  Picoseconds wake_at = kNever;  // there is an event for it
  uint64_t digest = 0;           // of its sent octets
  std::vector<End> ends;         // of flows, just now
};

// Of hosts of type Host, a HostDue. Derived has up(index), which makes a host take part,
// is_up(host), own_deadline(host), begin(host, flow, now), receive(host, packet, now), work(host,
// now) for other due work, pull(host, now), and prefetch(host, turns), for a host whose turn comes
// `turns` turns later, 7 to 1.
template <class Derived, class Host>
class HostLoop {
 public:
  // Things come to a host; nothing happens before run().
  void start(uint32_t flow, uint32_t from, Picoseconds at) {
    Host& host = derived().up(from);
    const auto later = [at](const HostDue::Start& other) { return other.at > at; };
    const auto place = std::partition_point(host.starts.begin(), host.starts.end(), later);
    host.starts.insert(place, {at, flow});
    note_due(from, at);
  }
  void arrive(uint32_t packet, uint32_t host, Picoseconds at) {
    note_due(host, at);
    hosts_[host].arrivals.push_back({at, packet});
  }
  // A packet arrives there soon.
  void expect(uint32_t host) const {
    uet::prefetch(static_cast<const HostDue*>(&hosts_[host]), sizeof(HostDue));
  }
  // Its time has come, or its port may send again.
  void wake(uint32_t index, Picoseconds at) {
    Host& host = hosts_[index];
    if (host.wake_at == at) host.wake_at = kNever;
    if (derived().is_up(host)) note_due(index, at);
  }

  // When the first of the hosts has something to do since run(); kNever: none.
  Picoseconds due_since() const { return due_since_; }
  // Runs hosts up to `end`. Calls done(flow, at) for each flow that ends; flows that this starts on
  // the same host begin at once. `prefetches`: hosts ahead of their turns.
  template <class Done>
  void run(Picoseconds end, bool prefetches, Done&& done) {
    for (size_t i = 0; i < due_.size(); ++i) {
      if (prefetches) prefetch_from(i);
      run_host(hosts_[due_[i]], end, done);
    }
    due_.clear();
    due_since_ = kNever;
  }

  std::vector<FlowRecord>& records() { return records_; }
  // Payload of all flows that has left its host at least once.
  uint64_t bytes_begun() const { return bytes_begun_; }
  // Over all packets: those of each host in order.
  uint64_t digest() const {
    uint64_t out = 0;
    for (const Host& host : hosts_) out = hash64(out, host.digest, host.index);
    return out;
  }
  uint32_t size() const { return static_cast<uint32_t>(hosts_.size()); }

 protected:
  HostLoop(uint32_t hosts, size_t flows, EventQueue& events)
      : events_(events), hosts_(hosts), records_(flows) {
    for (uint32_t i = 0; i < hosts; ++i) hosts_[i].index = i;
  }

  EventQueue& events_;
  std::vector<Host> hosts_;
  std::vector<FlowRecord> records_;
  uint64_t bytes_begun_ = 0;

 private:
  void prefetch_from(size_t turn) {
    constexpr int kFirst = 8;
    if (turn + kFirst < due_.size()) uet::prefetch(&hosts_[due_[turn + kFirst]], sizeof(Host));
    for (int turns = kFirst - 1; turns > 0; --turns) {
      const size_t at = turn + static_cast<size_t>(turns);
      if (at < due_.size()) derived().prefetch(hosts_[due_[at]], turns);
    }
  }
  Derived& derived() { return static_cast<Derived&>(*this); }
  void note_due(uint32_t host, Picoseconds at) {
    due_since_ = std::min(due_since_, at);
    if (std::exchange(hosts_[host].is_due, true)) return;
    due_.push_back(host);
  }
  Picoseconds next_of(const Host& host) {
    Picoseconds next = std::min(host.pull_at, derived().own_deadline(host));
    if (host.next_arrival < host.arrivals.size()) {
      next = std::min(next, host.arrivals[host.next_arrival].at);
    }
    return host.starts.empty() ? next : std::min(next, host.starts.back().at);
  }
  template <class Done>
  void run_host(Host& host, Picoseconds end, Done&& done) {
    for (Picoseconds at = next_of(host); at < end; at = next_of(host)) {
      step(host, at);
      for (const HostDue::End& end_of : host.ends) {
        records_[end_of.flow].finish = at;
        records_[end_of.flow].failed = !end_of.is_ok;
        done(end_of.flow, at);
      }
      host.ends.clear();
    }
    rest(host);
  }
  // All events due at that moment.
  void step(Host& host, Picoseconds now) {
    if (host.pull_at <= now) host.pull_at = kNever;
    while (!host.starts.empty() && host.starts.back().at <= now) {
      const uint32_t flow = host.starts.back().flow;
      host.starts.pop_back();
      derived().begin(host, flow, now);
    }
    while (host.next_arrival < host.arrivals.size() && host.arrivals[host.next_arrival].at <= now) {
      derived().receive(host, host.arrivals[host.next_arrival++].packet, now);
    }
    derived().work(host, now);
    derived().pull(host, now);
  }
  // Until the next window.
  void rest(Host& host) {
    host.is_due = false;
    host.arrivals.erase(host.arrivals.begin(),
                        host.arrivals.begin() + static_cast<ptrdiff_t>(host.next_arrival));
    host.next_arrival = 0;
    const Picoseconds next = next_of(host);
    if (next >= host.wake_at) return;
    host.wake_at = next;
    events_.add(next, event(Kind::host, host.index));
  }

  std::vector<uint32_t> due_;
  Picoseconds due_since_ = kNever;
};

}  // namespace uet::sim::fabric
