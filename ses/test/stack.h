// Two SES over the real PDS: packets are passed from batch to batch, some are lost or overtake
// others. Simulated time.
#pragma once

#include "ses/ses.h"

#include "pds/pds.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

namespace uet::ses::test {

using Octets = std::vector<std::byte>;

struct Packet {
  Octets octets;
  uint16_t port = 0;
};

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
    auto below = pds::Pds::create(arena, pds::Config{}, peers, ses->exchange(), seed + 1);
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
  pds::Pds* pds = nullptr;
  EndpointId ep;
  std::vector<Completion> done;
  bool has_room = true;  // for completions that nobody posted for
};

class StackFixture {
 protected:
  void pump(Side& from, std::deque<Packet>& out) {
    for (int i = 0; i < 4 && from.pds->transmit(*batch_, now_) != 0; ++i) {
      for (TxPacket& p : batch_->packets()) {
        Packet packet;
        packet.port = p.ev.value();
        packet.octets.assign(p.header, p.header + p.header_bytes);
        for (uint32_t s = 0; s < p.slice_count; ++s) {
          packet.octets.insert(packet.octets.end(), p.slices[s].data,
                               p.slices[s].data + p.slices[s].length);
        }
        p.fate = TxFate::sent;
        out.push_back(std::move(packet));
      }
      batch_->compact();
    }
  }
  void deliver(Side& to, const Side& from, std::deque<Packet>& queue, Rng& rng, double loss) {
    while (!queue.empty()) {
      const bool overtakes = reorders_ && queue.size() > 1 && rng.chance(0.3);
      const size_t at = overtakes ? 1 : 0;
      Packet p = std::move(queue[at]);
      queue.erase(queue.begin() + static_cast<ptrdiff_t>(at));
      if (rng.chance(loss)) continue;
      RxDatagram d;
      d.bytes = p.octets;
      d.from = from.self;
      d.ev = Entropy(p.port);
      d.at = now_;
      to.pds->receive(d, now_);
    }
  }
  // Until both sides are idle, at most `steps` steps of 100 us.
  void run(Rng& rng, double loss, int steps) {
    for (int i = 0; i < steps; ++i) {
      now_ = now_ + Duration::microseconds(100);
      for (Side* s : {a_.get(), b_.get()}) {
        s->pds->advance(now_);
        s->ses->exchange().advance(now_);
      }
      pump(*a_, to_b_);
      pump(*b_, to_a_);
      deliver(*b_, *a_, to_b_, rng, loss);
      deliver(*a_, *b_, to_a_, rng, loss);
      if (a_->ses->idle() && b_->ses->idle() && a_->done.size() >= expected_) return;
    }
  }

  std::deque<Octets> payloads_, rooms_;
  std::unique_ptr<TxBatch> batch_ = std::make_unique<TxBatch>();
  std::unique_ptr<Side> a_;
  std::unique_ptr<Side> b_;
  std::deque<Packet> to_a_;
  std::deque<Packet> to_b_;
  Instant now_ = Instant::from_ns(1'000'000'000);
  size_t expected_ = 0;
  bool reorders_ = true;
};

}  // namespace uet::ses::test
