// Eight senders that begin to send to one receiver behind a slow port that keeps 512 KiB: whole
// stacks with the settings of stacks in software, over a simulated network, simulated time.
// [CMS-196, CMS-199, PDS-140]
#include "sim/machines/machines.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
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

struct Host {
  PeerId receiver;
  uint64_t done = 0;     // messages
  uint32_t waiting = 0;  // messages
  Instant begin;
};

// Host 0 receives. Sender i begins after i - 1 times `gap`.
class Incast {
 public:
  Incast(uint16_t payload, Duration gap, const cms::Config& cms) : hosts_(kSenders + 1) {
    io::FaultPlan plan;
    plan.delay = 50_us;
    machines_.net().set_plan(plan);
    plan.rate_bps = kPortBps;
    plan.queue_bytes = 512 << 10;
    for (Host& host : hosts_) open(host, payload, cms);
    const FabricAddress port = sim::Machines::address(0);
    machines_.net().set_link(port, plan);
    for (uint32_t i = 1; i < hosts_.size(); ++i) {
      hosts_[i].begin = kStart + gap * (i - 1);
      hosts_[i].receiver = machines_[i].meet(port, kStart);
    }
  }

  void run(Duration time) {
    while (machines_.step(kStart + time, [this](uint32_t host) { return visit(host); })) {
    }
  }
  uint64_t timeouts() const {
    uint64_t all = 0;
    for (uint32_t i = 1; i < hosts_.size(); ++i) all += machines_[i].count("retx_rto");
    return all;
  }
  uint64_t dropped() const { return machines_.net().counters().queue_dropped; }
  uint64_t received_bytes() const { return hosts_[0].done * kMessageBytes; }
  // Messages of each sender.
  std::vector<uint64_t> done() const {
    std::vector<uint64_t> all;
    for (uint32_t i = 1; i < hosts_.size(); ++i) all.push_back(hosts_[i].done);
    return all;
  }

 private:
  void open(Host& host, uint16_t payload, const cms::Config& cms) {
    sim::MachineSetup setup;
    setup.config.cms = cms;
    setup.config.ses.payload_mtu = payload;
    setup.config.pds.ack_form = pds::AckForm::cc;  // as the provider sends them
    setup.seed = machines_.size() + 1;
    setup.on_completion = [&host](const ses::Completion& c) {
      EXPECT_TRUE(c.ok());
      ++host.done;
      --host.waiting;
    };
    machines_.add(setup);
  }
  Instant visit(uint32_t index) {
    Host& host = hosts_[index];
    const Instant now = machines_.now();
    const sim::PostTerms tagged{.tagged = true};
    if (index == 0) {
      for (; host.waiting < kPosted; ++host.waiting) machines_[0].receive(room_, now, tagged);
    } else {
      for (; host.begin <= now && host.waiting < kAtOnce; ++host.waiting) {
        machines_[index].send(host.receiver, octets_, now, tagged);
      }
    }
    const bool is_busy = machines_.work(index);
    const Instant begin = host.begin > now ? host.begin : Instant::never();
    return std::min(machines_.next_work(index, is_busy), begin);
  }

  std::vector<Host> hosts_;
  std::vector<std::byte> room_ = std::vector<std::byte>(kMessageBytes);
  std::vector<std::byte> octets_ = std::vector<std::byte>(kMessageBytes);
  sim::Machines machines_{4, kStart, kTurn};  // the hosts, by index
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

// Jain's index of what the senders sent between a second and eight.
double fairness(uint16_t payload, Duration gap, const cms::Config& cms) {
  Incast incast(payload, gap, cms);
  incast.run(1_s);
  const std::vector<uint64_t> before = incast.done();
  incast.run(8_s);
  const std::vector<uint64_t> after = incast.done();
  double sum = 0;
  double squares = 0;
  for (uint32_t i = 0; i < kSenders; ++i) {
    const auto share = static_cast<double>(after[i] - before[i]);
    sum += share;
    squares += share * share;
  }
  return sum * sum / (kSenders * squares);
}

// [CMS-199] The senders that begin last have measured no round trip without the queue of the first
// ones; all get equal shares nevertheless.
TEST(IncastTest, SharesAreEqual) {
  for (const uint16_t payload : {uint16_t{1024}, uint16_t{8192}}) {
    for (const Duration gap : {0_us, 1000_us, 30000_us, 100000_us}) {
      EXPECT_GT(fairness(payload, gap, cms::Config::software()), 0.98)
          << payload << " octets, one sender every " << gap.ns() / 1000 << " us";
    }
  }
}

// The queue holds the first windows of all senders, so answers show what it drops later.
TEST(IncastTest, NoneTimesOutWhenLongOnesBegin) {
  const Figure figure = begin(8192, cms::Config::software());
  EXPECT_EQ(figure.timeouts, 0u);
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
