// The integers of cms::Nscc against the model in double precision: the same random ACKs, NACKs and
// losses, the same windows. [CMS-064]
#include "cms/test/nscc_model.h"

#include "cms/nscc.h"

#include "base/rng.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

using namespace uet::literals;

struct Course {
  const char* name;
  uint32_t link_mbps;
  uint32_t peer_link_mbps;
  Duration base_rtt;
  uint32_t mtu;
  bool trimming;
  Algorithm algorithm;
  DelayMean mean;
};

constexpr Course kCourses[] = {
    {"100G", 100'000, 0, 12_us, 4160, true, Algorithm::nscc, DelayMean::time},
    {"400G", 400'000, 0, 12_us, 4160, true, Algorithm::nscc, DelayMean::time},
    {"800G", 800'000, 0, 12_us, 4160, false, Algorithm::nscc, DelayMean::time},
    {"slower peer", 400'000, 100'000, 14_us, 9104, true, Algorithm::both, DelayMean::time},
    {"long and slow", 10'000, 0, 200_us, 1500, false, Algorithm::nscc, DelayMean::time},
    {"one packet", 1'000, 0, 12_us, 1500, true, Algorithm::nscc, DelayMean::time},
    {"as htsim", 100'000, 0, 14_us, 4150, true, Algorithm::nscc, DelayMean::htsim},
};

class Walk {
 public:
  Walk(const Course& course, uint64_t seed)
      : config_(of(course)), rng_(seed), nscc_(config_), model_(config_) {}

  void run(int events) {
    send();
    for (int i = 0; i < events && !::testing::Test::HasFatalFailure(); ++i) {
      if (rng_.below(200) == 0) weather_ = static_cast<int>(rng_.below(6));
      now_ = now_ + Duration::nanoseconds(static_cast<int64_t>(rng_.below(gap())));
      step();
      compare(i);
    }
  }

 private:
  static Config of(const Course& c) {
    Config config;
    config.link_mbps = c.link_mbps;
    config.peer_link_mbps = c.peer_link_mbps;
    config.base_rtt = c.base_rtt;
    config.mtu_bytes = c.mtu;
    config.trimming = c.trimming;
    config.algorithm = c.algorithm;
    config.nscc.mean = c.mean;
    return config;
  }
  // Time between events: a packet or so of the link.
  uint64_t gap() const { return 2 * uint64_t{config_.mtu_bytes} * 8000 / config_.link_mbps + 1; }
  uint32_t packet() { return 64 + static_cast<uint32_t>(rng_.below(config_.mtu_bytes - 63)); }

  // Queueing delay and base RTT by the weather: none, little, about the target, much, anything.
  Duration rtt() {
    const auto base = static_cast<uint64_t>(config_.base_rtt.ns());
    const uint64_t floor = base * 9 / 10 + rng_.below(base / 1000 + 1);
    constexpr uint64_t kEighths[] = {0, 2, 8, 24, 64, 6};
    const uint64_t spread = base * kEighths[weather_] / 8;
    return Duration::nanoseconds(static_cast<int64_t>(floor + (spread ? rng_.below(spread) : 0)));
  }

  void step() {
    const uint64_t what = rng_.below(100);
    if (what < 45 && nscc_.may_send(config_.mtu_bytes)) {
      send();
    } else if (what < 92) {
      acknowledge();
    } else if (what < 99) {
      lose();
    } else if (rng_.below(4) == 0) {
      nscc_.on_idle();
      model_.on_idle();
    }
  }

  void send() {
    const Sent e{.bytes = packet(), .at = now_};
    nscc_.on_sent(e);
    model_.on_sent(e);
  }

  void acknowledge() {
    Acked e;
    const auto inflight = static_cast<uint64_t>(std::max<int64_t>(nscc_.inflight_bytes(), 0));
    // Rounded up to units of 256, and sometimes nothing new.
    const uint64_t most = std::min<uint64_t>(inflight, 4 * uint64_t{config_.mtu_bytes});
    e.received_bytes = static_cast<uint32_t>((rng_.below(most + 1) + 255) / 256 * 256);
    e.bytes = e.received_bytes;
    e.rtt = rtt();
    e.rtt_valid = rng_.below(10) != 0;
    e.ecn = weather_ >= 2 && rng_.below(3) == 0;
    e.at = now_;
    e.remote.valid = rng_.below(8) != 0;
    if (weather_ == 5) e.remote.rcv_cwnd_pend = static_cast<uint8_t>(rng_.below(128));
    e.remote.restore_cwnd = rng_.below(4) == 0;
    nscc_.on_acked(e);
    model_.on_acked(e);
  }

  void lose() {
    constexpr LossKind kKinds[] = {LossKind::trimmed, LossKind::trimmed_lasthop, LossKind::inferred,
                                   LossKind::timeout, LossKind::refused};
    Lost e{.bytes = packet(), .kind = kKinds[rng_.below(5)], .at = now_};
    if (weather_ < 2 && is_trim(e.kind)) return;
    e.rtt = rtt();
    e.rtt_valid = rng_.below(2) == 0;
    nscc_.on_lost(e);
    model_.on_lost(e);
  }

  void compare(int i) {
    const auto window = static_cast<double>(nscc_.window_bytes());
    // Windows are shown in whole octets.
    ASSERT_NEAR(window, model_.window(), model_.window() * 0.001 + 1) << "event " << i;
    ASSERT_EQ(static_cast<double>(nscc_.inflight_bytes()), model_.inflight()) << "event " << i;
    ASSERT_EQ(static_cast<double>(nscc_.base_rtt().ns()), model_.base_rtt()) << "event " << i;
    const auto mean = static_cast<double>(nscc_.mean_delay().ns());
    ASSERT_NEAR(mean, model_.mean_delay(), std::abs(model_.mean_delay()) * 0.001 + 2)
        << "event " << i;
  }

  Config config_;
  Rng rng_;
  Nscc nscc_;
  NsccModel model_;
  Instant now_ = Instant::from_ns(1'000'000'000);
  int weather_ = 0;
};

// [CMS-064, CMS-070, CMS-074, CMS-082, CMS-083, CMS-084, CMS-085, CMS-086, CMS-091, CMS-096]
// 7 courses of 20 seeds and 20,000 events each: windows differ by less than 0.1 %.
TEST(NsccModelTest, WindowsAreThoseOfTheModel) {
  for (const Course& course : kCourses) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      SCOPED_TRACE(std::string(course.name) + ", seed " + std::to_string(seed));
      Walk walk(course, seed);
      walk.run(20'000);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace uet::cms
