// The state that hostile and unproven sources leave at a destination of RCCC. Figures by hand, see
// credit_pacer_bench.h.
#include "cms/test/credit_pacer_bench.h"

namespace uet::cms::credit_pacer {
namespace {

// [T-34] A source that asks for the maximum of 24 bits waits for a window and two packets.
TEST_F(CreditPacerTest, AGreedySourceWaitsForAWindow) {
  ask(1, 1);
  EXPECT_EQ(ask(1, 0x7F'FFFF), DemandNews::clamped);
  EXPECT_EQ(backlog(1), 913u);
  EXPECT_EQ(ask(1, 0x7F'FFFF), DemandNews::clamped);
  EXPECT_EQ(backlog(1), 913u);
  turns(1);
  EXPECT_EQ(ask(1, 0x7F'FFFF), DemandNews::clamped) << "what was granted may be asked for anew";
  EXPECT_EQ(backlog(1), 913u);
}

// [T-34] A source gets no more by thousands of contexts: eight are kept, and they share the window.
TEST_F(CreditPacerTest, ManyContextsAskForNoMore) {
  int refused = 0;
  uint32_t sum = 0;
  for (int id = 0; id < 256; ++id) {
    refused += ask(1, 200, AskedBy::packet, static_cast<uint8_t>(id)) == DemandNews::no_room;
    sum += backlog(1, static_cast<uint8_t>(id));
  }
  EXPECT_EQ(sum, 913u);
  EXPECT_EQ(pacer_->context_count(), 8u);
  EXPECT_EQ(refused, 0) << "those without a share of the window rest, and give way";
  EXPECT_EQ(pacer_->source_count(), 1u);
}

// [T-34] While proven sources wait, the unproven ones together have one turn of eight; otherwise
// they have all. A source that proves itself gets normal turns.
TEST_F(CreditPacerTest, UnprovenSourcesHaveFewTurns) {
  ask_unproven(7, 900);
  ask_unproven(8, 900);
  EXPECT_EQ(turns(4), "7+64 8+64 7+64 8+64 ");
  ask(1, 900);
  ask(2, 900);
  EXPECT_EQ(turns(13), "1+64 2+64 1+64 2+64 7+64 1+64 2+64 1+64 2+64 1+64 2+64 1+64 8+64 ");
  EXPECT_EQ(ask(7, 901), DemandNews::taken);
  EXPECT_EQ(turns(4), "2+64 1+64 7+64 2+64 ");
}

// [T-34] Packets from an address that may be forged do not raise, take or redirect the credit of a
// known source.
TEST_F(CreditPacerTest, AKnownSourceIsNotForged) {
  ask(1, 100);
  EXPECT_EQ(ask_unproven(1, 800), DemandNews::forged);
  EXPECT_EQ(backlog(1), 100u);
  EXPECT_EQ(turns(3), "1+64 1+36 -");
  EXPECT_EQ(ask_unproven(1, 800), DemandNews::forged);
  EXPECT_EQ(turns(1), "-");
}

// [T-34, CMS-007] A table full of unproven sources has room for a proven one; unproven ones take
// none of its records, and one of another unproven source only after a timeout.
TEST_F(CreditPacerTest, UnprovenSourcesGiveWay) {
  ask(1, 10);
  EXPECT_EQ(turns(1), "1+10 ");
  for (uint32_t peer = 2; peer <= 16; ++peer) EXPECT_EQ(ask_unproven(peer, 10), DemandNews::taken);
  EXPECT_EQ(ask_unproven(17, 10), DemandNews::no_room);
  EXPECT_EQ(ask(18, 10), DemandNews::taken);
  EXPECT_EQ(pacer_->granted({2, 0}), std::nullopt) << "the first that came";
  now_ = now_ + kTimeout;
  EXPECT_EQ(ask_unproven(19, 10), DemandNews::taken);
  EXPECT_EQ(pacer_->granted({3, 0}), std::nullopt);
  EXPECT_EQ(pacer_->granted({1, 0}), 10u);
  EXPECT_EQ(pacer_->granted({18, 0}), 0u);
  EXPECT_EQ(pacer_->source_count(), 16u);
}

// [T-34] A table full of proven sources has no room for one that may be forged, however long they
// have wanted nothing; one that is proven takes the place of the first.
TEST_F(CreditPacerTest, UnprovenSourcesTakeNoRecordsFromProvenOnes) {
  for (uint32_t peer = 1; peer <= 16; ++peer) {
    ask(peer, 10);
    turns(1);
  }
  now_ = now_ + kTimeout * 10;
  EXPECT_EQ(ask_unproven(17, 10), DemandNews::no_room);
  EXPECT_EQ(pacer_->granted({1, 0}), 10u);
  EXPECT_EQ(ask(18, 10), DemandNews::taken);
  EXPECT_EQ(pacer_->granted({1, 0}), std::nullopt);
}

// [T-34] The sum that a source waits for is kept exactly, whatever it does.
TEST_F(CreditPacerTest, TheBacklogOfASourceAddsUp) {
  Rng rng(3);
  for (int i = 0; i < 20'000; ++i) {
    const auto peer = static_cast<uint32_t>(1 + rng.below(3));
    const auto id = static_cast<uint8_t>(rng.below(12));
    const auto target = static_cast<uint32_t>(rng.below(2) ? rng.u32() : rng.below(3000));
    ask(peer, target, rng.below(4) ? AskedBy::packet : AskedBy::request, id);
    if (rng.below(3) == 0) hear(peer, {.trimmed = rng.below(2) == 0});
    if (rng.below(2)) turns(1);
    if (rng.below(50) == 0) now_ = now_ + kTimeout * 5;
    if (rng.below(500) == 0) pacer_->withdraw({peer, id});
    for (uint32_t p = 1; p <= 3; ++p) {
      uint32_t sum = 0;
      for (int k = 0; k < 12; ++k) sum += backlog(p, static_cast<uint8_t>(k));
      ASSERT_LE(sum, 913u);
    }
  }
  // All are served in the end: nothing is left over.
  while (!pacer_->deadline().is_never()) turns(1);
  for (uint32_t p = 1; p <= 3; ++p) {
    ask(p, 0x40'0000, AskedBy::packet, 200);
    ask(p, 0x40'0000 + 913, AskedBy::packet, 200);
    EXPECT_EQ(backlog(p, 200), 913u);
  }
}

}  // namespace
}  // namespace uet::cms::credit_pacer
