// The Probes of one PDC, alone. [PDS-145, PDS-252]
#include "pds/tx/tail_probe.h"

#include <gtest/gtest.h>

namespace uet::pds {
namespace {

const Instant kNow = Instant::from_ns(1'000'000'000);
constexpr Psn kNewest(17);

// [PDS-252] Each Probe has the next number, and only the answer to the last one counts.
TEST(TailProbeTest, OnlyTheNumberOfTheLastProbeIsAnAnswer) {
  TailProbe probe;
  probe.start(0xFFFE);
  EXPECT_FALSE(probe.is_answer(0xFFFE)) << "none was sent";
  EXPECT_EQ(probe.send(kNewest, kNow), 0xFFFF);
  EXPECT_EQ(probe.psn(), kNewest);
  EXPECT_TRUE(probe.is_answer(0xFFFF));
  EXPECT_EQ(probe.send(kNewest + 1, kNow), 0) << "the number wraps";
  EXPECT_FALSE(probe.is_answer(0xFFFF));
  EXPECT_TRUE(probe.is_answer(0));
  probe.note_answered();
  EXPECT_FALSE(probe.is_answer(0)) << "an answer counts once";
}

TEST(TailProbeTest, IsPendingFromTheWishToTheAnswer) {
  TailProbe probe;
  EXPECT_FALSE(probe.is_pending());
  probe.want();
  EXPECT_TRUE(probe.is_due());
  EXPECT_TRUE(probe.is_pending());
  probe.cancel();
  EXPECT_FALSE(probe.is_pending());
  probe.send(kNewest, kNow);
  EXPECT_FALSE(probe.is_due());
  EXPECT_TRUE(probe.is_pending());
  probe.forget();
  EXPECT_FALSE(probe.is_pending());
}

// A Probe that was answered or refused has been heard; it does not count against the peer.
TEST(TailProbeTest, CountsProbesThatWereNotHeard) {
  TailProbe probe;
  for (int i = 0; i < 3; ++i) probe.send(kNewest, kNow);
  EXPECT_EQ(probe.unheard(), 3);
  probe.note_refused(false);
  EXPECT_EQ(probe.unheard(), 2);
  EXPECT_TRUE(probe.was_refused());
  probe.send(kNewest, kNow);
  probe.note_answered();
  EXPECT_EQ(probe.unheard(), 0);
}

TEST(TailProbeTest, TheCountOfUnheardProbesDoesNotWrap) {
  TailProbe probe;
  for (int i = 0; i < 1000; ++i) probe.send(kNewest, kNow);
  EXPECT_EQ(probe.unheard(), 31);
}

// [PDS-145] The number of silences grows until a packet of the peer comes. The time counts from the
// last such packet, or from the last Probe.
TEST(TailProbeTest, CountsSilencesUntilSomethingIsHeard) {
  TailProbe probe;
  probe.note_silence(kNow);
  probe.note_silence(kNow + Duration::milliseconds(2));
  EXPECT_EQ(probe.silences(), 2);
  EXPECT_NEAR(static_cast<double>(probe.since(kNow + Duration::milliseconds(3)).ns()), 1e6, 128);
  probe.send(kNewest, kNow + Duration::milliseconds(3));
  EXPECT_LT(probe.since(kNow + Duration::milliseconds(3)), Duration::microseconds(1));
  probe.note_heard();
  EXPECT_EQ(probe.silences(), 0);
}

}  // namespace
}  // namespace uet::pds
