// Everything that comes from the network is hostile: changed, invented and replayed packets, floods
// of sources. Nothing may crash or grow, and honest packets must arrive. Also: the same inputs give
// the same octets. [architecture 6, 7]
#include "pds/test/bench.h"
#include "pds/test/pair.h"

#include <cstdio>

namespace uet::pds::test {
namespace {

class HostileTest : public ::testing::TestWithParam<uint64_t> {};

// Both sides answer some requests and accept the others.
void respond_at_random(Pair& pair, Rng& rng) {
  for (int s = 0; s < 2; ++s) {
    pair.side[s].client.script.check_octets = false;
    pair.side[s].client.verdict = [&](PacketName, const RxRequest&) {
      Verdict v;
      if (rng.chance(0.2)) {
        v.kind = Verdict::Kind::respond;
        v.response.next_hdr = wire::NextHeader::response;
        v.response.length = 12;
      }
      return v;
    };
  }
}

// With up to three changed octets in the headers, perhaps cut, perhaps from another address.
InPipe altered(InPipe p, Rng& rng) {
  const uint64_t changes = rng.below(4);
  for (uint64_t c = 0; c < changes; ++c) {
    const size_t at = rng.below(std::min<size_t>(p.octets.size(), 34));
    p.octets[at] = static_cast<std::byte>(rng.u32());
  }
  if (rng.chance(0.1)) p.octets.resize(rng.below(p.octets.size()));
  if (rng.chance(0.1)) p.from = address(static_cast<uint8_t>(rng.below(250)));
  return p;
}

// Honest traffic both ways, and beside every packet altered copies of packets seen before, from
// the right address or another. Altered ones may end PDCs, so only safety is asked for.
TEST_P(HostileTest, AlteredPacketsNeverBreakInvariants) {
  std::printf("seed %llu\n", static_cast<unsigned long long>(GetParam()));
  Rng rng(GetParam());
  Pair pair({}, {}, GetParam());
  pair.keep_sent = false;
  pair.has_strangers = true;
  for (auto& s : pair.side) s.client.script.names_are_unique = false;
  std::vector<InPipe> seen;
  pair.fate = [&](const InPipe& p) -> Fate {
    if (seen.size() < 200) {
      seen.push_back(p);
    } else {
      seen[rng.below(200)] = p;
    }
    if (rng.chance(0.1)) return {};
    return {Pair::kDelay};
  };
  respond_at_random(pair, rng);
  uint32_t handle = 0;
  for (int step = 0; step < 400; ++step) {
    if (step % 10 == 0) {
      for (int s = 0; s < 2; ++s) {
        pair.side[s].client.post(pair.flow(s, rng.chance(0.3) ? Mode::rod : Mode::rud), ++handle,
                                 static_cast<uint32_t>(1 + rng.below(20000)));
      }
    }
    pair.run(Duration::microseconds(static_cast<int64_t>(rng.below(500))));
    for (int n = 0; n < 10 && !seen.empty(); ++n) {
      InPipe p = altered(seen[rng.below(seen.size())], rng);
      pair.arrive(p);
    }
    for (const auto& s : pair.side) {
      const Usage u = s.pds->usage();
      ASSERT_LE(u.pdcs, 4096u);
      ASSERT_LE(u.stored_responses, 16384u);
    }
  }
  for (auto& s : pair.side) s.pds->close_all(true, pair.now());
  for (auto& s : pair.side) {
    const Usage u = s.pds->usage();
    EXPECT_EQ(u, Usage{});
    // Whatever happened, each packet was answered or failed, never both and never neither.
    for (const auto& [h, m] : s.client.messages) {
      for (uint32_t o = 0; o < m.pulled; o += s.client.mtu) {
        EXPECT_EQ(s.client.responded.count({h, o}) + s.client.failed.count({h, o}), 1u)
            << h << "+" << o;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, HostileTest, ::testing::Range<uint64_t>(1, 41));

TEST(HostileBench, RandomOctetsAreCountedAndForgotten) {
  Bench b;
  Rng rng(5);
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> octets(rng.below(80));
    for (auto& o : octets) o = static_cast<std::byte>(rng.u32());
    if (octets.size() > 2) {  // a type that exists, most of the time
      octets[0] = static_cast<std::byte>((rng.below(16) << 3) | (rng.u32() & 7));
    }
    b.client.script.check_octets = false;
    b.client.script.names_are_unique = false;
    b.from = address(static_cast<uint8_t>(rng.below(256)), static_cast<uint16_t>(rng.u32()));
    b.now = b.now + 100_us;
    b.rx_octets(std::move(octets));
    if (i % 16 == 0) b.tx();
  }
  EXPECT_EQ(b.count(Count::rx_packets), 20000u);
  b.pds->close_all(true, b.now);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-018, architecture 6] A flood of invented sources leaves room for our own messages and for
// honest peers once it is over.
TEST(HostileBench, FloodOfSynsIsBounded) {
  Config config;
  config.max_pdcs = 256;
  Bench b(config);
  b.client.script.names_are_unique = false;
  Rng rng(5);
  for (int i = 0; i < 20000; ++i) {
    b.from = address(static_cast<uint8_t>(rng.below(60)));
    wire::Request h = b.request(1000);
    h.spdcid = Pdcid(static_cast<uint16_t>(1 + rng.below(65535)));
    b.rx(h);
    b.now = b.now + 10_us;
    b.pds->advance(b.now);
    b.tx();
    ASSERT_LE(b.pds->open_pdcs(), 192u);
  }
  b.elapse(1_s);
  b.from = address(200);
  b.rx(b.request(1000));
  const auto lines = b.lines();
  EXPECT_NE(std::find(lines.begin(), lines.end(), "ACK cack 1000 ack 1000"), lines.end());
}

// [architecture 7] Same seed, same calls: the same octets at the same times.
TEST(DeterminismTest, SameInputsSameOctets) {
  const auto play = [] {
    Pair pair({}, {}, 77);
    Rng rng(3);
    pair.fate = [&](const InPipe&) -> Fate {
      if (rng.chance(0.1)) return {};
      return {Duration::microseconds(static_cast<int64_t>(10 + rng.below(30)))};
    };
    for (uint32_t i = 1; i <= 40; ++i) {
      pair.side[0].client.post(pair.flow(0, i % 2 ? Mode::rud : Mode::rod), i, i * 900);
      pair.side[1].client.post(pair.flow(1), 100 + i, i * 300);
      pair.run(50_us);
    }
    pair.run(2_s);
    std::vector<std::vector<std::byte>> octets;
    for (const InPipe& p : pair.sent) octets.push_back(p.octets);
    return octets;
  };
  const auto first = play();
  EXPECT_GT(first.size(), 500u);
  EXPECT_EQ(first, play());
}

// [decision 15, PDS-010] As many PDCs as the 16-bit identifiers allow.
TEST(ScaleTest, SixtyFiveThousandPdcs) {
  Config config;
  config.max_pdcs = 65000;
  config.target_floor_percent = 0;
  config.low_water_percent = 0;
  config.half_open_percent = 100;
  config.peer_share_percent = config.job_share_percent = 100;
  config.newcomer_percent = 0;  // there is one host
  config.idle_time = Duration::seconds(1000);
  Bench b(config);
  b.client.script.names_are_unique = false;
  for (uint32_t i = 0; i < 65000; ++i) {
    b.from = address(static_cast<uint8_t>(i % 50));
    wire::Request h = b.request(1000);
    h.spdcid = Pdcid(static_cast<uint16_t>(i / 50 + 1));
    b.rx(h);
    if (i % 32 == 0) b.tx();
  }
  EXPECT_EQ(b.pds->open_pdcs(), 65000u);
  EXPECT_EQ(b.count(Count::pdc_alloc_fail), 0u);
  b.pds->close_all(true, b.now);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

}  // namespace
}  // namespace uet::pds::test
