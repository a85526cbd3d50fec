// The cost of an ACK above a gap, with few and with many packets outstanding.
#include "pds/test/bench.h"

#include "base/test/instructions.h"

#include <string>

namespace uet::pds::test {
namespace {

// A window of `packets` packets whose second one is lost.
class Gap {
 public:
  explicit Gap(uint32_t packets) : b_(config(), window()) {
    b_.open_initiator(packets);
    while (!b_.tx().empty()) continue;
    EXPECT_EQ(b_.count(Count::tx_requests), packets);
    wire::Ack first;
    first.cack_psn = b_.start;
    first.spdcid = kPeerId;
    first.dpdcid = b_.own;
    b_.rx_header(first);
  }
  // The ACK of all packets up to n except the lost one.
  void acknowledge(uint32_t n) {
    wire::AckCc h;
    h.ack.cack_psn = b_.start;
    h.ack.ack_psn_offset = static_cast<int16_t>(n);
    h.ack.spdcid = kPeerId;
    h.ack.dpdcid = b_.own;
    h.mpr = 16;
    const uint32_t base = n / 64 * 64;
    h.sack_psn_offset = static_cast<int16_t>(base);
    for (uint32_t i = 0; base + i <= n; ++i) {
      if (base + i > 1) h.sack_bitmap |= uint64_t{1} << i;
    }
    b_.rx_header(h);
  }
  Bench& bench() { return b_; }

 private:
  static Config config() {
    Config c;
    c.tx_window_packets = 2048;
    c.default_mpr = 16;
    return c;
  }
  static cms::Config window() {
    cms::Config c;
    c.algorithm = cms::Algorithm::fixed;
    c.initial_window_packets = 4096;
    c.window_bytes_max = 64u << 20;
    return c;
  }
  Bench b_;
};

// [PDS-142, PDS-143] Loss is inferred without a walk over the window, so an ACK costs about as much
// with 2,000 packets outstanding as with 64.
TEST(GapCostTest, AnAckCostsTheSameHoweverManyAreOutstanding) {
  uint64_t cost[2] = {0, 0};
  for (const bool is_many : {false, true}) {
    const uint32_t packets = is_many ? 2040 : 64;
    Gap gap(packets);
    for (uint32_t n = 2; n < packets - 3; ++n) gap.acknowledge(n);
    const auto counted = uet::test::instructions_of([&] { gap.acknowledge(packets - 3); });
    if (!counted) GTEST_SKIP() << "instructions are counted on x86-64 only";
    cost[is_many] = *counted;
    EXPECT_EQ(gap.bench().count(Count::retx_ev), 1u) << "the lost one is known";
  }
  RecordProperty("ack_over_a_gap", std::to_string(cost[0]) + " " + std::to_string(cost[1]));
  EXPECT_LE(cost[1], cost[0] + cost[0] / 4 + 200) << cost[0] << " among few";
}

// [PDS-075, PDS-102, T-02] A target keeps the response of each of 1,000 packets. A copy of one of
// the first costs as much as a copy of one of the last, and so does a packet that fills a gap.
TEST(GapCostTest, AStoredResponseCostsTheSameWhereverItStands) {
  const uint32_t first = kFirst.value() + 3, last = kFirst.value() + 1000;
  Bench b;
  b.client.verdict = StubClient::answer_all;
  b.open_target();
  for (uint32_t psn = kFirst.value() + 1; psn <= last; ++psn) {
    if (psn == first || psn == last - 2) continue;  // these come below
    b.rx(b.request(psn, false));
    b.tx();
  }
  uint64_t again[2] = {0, 0}, between[2] = {0, 0};
  for (const bool is_late : {false, true}) {
    const auto cost_of = [&](uint32_t psn) {
      wire::Request h = b.request(psn, false);
      h.retx = true;
      const auto counted = uet::test::instructions_of([&] { b.rx(h); });
      b.tx();
      return counted.value_or(0);
    };
    between[is_late] = cost_of(is_late ? last - 2 : first);
    again[is_late] = cost_of(is_late ? last - 5 : first + 3);
  }
  EXPECT_EQ(b.count(Count::gd_stored), 1001u);
  EXPECT_EQ(b.count(Count::gd_resent), 2u);
  EXPECT_LE(again[1], again[0] + again[0] / 8 + 200) << again[0] << " among the first";
  EXPECT_LE(between[1], between[0] + between[0] / 2) << between[0] << " among the first";
}

}  // namespace
}  // namespace uet::pds::test
