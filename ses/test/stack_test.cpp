// SES over the real PDS: what the scripted one cannot show, that both keep the same contract.
// Packets are passed from batch to batch, some are lost or overtake others.
#include "ses/ses.h"

#include "pds/pds.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <vector>

namespace uet::ses {
namespace {

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
    auto below = pds::Pds::create(arena, pds::Config{}, peers, *ses, seed + 1);
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
};

class StackTest : public ::testing::TestWithParam<pds::Mode> {
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
      const bool overtakes = GetParam() == pds::Mode::rud && queue.size() > 1 && rng.chance(0.3);
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
        s->ses->advance(now_);
      }
      pump(*a_, to_b_);
      pump(*b_, to_a_);
      deliver(*b_, *a_, to_b_, rng, loss);
      deliver(*a_, *b_, to_a_, rng, loss);
      if (a_->ses->idle() && b_->ses->idle() && a_->done.size() >= expected_) return;
    }
  }

  // `count` tagged sends and writes, and receives, half of which are posted late.
  void post(Rng& rng, const Destination& to, uint64_t key, int count, double loss) {
    for (int i = 0; i < count; ++i) {
      Octets& data = payloads_.emplace_back(rng.below(30'000));
      for (std::byte& b : data) b = std::byte(rng.u32());
      const IoSlice slice{data.data(), data.size()};
      SendRequest s;
      s.to = to;
      s.iov = {&slice, 1};
      s.tagged = true;
      s.tag = static_cast<uint64_t>(i);
      s.flags = rng.chance(0.3) ? uint32_t{kOpDeliveryComplete} : 0;
      ASSERT_TRUE(a_->ses->send(a_->ep, s, now_).ok());
      RmaRequest w;
      w.to = to;
      w.iov = {&slice, 1};
      w.key = key;
      w.remote_offset = 0;
      ASSERT_TRUE(a_->ses->rma(a_->ep, w, now_).ok());
    }
    // Half of the receives are posted late.
    for (int i = 0; i < count; ++i) {
      if (i == count / 2) run(rng, loss, 3);
      Octets& room = rooms_.emplace_back(30'000);
      const IoSlice slice{room.data(), room.size()};
      ReceiveRequest r;
      r.iov = {&slice, 1};
      r.tagged = true;
      r.tag = static_cast<uint64_t>(i);
      ASSERT_TRUE(b_->ses->receive(b_->ep, r, now_).ok());
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
};

TEST_P(StackTest, EveryKindOfMessageSurvivesLossAndReordering) {
  const double loss = 0.05;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Rng rng(seed);
    a_ = std::make_unique<Side>(1, seed);
    b_ = std::make_unique<Side>(2, seed + 1000);
    a_->open(GetParam());
    b_->open(GetParam());
    const Destination to = a_->at(b_->self, now_);
    Octets memory(100'000);
    const IoSlice whole{memory.data(), memory.size()};
    RegionRequest region;
    region.iov = {&whole, 1};
    region.access = kRemoteRead | kRemoteWrite;
    const RegionId id = *b_->ses->memory().add(region);
    b_->ses->memory().enable(id);

    payloads_.clear();
    rooms_.clear();
    const int count = 12;
    post(rng, to, b_->ses->memory().key(id), count, loss);
    expected_ = 2 * count;
    run(rng, loss, 40'000);
    ASSERT_EQ(a_->done.size(), expected_);
    for (const Completion& c : a_->done) EXPECT_TRUE(c.ok());
    ASSERT_EQ(b_->done.size(), size_t(count));
    for (const Completion& c : b_->done) {
      EXPECT_TRUE(c.ok());
      const Octets& sent = payloads_[c.tag];
      EXPECT_EQ(c.bytes, sent.size());
      EXPECT_TRUE(std::equal(sent.begin(), sent.end(), rooms_[c.tag].begin()));
    }
    Octets back(memory.size());
    const IoSlice into{back.data(), back.size()};
    RmaRequest r;
    r.to = to;
    r.read = true;
    r.iov = {&into, 1};
    r.key = b_->ses->memory().key(id);
    ASSERT_TRUE(a_->ses->rma(a_->ep, r, now_).ok());
    ++expected_;
    run(rng, loss, 40'000);
    ASSERT_EQ(a_->done.size(), expected_);
    EXPECT_TRUE(a_->done.back().ok());
    EXPECT_EQ(back, memory);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, StackTest, ::testing::Values(pds::Mode::rud, pds::Mode::rod));

}  // namespace
}  // namespace uet::ses
