// Two engines at a simulated network. Messages follow each other without a pause: each completion
// posts the next one.
#include "tools/perf/loss.h"

#include "fep/engine.h"
#include "fep/settle.h"
#include "io/simnet/simnet.h"
#include "sim/world/drive.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace uet::perf {
namespace {

constexpr uint16_t kPid = 5;
constexpr uint64_t kMessageBytes = 256 << 10;
constexpr uint32_t kMessagesAhead = 16;
constexpr Duration kTurn = Duration::nanoseconds(200);  // of an end that has more to do
constexpr Instant kStart = Instant::from_ns(1'000'000'000);

class Stream {
 public:
  Stream(const fep::Config& config, const LossPlan& plan)
      : plan_(plan), net_(plan.seed, net_config()), memory_(kMessageBytes) {
    io::FaultPlan faults;
    faults.loss = plan.loss;
    faults.delay = plan.round_trip / 2;
    faults.rate_bps = plan.rate_bps;
    net_.set_plan(faults);
    if (plan.queue_bytes != 0) {
      faults.rate_bps /= 2;
      faults.queue_bytes = plan.queue_bytes;
      net_.set_link(address(2), faults);
    }
    net_.advance(kStart);
    open(a_, config, 1);
    open(b_, config, 2);
    const IoSlice slice{memory_.data(), memory_.size()};
    ses::RegionRequest request;
    request.iov = {&slice, 1};
    request.access = ses::kRemoteWrite;
    auto& regions = b_.engine->fep().ses().memory();
    const auto region = regions.add(request);
    UET_ASSERT(region.ok());
    regions.enable(*region);
    key_ = regions.key(*region);
    to_ = *a_.engine->fep().peers().find_or_add(address(2), now_);
    a_.engine->fep().peers().add_ref(to_);
  }

  LossFigure run() {
    for (uint32_t i = 0; i < kMessagesAhead; ++i) post();
    run_until(kStart + plan_.warm_up);
    const pds::Counters before = a_.engine->fep().pds().counters();
    const io::SimCounters net_before = net_.counters();
    const uint64_t done = a_.completions;
    run_until(now_ + plan_.measured);
    const pds::Counters& after = a_.engine->fep().pds().counters();
    const auto moved = [&](pds::Count c) { return after[c] - before[c]; };
    LossFigure f;
    const uint64_t bits = (a_.completions - done) * kMessageBytes * 8;
    f.goodput_gbps = static_cast<double>(bits) / static_cast<double>(plan_.measured.ns());
    f.packets = moved(pds::Count::tx_requests);
    f.timeouts = moved(pds::Count::retx_rto);
    f.resends = f.timeouts + moved(pds::Count::retx_nack) + moved(pds::Count::retx_delayed) +
                moved(pds::Count::retx_ooo) + moved(pds::Count::retx_ev) +
                moved(pds::Count::retx_go_back_n) + moved(pds::Count::retx_tail);
    f.lost = net_.counters().dropped() - net_before.dropped();
    return f;
  }

 private:
  struct Side {
    std::unique_ptr<fep::Engine> engine;
    ses::EndpointId endpoint;
    uint64_t completions = 0;
  };

  static io::SimConfig net_config() {
    io::SimConfig c;
    c.packets_max = 16384;
    c.inbox_bytes_max = 64 << 20;
    return c;
  }
  static FabricAddress address(uint8_t host) {
    FabricAddress a;
    a.family = FabricAddress::Family::ipv4;
    a.ip = {10, 0, 0, host};
    return a;
  }
  void open(Side& side, const fep::Config& config, uint8_t host) {
    auto fep = fep::FabricEndpoint::create(config, address(host), plan_.seed * 2 + host);
    UET_ASSERT(fep.ok());
    side.engine = std::make_unique<fep::Engine>(std::move(*fep), net_.attach(address(host)));
    ses::CompletionSink sink;
    sink.owner = &side;
    sink.complete = [](void* owner, const ses::Completion& c) {
      UET_ASSERT(c.ok());
      ++static_cast<Side*>(owner)->completions;
    };
    sink.reserve = [](void*) { return true; };
    const ses::EndpointName name{JobId(1), PidOnFep(kPid), ResourceIndex(1), 1, false};
    const auto endpoint = side.engine->fep().ses().open_endpoint(name, {}, sink, sink);
    UET_ASSERT(endpoint.ok());
    side.endpoint = *endpoint;
  }
  void post() {
    const IoSlice slice{memory_.data(), memory_.size()};
    ses::RmaRequest request;
    request.to = {to_, PidOnFep(kPid), ResourceIndex(1), 1, false};
    request.iov = {&slice, 1};
    request.key = key_;
    UET_ASSERT(a_.engine->fep().ses().rma(a_.endpoint, request, now_).ok());
    ++posted_;
  }
  void run_until(Instant end) {
    const auto visit = [this](Instant now) {
      now_ = now;
      bool is_busy = a_.engine->progress(now);
      is_busy = b_.engine->progress(now) || is_busy;
      for (; posted_ < a_.completions + kMessagesAhead; is_busy = true) post();
      while (net_.take_touched() != io::SimNet::kNoPort) {  // both ports are served each time
      }
      const Instant next = std::min(a_.engine->next_deadline(), b_.engine->next_deadline());
      return is_busy ? std::min(next, now + kTurn) : next;
    };
    now_ = sim::drive(
        net_, end, [] { return false; }, visit);
  }

  LossPlan plan_;
  io::SimNet net_;
  Instant now_ = kStart;
  std::vector<std::byte> memory_;  // source and target of every message
  Side a_, b_;
  PeerId to_;
  uint64_t key_ = 0;
  uint64_t posted_ = 0;
};

}  // namespace

LossFigure goodput(fep::Config config, const LossPlan& plan) {
  config.ses.payload_mtu = 4096;
  fep::settle(config);
  return Stream(config, plan).run();
}

}  // namespace uet::perf
