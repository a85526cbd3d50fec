// RCCC at the destination: which source gets credit, and when. Figures by hand, see
// credit_pacer_bench.h.
#include "cms/test/credit_pacer_bench.h"

namespace uet::cms::credit_pacer {
namespace {

// [CMS-130] The backlog of a source is its highest target less its grants.
TEST_F(CreditPacerTest, TheBacklogIsTheTargetLessTheGrants) {
  EXPECT_EQ(ask(1, 100), DemandNews::taken);
  EXPECT_EQ(backlog(1), 100u);
  EXPECT_EQ(ask(1, 40), DemandNews::old);
  EXPECT_EQ(ask(1, 100), DemandNews::taken);
  EXPECT_EQ(backlog(1), 100u);
  EXPECT_EQ(turns(1), "1+64 ");
  EXPECT_EQ(backlog(1), 36u);
  EXPECT_EQ(pacer_->granted({1, 0}), 64u);
  EXPECT_EQ(ask(1, 0xAA'0000'96), DemandNews::taken) << "24 bits: 150";
  EXPECT_EQ(backlog(1), 86u);
}

// [CMS-006] Contexts of one source, and sources with the same ccc_id, are kept apart.
TEST_F(CreditPacerTest, StateIsKeptByPeerAndContext) {
  ask(1, 10, AskedBy::packet, 5);
  ask(2, 20, AskedBy::packet, 5);
  ask(1, 30, AskedBy::packet, 6);
  EXPECT_EQ(backlog(1, 5), 10u);
  EXPECT_EQ(backlog(2, 5), 20u);
  EXPECT_EQ(backlog(1, 6), 30u);
  EXPECT_EQ(pacer_->granted({2, 6}), std::nullopt);
}

// [CMS-132] Four packets' payload at a time, never beyond the target, never backwards.
TEST_F(CreditPacerTest, AGrantIsFourPacketsAndNotBeyondTheTarget) {
  ask(1, 150);
  EXPECT_EQ(turns(4), "1+64 1+64 1+22 -");
  EXPECT_EQ(pacer_->granted({1, 0}), 150u);

  Config c = config();
  c.mtu_bytes = 1500;  // of payload 1 KiB: 16 units
  create(c, {{4, 16}, {4, 32}});
  ask(2, 20);
  EXPECT_EQ(turns(2), "2+16 2+4 ");
}

// [CMS-131, CMS-134] A turn takes its octets at 0.99 of the link: 1,000 of them 1,323,959 ns.
TEST_F(CreditPacerTest, TurnsAreSpacedByThePace) {
  const Instant first = now_;
  ask(1, 64);
  turns(1);
  EXPECT_EQ(now_, first) << "at once when nothing was granted before";
  for (uint32_t i = 1; i <= 1000; ++i) {
    ask(1, 64 * (i + 1));
    EXPECT_FALSE(pacer_->next_grant(pacer_->deadline() - 1_ns));
    turns(1);
    hear(1);
  }
  EXPECT_NEAR(static_cast<double>((now_ - first).ns()), 1'323'959, 2);
}

// [CMS-131] Two ports carry twice as much: 1,323,959 / 2 for 1,000 turns. The configuration sets
// the share: at 0.5 of one link 1,000 take 16,384,000 * 8 / 50 ns.
TEST_F(CreditPacerTest, ThePaceIsAShareOfAllPorts) {
  const auto time_of_1000 = [&] {
    const Instant first = now_;
    ask(1, 64);
    turns(1);
    for (uint32_t i = 1; i <= 1000; ++i) {
      ask(1, 64 * (i + 1));
      turns(1);
    }
    return static_cast<double>((now_ - first).ns());
  };
  create(config(), {{4, 16}, {4, 32}, 2});
  EXPECT_NEAR(time_of_1000(), 661'980, 2);
  Config c = config();
  c.credit.rate_permille = 500;
  create(c, {{4, 16}, {4, 32}});
  EXPECT_NEAR(time_of_1000(), 2'621'440, 2);
}

// [CMS-134] A turn without credit takes the time of 1,024 octets: 82.7 ns.
TEST_F(CreditPacerTest, AnEmptyTurnTakesTheTimeOf1024Octets) {
  ask(1, 64);
  ask(2, 64);
  turns(1);
  ask(1, 64, AskedBy::request);
  turns(1);
  EXPECT_EQ(turns(1), "1+0 ");
  const Instant at = now_;
  ask(3, 64);
  turns(1);
  EXPECT_NEAR(static_cast<double>((now_ - at).ns()), 83, 1);
}

// [CMS-134] A late call for a grant gets at most what the link carried in 100 us, 75 turns (75.5),
// and the one that is due.
TEST_F(CreditPacerTest, ALateCallerCatchesUpWithLittle) {
  for (uint32_t peer = 1; peer <= 12; ++peer) ask(peer, 900);
  now_ = now_ + 1_ms;
  int grants = 0;
  while (pacer_->next_grant(now_)) ++grants;
  EXPECT_EQ(grants, 76);
}

// [CMS-133] One turn each, round and round, while they want something.
TEST_F(CreditPacerTest, SourcesTakeTurns) {
  ask(1, 130);
  ask(2, 64);
  ask(3, 128);
  EXPECT_EQ(turns(7), "1+64 2+64 3+64 1+64 3+64 1+2 -");
}

// [CMS-133] The contexts of one source share its turns.
TEST_F(CreditPacerTest, ContextsOfASourceShareItsTurns) {
  ask(1, 128, AskedBy::packet, 1);
  ask(1, 128, AskedBy::packet, 2);
  ask(2, 256);
  EXPECT_EQ(turns(6), "1/1+64 2+64 1/2+64 2+64 1/1+64 2+64 ");
}

// [CMS-135] A demand without a higher target does not join; one with a higher target does.
TEST_F(CreditPacerTest, AHigherTargetJoins) {
  ask(1, 64);
  EXPECT_EQ(turns(2), "1+64 -");
  EXPECT_EQ(ask(1, 64), DemandNews::taken);
  EXPECT_TRUE(pacer_->deadline().is_never());
  ask(1, 65);
  EXPECT_EQ(turns(2), "1+1 -");
}

// [CMS-135] A trimmed packet joins even without a higher target; a whole one does not.
TEST_F(CreditPacerTest, ATrimmedPacketJoins) {
  ask(1, 64);
  turns(1);
  hear(1);
  EXPECT_TRUE(pacer_->deadline().is_never());
  hear(1, {.trimmed = true});
  EXPECT_EQ(turns(2), "1+0 -");
  hear(1, {.trimmed_lasthop = true});
  EXPECT_EQ(turns(2), "1+0 -");
}

// [CMS-135, CMS-129] A Credit Request is answered though all it asks for was granted: that grant
// is lost.
TEST_F(CreditPacerTest, ARequestIsAnsweredInAnyCase) {
  ask(1, 64);
  turns(1);
  EXPECT_EQ(ask(1, 64, AskedBy::request), DemandNews::taken);
  const auto g = pacer_->next_grant(pacer_->deadline());
  ASSERT_TRUE(g);
  EXPECT_EQ(g->credit, 64u);
  EXPECT_EQ(g->key, (CreditKey{1, 0}));
}

// [CMS-130, CMS-136] While no source waits, idle sources get up to a window that they did not ask
// for, 879 units, in turn. Off unless configured.
TEST_F(CreditPacerTest, IdleSourcesGetAWindowAhead) {
  ask(1, 64);
  ask(2, 64);
  EXPECT_EQ(turns(3), "1+64 2+64 -");
  EXPECT_FALSE(pacer_->next_grant(now_ + 1_ms));

  Config c = config();
  c.credit.idle_credit = true;
  create(c, {{4, 16}, {4, 32}});
  ask(1, 64);
  ask(2, 64);
  for (auto& of_peer : last_) of_peer[0] = 0;
  EXPECT_EQ(turns(6), "1+64 2+64 1+64 2+64 1+64 2+64 ");
  while (turns(1) != "-") {
  }
  EXPECT_EQ(pacer_->granted({1, 0}), 64u + 879u);
  EXPECT_EQ(pacer_->granted({2, 0}), 64u + 879u);
  ask(1, 100);
  EXPECT_EQ(backlog(1), 0u) << "it has that";
  EXPECT_EQ(turns(2), "1+36 -") << "and stays a window ahead";
  ask(2, 64 + 879 + 10);
  ask(3, 1);
  EXPECT_EQ(turns(2), "2+10 3+1 ") << "those who wait come first";
}

// [CMS-137] What an ACK may carry instead of a Credit CP.
TEST_F(CreditPacerTest, AnAckMayCarryTheCredit) {
  EXPECT_EQ(pacer_->granted({1, 0}), std::nullopt);
  ask(1, 100);
  EXPECT_EQ(pacer_->granted({1, 0}), 0u);
  turns(2);
  EXPECT_EQ(pacer_->granted({1, 0}), 100u);
}

// [CMS-119] State that was lost here: a source far ahead gets a window, 879 units, from there. Up
// to two windows it is taken for one that begins.
TEST_F(CreditPacerTest, AForgottenSourceGetsAWindow) {
  EXPECT_EQ(ask(1, 0x90'0000), DemandNews::taken);
  EXPECT_EQ(backlog(1), 879u);
  EXPECT_EQ(pacer_->granted({1, 0}), 0x90'0000u - 879u);
  EXPECT_EQ(ask(2, 2 * 879), DemandNews::clamped);
  EXPECT_EQ(pacer_->granted({2, 0}), 0u);
  EXPECT_EQ(ask(3, 2 * 879 + 1), DemandNews::taken);
  EXPECT_EQ(pacer_->granted({3, 0}), 880u);
}

// [CMS-119] A source that restarts counts from 0; not while packets from before its restart may
// come, and not while it waits for credit.
TEST_F(CreditPacerTest, ASourceMayRestart) {
  ask(1, 1000);
  turns(15);
  ASSERT_EQ(pacer_->granted({1, 0}), 913u);
  ask(1, 1000);
  now_ = now_ + kTimeout;
  EXPECT_EQ(ask(1, 50), DemandNews::old) << "it waits";
  turns(2);
  ASSERT_EQ(backlog(1), 0u);
  now_ = now_ + kTimeout - 20_us;
  ask(1, 1001);
  turns(1);
  now_ = now_ + kTimeout - 1_us - kTurn;
  EXPECT_EQ(ask(1, 50), DemandNews::old) << "too early";
  now_ = now_ + 3_us;
  EXPECT_EQ(ask(1, 1001 - 879), DemandNews::old) << "a packet may be as late as that";
  EXPECT_EQ(ask(1, 50), DemandNews::taken);
  EXPECT_EQ(backlog(1), 50u);
  EXPECT_EQ(pacer_->granted({1, 0}), 0u);
}

// [CMS-139] A source that is silent for 4 timeouts gets one more grant, and then leaves the ring.
// It comes back when it asks again.
TEST_F(CreditPacerTest, ASilentSourceLeavesTheRing) {
  ask(1, 900);
  ask(2, 900);
  EXPECT_EQ(turns(2), "1+64 2+64 ");
  now_ = kStart + kTimeout * 4 - 1_ns;
  EXPECT_EQ(turns(1), "1+64 ") << "not yet";
  ask(2, 900);
  now_ = kStart + kTimeout * 4 + 10_us;
  EXPECT_EQ(turns(3), "2+64 2+64 2+64 ");
  EXPECT_EQ(backlog(1), 0u);
  ask(1, 900);
  EXPECT_EQ(turns(2), "2+64 1+64 ");
}

// [CMS-139] A source without a turn since its last demand is waiting, not silent.
TEST_F(CreditPacerTest, ALongRingLosesNoSource) {
  ask(1, 64);
  now_ = now_ + kTimeout * 40;
  EXPECT_EQ(turns(1), "1+64 ");
}

// [CMS-139] A packet, too, is a sign of life.
TEST_F(CreditPacerTest, PacketsKeepASourceInTheRing) {
  ask(1, 900);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(turns(1), "1+64 ");
    now_ = now_ + kTimeout * 3;
    hear(1);
    now_ = now_ + kTimeout * 3;
  }
}

// [CMS-140, CMS-192] By hand: 1 below 1 MB queued; at 3 MB ((3 - 5) / 4)^2 = 0.25; above 4.75 MB
// 0.001.
TEST(HostShareTest, FallsWithTheSquareOfTheRoomLeft) {
  EXPECT_EQ(host_share_q16(0), 65'536u);
  EXPECT_EQ(host_share_q16(999'999), 65'536u);
  EXPECT_EQ(host_share_q16(1'000'000), 65'536u);
  EXPECT_EQ(host_share_q16(3'000'000), 16'384u);
  EXPECT_EQ(host_share_q16(4'750'000), 256u);
  EXPECT_EQ(host_share_q16(4'750'001), 65u);
  EXPECT_EQ(host_share_q16(UINT64_MAX), 65u);
  constexpr HostMarks kMarks{1'000, 2'000};
  EXPECT_EQ(host_share_q16(999, kMarks), 65'536u);
  EXPECT_EQ(host_share_q16(1'750, kMarks), 4'096u) << "(1/4)^2";
  EXPECT_EQ(host_share_q16(1'899, kMarks), 668u);
  EXPECT_EQ(host_share_q16(1'901, kMarks), 65u);
}

// [CMS-140] A turn takes four times as long at 3 MB: 5,295.8 ns.
TEST_F(CreditPacerTest, ABusyHostSlowsThePace) {
  pacer_->on_host_queue(3'000'000);
  ask(1, 200);
  turns(1);
  EXPECT_NEAR(static_cast<double>((pacer_->deadline() - now_).ns()), 5295.8, 1);
  pacer_->on_host_queue(0);
  turns(1);
  EXPECT_NEAR(static_cast<double>((pacer_->deadline() - now_).ns()), 1324, 1);
}

// [CMS-007] Eight waiting contexts leave no room for a ninth of that source; other sources are not
// affected.
TEST_F(CreditPacerTest, NoContextIsFreeForANinth) {
  for (uint8_t id = 0; id < 8; ++id) ask(1, 10, AskedBy::packet, id);
  EXPECT_EQ(ask(1, 10, AskedBy::packet, 8), DemandNews::no_room);
  EXPECT_EQ(ask(2, 10, AskedBy::packet, 8), DemandNews::taken);
  turns(1);
  EXPECT_EQ(ask(1, 10, AskedBy::packet, 8), DemandNews::taken) << "the first one wants no more";
  EXPECT_EQ(pacer_->granted({1, 0}), std::nullopt);
}

// [CMS-007] A full table has room again when a source has been idle for a timeout.
TEST_F(CreditPacerTest, AFullTableForgetsAnIdleSource) {
  for (uint32_t peer = 1; peer <= 16; ++peer) ask(peer, 10);
  EXPECT_EQ(ask(17, 10), DemandNews::no_room);
  turns(16);
  EXPECT_EQ(ask(17, 10), DemandNews::no_room) << "its packets may be under way";
  now_ = now_ + kTimeout;
  EXPECT_EQ(ask(17, 10), DemandNews::taken);
  EXPECT_EQ(pacer_->granted({1, 0}), std::nullopt);
  EXPECT_EQ(pacer_->granted({2, 0}), 10u);
  EXPECT_EQ(pacer_->source_count(), 16u);
}

// [CMS-133] A context that cannot get its grants has no more turns until it asks again, also for
// its earlier demands. An unproven one leaves no record.
TEST_F(CreditPacerTest, AContextThatCannotGetItsGrantsHasNoTurns) {
  ask(1, 100);
  ask(1, 64, AskedBy::packet, 1);
  ask(2, 64);
  EXPECT_EQ(turns(1), "1+64 ");
  pacer_->withdraw({1, 0});
  pacer_->withdraw({3, 0});
  EXPECT_EQ(turns(3), "2+64 1/1+64 -");
  EXPECT_EQ(backlog(1), 0u);
  EXPECT_EQ(pacer_->granted({1, 0}), 64u);
  ask(1, 100, AskedBy::request);
  EXPECT_EQ(turns(2), "1+36 -");

  ask_unproven(4, 300);
  EXPECT_EQ(turns(1), "4+64 ");
  pacer_->withdraw({4, 0});
  EXPECT_EQ(pacer_->source_count(), 2u);
  EXPECT_EQ(turns(1), "-");
}

// No source asks: there is no next grant.
TEST_F(CreditPacerTest, ThereIsNoDeadlineWithoutDemands) {
  EXPECT_TRUE(pacer_->deadline().is_never());
  EXPECT_FALSE(pacer_->next_grant(now_));
  hear(1, {.trimmed = true});
  EXPECT_TRUE(pacer_->deadline().is_never());
}

// [CMS-141] It is an option and multiplies the pace: at 0.9 a turn takes 1,471.1 ns.
TEST_F(CreditPacerTest, ThePaceFollowsTheCore) {
  hear(1, {.trimmed = true});
  now_ = now_ + 23_us;
  hear(1);

  Config c = config();
  c.credit.core_rate = true;
  create(c, {{4, 16}, {4, 32}});
  for (int i = 0; i < 10; ++i) hear(1, {.trimmed = i == 0});
  now_ = now_ + 23_us;
  hear(1);
  ask(1, 200);
  turns(1);
  EXPECT_NEAR(static_cast<double>((pacer_->deadline() - now_).ns()), 1471.1, 1);
}

}  // namespace
}  // namespace uet::cms::credit_pacer
