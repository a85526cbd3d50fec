// Stations of one kind, the datagrams between them, and their time. A test runs the world, or takes
// single steps and decides the order of events.
//
// Machines with network cards (PacketIo) are joined by io::SimNet instead, which has links with
// rates and queues; sim/simulation.h runs many of them.
#pragma once

#include "sim/world/clock.h"
#include "sim/world/datagram.h"
#include "sim/world/station.h"
#include "sim/world/transit.h"

#include "base/assert.h"
#include "base/hash.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace uet::sim {

// The fate of a datagram: each copy arrives after its delay. Empty: it is lost.
using Fate = std::vector<Duration>;

// The functions named `fate` below are called as fate(TxPacket&, Datagram&) -> Fate for each packet
// that leaves, before its station gets a report. They may take or change the datagram, or refuse
// the packet by TxFate::never.
template <Station S>
class World {
 public:
  // A station that has more batches than `batches_max` at one instant never ends: an assertion.
  explicit World(Instant start, uint32_t batches_max = 10'000)
      : now_(start), batches_max_(batches_max) {}

  Instant now() const { return now_; }
  Transit<Datagram>& transit() { return transit_; }
  uint32_t size() const { return static_cast<uint32_t>(sites_.size()); }
  S& station(uint32_t index) { return *sites_[index].station; }

  // Adds a station at an address and returns its index: 0, 1, ... The world does not own it.
  uint32_t add(S& station, const FabricAddress& at) {
    by_address_.emplace(at, size());
    sites_.push_back({&station, at});
    return size() - 1;
  }
  // Another station takes the place of a removed one.
  void replace(uint32_t index, S& station) { sites_[index].station = &station; }

  // The packets that the station sends now leave, at most so many batches. Returns how many packets
  // there were.
  template <class FateOf>
  uint32_t transmit(uint32_t index, FateOf&& fate, uint32_t batches) {
    Site& site = sites_[index];
    uint32_t total = 0;
    for (uint32_t count = 1; batches > 0 && count != 0; --batches) {
      count = take_batch(*site.station, *batch_, now_, [&](TxPacket& packet) {
        leave(packet, Datagram::copy(packet, site.at, now_), fate);
      });
      total += count;
    }
    return total;
  }
  // All of it.
  template <class FateOf>
  uint32_t transmit(uint32_t index, FateOf&& fate) {
    uint32_t total = 0;
    for (uint32_t i = 0, count = 1; count != 0; ++i) {
      UET_ASSERT(i < batches_max_);
      total += count = transmit(index, fate, 1);
    }
    if constexpr (requires(const S& s) { s.has_work(); }) {
      UET_ASSERT(!sites_[index].station->has_work());
    }
    return total;
  }
  // The same of all stations.
  template <class FateOf>
  uint32_t transmit_all(FateOf&& fate) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < size(); ++i) total += transmit(i, fate);
    return total;
  }

  // Hands the datagram to the station at its address, at once. False: no station has it.
  bool arrive(Datagram& datagram) { return arrive_at(datagram) != kNobody; }
  // Everything arrives that is due.
  void deliver() {
    deliver([](uint32_t) {});
  }

  // The first deadline of a station. Each is asked, because a test may have called any of them.
  Instant next_deadline() const {
    Instant next = Instant::never();
    for (const Site& site : sites_) next = std::min(next, site.station->next_deadline());
    return next;
  }

  // Moves time on; nothing happens.
  void pass(Duration time) { now_ = now_ + time; }
  // Moves time on and runs the timers. Nothing arrives or leaves.
  void advance(Instant to) {
    UET_ASSERT(to >= now_);
    now_ = to;
    for (const Site& site : sites_) site.station->advance(now_);
  }

  // From event to event until `end`: timers, then arrivals, then what is sent. At each event only
  // the stations that it concerns are called, so `fate` must not call any.
  template <class FateOf>
  void run_until(Instant end, FateOf&& fate) {
    transmit_all(fate);
    Clock clock(now_);  // its actors are the stations, by index
    for (uint32_t i = 0; i < size(); ++i) clock.wake(clock.add(), deadline_of(i));
    for (Instant next; (next = std::min(clock.next(), transit_.next())) <= end;) {
      now_ = std::max(now_, next);
      clock.advance(now_);
      for (const uint32_t i : clock.take_due()) {
        sites_[i].station->advance(now_);
        clock.call(i);
      }
      deliver([&](uint32_t i) { clock.call(i); });
      for (const uint32_t i : clock.take_due()) {
        transmit(i, fate);
        clock.wake(i, deadline_of(i));
      }
    }
    now_ = std::max(now_, end);
  }

 private:
  static constexpr uint32_t kNobody = UINT32_MAX;
  struct AddressHash {
    size_t operator()(const FabricAddress& a) const {
      return hash64(std::as_bytes(std::span(&a, 1)), 0);  // it has no padding
    }
  };
  struct Site {
    S* station;
    FabricAddress at;
  };

  Instant deadline_of(uint32_t index) const { return sites_[index].station->next_deadline(); }
  // Returns the station that got it, or kNobody.
  uint32_t arrive_at(Datagram& datagram) {
    const auto found = by_address_.find(datagram.to);
    if (found == by_address_.end()) return kNobody;
    RxDatagram received = datagram.arriving(now_);
    sites_[found->second].station->receive(std::span<RxDatagram>(&received, 1), now_);
    return found->second;
  }
  template <class Got>
  void deliver(Got&& got) {
    while (transit_.next() <= now_) {
      Datagram datagram = transit_.take();
      const uint32_t index = arrive_at(datagram);
      if (index != kNobody) got(index);
    }
  }
  template <class FateOf>
  void leave(TxPacket& packet, Datagram datagram, FateOf&& fate) {
    const Fate copies = fate(packet, datagram);
    if (packet.fate != TxFate::sent) return;
    for (size_t i = 0; i + 1 < copies.size(); ++i) transit_.add(datagram, now_ + copies[i]);
    if (!copies.empty()) transit_.add(std::move(datagram), now_ + copies.back());
  }

  Instant now_;
  uint32_t batches_max_;
  std::vector<Site> sites_;
  std::unordered_map<FabricAddress, uint32_t, AddressHash> by_address_;
  Transit<Datagram> transit_;
  std::unique_ptr<TxBatch> batch_ = std::make_unique<TxBatch>();
};

}  // namespace uet::sim
