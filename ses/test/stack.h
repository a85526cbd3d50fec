// Two SES over the real PDS, in which some packets are lost or overtake others.
// Simulated time.
#pragma once

#include "ses/ses.h"

#include "pds/pds.h"

#include "base/rng.h"
#include "sim/world/stations.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

namespace uet::ses::test {

using Octets = std::vector<std::byte>;

struct Side {
  Side(uint8_t number, uint64_t seed) {
    self.family = FabricAddress::Family::ipv4;
    self.ip = {10, 0, 0, number};
    EXPECT_TRUE(peers.create(arena, 8, seed).ok());
    Config config;
    config.payload_mtu = 1024;
    config.unexpected_bytes = 1 << 20;
    auto made = Ses::create(arena, config, peers, seed);
    EXPECT_TRUE(made.ok());
    ses = *made;
    exchange = &ses->exchange();
    auto below = pds::Pds::create(arena, pds::Config{}, cms::Config{}, peers, *exchange, seed + 1);
    EXPECT_TRUE(below.ok());
    pds = *below;
    ses->attach(*pds);
  }
  void open(pds::Mode mode) {
    EndpointOptions options;
    options.mode = mode;
    CompletionSink sink;
    sink.owner = this;
    sink.complete = [](void* me, const Completion& c) {
      static_cast<Side*>(me)->done.push_back(c);
    };
    sink.reserve = [](void* me) { return static_cast<Side*>(me)->has_room; };
    EndpointName name;
    name.job = JobId(1);
    name.pid = PidOnFep(1);
    name.ri = ResourceIndex(1);
    ep = *ses->open_endpoint(name, options, sink, sink);
  }
  uint32_t transmit(TxBatch& batch, Instant now) { return pds->transmit(batch, now); }
  void receive(std::span<RxDatagram> datagrams, Instant now) { pds->receive(datagrams, now); }
  void advance(Instant now) {
    pds->advance(now);
    exchange->advance(now);
  }
  Instant next_deadline() const {
    return std::min(pds->next_deadline(), exchange->next_deadline());
  }

  Destination at(const FabricAddress& address, Instant now) {
    Destination to;
    to.peer = *peers.find_or_add(address, now);
    peers.add_ref(to.peer);
    to.pid = PidOnFep(1);
    to.ri = ResourceIndex(1);
    return to;
  }

  Arena arena;
  FabricAddress self;
  pds::PeerTable peers;
  Ses* ses = nullptr;
  Exchange* exchange = nullptr;
  pds::Pds* pds = nullptr;
  EndpointId ep;
  std::vector<Completion> done;
  bool has_room = true;  // for completions without a post
};

class StackFixture {
 protected:
  static constexpr uint32_t kA = 0, kB = 1;  // in stations_

  // Two new sides, at the time that it is.
  void meet(uint64_t seed_of_a, uint64_t seed_of_b) {
    const Instant start = now();
    a_ = std::make_unique<Side>(uint8_t{1}, seed_of_a);
    b_ = std::make_unique<Side>(uint8_t{2}, seed_of_b);
    stations_ = std::make_unique<sim::Stations<Side>>(start);
    stations_->add(*a_, a_->self);
    stations_->add(*b_, b_->self);
  }
  Instant now() const { return stations_->now(); }
  sim::Transit<sim::Datagram>& flights() { return stations_->transit(); }
  // Four batches leave.
  void pump(uint32_t side) {
    const auto at_once = [](TxPacket&, sim::Datagram&) -> sim::Fate { return {Duration::zero()}; };
    stations_->transmit(side, at_once, 4);
  }
  void deliver(Rng& rng, double loss) {
    while (!flights().empty()) {
      const bool overtakes = reorders_ && flights().size() > 1 && rng.chance(0.3);
      sim::Datagram datagram = flights().take(overtakes ? 1 : 0);
      if (!rng.chance(loss)) stations_->arrive(datagram);
    }
  }
  // Until both sides are idle, at most `steps` steps of 100 us.
  void run(Rng& rng, double loss, int steps) {
    for (int i = 0; i < steps; ++i) {
      stations_->advance(now() + Duration::microseconds(100));
      pump(kA);
      pump(kB);
      deliver(rng, loss);
      if (a_->ses->idle() && b_->ses->idle() && a_->done.size() >= expected_) return;
    }
  }

  std::deque<Octets> payloads_, rooms_;
  std::unique_ptr<Side> a_;
  std::unique_ptr<Side> b_;
  std::unique_ptr<sim::Stations<Side>> stations_ =
      std::make_unique<sim::Stations<Side>>(Instant::from_ns(1'000'000'000));
  size_t expected_ = 0;
  bool reorders_ = true;
};

}  // namespace uet::ses::test
