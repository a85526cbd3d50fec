// Two engines at a simulated network. Messages follow each other without a pause: each completion
// posts the next one.
#include "tools/perf/loss.h"

#include "fep/derive.h"
#include "fep/engine.h"
#include "io/simnet/simnet.h"
#include "sim/world/world.h"

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace uet::perf {
namespace {

constexpr uint16_t kPid = 5;
constexpr uint64_t kMessageBytes = 256 << 10;
constexpr uint32_t kMessagesAhead = 16;
constexpr Duration kTurn = Duration::nanoseconds(200);  // of an end that has more to do
constexpr uint32_t kSource = 0, kTarget = 1;
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
    net_.advance(kStart);
    for (uint32_t i = 0; i < sides_.size(); ++i)
      open(sides_[i], config, static_cast<uint8_t>(i + 1));
    if (plan.queue_bytes != 0) {
      faults.rate_bps /= 2;
      faults.queue_bytes = plan.queue_bytes;
      net_.set_link(address(kTarget + 1), faults);
    }
    const IoSlice slice{memory_.data(), memory_.size()};
    ses::RegionRequest request;
    request.iov = {&slice, 1};
    request.access = ses::kRemoteWrite;
    auto& regions = sides_[kTarget].engine->fep().ses().memory();
    const auto region = regions.add(request);
    UET_ASSERT(region.ok());
    regions.enable(*region);
    key_ = regions.key(*region);
    to_ = *sides_[kSource].engine->fep().peers().find_or_add(address(kTarget + 1), world_.now());
    sides_[kSource].engine->fep().peers().add_ref(to_);
  }

  LossFigure run() {
    for (uint32_t i = 0; i < kMessagesAhead; ++i) post();
    run_until(kStart + plan_.warm_up);
    const pds::Counters before = sides_[kSource].engine->fep().pds().counters();
    const io::SimCounters net_before = net_.counters();
    const uint64_t done = sides_[kSource].completions;
    run_until(kStart + plan_.warm_up + plan_.measured);
    const pds::Counters& after = sides_[kSource].engine->fep().pds().counters();
    const auto moved = [&](pds::Count c) { return after[c] - before[c]; };
    LossFigure f;
    const uint64_t bits = (sides_[kSource].completions - done) * kMessageBytes * 8;
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
  static FabricAddress address(uint8_t host) { return FabricAddress::v4(0x0A000000U | host); }
  void open(Side& side, const fep::Config& config, uint8_t host) {
    auto fep = fep::FabricEndpoint::create(config, address(host), plan_.seed * 2 + host);
    UET_ASSERT(fep.ok());
    auto port = net_.attach(address(host));
    UET_ASSERT(port->index() + 1 == host);  // what touches the port touches the actor
    side.engine = std::make_unique<fep::Engine>(std::move(*fep), std::move(port));
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
    world_.wake(world_.add(), kStart);
  }
  void post() {
    const IoSlice slice{memory_.data(), memory_.size()};
    ses::RmaRequest request;
    request.to = {to_, PidOnFep(kPid), ResourceIndex(1), 1, false};
    request.iov = {&slice, 1};
    request.key = key_;
    UET_ASSERT(sides_[kSource]
                   .engine->fep()
                   .ses()
                   .rma(sides_[kSource].endpoint, request, world_.now())
                   .ok());
    ++posted_;
  }
  void run_until(Instant end) {
    const auto visit = [this](uint32_t actor) {
      const Instant now = world_.now();
      fep::Engine& engine = *sides_[actor].engine;
      bool is_busy = engine.progress(now);
      if (actor == kSource) {
        for (; posted_ < sides_[kSource].completions + kMessagesAhead; is_busy = true) post();
      }
      const Instant next = engine.next_deadline();
      return is_busy ? std::min(next, now + kTurn) : next;
    };
    while (world_.step(end, visit)) {
    }
  }

  LossPlan plan_;
  io::SimNet net_;
  sim::World<io::SimNet> world_{net_, kStart};
  std::vector<std::byte> memory_;  // source and target of every message
  std::array<Side, 2> sides_;      // by port of the network: the actor of the same number
  PeerId to_;
  uint64_t key_ = 0;
  uint64_t posted_ = 0;
};

}  // namespace

LossFigure goodput(fep::Config config, const LossPlan& plan) {
  config.ses.payload_mtu = 4096;
  fep::derive(config);
  return Stream(config, plan).run();
}

}  // namespace uet::perf
