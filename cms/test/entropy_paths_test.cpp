// Eight paths, some of them dead or slow, and a sender with a window: the results of the ways to
// choose. A small separate model: EVs are assigned to paths, packets take a round trip.
#include "cms/entropy_selector.h"
#include "cms/test/entropy_config.h"

#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <queue>
#include <vector>

namespace uet::cms {
namespace {

constexpr uint32_t kPaths = 8;
constexpr Duration kRtt = Duration::microseconds(12);
constexpr Duration kRto = Duration::microseconds(100);

class Fabric {
 public:
  Fabric(const Config& config, uint64_t seed) : rng_(seed), selector_(config, rng_) {}

  // Switches hash the EV. The seed of the switch decides which path that is.
  uint32_t path_of(Entropy ev) const { return (ev.value() * 2654435761u >> 16) % kPaths; }

  // Keeps `window` packets in flight for `time`; a lost packet keeps its place until its time-out.
  // Returns the number of packets on each path.
  std::array<uint32_t, kPaths> run(Duration time, uint32_t window) {
    std::array<uint32_t, kPaths> given{};
    const Instant end = now_ + time;
    while (now_ < end) {
      while (flying_.size() < window) send(given);
      const Packet packet = flying_.top();
      flying_.pop();
      now_ = std::max(now_, packet.at);
      const auto heard = packet.is_lost     ? PathFeedback::timeout
                         : packet.is_marked ? PathFeedback::ecn
                                            : PathFeedback::good;
      EXPECT_TRUE(selector_.on_feedback(packet.ev, heard, now_));
    }
    return given;
  }

  std::function<bool(uint32_t path)> is_dead = [](uint32_t) { return false; };
  std::function<bool(uint32_t path)> is_congested = [](uint32_t) { return false; };

 private:
  struct Packet {
    Instant at;  // when feedback about it arrives
    uint64_t number;
    Entropy ev;
    bool is_lost;
    bool is_marked;
    bool operator>(const Packet& o) const { return at != o.at ? at > o.at : number > o.number; }
  };

  void send(std::array<uint32_t, kPaths>& given) {
    const Entropy ev = selector_.next(now_);
    const uint32_t path = path_of(ev);
    ++given[path];
    const bool is_lost = is_dead(path);
    // Some jitter, so that packets do not come back in the order they went.
    const auto jitter = Duration::nanoseconds(static_cast<int64_t>(rng_.below(2000)));
    flying_.push(
        {now_ + (is_lost ? kRto : kRtt) + jitter, ++sent_, ev, is_lost, is_congested(path)});
    now_ = now_ + Duration::nanoseconds(100);
  }

  Rng rng_;
  EntropySelector selector_;
  std::priority_queue<Packet, std::vector<Packet>, std::greater<>> flying_;
  uint64_t sent_ = 0;
  Instant now_ = kEntropyStart;
};

double share(const std::array<uint32_t, kPaths>& given, uint32_t path) {
  uint32_t sum = 0;
  for (uint32_t n : given) sum += n;
  return double{1.0} * given[path] / sum;
}

Config fabric_config(Spraying spraying) {
  Config config = entropy_config(spraying, 256);
  config.entropy.random_upper_bits = true;
  return config;
}

// [CMS-160, CMS-161, CMS-162] One path of eight dies: oblivious spraying always gives it an eighth,
// the other modes give it less than a fiftieth after 25 round trips.
TEST(EntropyPathsTest, ADeadPathGetsNextToNothing) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    for (const auto spraying : {Spraying::bitmap, Spraying::reps, Spraying::mixed}) {
      Fabric fabric(fabric_config(spraying), seed);
      fabric.run(kRtt * 50, 64);
      fabric.is_dead = [](uint32_t path) { return path == 2; };
      fabric.run(kRtt * 25, 64);
      const double dead = share(fabric.run(kRtt * 400, 64), 2);
      EXPECT_LT(dead, 0.02) << static_cast<int>(spraying) << " seed " << seed;
    }
    Fabric fabric(fabric_config(Spraying::oblivious), seed);
    fabric.is_dead = [](uint32_t path) { return path == 2; };
    fabric.run(kRtt * 25, 64);
    EXPECT_NEAR(share(fabric.run(kRtt * 400, 64), 2), 0.125, 0.05);
  }
}

// [CMS-154, CMS-159, CMS-162] Two of eight paths mark: they get less than their quarter.
TEST(EntropyPathsTest, CongestedPathsGetLess) {
  for (const auto spraying : {Spraying::bitmap, Spraying::reps, Spraying::mixed}) {
    Fabric fabric(fabric_config(spraying), 3);
    fabric.is_congested = [](uint32_t path) { return path < 2; };
    fabric.run(kRtt * 25, 64);
    const auto given = fabric.run(kRtt * 400, 64);
    EXPECT_LT(share(given, 0) + share(given, 1), 0.15) << static_cast<int>(spraying);
    for (uint32_t path = 2; path < kPaths; ++path) EXPECT_GT(share(given, path), 0.05);
  }
}

// [CMS-155] The entropy value is used again after its path was repaired.
TEST(EntropyPathsTest, AHealedPathIsUsedAgain) {
  for (const auto after_loss : {AfterLoss::rest, AfterLoss::exclude}) {
    Config config = fabric_config(Spraying::bitmap);
    config.entropy_values = 64;
    config.entropy.after_loss = after_loss;
    Fabric fabric(config, 3);
    fabric.is_dead = [](uint32_t path) { return path == 2; };
    fabric.run(Duration::milliseconds(5), 64);
    fabric.is_dead = [](uint32_t) { return false; };
    fabric.run(Duration::milliseconds(200), 64);
    EXPECT_NEAR(share(fabric.run(Duration::milliseconds(2), 64), 2), 0.125, 0.06);
  }
}

}  // namespace
}  // namespace uet::cms
