// Credit for the buffer of the destination. By hand: cells of 256 octets, 64 octets of overhead; a
// BDP of 150,000 octets, so that 225,000 make the first allocation of 878 cells.
#include "cms/tfc.h"

#include <gtest/gtest.h>

namespace uet::cms {
namespace {

using namespace uet::literals;

Config tfc_path() {
  Config c;
  c.link_mbps = 100'000;
  c.base_rtt = 12_us;
  return c;
}

// A buffer of ten cells.
TfcConfig ten_cells() {
  TfcConfig tfc;
  tfc.first_bytes = 2560;
  return tfc;
}

// [CMS-147] ceil((size + 64) / 256).
TEST(TfcTest, APacketTakesWholeCells) {
  const TfcConfig tfc;
  EXPECT_EQ(tfc_cells(tfc, 0), 1u);
  EXPECT_EQ(tfc_cells(tfc, 192), 1u);
  EXPECT_EQ(tfc_cells(tfc, 193), 2u);
  EXPECT_EQ(tfc_cells(tfc, 4200), 17u) << "16.7";
}

// [CMS-147] One and a half BDP.
TEST(TfcTest, TheFirstAllocationIsOneAndAHalfBdp) {
  EXPECT_EQ(tfc_first_cells(TfcConfig{}, tfc_path()), 878u);
  EXPECT_EQ(tfc_first_cells(ten_cells(), tfc_path()), 10u);
}

// [CMS-146, CMS-147] The source sends what fits into cells that are granted and not used.
TEST(TfcTest, TheSourceSpendsCells) {
  TfcSource source(ten_cells(), tfc_path());
  EXPECT_TRUE(source.may_send(2496)) << "ten cells exactly";
  EXPECT_FALSE(source.may_send(2497));
  source.on_sent(1000);  // 5
  EXPECT_EQ(source.free_cells(), 5);
  source.on_sent(1000);
  EXPECT_FALSE(source.may_send(0));
  EXPECT_EQ(source.on_credit({12, {}}), CreditNews::taken);
  EXPECT_EQ(source.free_cells(), 2);
  EXPECT_EQ(source.on_credit({11, {}}), CreditNews::old);
  EXPECT_EQ(source.free_cells(), 2);
}

// [CMS-147] A packet that was lost returns its cells, and takes some when it is sent again.
TEST(TfcTest, ALostPacketReturnsItsCells) {
  TfcSource source(ten_cells(), tfc_path());
  source.on_sent(2000);  // 9 cells
  source.on_lost(2000);
  EXPECT_EQ(source.free_cells(), 10);
  source.on_sent(2000);
  EXPECT_EQ(source.free_cells(), 1);
}

// [T-33, CMS-147] No more cells than the destination has, whatever it says.
TEST(TfcTest, InflatedCreditIsTheBufferAtMost) {
  TfcSource source(ten_cells(), tfc_path());
  source.on_sent(1000);
  EXPECT_EQ(source.on_credit({15, {}}), CreditNews::taken);
  EXPECT_EQ(source.on_credit({16, {}}), CreditNews::clamped);
  EXPECT_EQ(source.free_cells(), 10);
  EXPECT_EQ(source.on_credit({0x7F'FFFF, {}}), CreditNews::clamped);
  EXPECT_EQ(source.free_cells(), 10);
}

// [CMS-147] The destination grants what it frees, and counts what it holds.
TEST(TfcTest, TheDestinationGrantsWhatItFrees) {
  TfcDestination destination(ten_cells(), tfc_path());
  EXPECT_EQ(destination.credit(), 10u);
  EXPECT_TRUE(destination.on_received(2000));  // 9
  EXPECT_EQ(destination.credit(), 10u);
  EXPECT_EQ(destination.held_cells(), 9u);
  EXPECT_FALSE(destination.on_received(193)) << "two more than it may";
  EXPECT_EQ(destination.held_cells(), 9u);
  EXPECT_TRUE(destination.on_received(192));
  destination.on_freed(2000);
  EXPECT_EQ(destination.credit(), 19u);
  EXPECT_EQ(destination.held_cells(), 1u);
}

// [CMS-146, CMS-147] Both ends pass 2^24 cells together: 1.9 million packets of 9 cells.
TEST(TfcTest, CountersWrapTogether) {
  TfcSource source(ten_cells(), tfc_path());
  TfcDestination destination(ten_cells(), tfc_path());
  for (int i = 0; i < 1'900'000; ++i) {
    ASSERT_TRUE(source.may_send(2000)) << i;
    source.on_sent(2000);
    ASSERT_FALSE(source.may_send(2000)) << i;
    ASSERT_TRUE(destination.on_received(2000)) << i;
    destination.on_freed(2000);
    ASSERT_EQ(source.on_credit({destination.credit(), {}}), CreditNews::taken) << i;
  }
  EXPECT_EQ(destination.credit(), 1'900'000u * 9 + 10 - (1u << 24));
}

}  // namespace
}  // namespace uet::cms
