// Eight senders that begin to send to one receiver behind a slow port that keeps 512 KiB: whole
// stacks with the settings of stacks in software, over a simulated network, simulated time.
// [CMS-196, PDS-140]
#include "fep/derive.h"
#include "fep/engine.h"

#include "io/simnet/simnet.h"
#include "sim/world/world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace uet::fep {
namespace {

using namespace uet::literals;

constexpr uint32_t kSenders = 8;
constexpr uint32_t kMessageBytes = 64 * 1024;
constexpr uint32_t kAtOnce = 4;  // messages of a sender
constexpr uint32_t kPosted = 2 * kSenders * kAtOnce;
constexpr uint64_t kPortBps = 200'000'000;
constexpr Instant kStart = Instant::from_ns(1'000'000'000);
constexpr Duration kTurn = 50_us;  // until a host that had something to do works again

FabricAddress address(uint32_t host) { return FabricAddress::v4(0x0A000000U | (host + 1)); }

struct Host {
  std::unique_ptr<Engine> engine;
  ses::EndpointId endpoint;
  PeerId receiver;
  uint64_t done = 0;     // messages
  uint32_t waiting = 0;  // messages
  Instant begin;

  uint64_t count(const std::string& name) const {
    uint64_t found = UINT64_MAX;
    engine->fep().for_each_counter([&](const char* counter, uint64_t value) {
      if (name == counter) found = value;
    });
    return found;
  }
};

// Host 0 receives. Sender i begins after i - 1 times `gap`.
class Incast {
 public:
  Incast(uint16_t payload, Duration gap, const cms::Config& cms) : hosts_(kSenders + 1) {
    io::FaultPlan plan;
    plan.delay = 50_us;
    net_.set_plan(plan);
    plan.rate_bps = kPortBps;
    plan.queue_bytes = 512 << 10;
    for (uint32_t i = 0; i < hosts_.size(); ++i) open(i, payload, cms);
    net_.set_link(address(0), plan);
    for (uint32_t i = 1; i < hosts_.size(); ++i) {
      auto& peers = hosts_[i].engine->fep().peers();
      hosts_[i].begin = kStart + gap * (i - 1);
      hosts_[i].receiver = *peers.find_or_add(address(0), kStart);
      peers.list(hosts_[i].receiver);
    }
  }

  void run(Duration time) {
    while (world_.step(kStart + time, [this](uint32_t host) { return visit(host); })) {
    }
  }
  uint64_t timeouts() const {
    uint64_t all = 0;
    for (uint32_t i = 1; i < hosts_.size(); ++i) all += hosts_[i].count("retx_rto");
    return all;
  }
  uint64_t dropped() const { return net_.counters().queue_dropped; }
  uint64_t received_bytes() const { return hosts_[0].done * kMessageBytes; }

 private:
  void open(uint32_t index, uint16_t payload, const cms::Config& cms) {
    Host& host = hosts_[index];
    Config config;
    config.cms = cms;
    config.ses.payload_mtu = payload;
    config.pds.ack_form = pds::AckForm::cc;  // as the provider sends them
    derive(config);
    auto fep = FabricEndpoint::create(config, address(index), index + 1);
    ASSERT_TRUE(fep.ok());
    host.engine = std::make_unique<Engine>(std::move(*fep), net_.attach(address(index)));
    ses::CompletionSink sink;
    sink.owner = &host;
    sink.complete = [](void* owner, const ses::Completion& c) {
      EXPECT_TRUE(c.ok());
      auto* const completed = static_cast<Host*>(owner);
      ++completed->done;
      --completed->waiting;
    };
    sink.reserve = [](void*) { return true; };
    const ses::EndpointName name{JobId(1), PidOnFep(1), ResourceIndex(1), 1, false};
    const auto endpoint = host.engine->fep().ses().open_endpoint(name, {}, sink, sink);
    ASSERT_TRUE(endpoint.ok());
    host.endpoint = *endpoint;
    world_.wake(world_.add(), kStart);
  }
  void post_receive() {
    const IoSlice slice{room_.data(), room_.size()};
    ses::ReceiveRequest request;
    request.iov = {&slice, 1};
    request.tagged = true;
    ++hosts_[0].waiting;
    const Instant now = world_.now();
    ASSERT_TRUE(hosts_[0].engine->fep().ses().receive(hosts_[0].endpoint, request, now).ok());
  }
  void post_send(Host& host) {
    const IoSlice slice{octets_.data(), octets_.size()};
    ses::SendRequest request;
    request.to = {host.receiver, PidOnFep(1), ResourceIndex(1), 1, false};
    request.iov = {&slice, 1};
    request.tagged = true;
    ++host.waiting;
    ASSERT_TRUE(host.engine->fep().ses().send(host.endpoint, request, world_.now()).ok());
  }
  Instant visit(uint32_t index) {
    Host& host = hosts_[index];
    const Instant now = world_.now();
    if (index == 0) {
      while (host.waiting < kPosted) post_receive();
    } else {
      while (host.begin <= now && host.waiting < kAtOnce) post_send(host);
    }
    const bool is_busy = host.engine->progress(now);
    const Instant begin = host.begin > now ? host.begin : Instant::never();
    const Instant next = std::min(host.engine->next_deadline(), begin);
    return is_busy ? std::min(next, now + kTurn) : next;
  }

  io::SimNet net_{4};
  sim::World<io::SimNet> world_{net_, kStart};  // its actors are the hosts, by index
  std::vector<Host> hosts_;
  std::vector<std::byte> room_ = std::vector<std::byte>(kMessageBytes);
  std::vector<std::byte> octets_ = std::vector<std::byte>(kMessageBytes);
};

// Sums over incasts of senders that begin at once, or one after another; the least share of the
// port's rate that was payload.
struct Figure {
  uint64_t timeouts = 0;
  uint64_t dropped = 0;
  double share = 1;
};

Figure begin(uint16_t payload, const cms::Config& cms) {
  constexpr Duration kAfterLast = 400_ms;
  Figure figure;
  for (const Duration gap : {0_us, 300_us, 1000_us, 3000_us, 8000_us, 30000_us, 100000_us}) {
    Incast incast(payload, gap, cms);
    incast.run(gap * kSenders + kAfterLast);
    figure.timeouts += incast.timeouts();
    figure.dropped += incast.dropped();
    const double seconds = static_cast<double>((gap * kSenders + kAfterLast).ns()) / 1e9;
    const double bits = static_cast<double>(incast.received_bytes()) * 8;
    figure.share = std::min(figure.share, bits / (seconds * kPortBps));
  }
  return figure;
}

// The queue holds the first windows of all, so answers show what it drops later. One packet is left
// whose sender hears of nothing else: the last of a message, when all begin at once.
TEST(IncastTest, FewPacketsTimeOutWhenLongOnesBegin) {
  const Figure figure = begin(8192, cms::Config::software());
  EXPECT_LE(figure.timeouts, 2u);
  EXPECT_LE(figure.dropped, 8u) << "of 9,000 packets";
  EXPECT_GT(figure.share, 0.9);
}

TEST(IncastTest, NoneTimesOutWhenShortOnesBegin) {
  const Figure figure = begin(1024, cms::Config::software());
  EXPECT_EQ(figure.timeouts, 0u);
  EXPECT_LE(figure.dropped, 150u);
  EXPECT_GT(figure.share, 0.8);
}

// With 128 KiB the first windows meet a full queue: of some senders all packets are dropped.
TEST(IncastTest, ManyTimeOutWithALargeFirstWindow) {
  cms::Config large = cms::Config::software();
  for (const auto& [payload, packets] : {std::pair<uint16_t, uint32_t>{8192, 16}, {1024, 128}}) {
    large.initial_window_packets = packets;
    const Figure figure = begin(payload, large);
    EXPECT_GE(figure.timeouts, 100u);
    EXPECT_GE(figure.dropped, 400u);
  }
}

}  // namespace
}  // namespace uet::fep
