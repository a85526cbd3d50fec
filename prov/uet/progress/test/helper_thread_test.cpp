// HelperThread: when it does its turns, and how it ends.
#include "prov/uet/progress/helper_thread.h"

#include "prov/uet/progress/clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

namespace uet::prov {
namespace {

using namespace uet::literals;

constexpr Duration kLong = Duration::seconds(3600);

bool eventually(const std::function<bool()>& is_so) {
  for (int i = 0; i < 5000; ++i) {
    if (is_so()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Each turn rests for a long time, unless a test says otherwise.
class HelperThreadTest : public ::testing::Test {
 protected:
  void start(Duration first_rest) {
    ASSERT_TRUE(helper_.start(first_rest, [this](RestEnds& ends) {
      ends = ends_;
      return monotonic_now() + kLong;
    }));
  }
  RestEnds ends_;
  HelperThread helper_;
};

TEST_F(HelperThreadTest, RunsUntilItIsStopped) {
  EXPECT_FALSE(helper_.is_running());
  start(kLong);
  EXPECT_TRUE(helper_.is_running());
  helper_.stop();  // it need not wait for the end of its rest
  EXPECT_FALSE(helper_.is_running());
  EXPECT_EQ(helper_.turns(), 0u);
  helper_.stop();  // nothing happens
}

TEST_F(HelperThreadTest, FirstTurnComesAfterTheFirstRest) {
  const Instant began = monotonic_now();
  start(20_ms);
  EXPECT_TRUE(eventually([&] { return helper_.turns() == 1; }));
  EXPECT_GE(monotonic_now() - began, 20_ms);
}

TEST_F(HelperThreadTest, WakingEndsARest) {
  start(kLong);
  for (uint64_t turns = 1; turns <= 3; ++turns) {
    helper_.rest().wake();
    EXPECT_TRUE(eventually([&] { return helper_.turns() == turns; })) << turns;
  }
}

// A turn says whether the timer ends the rest that follows.
TEST_F(HelperThreadTest, TimerEndsARestThatWatchesIt) {
  ends_.timer = true;
  start(Duration::zero());
  EXPECT_TRUE(eventually([&] { return helper_.turns() == 1; }));
  helper_.rest().start_timer(1_ms);
  EXPECT_TRUE(eventually([&] { return helper_.turns() >= 2; }));
}

struct CountedErrand final : Errand {
  explicit CountedErrand(std::atomic<int>& count) : runs(count) {}
  int fd() const override { return -1; }
  Instant run(Instant now) override {
    ++runs;
    return now + kLong;
  }
  std::atomic<int>& runs;
};

TEST_F(HelperThreadTest, RunsTheErrandBetweenTurns) {
  std::atomic<int> runs{0};
  start(kLong);
  helper_.set_errand(std::make_unique<CountedErrand>(runs));
  EXPECT_TRUE(eventually([&] { return runs == 1; }));
  helper_.stop();
}

}  // namespace
}  // namespace uet::prov
