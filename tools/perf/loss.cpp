// Two engines at a simulated network. Messages follow each other without a pause: each completion
// posts the next one.
#include "tools/perf/loss.h"

#include "sim/machines/machines.h"

#include "base/rng.h"

#include <array>
#include <cstddef>
#include <vector>

namespace uet::perf {
namespace {

constexpr uint64_t kMessageBytes = 256 << 10;
constexpr uint32_t kMessagesAhead = 16;
constexpr Duration kTurn = Duration::nanoseconds(200);  // of an end that has more to do
constexpr Duration kSleep = Duration::milliseconds(3);
constexpr uint32_t kSource = 0, kTarget = 1;
constexpr Instant kStart = Instant::from_ns(1'000'000'000);

class Stream {
 public:
  Stream(const fep::Config& config, const LossPlan& plan)
      : plan_(plan), memory_(kMessageBytes), machines_(plan.seed, kStart, kTurn, net_config()) {
    io::FaultPlan faults;
    faults.loss = plan.loss;
    faults.delay = plan.round_trip / 2;
    faults.rate_bps = plan.rate_bps;
    machines_.net().set_plan(faults);
    for (const uint32_t side : {kSource, kTarget}) {
      sim::MachineSetup setup;
      setup.config = config;
      setup.seed = plan.seed * 2 + side + 1;
      setup.on_completion = [this, side](const ses::Completion& c) {
        UET_ASSERT(c.ok());
        completions_ += side == kSource;
      };
      machines_.add(setup);
    }
    if (plan.queue_bytes != 0) {
      faults.rate_bps /= 2;
      faults.queue_bytes = plan.queue_bytes;
      machines_.net().set_link(sim::Machines::address(kTarget), faults);
    }
    key_ = machines_[kTarget].expose(memory_, ses::kRemoteWrite);
    to_ = machines_[kSource].meet(sim::Machines::address(kTarget), machines_.now());
  }

  LossFigure run() {
    for (uint32_t i = 0; i < kMessagesAhead; ++i) post();
    run_until(kStart + plan_.warm_up);
    const pds::Counters before = machines_[kSource].fep().pds().counters();
    const io::SimCounters net_before = machines_.net().counters();
    const uint64_t done = completions_;
    run_until(kStart + plan_.warm_up + plan_.measured);
    const pds::Counters& after = machines_[kSource].fep().pds().counters();
    const auto moved = [&](pds::Count c) { return after[c] - before[c]; };
    LossFigure f;
    const uint64_t bits = (completions_ - done) * kMessageBytes * 8;
    f.goodput_gbps = static_cast<double>(bits) / static_cast<double>(plan_.measured.ns());
    f.packets = moved(pds::Count::tx_requests);
    f.timeouts = moved(pds::Count::retx_rto);
    f.resends = f.timeouts + moved(pds::Count::retx_nack) + moved(pds::Count::retx_delayed) +
                moved(pds::Count::retx_ooo) + moved(pds::Count::retx_ev) +
                moved(pds::Count::retx_go_back_n) + moved(pds::Count::retx_tail);
    f.lost = machines_.net().counters().dropped() - net_before.dropped();
    return f;
  }

 private:
  static io::SimConfig net_config() {
    io::SimConfig c;
    c.packets_max = 16384;
    c.inbox_bytes_max = 64 << 20;
    return c;
  }
  void post() {
    machines_[kSource].write(to_, key_, memory_, machines_.now());
    ++posted_;
  }
  // Short ones mostly.
  Duration host_delay() {
    if (hosts_.below(400) == 0) return kSleep;
    const auto most = static_cast<uint64_t>(plan_.host_delay.ns()) * 4;
    const uint64_t ns = hosts_.below(hosts_.below(4) == 0 ? most : most / 8);
    return Duration::nanoseconds(static_cast<int64_t>(ns) + 1);
  }
  void run_until(Instant end) {
    const auto visit = [this](uint32_t side) {
      if (machines_.now() < ready_[side]) return ready_[side];
      bool is_busy = machines_.work(side);
      if (side == kSource) {
        for (; posted_ < completions_ + kMessagesAhead; is_busy = true) post();
      }
      if (!is_busy || plan_.host_delay == Duration::zero()) {
        return machines_.next_work(side, is_busy);
      }
      ready_[side] = machines_.now() + host_delay();
      return ready_[side];
    };
    while (machines_.step(end, visit)) {
    }
  }

  LossPlan plan_;
  Rng hosts_{plan_.seed};
  std::array<Instant, 2> ready_;   // an end does nothing before
  std::vector<std::byte> memory_;  // source and target of every message
  PeerId to_;
  uint64_t key_ = 0;
  uint64_t posted_ = 0;
  uint64_t completions_ = 0;  // at the source
  sim::Machines machines_;
};

}  // namespace

LossFigure goodput(fep::Config config, const LossPlan& plan) {
  config.ses.payload_mtu = 4096;
  return Stream(config, plan).run();
}

}  // namespace uet::perf
