// Feedback of a PDC's packets to the selector of entropy values, seen by the values that follow.
#include "pds/test/bench.h"

#include <gtest/gtest.h>

#include <map>

namespace uet::pds::test {
namespace {

constexpr uint32_t kFeedbackValues = 16;

class PathFeedbackTest : public ::testing::Test {
 protected:
  // Each packet has another EV, and EVs with a penalty are skipped.
  static Config config() {
    Config c;
    c.packets_per_entropy = 1;
    return c;
  }
  static cms::Config selection() {
    cms::Config c;
    c.algorithm = cms::Algorithm::fixed;
    c.entropy_values = kFeedbackValues;
    c.entropy.spraying = cms::Spraying::bitmap;
    return c;
  }
  // The next packets of another message, by their EVs.
  std::map<Entropy, int> uses(uint32_t packets) {
    bench_.client.post(bench_.flow, ++messages_, packets * bench_.client.mtu);
    std::map<Entropy, int> found;
    for (const Bench::Out& out : bench_.tx()) ++found[out.ev];
    return found;
  }
  void sack(int first, uint64_t bitmap) {
    wire::AckCc h;
    h.ack = bench_.ack(bench_.start);
    h.ack.type = wire::PdsType::ack_cc;
    h.mpr = 8;
    h.sack_bitmap = bitmap;
    h.sack_psn_offset = static_cast<int16_t>(first);
    bench_.rx_header(h);
  }

  Bench bench_{config(), selection()};
  uint32_t messages_ = 1;
};

// [CMS-021, CMS-024] A loss that later arrivals on its EV prove counts like a time-out.
TEST_F(PathFeedbackTest, AnInferredLossMakesItsEvRest) {
  const auto out = bench_.open_initiator(2 * kFeedbackValues);
  ASSERT_EQ(out.size(), 2 * kFeedbackValues);
  const Entropy lost = out[1].ev;
  int later = 2;
  while (out[static_cast<size_t>(later)].ev != lost) ++later;
  sack(later, 1);
  const auto resends = bench_.tx();
  ASSERT_EQ(resends.size(), 1u);
  ASSERT_EQ(bench_.count(Count::retx_ev), 1u);
  EXPECT_NE(resends[0].ev, lost);
  const auto found = uses(6 * kFeedbackValues);
  EXPECT_EQ(found.count(lost), 0u);
  EXPECT_EQ(found.size(), kFeedbackValues - 1);
}

// [CMS-023, CMS-163] A packet that was cut on the last hop says of its EV what its mark says.
TEST_F(PathFeedbackTest, ATrimOfTheLastHopCountsByItsMark) {
  for (const bool marked : {false, true}) {
    Bench b(config(), selection());
    const auto out = b.open_initiator(kFeedbackValues);
    wire::Nack h = b.nack(wire::NackCode::trimmed_lasthop, b.start + 1);
    h.m = marked;
    b.rx_header(h);
    ASSERT_EQ(b.tx().size(), 1u);
    b.client.post(b.flow, 2, 6 * kFeedbackValues * b.client.mtu);
    std::map<Entropy, int> found;
    for (const Bench::Out& o : b.tx()) ++found[o.ev];
    EXPECT_EQ(found.count(out[1].ev), marked ? 0u : 1u);
  }
}

// [PDS-070] The record of the packet decides which EV an answer is about, not the EV in the answer.
// An echoed EV that the context does not send is counted, if eight answers before have shown that
// the peer can echo; with a marked NACK the packet's own EV rests.
TEST_F(PathFeedbackTest, EvsThatWereNeverSentAreCounted) {
  for (const bool echoes : {false, true}) {
    SCOPED_TRACE(echoes);
    Bench b(config(), selection());
    const auto out = b.open_initiator(kFeedbackValues);
    ASSERT_EQ(out.size(), kFeedbackValues);
    const auto strange = [&](Entropy ev) {
      return Entropy(static_cast<uint16_t>(ev.value() ^ 0x8000));
    };
    for (int i = 0; i < 8; ++i) {
      b.marks.ev = echoes ? out[static_cast<size_t>(i)].ev : strange(out[0].ev);
      b.rx_header(b.ack(b.start + i));
    }
    EXPECT_EQ(b.count(Count::strange_evs), 0u);
    b.marks.ev = out[0].ev;
    b.rx_header(b.ack(b.start + 8));
    EXPECT_EQ(b.count(Count::strange_evs), 0u) << "of another packet of the context";
    b.marks.ev = strange(out[9].ev);
    b.rx_header(b.ack(b.start + 9));
    EXPECT_EQ(b.count(Count::strange_evs), echoes ? 1u : 0u);
    b.rx_header(b.nack(wire::NackCode::trimmed, b.start + 10));
    EXPECT_EQ(b.count(Count::strange_evs), echoes ? 2u : 0u);
    ContextSnapshot s;
    EXPECT_EQ(b.pds->snapshot({&s, 1}, 0).listed, 1u);
    EXPECT_EQ(s.strange_evs, echoes ? 2u : 0u);
    EXPECT_EQ(s.evs_resting, 1u);
    b.tx();
    b.client.post(b.flow, 2, 6 * kFeedbackValues * b.client.mtu);
    std::map<Entropy, int> found;
    for (const Bench::Out& o : b.tx()) ++found[o.ev];
    EXPECT_EQ(found.count(out[10].ev), 0u);
    EXPECT_EQ(found.size(), kFeedbackValues - 1);
  }
}

}  // namespace
}  // namespace uet::pds::test
