// Two Pds over a pipe with seeded loss, reordering and duplication: every message is delivered once
// and answered once, in ROD in order, and everything is given back at the end. [architecture 8]
#include "pds/test/pair.h"

#include <algorithm>
#include <cstdio>

namespace uet::pds::test {
namespace {

struct Plan {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;
  double stored = 0;   // share of packets answered with a guaranteed response
  double refused = 0;  // share refused once
  double later = 0;    // share answered later
  double reads = 0;    // share of messages that are answered with return data
  Mode mode = Mode::rud;
  uint32_t messages = 60;
  uint32_t longest = 40 * 1024;
};

constexpr uint32_t kReturn = 1'000'000;  // handle of the return data of message h: kReturn + h

// One run: messages both ways under the faults of the plan, then without faults, then all checks.
class RandomRun {
 public:
  RandomRun(uint64_t seed, const Plan& plan, const Config& config)
      : plan_(plan), pair_(config, config, seed), rng_(seed, 7) {
    std::printf("seed %llu loss %.2f dup %.2f reorder %.2f reads %.2f\n",
                static_cast<unsigned long long>(seed), plan.loss, plan.duplicate, plan.reorder,
                plan.reads);
    pair_.keep_sent = false;
    pair_.fate = [this](const InPipe&) { return fate(); };
    for (int s = 0; s < 2; ++s) {
      pair_.side[s].client.verdict = [this, s](PacketName name, const RxRequest& r) {
        return wire::is_response(r.next_hdr) ? take_return(s, name) : answer(s, name, r);
      };
    }
  }

  void play() {
    uint32_t handle = 0;
    for (uint32_t i = 0; i < plan_.messages; ++i) {
      for (int s = 0; s < 2; ++s) post(s, ++handle, i % 4 == 0 ? plan_.longest : 512);
      pair_.run(Duration::microseconds(static_cast<int64_t>(rng_.below(200))));
      pay();
    }
    for (int rounds = 0; rounds < 40; ++rounds) {
      pair_.run(500_ms);
      pay();
    }
    for (int s = 0; s < 2; ++s) check(s);
    faults_ = false;
    pair_.expect_all_given_back();
  }

 private:
  Fate fate() {
    if (!faults_) return {Pair::kDelay};
    Fate f;
    if (!rng_.chance(plan_.loss)) f.push_back(delay());
    if (rng_.chance(plan_.duplicate)) f.push_back(delay());
    return f;
  }
  Duration delay() {
    if (!rng_.chance(plan_.reorder)) return Pair::kDelay;
    return Duration::microseconds(static_cast<int64_t>(10 + rng_.below(300)));
  }

  void post(int s, uint32_t handle, uint32_t longest) {
    const auto bytes = static_cast<uint32_t>(1 + rng_.below(longest));
    const bool read = rng_.chance(plan_.reads);
    if (read) reads_.insert(handle);
    pair_.side[s].client.post(pair_.flow(s, plan_.mode), handle, bytes, read);
    for (uint32_t o = 0; o < bytes; o += 1024) expected_[s][{handle, o}] = 1;
  }

  // The target's part.
  Verdict answer(int s, PacketName name, const RxRequest& r) {
    if (rng_.chance(plan_.refused) && refused_once_.insert(name).second) {
      return Verdict::refused(wire::NackCode::no_ses_msg_avail);
    }
    if (name.second == 0 && reads_.count(name.first) != 0) send_return(s, name.first, r.token.pdc);
    if (rng_.chance(plan_.later)) {
      owed_.emplace_back(s, r.token);
      return Verdict::deferred();
    }
    if (!rng_.chance(plan_.stored)) return Verdict::accepted();
    Verdict v;
    v.kind = Verdict::Kind::respond;
    v.response.next_hdr = wire::NextHeader::response;
    v.response.length = 12;
    v.response.bytes.fill(static_cast<std::byte>(name.first));
    return v;
  }
  void send_return(int s, uint32_t handle, PdcHandle pdc) {
    const auto bytes = static_cast<uint32_t>(1 + rng_.below(10000));
    StubClient::Message& m = pair_.side[s].client.messages[kReturn + handle];
    m.bytes = bytes;
    m.next_hdr = wire::NextHeader::response_data;
    EXPECT_TRUE(pair_.side[s].pds->send_return(pdc, MessageHandle(kReturn + handle)));
    for (uint32_t o = 0; o < bytes; o += 1024) {
      expected_[s][{kReturn + handle, o}] = 1;
      ++missing_[handle];
    }
  }
  void pay() {
    for (const auto& [s, token] : owed_) {
      EXPECT_TRUE(pair_.side[s].pds->respond(token, Verdict::accepted(), pair_.now()));
    }
    owed_.clear();
  }
  // The initiator's part.
  Verdict take_return(int s, PacketName name) {
    const uint32_t handle = name.first - kReturn;
    StubClient& client = pair_.side[s].client;
    if (--missing_.at(handle) == 0)
      pair_.side[s].pds->message_done(client.started.pdc_of.at(handle));
    return Verdict::accepted();
  }

  void check(int s) {
    SCOPED_TRACE(s);
    const StubClient& from = pair_.side[s].client;
    const StubClient& to = pair_.side[1 - s].client;
    EXPECT_EQ(to.received.times, expected_[s]);
    EXPECT_EQ(from.responded, expected_[s]);
    for (const Failure& f : from.failures) {
      ADD_FAILURE() << "failed: reason " << static_cast<int>(f.reason) << ", NACK "
                    << wire::name(f.nack);
    }
    std::vector<PacketName> order;
    for (const PacketName& n : to.received.order) {
      if (n.first < kReturn) order.push_back(n);
    }
    EXPECT_TRUE(plan_.mode != Mode::rod || std::is_sorted(order.begin(), order.end()));
    for (const auto& [name, octets] : from.response_octets) {
      EXPECT_EQ(octets, std::vector<std::byte>(12, static_cast<std::byte>(name.first)));
    }
  }

  Plan plan_;
  Pair pair_;
  Rng rng_;
  bool faults_ = true;
  std::set<uint32_t> reads_;
  std::map<uint32_t, uint32_t> missing_;  // packets of return data, by message
  std::set<PacketName> refused_once_;
  std::vector<std::pair<int, RxToken>> owed_;
  std::map<PacketName, int> expected_[2];  // by sender
};

class RandomTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  static Plan draw_plan(Rng& draw) {
    Plan plan;
    plan.loss = draw.chance(0.3) ? 0 : draw.u32() % 20 / 100.0;
    plan.duplicate = draw.chance(0.5) ? 0 : draw.u32() % 10 / 100.0;
    plan.reorder = draw.chance(0.5) ? 0 : draw.u32() % 50 / 100.0;
    plan.stored = draw.chance(0.5) ? 0 : 0.3;
    plan.refused = draw.chance(0.7) ? 0 : 0.2;
    plan.later = draw.chance(0.7) ? 0 : 0.1;
    plan.reads = draw.chance(0.5) ? 0 : 0.3;
    return plan;
  }
};

TEST_P(RandomTest, RudSurvivesLossReorderingAndCopies) {
  Rng draw(GetParam());
  RandomRun(GetParam(), draw_plan(draw), {}).play();
}

TEST_P(RandomTest, RodKeepsItsOrder) {
  Rng draw(GetParam(), 2);
  Plan plan = draw_plan(draw);
  plan.mode = Mode::rod;
  Config config;
  config.rod_reorder = draw.chance(0.5);
  RandomRun(GetParam(), plan, config).play();
}

// Small windows and pools: everything waits for everything, and still ends.
TEST_P(RandomTest, TightResourcesOnlyCostTime) {
  Rng draw(GetParam(), 3);
  Plan plan = draw_plan(draw);
  plan.loss /= 4;
  plan.messages = 30;
  Config config;
  config.tx_window_packets = 8;
  config.gd_per_pdc = 4;
  config.gd_entries = 8;
  config.mpr = 1;
  config.pdcs_per_key = 2;
  config.reply_queue = 16;
  RandomRun(GetParam(), plan, config).play();
}

// The timers of the reference, on a network with few losses.
TEST_P(RandomTest, SpecProfile) {
  Rng draw(GetParam(), 4);
  Plan plan = draw_plan(draw);
  plan.loss /= 10;
  plan.refused = plan.later = 0;
  RandomRun(GetParam(), plan, Config::spec()).play();
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTest, ::testing::Range<uint64_t>(1, 41));

}  // namespace
}  // namespace uet::pds::test
