// Credit for the buffer of the destination. By hand: cells of 256 octets, 64 octets of overhead; a
// BDP of 150,000 octets, so that 225,000 make the initial allocation of 878 cells. Sizes are
// nominal: a packet of 1,040 has a transport size of 1,000, which with its overhead takes 5 cells
// (4.2), one of 2,040 takes 9 (8.1).
#include "cms/tfc.h"
#include "cms/ccc.h"
#include "cms/entropy_selector.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

using namespace uet::literals;

const Instant kStart = Instant::from_ns(1'000'000'000);

Config tfc_path() {
  Config c;
  c.algorithm = Algorithm::tfc;
  c.link_mbps = 100'000;
  c.base_rtt = 12_us;
  return c;
}

// A buffer of ten cells.
Config ten_cells() {
  Config c = tfc_path();
  c.tfc.first_bytes = 2560;
  return c;
}

// A context with one PDC.
class TfcSourceTest : public testing::Test {
 protected:
  TfcSource source{ten_cells()};
  TfcShare pdc;
};

// [CMS-015, CMS-147] ceil((transport size + 64) / 256); the transport size is the nominal one - 40.
TEST(TfcTest, APacketTakesWholeCells) {
  const TfcConfig tfc;
  EXPECT_EQ(tfc_cells(tfc, 40), 1u);
  EXPECT_EQ(tfc_cells(tfc, 40 + 192), 1u);
  EXPECT_EQ(tfc_cells(tfc, 40 + 193), 2u);
  EXPECT_EQ(tfc_cells(tfc, 40 + 4200), 17u) << "16.7";
  EXPECT_EQ(tfc_cells({.cell_bytes = 1000, .packet_overhead_bytes = 0}, 40 + 1001), 2u);
}

// [CMS-147] One and a half BDP; in software no more than sockets have.
TEST(TfcTest, TheInitialAllocationIsOneAndAHalfBdp) {
  EXPECT_EQ(tfc_first_cells(tfc_path()), 878u);
  EXPECT_EQ(tfc_first_cells(ten_cells()), 10u);
  EXPECT_EQ(tfc_first_cells(Config::software()), 512u) << "128 KiB";
}

// [CMS-146, CMS-147] The source sends what fits into cells that are granted and not used.
TEST_F(TfcSourceTest, TheSourceSpendsCells) {
  EXPECT_TRUE(source.may_send(40 + 2496)) << "ten cells exactly";
  EXPECT_FALSE(source.may_send(40 + 2497));
  EXPECT_TRUE(source.may_send(1040, 2));
  EXPECT_FALSE(source.may_send(1040, 3));
  source.on_sent(pdc, 1040);
  EXPECT_EQ(source.free_cells(), 5);
  source.on_sent(pdc, 1040);
  EXPECT_FALSE(source.may_send(40));
  EXPECT_EQ(source.on_credit(pdc, {12, kStart}), CreditNews::taken);
  EXPECT_EQ(source.free_cells(), 2);
  EXPECT_EQ(source.free_bytes(), 512);
}

// [CMS-147] Credit is cumulative: the next ACK repeats the credit of a lost one, and late or
// repeated credit changes nothing.
TEST_F(TfcSourceTest, CreditIsCumulative) {
  source.on_sent(pdc, 1040);
  source.on_sent(pdc, 1040);
  EXPECT_EQ(source.on_credit(pdc, {20, kStart}), CreditNews::taken);
  EXPECT_EQ(source.free_cells(), 10);
  EXPECT_EQ(source.on_credit(pdc, {20, kStart}), CreditNews::taken);
  EXPECT_EQ(source.on_credit(pdc, {15, kStart}), CreditNews::old);
  EXPECT_EQ(source.free_cells(), 10);
}

// [CMS-147] A packet that was lost returns its cells, and takes some when it is sent again.
TEST_F(TfcSourceTest, ALostPacketReturnsItsCells) {
  source.on_sent(pdc, 2040);
  source.on_lost(pdc, 2040);
  EXPECT_EQ(source.free_cells(), 10);
  source.on_sent(pdc, 2040);
  EXPECT_EQ(source.free_cells(), 1);
}

// [CMS-147] A packet that was thought lost had arrived, and its cells were granted again before the
// source knew: sent again it counts once.
TEST_F(TfcSourceTest, APacketThatWasNotLostCountsOnce) {
  source.on_sent(pdc, 2040);
  source.on_lost(pdc, 2040);
  EXPECT_EQ(source.on_credit(pdc, {19, kStart}), CreditNews::taken);
  EXPECT_EQ(source.free_cells(), 10) << "there are no more";
  source.on_sent(pdc, 2040);
  EXPECT_EQ(source.free_cells(), 10) << "the destination has let it go already";
  source.on_sent(pdc, 2040);
  EXPECT_EQ(source.free_cells(), 1);
  EXPECT_EQ(source.on_credit(pdc, {28, kStart}), CreditNews::taken);
  EXPECT_EQ(source.free_cells(), 10);
}

// [CMS-147] The same, but the packet is answered before it is sent again.
TEST_F(TfcSourceTest, APacketThatArrivedAfterAllHasItsCells) {
  source.on_sent(pdc, 2040);
  source.on_lost(pdc, 2040);
  source.on_arrived(pdc, 2040);
  EXPECT_EQ(source.free_cells(), 1);
  EXPECT_EQ(source.on_credit(pdc, {19, kStart}), CreditNews::taken);
  EXPECT_EQ(source.free_cells(), 10);
}

// [T-33, CMS-022, CMS-147] What the destination cannot have freed changes nothing.
TEST_F(TfcSourceTest, ImpossibleCreditChangesNothing) {
  source.on_sent(pdc, 1040);
  EXPECT_EQ(source.on_credit(pdc, {16, kStart}), CreditNews::impossible);
  EXPECT_EQ(source.on_credit(pdc, {0x7F'FFFF, kStart}), CreditNews::impossible);
  EXPECT_EQ(source.on_credit(pdc, {9, kStart}), CreditNews::old);
  EXPECT_EQ(source.on_credit(pdc, {0xFF'FFFF, kStart}), CreditNews::old);
  EXPECT_EQ(source.free_cells(), 5);
  EXPECT_EQ(source.on_credit(pdc, {15, kStart}), CreditNews::taken) << "the last possible one";
  EXPECT_EQ(source.free_cells(), 10);
}

// [T-33] A peer that refuses packets but grants their cells lets at most twice the buffer go.
TEST_F(TfcSourceTest, RefusedPacketsGrantAtMostASecondBuffer) {
  uint32_t credit = 10;
  for (int i = 0; i < 100; ++i) {
    source.on_sent(pdc, 2040);
    source.on_lost(pdc, 2040);
    credit += 9;
    EXPECT_EQ(source.on_credit(pdc, {credit, kStart}), CreditNews::taken);
  }
  int sent = 0;
  for (; source.may_send(2040); ++sent) source.on_sent(pdc, 2040);
  EXPECT_EQ(sent, 2) << "of 20 cells";
}

// [CMS-002, CMS-147] The context is the sum of its PDCs, which have separate counters.
TEST(TfcTest, PdcsShareTheCellsOfTheirContext) {
  TfcSource source(ten_cells());
  TfcShare a, b;
  source.on_sent(a, 1040);
  source.on_sent(b, 1040);
  EXPECT_EQ(source.free_cells(), 0);
  EXPECT_EQ(source.on_credit(b, {15, kStart}), CreditNews::taken);
  EXPECT_EQ(source.free_cells(), 5);
  EXPECT_EQ(source.on_credit(b, {20, kStart}), CreditNews::impossible) << "those are of the other";
  source.on_closed(a);
  EXPECT_EQ(source.free_cells(), 10);
  EXPECT_EQ(a.spent, 0);
  source.on_sent(a, 1040);  // another PDC in its place
  EXPECT_EQ(source.on_credit(a, {15, kStart}), CreditNews::taken);
}

// [CMS-129, CMS-147] Without new credit it asks after 250 us and then after twice the time, up to 4
// ms; after that one packet goes without cells.
TEST_F(TfcSourceTest, UnansweredRequestsLetOnePacketGoWithoutCells) {
  source.on_sent(pdc, 2040);
  EXPECT_TRUE(source.deadline().is_never());
  source.on_waiting(kStart);
  source.on_waiting(kStart + 100_us);
  Instant at = kStart;
  for (const int us : {250, 500, 1000, 2000, 4000, 4000}) {
    EXPECT_EQ(source.is_unanswered(), us == 4000) << us;
    EXPECT_EQ(source.deadline(), at + Duration::microseconds(us));
    at = source.deadline();
    source.on_requested(at);
  }
  EXPECT_FALSE(source.may_send(2040));
  source.on_unanswered();
  EXPECT_TRUE(source.may_send(2040));
  source.on_sent(pdc, 2040);
  EXPECT_FALSE(source.may_send(2040));
  EXPECT_TRUE(source.deadline().is_never()) << "nothing is known to wait";
  source.on_waiting(at);
  EXPECT_EQ(source.on_credit(pdc, {19, at + 50_us}), CreditNews::taken);
  EXPECT_EQ(source.deadline(), at + 300_us) << "250 after the news";
  source.on_nothing_waits();
  EXPECT_TRUE(source.deadline().is_never());
}

// [CMS-146, CMS-147] The destination grants the cells that it frees, and counts those that it
// holds.
TEST(TfcTest, TheDestinationGrantsTheCellsThatItFrees) {
  TfcDestination pdc;
  EXPECT_EQ(pdc.credit(10), 10u);
  EXPECT_TRUE(pdc.on_kept(9, 10));
  EXPECT_EQ(pdc.credit(10), 10u);
  EXPECT_FALSE(pdc.on_kept(2, 10)) << "one more than it may";
  EXPECT_EQ(pdc.held_cells(), 9u);
  EXPECT_TRUE(pdc.on_kept(1, 10));
  pdc.on_freed(9);
  EXPECT_EQ(pdc.credit(10), 19u);
  EXPECT_EQ(pdc.held_cells(), 1u);
  pdc.on_dropped(1);
  EXPECT_EQ(pdc.credit(10), 19u) << "it comes again";
  EXPECT_EQ(pdc.held_cells(), 0u);
  pdc.on_passed(5);
  EXPECT_EQ(pdc.credit(10), 24u);
}

// [CMS-118, CMS-146, CMS-147] Both ends pass 2^24 cells together: 1.9 million packets of 9 cells.
TEST(TfcTest, CountersWrapTogether) {
  TfcSource source(ten_cells());
  TfcShare share;
  TfcDestination destination;
  for (int i = 0; i < 1'900'000; ++i) {
    ASSERT_TRUE(source.may_send(2040)) << i;
    source.on_sent(share, 2040);
    ASSERT_FALSE(source.may_send(2040)) << i;
    destination.on_passed(9);
    ASSERT_EQ(source.on_credit(share, {destination.credit(10), {}}), CreditNews::taken) << i;
  }
  EXPECT_EQ(destination.credit(10), 1'900'000u * 9 + 10 - (1u << 24));
}

// [CMS-013, CMS-146, CMS-193] A context sends only with cells, also when nothing is in flight; a
// control packet takes none. The last packet that has cells asks for an ACK.
TEST(TfcTest, TheContextSendsOnlyWithCells) {
  Ccc ccc(ten_cells());
  EXPECT_EQ(ccc.algorithm(), Algorithm::tfc);
  EXPECT_EQ(ccc.credit_bytes(), 2560);
  ASSERT_NE(ccc.cells(), nullptr);
  EXPECT_FALSE(ccc.wants_ack(1040, 16384));
  TfcShare pdc;
  ccc.on_sent({1040, Entropy(0), false, kStart});
  ccc.cells()->on_sent(pdc, 1040);
  EXPECT_TRUE(ccc.wants_ack(1040, 16384));
  EXPECT_TRUE(ccc.may_send(1040));
  EXPECT_FALSE(ccc.may_send(2040));
  ccc.on_acked({.bytes = 1040, .packets = 1});
  EXPECT_EQ(ccc.inflight_bytes(), 0u);
  EXPECT_FALSE(ccc.may_send(2040)) << "it was acknowledged, and keeps its cells";
  EXPECT_TRUE(ccc.may_send(2040, true));
  EXPECT_EQ(ccc.on_credit({100, kStart}), CreditNews::unused) << "none is of the context";
}

// [CMS-148] Feedback about entropy values changes nothing: their order is the same as without
// feedback.
TEST(TfcTest, FeedbackChangesNoEntropyValue) {
  Config config = tfc_path();
  config.entropy_values = 16;
  Rng one(7), other(7);
  EntropySelector heard(config, one), deaf(config, other);
  Instant now = kStart;
  for (int i = 0; i < 200; ++i, now = now + 1_us) {
    const Entropy ev = heard.next(now);
    ASSERT_EQ(ev, deaf.next(now)) << i;
    for (const auto news :
         {PathFeedback::ecn, PathFeedback::trimmed, PathFeedback::timeout, PathFeedback::good}) {
      EXPECT_TRUE(heard.on_feedback(ev, news, now));
    }
  }
  EXPECT_EQ(heard.penalised(), 0u);
  EXPECT_EQ(heard.excluded(), 0u);
}

}  // namespace
}  // namespace uet::cms
