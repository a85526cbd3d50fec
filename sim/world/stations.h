// Stations of one kind, the datagrams between them, and their time. A test runs them in a world, or
// takes single steps and decides the order of events.
//
// Machines with network cards (PacketIo) are joined by io::SimNet instead, which has links with
// rates and queues.
#pragma once

#include "sim/world/datagram.h"
#include "sim/world/mail.h"
#include "sim/world/station.h"
#include "sim/world/transit.h"
#include "sim/world/world.h"

#include "base/assert.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace uet::sim {

// The fate of a datagram: each copy arrives after its delay. Empty: it is lost.
using Fate = std::vector<Duration>;

// The functions named `fate` below are called as fate(TxPacket&, Datagram&) -> Fate for each packet
// that leaves, before its station gets a report. They may take or change the datagram, or refuse
// the packet by TxFate::never.
template <Station S>
class Stations {
 public:
  // A station that has more batches than `batches_max` at one instant never ends: an assertion.
  explicit Stations(Instant start, uint32_t batches_max = 10'000)
      : now_(start), batches_max_(batches_max) {}

  Instant now() const { return now_; }
  Transit<Datagram>& transit() { return mail_.transit(); }
  uint32_t size() const { return static_cast<uint32_t>(sites_.size()); }
  S& station(uint32_t index) { return *sites_[index].station; }

  // Adds a station at an address and returns its index: 0, 1, ... This does not own it.
  uint32_t add(S& station, const FabricAddress& at) {
    mail_.add(at);
    sites_.push_back({&station, at});
    return size() - 1;
  }
  // Another station takes the place of a removed one.
  void replace(uint32_t index, S& station) { sites_[index].station = &station; }

  // The packets that the station sends now leave, in a limited number of batches. Returns the
  // number of packets.
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
  bool arrive(Datagram& datagram) {
    const uint32_t index = mail_.find(datagram.to);
    if (index == kNobody) return false;
    receive(index, datagram);
    return true;
  }

  // The first deadline of a station. Each is asked, because a test may have called any of them.
  Instant next_deadline() const {
    Instant next = Instant::never();
    for (const Site& site : sites_) next = std::min(next, site.station->next_deadline());
    return next;
  }

  // Moves time on and runs the timers. Nothing arrives or leaves.
  void advance(Instant to) {
    UET_ASSERT(to >= now_);
    now_ = to;
    for (const Site& site : sites_) site.station->advance(now_);
  }

  // From event to event until `end`. A station that an event concerns runs its timers, receives
  // and sends. `fate` must not call any station.
  template <class FateOf>
  void run_until(Instant end, FateOf&& fate) {
    transmit_all(fate);
    World world(mail_, now_);
    for (uint32_t i = 0; i < size(); ++i) world.wake(world.add(), deadline_of(i));
    const auto visit = [&](uint32_t index) {
      now_ = world.now();
      if (deadline_of(index) <= now_) station(index).advance(now_);
      for (Datagram& datagram : mail_.take(index)) receive(index, datagram);
      transmit(index, fate);
      return deadline_of(index);
    };
    while (world.step(end, visit)) {
    }
    now_ = std::max(now_, end);
  }

 private:
  struct Site {
    S* station;
    FabricAddress at;
  };

  Instant deadline_of(uint32_t index) const { return sites_[index].station->next_deadline(); }
  void receive(uint32_t index, Datagram& datagram) {
    RxDatagram received = datagram.arriving(now_);
    station(index).receive(std::span<RxDatagram>(&received, 1), now_);
  }
  template <class FateOf>
  void leave(TxPacket& packet, Datagram datagram, FateOf&& fate) {
    const Fate copies = fate(packet, datagram);
    if (packet.fate != TxFate::sent) return;
    for (size_t i = 0; i + 1 < copies.size(); ++i) transit().add(datagram, now_ + copies[i]);
    if (!copies.empty()) transit().add(std::move(datagram), now_ + copies.back());
  }

  Instant now_;
  uint32_t batches_max_;
  std::vector<Site> sites_;
  Mail mail_;
  std::unique_ptr<TxBatch> batch_ = std::make_unique<TxBatch>();
};

}  // namespace uet::sim
