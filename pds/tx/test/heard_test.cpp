// What the peer reports as received: which counts are believed, and what they free.
#include "pds/tx/heard.h"

#include <gtest/gtest.h>

namespace uet::pds {
namespace {

// [CMS-042] The sums wrap at 2^24 units, and never fall.
TEST(ReportedOctetsTest, TheReportedSumWraps) {
  Heard h;
  EXPECT_EQ(h.on_rcvd_units(0xFF'FFFF, 10'000), 0u) << "one less than nothing";
  for (const uint32_t units : {0x7F'FFFFu, 0xFF'FFFEu}) {
    h.on_sent(0x7FFF'FF00);
    EXPECT_EQ(h.on_rcvd_units(units, UINT32_MAX), 0x7FFF'FF00u) << "as much as there can be";
  }
  h.on_sent(10'000);
  EXPECT_EQ(h.on_rcvd_units(2, 10'000), 4u * 256);
  EXPECT_EQ(h.on_rcvd_units(1, 10'000), 0u);
  EXPECT_EQ(h.on_rcvd_units(3, 10'000), 256u) << "counted from 2";
  EXPECT_EQ(h.balance(), 10'000 - 5 * 256);
}

// [CMS-065] What is taken from flight is no more than is there, or perhaps there, however much the
// peer reports of what left.
TEST(ReportedOctetsTest, NoMoreIsTakenThanIsInFlight) {
  Heard h;
  h.on_sent(10'000);
  h.on_gone(8'000);
  EXPECT_EQ(h.on_rcvd_units(10, 2'000), 2'000u);
  EXPECT_EQ(h.balance(), 0);
}

// [CMS-198] A count may be as high as all that left, rounded up, and no higher. A resend left once
// more; a packet that only seemed lost did not.
TEST(ReportedOctetsTest, ACountIsPossibleUpToAllThatLeft) {
  const auto possible = [](const Heard& h, uint32_t units) {
    Heard copy = h;
    return copy.on_rcvd_units(units, UINT32_MAX).has_value();
  };
  Heard h;
  EXPECT_FALSE(possible(h, 1)) << "nothing has left";
  h.on_sent(1'000);
  EXPECT_TRUE(possible(h, 4));
  EXPECT_FALSE(possible(h, 5));
  h.on_gone(800);
  h.on_still_in_flight(800);
  EXPECT_FALSE(possible(h, 5));
  EXPECT_EQ(h.on_rcvd_units(4, 10'000), 1'024u);
  h.on_sent(1'000);  // again
  EXPECT_TRUE(possible(h, 8)) << "2,000 octets are 8 units";
  EXPECT_FALSE(possible(h, 9));
}

// [CMS-198] A peer that counts 400 octets too many for each packet of 4,200: its count is soon
// ahead by more than 24 bits can tell, and each ACK still brings what it acknowledges.
TEST(ReportedOctetsTest, APeerThatCountsOtherwiseIsReadByItsAcknowledgements) {
  Heard h;
  uint64_t counted = 0, arrived = 0;
  constexpr uint32_t kPackets = 12'000'000;
  for (uint32_t i = 0; i < kPackets; ++i) {
    h.on_sent(4'200);
    counted += 4'600;
    const auto units = static_cast<uint32_t>((counted + 255) / 256 & 0xFFFFFF);
    const std::optional<uint32_t> reported = h.on_rcvd_units(units, 4'200);
    arrived += reported ? *reported : h.on_acked_instead(4'200);
  }
  EXPECT_EQ(arrived, uint64_t{kPackets} * 4'200);
  EXPECT_EQ(h.balance(), 0);
  h.on_sent(500);
  EXPECT_EQ(h.on_acked(600), 500u) << "an ACK without a count, no more than is in flight";
}

// [CMS-198] However much was lost, what arrives can be counted.
TEST(ReportedOctetsTest, MuchThatWasLostMakesNoCountImpossible) {
  Heard h;
  for (const uint32_t lost : {1u << 30, 1u << 30, 1u << 30, (1u << 30) - 355}) {
    h.on_sent(lost);
    h.on_gone(lost);
  }
  h.on_sent(1'024);
  EXPECT_EQ(h.on_rcvd_units(4, 1'024), 1'024u) << "4 GiB less 100 octets, and these";
}

}  // namespace
}  // namespace uet::pds
