// Tests of the timer wheel: rounding, order, what handlers may do, and a model under random calls.
#include "base/timer_wheel.h"

#include "base/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace uet {
namespace {

constexpr int64_t kTickNs = 1024;

Instant tick(int64_t n) { return Instant::from_ns(n * kTickNs); }

class TimerWheelTest : public testing::Test {
 protected:
  TimerWheel wheel_;

  // The kinds of the timers that fire, in order.
  std::vector<int> expire(Instant now) {
    std::vector<int> kinds;
    const uint32_t fired = wheel_.expire(now, [&](TimerNode& n) { kinds.push_back(n.kind()); });
    EXPECT_EQ(fired, kinds.size());
    return kinds;
  }
};

using Kinds = std::vector<int>;

TEST_F(TimerWheelTest, AnIdleWheelHasNoDeadline) {
  EXPECT_TRUE(wheel_.next_deadline().is_never());
  EXPECT_EQ(expire(tick(1'000'000)), Kinds{});
  EXPECT_TRUE(wheel_.next_deadline().is_never());
}

TEST_F(TimerWheelTest, ATimerFiresAtTheFirstTickAtOrAfterItsDeadline) {
  TimerNode timer(1);
  wheel_.arm(timer, Instant::from_ns(5 * kTickNs + 1));
  EXPECT_TRUE(timer.is_armed());
  EXPECT_EQ(timer.deadline(), tick(6));
  EXPECT_EQ(wheel_.next_deadline(), tick(6));
  EXPECT_EQ(expire(Instant::from_ns(6 * kTickNs - 1)), Kinds{});
  EXPECT_EQ(expire(tick(6)), Kinds{1});
  EXPECT_FALSE(timer.is_armed());
  EXPECT_EQ(expire(tick(1000)), Kinds{});

  wheel_.arm(timer, tick(2000));  // exactly on a tick: no rounding
  EXPECT_EQ(timer.deadline(), tick(2000));
}

TEST_F(TimerWheelTest, APassedDeadlineIsDueAtOnce) {
  EXPECT_EQ(expire(tick(1000)), Kinds{});
  TimerNode timer(1);
  wheel_.arm(timer, tick(10));
  EXPECT_EQ(wheel_.next_deadline(), tick(1000));
  EXPECT_EQ(expire(tick(1000)), Kinds{1});
  wheel_.arm(timer, Instant::from_ns(-5));
  EXPECT_EQ(expire(tick(1000)), Kinds{1});
}

TEST_F(TimerWheelTest, TimersFireInOrderOfTicksThenOfArming) {
  TimerNode a(1), b(2), c(3), d(4), e(5);
  wheel_.arm(a, tick(70));
  wheel_.arm(b, tick(5));
  wheel_.arm(c, tick(70'000'000));
  wheel_.arm(d, tick(70));
  wheel_.arm(e, Instant::from_ns(70 * kTickNs - 7));  // the same tick after rounding
  EXPECT_EQ(expire(tick(100'000'000)), (Kinds{2, 1, 4, 5, 3}));
}

TEST_F(TimerWheelTest, OrderOfArmingSurvivesTheWayDownTheLevels) {
  TimerNode early(1), late(2);
  wheel_.arm(early, tick(64 * 64 + 3));
  EXPECT_EQ(expire(tick(64 * 64 + 1)), Kinds{});  // `early` came down to the lowest level
  wheel_.arm(late, tick(64 * 64 + 3));
  EXPECT_EQ(expire(tick(64 * 64 + 3)), (Kinds{1, 2}));
}

TEST_F(TimerWheelTest, EveryLevelKeepsItsDeadlinesToTheTick) {
  TimerNode timer(1);
  for (int shift = 1; shift < 52; ++shift) {
    SCOPED_TRACE(shift);
    TimerWheel wheel(tick(1));
    const int64_t at = (int64_t{1} << shift) + (int64_t{1} << shift) / 3;
    wheel.arm(timer, tick(at));
    EXPECT_EQ(wheel.next_deadline(), tick(at));
    EXPECT_EQ(wheel.expire(tick(at - 1), [](TimerNode&) {}), 0u);
    EXPECT_EQ(wheel.expire(tick(at), [](TimerNode&) {}), 1u);
  }
}

TEST_F(TimerWheelTest, TheEndOfTheScaleIsArmableAndNeverIsNot) {
  TimerNode timer(1), other(2);
  wheel_.arm(timer, Instant::from_ns(INT64_MAX - 1));
  EXPECT_TRUE(timer.is_armed());
  EXPECT_EQ(expire(Instant::from_ns(INT64_MAX - 2 * kTickNs)), Kinds{});
  wheel_.arm(other, tick(5));
  wheel_.arm(other, Instant::never());
  EXPECT_FALSE(other.is_armed());
}

// [PDS-142]
TEST_F(TimerWheelTest, RearmingMovesATimerBothWays) {
  TimerNode timer(1);
  wheel_.arm(timer, tick(100));
  wheel_.arm(timer, tick(10'000));
  EXPECT_EQ(expire(tick(9'999)), Kinds{});
  wheel_.arm(timer, tick(10'500));
  wheel_.arm(timer, tick(10'001));
  EXPECT_EQ(wheel_.next_deadline(), tick(10'001));
  EXPECT_EQ(expire(tick(10'001)), Kinds{1});
  EXPECT_EQ(expire(tick(20'000)), Kinds{});
}

TEST_F(TimerWheelTest, ACancelledTimerDoesNotFire) {
  TimerNode a(1), b(2);
  wheel_.arm(a, tick(300));
  wheel_.arm(b, tick(310));
  wheel_.cancel(a);
  wheel_.cancel(a);  // does nothing
  EXPECT_FALSE(a.is_armed());
  EXPECT_LE(wheel_.next_deadline(), tick(310));
  EXPECT_EQ(expire(tick(400)), Kinds{2});
  wheel_.arm(a, tick(500));
  wheel_.cancel(a);
  EXPECT_TRUE(wheel_.next_deadline().is_never());
}

TEST_F(TimerWheelTest, TimeDoesNotGoBack) {
  TimerNode timer(1);
  EXPECT_EQ(expire(tick(100)), Kinds{});
  wheel_.arm(timer, tick(50));
  EXPECT_EQ(expire(tick(99)), Kinds{});
  EXPECT_EQ(expire(Instant::from_ns(-1)), Kinds{});
  wheel_.arm(timer, tick(50));
  EXPECT_EQ(timer.deadline(), tick(100));
  EXPECT_EQ(expire(tick(100)), Kinds{1});
}

TEST_F(TimerWheelTest, AHandlerMayRearmItsTimerWithinTheSpan) {
  TimerNode timer(1);
  wheel_.arm(timer, tick(10));
  std::vector<int64_t> fired_at;
  wheel_.expire(tick(45), [&](TimerNode& n) {
    fired_at.push_back(n.deadline().ns() / kTickNs);
    wheel_.arm(n, n.deadline() + Duration::nanoseconds(10 * kTickNs));
  });
  EXPECT_EQ(fired_at, (std::vector<int64_t>{10, 20, 30, 40}));
  EXPECT_EQ(wheel_.next_deadline(), tick(50));
}

TEST_F(TimerWheelTest, AHandlerThatAlwaysRearmsForNowDoesNotHoldUpTheLoop) {
  TimerNode timer(1);
  wheel_.arm(timer, tick(10));
  const uint32_t fired = wheel_.expire(tick(10), [&](TimerNode& n) { wheel_.arm(n, tick(10)); });
  EXPECT_EQ(fired, 1u);
  EXPECT_EQ(wheel_.next_deadline(), tick(11));
}

TEST_F(TimerWheelTest, AHandlerMayCancelMoveAndDestroyTimersOfTheSameTick) {
  TimerNode a(1), b(2), c(3);
  auto d = std::make_unique<TimerNode>(4);
  TimerNode e(5);
  for (TimerNode* const n : {&a, &b, &c, d.get(), &e}) wheel_.arm(*n, tick(7));
  Kinds kinds;
  wheel_.expire(tick(20), [&](TimerNode& n) {
    kinds.push_back(n.kind());
    if (n.kind() != 1) return;
    wheel_.cancel(b);
    wheel_.arm(c, tick(9));
    d.reset();
  });
  EXPECT_EQ(kinds, (Kinds{1, 5, 3}));
}

TEST_F(TimerWheelTest, ADestroyedTimerIsForgotten) {
  auto gone = std::make_unique<TimerNode>(1);
  TimerNode stays(2);
  wheel_.arm(*gone, tick(20));
  wheel_.arm(stays, tick(5000));
  gone.reset();
  EXPECT_EQ(wheel_.next_deadline(), tick(5000));
  EXPECT_EQ(expire(tick(4990)), Kinds{});
  // The slot of tick 20 is used again in a later turn of its level.
  wheel_.arm(stays, tick(4096 + 64 * 14 + 20));
  EXPECT_EQ(wheel_.next_deadline(), tick(4096 + 64 * 14 + 20));
}

TEST_F(TimerWheelTest, AWheelDisarmsItsTimersWhenDestroyed) {
  TimerNode timer(1);
  {
    TimerWheel wheel;
    wheel.arm(timer, tick(3));
  }
  EXPECT_FALSE(timer.is_armed());
}

TEST_F(TimerWheelTest, TheOwnerIsFoundFromItsTimer) {
  struct Owner {
    int before = 0;
    TimerNode first{1};
    TimerNode second{2};
  };
  Owner owner;
  EXPECT_EQ(&owner_of(owner.first, &Owner::first), &owner);
  EXPECT_EQ(&owner_of(owner.second, &Owner::second), &owner);
}

using TimerWheelDeathTest = TimerWheelTest;
TEST_F(TimerWheelDeathTest, ExpiringInsideAHandlerAsserts) {
  TimerNode timer;
  wheel_.arm(timer, tick(1));
  EXPECT_DEATH(wheel_.expire(tick(2), [&](TimerNode&) { expire(tick(3)); }), "is_expiring");
}

// The wheel beside an ordered map from (tick, order of arming) to timer. Every step checks what
// fires and the bounds of next_deadline.
class WheelWithModel {
 public:
  explicit WheelWithModel(uint64_t seed) : rng_(seed) {
    for (uint8_t i = 0; i < kTimers; ++i) timers_[i] = std::make_unique<TimerNode>(i);
  }

  void step() {
    for (uint64_t i = rng_.below(4); i > 0; --i) change();
    now_ns_ += random_span() / 4;
    const Instant now = Instant::from_ns(now_ns_);
    wheel_.expire(now, [&](TimerNode& n) { on_fired(n, now); });
    current_ = now_ns_ / kTickNs;
    if (!model_.empty()) {
      ASSERT_GT(model_.begin()->first.first, current_) << "something is late";
    }
    check_next_deadline();
  }

 private:
  static constexpr uint8_t kTimers = 40;
  using Key = std::pair<int64_t, uint64_t>;

  // From nanoseconds to hours, all magnitudes alike.
  int64_t random_span() { return static_cast<int64_t>(rng_.below(uint64_t{2} << rng_.below(43))); }

  void change() {
    const auto i = static_cast<uint8_t>(rng_.below(kTimers));
    switch (rng_.below(8)) {
      case 0:
        wheel_.cancel(*timers_[i]);
        forget(i);
        break;
      case 1:
        forget(i);
        timers_[i] = std::make_unique<TimerNode>(i);
        break;
      default:
        arm(i, now_ns_ + random_span() - (rng_.chance(0.1) ? 5000 : 0));
        break;
    }
  }

  void arm(uint8_t i, int64_t deadline_ns) {
    wheel_.arm(*timers_[i], Instant::from_ns(deadline_ns));
    forget(i);
    const int64_t floor = is_firing_ ? current_ + 1 : current_;
    model_[{std::max((deadline_ns + kTickNs - 1) / kTickNs, floor), ++armed_}] = i;
  }

  void forget(uint8_t i) {
    const auto found = std::find_if(model_.begin(), model_.end(),
                                    [&](const auto& entry) { return entry.second == i; });
    if (found != model_.end()) model_.erase(found);
  }

  void on_fired(TimerNode& node, Instant now) {
    ASSERT_FALSE(model_.empty());
    const auto first = model_.begin();
    ASSERT_EQ(first->second, node.kind()) << "out of order";
    ASSERT_EQ(tick(first->first.first), node.deadline());
    ASSERT_LE(node.deadline(), now) << "early";
    ASSERT_FALSE(node.is_armed());
    current_ = first->first.first;
    model_.erase(first);
    is_firing_ = true;
    // Less than one new arming for each that fires, or a long span would never end.
    if (rng_.chance(0.6)) change();
    is_firing_ = false;
  }

  void check_next_deadline() {
    const Instant next = wheel_.next_deadline();
    if (model_.empty()) {
      ASSERT_TRUE(next.is_never());
      return;
    }
    ASSERT_LE(next, tick(model_.begin()->first.first));
    ASSERT_GT(next, tick(current_)) << "would wake up for nothing";
  }

  Rng rng_;
  TimerWheel wheel_;
  std::array<std::unique_ptr<TimerNode>, kTimers> timers_;
  std::map<Key, uint8_t> model_;
  uint64_t armed_ = 0;
  int64_t now_ns_ = 0;
  int64_t current_ = 0;  // tick
  bool is_firing_ = false;
};

TEST_F(TimerWheelTest, FiresTheSameTimersAsAnOrderedMapUnderRandomCalls) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::printf("seed %lu\n", static_cast<unsigned long>(seed));
    WheelWithModel both(seed);
    for (int i = 0; i < 500; ++i) {
      both.step();
      if (HasFatalFailure()) return;
    }
  }
}

// (tick, timer) of everything that fires up to tick 100,000 when handlers rearm by a rule of their
// own, and the wheel is expired at most `step` ticks apart, or whenever it asks for it (0).
std::vector<std::pair<int64_t, int>> history(int64_t step) {
  TimerWheel wheel;
  std::vector<std::unique_ptr<TimerNode>> timers;
  for (uint8_t i = 0; i < 20; ++i) {
    timers.push_back(std::make_unique<TimerNode>(i));
    wheel.arm(*timers.back(), tick(1 + i * i * i));
  }
  std::vector<std::pair<int64_t, int>> fired;
  const Instant end = tick(100'000);
  for (Instant now = Instant::zero(); now < end;) {
    now = step == 0 ? wheel.next_deadline() : now + Duration::nanoseconds(step * kTickNs);
    now = std::min(now, end);
    wheel.expire(now, [&](TimerNode& n) {
      const int64_t at = n.deadline().ns() / kTickNs;
      fired.emplace_back(at, n.kind());
      wheel.arm(n, tick(at + 1 + (at * 31 + n.kind() * 17) % 5000));
      if (at % 3 == 0) wheel.cancel(*timers[static_cast<size_t>(at % 20)]);
      if (at % 5 == 0) wheel.arm(*timers[static_cast<size_t>(at % 19)], tick(at + at % 1000));
    });
  }
  return fired;
}

TEST_F(TimerWheelTest, OneLongSpanFiresTheSameTimersAsManyShortOnes) {
  const auto expected = history(1);
  EXPECT_GT(expected.size(), 100u);
  EXPECT_EQ(history(7), expected);
  EXPECT_EQ(history(4097), expected);
  EXPECT_EQ(history(100'000), expected);
  EXPECT_EQ(history(0), expected);
}

TEST_F(TimerWheelTest, WakingUpWhenAskedFiresEveryTimerInFewWakeUps) {
  TimerNode near(1), far(2);
  wheel_.arm(near, tick(64 * 64 * 64 + 1));
  wheel_.arm(far, tick(64 * 64 * 64 + 70));
  wheel_.cancel(near);
  int wake_ups = 0;
  for (; far.is_armed(); ++wake_ups) ASSERT_LE(expire(wheel_.next_deadline()).size(), 1u);
  EXPECT_LE(wake_ups, 4);
}

}  // namespace
}  // namespace uet
