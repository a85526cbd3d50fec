// Two Pds over a pipe with seeded loss, reordering and duplication: every message is delivered once
// and answered once, in ROD in order, and everything is given back at the end. [architecture 12]
#include "pds/test/pair.h"

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
  Mode mode = Mode::rud;
  uint32_t messages = 60;
  uint32_t longest = 40 * 1024;
  bool both_ways = true;
};

class RandomTest : public ::testing::TestWithParam<uint64_t> {
 protected:
  void play(uint64_t seed, Plan plan, const Config& config = {}) {
    std::printf("seed %llu loss %.2f dup %.2f reorder %.2f\n",
                static_cast<unsigned long long>(seed), plan.loss, plan.duplicate, plan.reorder);
    Pair pair(config, config, seed);
    pair.keep_sent = false;
    Rng rng(seed, 7);
    bool faults = true;
    pair.fate = [&](const InPipe&) -> Fate {
      Fate f;
      if (!faults) return {Pair::kDelay};
      if (!rng.chance(plan.loss)) f.push_back(delay(rng, plan));
      if (rng.chance(plan.duplicate)) f.push_back(delay(rng, plan));
      return f;
    };
    std::set<PacketName> refused_once[2];
    std::vector<std::pair<int, RxToken>> owed;
    for (int s = 0; s < 2; ++s) {
      pair.side[s].client.verdict = [&, s](PacketName name, const RxRequest& r) {
        if (rng.chance(plan.refused) && refused_once[s].insert(name).second) {
          return Verdict::refused(wire::NackCode::no_ses_msg_avail);
        }
        if (rng.chance(plan.later)) {
          owed.emplace_back(s, r.token);
          return Verdict::deferred();
        }
        if (!rng.chance(plan.stored)) return Verdict::accepted();
        return response(name);
      };
    }
    const int senders = plan.both_ways ? 2 : 1;
    std::map<PacketName, int> expected[2];
    uint32_t handle = 0;
    for (uint32_t i = 0; i < plan.messages; ++i) {
      for (int s = 0; s < senders; ++s) {
        const auto bytes = static_cast<uint32_t>(1 + rng.below(i % 4 == 0 ? plan.longest : 512));
        ++handle;
        pair.side[s].client.post(pair.flow(s, plan.mode), handle, bytes);
        for (uint32_t o = 0; o < bytes; o += 1024) expected[s][{handle, o}] = 1;
      }
      pair.run(Duration::microseconds(static_cast<int64_t>(rng.below(200))));
      for (const auto& [s, token] : owed) {
        EXPECT_TRUE(pair.side[s].pds->respond(token, Verdict::accepted(), pair.now));
      }
      owed.clear();
    }
    for (int rounds = 0; rounds < 40; ++rounds) {
      pair.run(500_ms);
      for (const auto& [s, token] : owed) {
        EXPECT_TRUE(pair.side[s].pds->respond(token, Verdict::accepted(), pair.now));
      }
      owed.clear();
    }
    check(pair, plan, expected);
    faults = false;
    pair.expect_all_given_back();
  }

  static void check(Pair& pair, const Plan& plan, const std::map<PacketName, int> (&expected)[2]) {
    for (int s = 0; s < 2; ++s) {
      SCOPED_TRACE(s);
      EXPECT_EQ(pair.side[1 - s].client.delivered, expected[s]);
      EXPECT_EQ(pair.side[s].client.responded, expected[s]);
      for (const Failure& f : pair.side[s].client.failures) {
        ADD_FAILURE() << "failed: reason " << static_cast<int>(f.reason) << ", NACK "
                      << wire::name(f.nack);
      }
      if (plan.mode == Mode::rod) {
        EXPECT_TRUE(std::is_sorted(pair.side[1 - s].client.order.begin(),
                                   pair.side[1 - s].client.order.end()));
      }
      for (const auto& [name, octets] : pair.side[s].client.response_octets) {
        EXPECT_EQ(octets, std::vector<std::byte>(12, static_cast<std::byte>(name.first)));
      }
    }
  }

  static Verdict response(PacketName name) {
    Verdict v;
    v.kind = Verdict::Kind::respond;
    v.response.next_hdr = wire::NextHeader::response;
    v.response.length = 12;
    v.response.bytes.fill(static_cast<std::byte>(name.first));
    return v;
  }
  static Duration delay(Rng& rng, const Plan& plan) {
    if (!rng.chance(plan.reorder)) return Pair::kDelay;
    return Duration::microseconds(static_cast<int64_t>(10 + rng.below(300)));
  }
};

TEST_P(RandomTest, RudSurvivesLossReorderingAndCopies) {
  Rng draw(GetParam());
  Plan plan;
  plan.loss = draw.chance(0.3) ? 0 : draw.u32() % 20 / 100.0;
  plan.duplicate = draw.chance(0.5) ? 0 : draw.u32() % 10 / 100.0;
  plan.reorder = draw.chance(0.5) ? 0 : draw.u32() % 50 / 100.0;
  plan.stored = draw.chance(0.5) ? 0 : 0.3;
  plan.refused = draw.chance(0.7) ? 0 : 0.2;
  plan.later = draw.chance(0.7) ? 0 : 0.1;
  play(GetParam(), plan);
}

TEST_P(RandomTest, RodKeepsItsOrder) {
  Rng draw(GetParam(), 2);
  Plan plan;
  plan.mode = Mode::rod;
  plan.loss = draw.chance(0.3) ? 0 : draw.u32() % 20 / 100.0;
  plan.duplicate = draw.chance(0.5) ? 0 : draw.u32() % 10 / 100.0;
  plan.reorder = draw.chance(0.5) ? 0 : draw.u32() % 50 / 100.0;
  plan.stored = draw.chance(0.5) ? 0 : 0.3;
  plan.refused = draw.chance(0.7) ? 0 : 0.2;
  Config config;
  config.rod_reorder = draw.chance(0.5);
  play(GetParam(), plan, config);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomTest, ::testing::Range<uint64_t>(1, 61));

}  // namespace
}  // namespace uet::pds::test
