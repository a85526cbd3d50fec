// Receiver credit: values from peers stay within bounds. Expected figures are by hand: a unit is
// 256 octets, counters have 24 bits.
#include "cms/ccc.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

// [CMS-118] Distances of counters that wrap.
TEST(CreditTest, CountersWrap) {
  EXPECT_EQ(credit_ahead(7, 5), 2);
  EXPECT_EQ(credit_ahead(5, 7), -2);
  EXPECT_EQ(credit_ahead(0, 0xFF'FFFF), 1);
  EXPECT_EQ(credit_ahead(0xFF'FFFF, 0), -1);
  EXPECT_EQ(credit_ahead(0x7F'FFFF, 0), 0x7F'FFFF);
  EXPECT_EQ(credit_ahead(0x80'0000, 0), -0x80'0000);
}

// 100 Gb/s x 12 us = 150,000 octets: first credit 150,000, window 225,000.
Config credit_config(Algorithm algorithm) {
  Config c;
  c.algorithm = algorithm;
  c.mtu_bytes = 4096;
  return c;
}

// [CMS-022, CMS-117, CMS-119, CMS-125] Grants are cumulative: a repeated one counts once.
TEST(CreditTest, GrantsAddUp) {
  Ccc ccc(credit_config(Algorithm::rccc));
  EXPECT_EQ(ccc.credit_bytes(), 150'000);
  EXPECT_EQ(ccc.on_credit({3, {}}), CreditNews::taken);
  EXPECT_EQ(ccc.credit_bytes(), 3 * 256) << "what was left of the first credit is gone [CMS-122]";
  EXPECT_EQ(ccc.on_credit({3, {}}), CreditNews::taken);
  EXPECT_EQ(ccc.credit_bytes(), 3 * 256);
  EXPECT_EQ(ccc.on_credit({10, {}}), CreditNews::taken);
  EXPECT_EQ(ccc.credit_bytes(), 10 * 256);
}

// [CMS-022] If no credit is in use, credit fields have no effect.
TEST(CreditTest, CreditIsNothingWithoutIt) {
  for (const Algorithm algorithm : {Algorithm::nscc, Algorithm::aimd, Algorithm::fixed}) {
    Ccc ccc(credit_config(algorithm));
    const uint64_t window = ccc.window_bytes();
    EXPECT_FALSE(ccc.has_credit());
    EXPECT_EQ(ccc.on_credit({1600, {}}), CreditNews::unused);
    EXPECT_EQ(ccc.credit_bytes(), 0);
    EXPECT_EQ(ccc.window_bytes(), window);
    EXPECT_TRUE(ccc.may_send(4096));
    EXPECT_TRUE(ccc.credit_deadline({.backlog_bytes = 1}, Instant::from_ns(1)).is_never());
  }
}

// [CMS-123, CMS-124, CMS-142] RCCC alone: credit decides, whatever is in flight. A packet takes its
// octets, also when it is sent again; a control packet takes none [CMS-193].
TEST(CreditTest, CreditAloneDecides) {
  Ccc ccc(credit_config(Algorithm::rccc));
  const Instant now = Instant::from_ns(1000);
  ccc.on_feedback();
  EXPECT_FALSE(ccc.may_send(4096)) << "though nothing is in flight";
  ccc.on_credit({17, now});  // 4,352 octets: a packet and a bit
  ASSERT_TRUE(ccc.may_send(4096));
  ccc.on_sent({4096, Entropy(1), false, now});
  EXPECT_EQ(ccc.credit_bytes(), 256);
  ASSERT_TRUE(ccc.may_send(4096)) << "any credit admits a packet";
  ccc.on_sent({4096, Entropy(1), true, now});
  EXPECT_EQ(ccc.credit_bytes(), 256 - 4096);
  EXPECT_FALSE(ccc.may_send(4096));
  EXPECT_TRUE(ccc.may_send(64, /*is_control=*/true));
  ccc.on_sent({64, Entropy(1), false, now, true});
  EXPECT_EQ(ccc.credit_bytes(), 256 - 4096);
  ccc.on_credit({17 + 800, now});
  for (int i = 0; i < 47;
       ++i) {  // 200,960 octets: less than the credit, more than a window of NSCC
    ASSERT_TRUE(ccc.may_send(4096)) << i;
    ccc.on_sent({4096, Entropy(1), false, now});
  }
}

// [CMS-142] Both: a packet leaves when both allow it.
TEST(CreditTest, BothMustAllow) {
  Ccc ccc(credit_config(Algorithm::both));
  const Instant now = Instant::from_ns(1000);
  ccc.on_feedback();
  EXPECT_FALSE(ccc.may_send(4096)) << "no credit, an open window";
  ccc.on_credit({800, now});  // 204,800 octets
  uint32_t sent = 0;
  while (ccc.may_send(4096)) {
    ccc.on_sent({4096, Entropy(1), false, now});
    ++sent;
    ccc.on_credit({800 + sent * 16, now});  // as much as was spent
  }
  EXPECT_GT(ccc.credit_bytes(), 4096) << "credit, a full window";
  EXPECT_EQ(sent, 54u) << "225,000 / 4,096 [CMS-050, CMS-066]";
}

// [CMS-143] A source with a small window asks for no more than the window and a packet.
TEST(CreditTest, TheTargetIsWithinTheWindow) {
  Config c = credit_config(Algorithm::both);
  c.start_slowly = true;
  c.initial_window_packets = 8;
  Ccc ccc(c);
  ASSERT_EQ(ccc.window_bytes(), 8u * 4096);
  ccc.on_feedback();
  EXPECT_EQ(ccc.credit_target({.backlog_bytes = 1'000'000}), 9u * 16);
  Ccc alone(credit_config(Algorithm::rccc));
  alone.on_feedback();
  EXPECT_EQ(alone.credit_target({.backlog_bytes = 1'000'000}), 879u) << "225,000 / 256, up";
}

// [T-33, CMS-125] A grant of everything makes one window, and so do many.
TEST(CreditTest, InflatedCreditMakesOneWindow) {
  Ccc ccc(credit_config(Algorithm::rccc));
  EXPECT_EQ(ccc.on_credit({0x7F'FFFF, {}}), CreditNews::clamped);
  EXPECT_EQ(ccc.credit_bytes(), 225'000);
  EXPECT_EQ(ccc.on_credit({1601, {}}), CreditNews::old);
  EXPECT_EQ(ccc.on_credit({0xFF'FFF0, {}}), CreditNews::clamped);
  EXPECT_EQ(ccc.on_credit({5, {}}), CreditNews::clamped) << "newer by 21, over the end";
  EXPECT_EQ(ccc.on_credit({0xFF'FFFF, {}}), CreditNews::old);
  EXPECT_EQ(ccc.credit_bytes(), 225'000);
}

}  // namespace
}  // namespace uet::cms
