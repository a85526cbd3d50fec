// Timers: the TimerWheel with 1 to 100,000 armed timers, the cost of one timer. Deadlines and order
// are drawn, so with many timers each is a cache miss, as for PDCs.
#include "base/assert.h"
#include "base/rng.h"
#include "base/timer_wheel.h"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace uet {
namespace {

constexpr Instant kStart = Instant::from_ns(1 << 30);  // on a tick

// A wheel at kStart with armed timers, in an order that was drawn.
class Timers {
 public:
  explicit Timers(uint32_t count)
      : wheel_(kStart), nodes_(std::make_unique<TimerNode[]>(count)), order_(count) {
    for (uint32_t i = 0; i < count; ++i) order_[i] = i;
    for (uint32_t i = count; i > 1; --i) std::swap(order_[i - 1], order_[rng_.below(i)]);
    for (Duration& d : waits_) {
      d = Duration::nanoseconds(static_cast<int64_t>(50'000 + rng_.below(10'000'000)));
    }
  }

  TimerWheel& wheel() { return wheel_; }
  uint32_t count() const { return static_cast<uint32_t>(order_.size()); }
  TimerNode& next() {
    TimerNode& node = nodes_[order_[at_]];
    at_ = at_ + 1 == order_.size() ? 0 : at_ + 1;
    return node;
  }
  // 50 us to 10 ms from the start, as retransmissions have.
  Instant deadline() { return kStart + waits_[drawn_++ % kWaits]; }
  void arm_all() {
    for (uint32_t i = 0; i < count(); ++i) wheel_.arm(next(), deadline());
  }

 private:
  static constexpr uint32_t kWaits = 4096;

  TimerWheel wheel_;  // destroyed after the timers
  std::unique_ptr<TimerNode[]> nodes_;
  std::vector<uint32_t> order_;
  Duration waits_[kWaits];
  Rng rng_{1, 7};
  size_t at_ = 0;
  uint32_t drawn_ = 0;
};

// One more is armed, and cancelled at once.
void arm_cancel(benchmark::State& state) {
  Timers timers(static_cast<uint32_t>(state.range(0)));
  timers.arm_all();
  TimerNode node;
  for (auto _ : state) {
    timers.wheel().arm(node, timers.deadline());
    benchmark::DoNotOptimize(node);
    timers.wheel().cancel(node);
  }
  state.SetComplexityN(state.range(0));
}

// An armed timer gets another deadline: it is cancelled and armed.
void move(benchmark::State& state) {
  Timers timers(static_cast<uint32_t>(state.range(0)));
  timers.arm_all();
  for (auto _ : state) timers.wheel().arm(timers.next(), timers.deadline());
  state.SetComplexityN(state.range(0));
}

// Time passes, one timer ends and is armed again behind all others. They end 2.048 us apart.
void expire(benchmark::State& state) {
  constexpr Duration kApart = Duration::nanoseconds(2 << TimerWheel::kTickShift);
  Timers timers(static_cast<uint32_t>(state.range(0)));
  Instant now = kStart;
  for (uint32_t i = 1; i <= timers.count(); ++i) {
    timers.wheel().arm(timers.next(), kStart + kApart * i);
  }
  const Duration around = kApart * timers.count();
  for (auto _ : state) {
    now = now + kApart;
    const uint32_t fired = timers.wheel().expire(
        now, [&](TimerNode& node) { timers.wheel().arm(node, now + around); });
    UET_ASSERT(fired == 1);
  }
  state.SetComplexityN(state.range(0));
}

// 1, 10, ... 100,000 timers, and how the time grows with their number.
#define UET_TIMER(function, name) \
  BENCHMARK(function)             \
      ->Name("timers/" name)      \
      ->RangeMultiplier(10)       \
      ->Range(1, 100'000)         \
      ->Complexity(benchmark::o1)

UET_TIMER(arm_cancel, "arm_cancel");
UET_TIMER(move, "move");
UET_TIMER(expire, "expire");

}  // namespace
}  // namespace uet
