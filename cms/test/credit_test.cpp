// Receiver credit: what peers say of it stays within bounds. Expected figures are by hand: a unit
// is 256 octets, counters have 24 bits.
#include "cms/ccc.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

constexpr uint32_t kWindow = 100 * 4096;  // 1600 units

Config credit_config() {
  Config c;
  c.mtu_bytes = 4096;
  c.initial_window_packets = 32;
  c.window_bytes_max = kWindow;
  return c;
}

// [CMS-118] Distances of counters that wrap.
TEST(CreditTest, CountersWrap) {
  EXPECT_EQ(credit_ahead(7, 5), 2);
  EXPECT_EQ(credit_ahead(5, 7), -2);
  EXPECT_EQ(credit_ahead(0, 0xFF'FFFF), 1);
  EXPECT_EQ(credit_ahead(0xFF'FFFF, 0), -1);
  EXPECT_EQ(credit_ahead(0x7F'FFFF, 0), 0x7F'FFFF);
  EXPECT_EQ(credit_ahead(0x80'0000, 0), -0x80'0000);
}

// [CMS-119, CMS-117, CMS-125] Grants are cumulative: told twice they count once.
TEST(CreditTest, GrantsAddUp) {
  Ccc ccc(credit_config());
  EXPECT_EQ(ccc.unspent_credit_bytes(), 0u);
  EXPECT_EQ(ccc.on_credit({3, {}}), CreditNews::taken);
  EXPECT_EQ(ccc.unspent_credit_bytes(), 3u * 256);
  EXPECT_EQ(ccc.on_credit({3, {}}), CreditNews::taken);
  EXPECT_EQ(ccc.unspent_credit_bytes(), 3u * 256);
  EXPECT_EQ(ccc.on_credit({10, {}}), CreditNews::taken);
  EXPECT_EQ(ccc.unspent_credit_bytes(), 10u * 256);
}

// [T-33, CMS-125] A grant of everything makes one window, and so do many; the window that admits is
// not touched. A counter that goes back takes nothing back, and what follows it is not new either.
TEST(CreditTest, InflatedCreditMakesOneWindow) {
  for (const Algorithm algorithm : {Algorithm::aimd, Algorithm::fixed}) {
    Config c = credit_config();
    c.algorithm = algorithm;
    Ccc ccc(c);
    const uint64_t window = ccc.window_bytes();
    EXPECT_EQ(ccc.on_credit({1600, {}}), CreditNews::taken) << "exactly a window";
    EXPECT_EQ(ccc.on_credit({1601, {}}), CreditNews::clamped);
    EXPECT_EQ(ccc.unspent_credit_bytes(), kWindow);
    EXPECT_EQ(ccc.on_credit({0x7F'FFFF, {}}), CreditNews::clamped);
    EXPECT_EQ(ccc.on_credit({1601, {}}), CreditNews::old);
    EXPECT_EQ(ccc.on_credit({0x7F'FFFE, {}}), CreditNews::old);
    EXPECT_EQ(ccc.on_credit({0x7F'FFFF, {}}), CreditNews::taken);
    EXPECT_EQ(ccc.unspent_credit_bytes(), kWindow);
    EXPECT_EQ(ccc.window_bytes(), window);
  }
}

// [T-33, CMS-118] Over the end of the counter.
TEST(CreditTest, GrantsPassTheEndOfTheCounter) {
  Ccc ccc(credit_config());
  ccc.on_credit({0x7F'FFFF, {}});
  ccc.on_credit({0xFF'FFF0, {}});
  EXPECT_EQ(ccc.on_credit({5, {}}), CreditNews::clamped) << "newer by 21";
  EXPECT_EQ(ccc.on_credit({0xFF'FFFF, {}}), CreditNews::old);
}

// [T-34, CMS-130] A source waits for what it asked for, once, and for no more than a window.
TEST(CreditTest, ASourceAsksForAWindowAtMost) {
  CreditDemands demands(kWindow);
  EXPECT_TRUE(demands.on_request({3, 100, {}}));
  EXPECT_TRUE(demands.on_request({3, 100, {}}));
  EXPECT_TRUE(demands.on_request({3, 40, {}})) << "overtaken";
  EXPECT_EQ(demands.backlog_units(3), 100u);
  EXPECT_TRUE(demands.on_request({3, 1600, {}}));
  EXPECT_FALSE(demands.on_request({3, 1601, {}}));
  EXPECT_EQ(demands.backlog_units(3), 1600u);
  EXPECT_EQ(demands.backlog_units(), 1600u);
}

// [T-34] Nor by many contexts of its own: they share the window, and there are no more than eight.
TEST(CreditTest, ManyContextsAskForNoMore) {
  CreditDemands demands(kWindow);
  for (uint8_t id = 0; id < 7; ++id) EXPECT_TRUE(demands.on_request({id, 200, {}}));
  EXPECT_FALSE(demands.on_request({7, 201, {}}));
  EXPECT_EQ(demands.backlog_units(7), 200u);
  EXPECT_FALSE(demands.on_request({8, 1, {}}));
  EXPECT_EQ(demands.backlog_units(8), 0u);
  EXPECT_EQ(demands.backlog_units(), 1600u);
}

// [CMS-119] A source that was granted much by somebody who forgot it asks for a window, not for
// all of that.
TEST(CreditTest, AForgottenSourceAsksForAWindow) {
  CreditDemands demands(kWindow);
  EXPECT_TRUE(demands.on_request({3, 0x90'0000, {}}));
  EXPECT_EQ(demands.backlog_units(3), 1600u);
  EXPECT_FALSE(demands.on_request({3, 0x90'0001, {}}));
}

}  // namespace
}  // namespace uet::cms
