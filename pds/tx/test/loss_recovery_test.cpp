// Outstanding packets that are lost, refused, asked for or given up. [PDS 12]
#include "pds/tx/loss_recovery.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

using LossRecoveryPartTest = AllParts;

constexpr Duration kMs = Duration::milliseconds(1);

// [PDS-240] It leaves the window of the context at once, and goes again when its PDC has a turn.
TEST_F(LossRecoveryPartTest, ALostPacketIsCountedOnceAndAsksForATurn) {
  Pdc& pdc = initiator();
  send(pdc, 3);
  const uint64_t before = context_.ccc.inflight_bytes();
  calls().clear();
  for (int i = 0; i < 2; ++i) {
    loss_.mark_lost(pdc, kFirst + 1, slot(pdc, 1), cms::LossKind::timeout, Count::retx_rto, kNow);
  }
  EXPECT_EQ(lost(pdc), "+1");
  EXPECT_EQ(context_.ccc.inflight_bytes(), before - slot(pdc, 1).bytes);
  EXPECT_EQ(counted(Count::retx_rto), 1u);
  EXPECT_EQ(calls(), (Calls{"wake_context", "want_send"}));
}

// [CMS-194] A fixed window gives no octets for a loss, so it gets none back.
TEST_F(LossRecoveryPartTest, WhatTheWindowNeverGaveIsNotGivenBack) {
  Pdc& pdc = initiator();
  send(pdc, 3);
  const uint64_t window = context_.ccc.window_bytes();
  loss_.mark_lost(pdc, kFirst, slot(pdc, 0), cms::LossKind::inferred, Count::retx_ooo, kNow);
  ASSERT_EQ(context_.ccc.window_bytes(), window);
  EXPECT_TRUE(slot(pdc, 0).state.is_lost());
  EXPECT_FALSE(slot(pdc, 0).state.is_refundable());
}

// [PDS-118] NACK_Retx_Time doubles with each refusal, up to the cap of the time-outs.
TEST_F(LossRecoveryPartTest, ARefusedPacketWaitsTwiceAsLongEachTime) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  TxSlot& refused = slot(pdc, 0);
  std::vector<Duration> waits;
  for (int i = 0; i < 9; ++i) {
    refused.state.count_refusal();
    loss_.delay_resend(pdc, kFirst, refused, kNow);
    waits.push_back(loss_.limit_of(pdc, refused));
  }
  EXPECT_EQ(waits, (std::vector<Duration>{kMs * 2, kMs * 4, kMs * 8, kMs * 16, kMs * 32, kMs * 64,
                                          kMs * 128, kMs * 200, kMs * 200}));
  EXPECT_EQ(calls_of("arm_by").back(), "arm_by 200000us");
  EXPECT_EQ(lost(pdc), "") << "its delay is not over";
  EXPECT_TRUE(loss_.end_delay(pdc, kFirst, refused, kNow + kMs * 200));
  EXPECT_EQ(lost(pdc), "+0");
  EXPECT_EQ(counted(Count::retx_delayed), 1u);
}

// [PDS-245] What the peer does not track waits for its range instead of a time.
TEST_F(LossRecoveryPartTest, APacketBeyondTheRangeOfThePeerWaitsForIt) {
  Pdc& pdc = initiator();
  send(pdc, PeerRange::kUnit + 1);
  pdc.range.on_refused();
  const int last = PeerRange::kUnit;
  loss_.delay_resend(pdc, kFirst + last, slot(pdc, last), kNow);
  EXPECT_TRUE(loss_.end_delay(pdc, kFirst + last, slot(pdc, last), kNow + kMs));
  EXPECT_EQ(lost(pdc), "");
  loss_.resend_tracked(pdc, kNow + kMs);
  EXPECT_EQ(lost(pdc), "");
  pdc.range.on_cack(kFirst);
  loss_.resend_tracked(pdc, kNow + kMs);
  EXPECT_EQ(lost(pdc), "+128");
}

// [PDS-064] One question for the newest packet without AR answers for all of them.
TEST_F(LossRecoveryPartTest, OnlyTheNewestQuietPacketIsAskedFor) {
  Pdc& pdc = initiator();
  send(pdc, 3, true);
  loss_.ask_for_quiet(pdc, kNow + kMs);
  std::string asked;
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(slot(pdc, i).state.is_quiet());
    EXPECT_EQ(slot(pdc, i).sent_for(kNow + kMs), Duration::zero()) << "its time-out begins now";
    if (slot(pdc, i).state.is_ask_due()) asked += std::to_string(i);
  }
  EXPECT_EQ(asked, "2");
  EXPECT_EQ(lost(pdc), "");
  EXPECT_TRUE(was_called("want_control"));
}

// [PDS-078] Go-back-N resends from the gap on. What the peer keeps, it need not get again.
TEST_F(LossRecoveryPartTest, GoBackSparesWhatHasArrived) {
  Pdc& pdc = initiator(Mode::rod);
  send(pdc, 5);
  slot(pdc, 3).state.arrive();
  pdc.tx.requeue(kFirst + 3);
  loss_.go_back(pdc, kFirst + 1, kNow);
  EXPECT_EQ(lost(pdc), "+1 +2 +4");
}

// [PDS-078] The peer waits for that very packet: it does not keep it, whatever a SACK said.
TEST_F(LossRecoveryPartTest, GoBackResendsThePacketThatThePeerWaitsFor) {
  Pdc& pdc = initiator(Mode::rod);
  send(pdc, 2);
  slot(pdc, 0).state.arrive();
  slot(pdc, 0).state.land();
  pdc.tx.requeue(kFirst);
  loss_.go_back(pdc, kFirst, kNow);
  EXPECT_EQ(lost(pdc), "+0 +1");
}

// [PDS-254] The answer to the first transmission came late: nothing was lost.
TEST_F(LossRecoveryPartTest, PacketsOfAnEarlyTimeoutAreInFlightAgain) {
  Pdc& pdc = initiator();
  send(pdc, 3);
  const uint64_t before = context_.ccc.inflight_bytes();
  for (int i = 0; i < 2; ++i) {
    slot(pdc, i).state.count_timeout();
    loss_.mark_lost(pdc, kFirst + i, slot(pdc, i), cms::LossKind::timeout, Count::retx_rto, kNow);
  }
  loss_.mark_lost(pdc, kFirst + 2, slot(pdc, 2), cms::LossKind::inferred, Count::retx_ooo, kNow);
  loss_.take_back_timeouts(pdc, kNow + kMs);
  EXPECT_EQ(lost(pdc), "+2") << "no time-out";
  EXPECT_EQ(context_.ccc.inflight_bytes(), before - slot(pdc, 2).bytes);
  EXPECT_TRUE(slot(pdc, 0).state.was_asked()) << "its answer is no sample of the round trip";
}

// [PDS-119] Exactly one report for a packet that gets no answer any more.
TEST_F(LossRecoveryPartTest, APacketThatIsGivenUpFailsOnce) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  const Failure failure{
      .reason = FailureReason::nack, .nack = wire::NackCode::closing, .not_delivered = true};
  loss_.give_up(pdc, kFirst, slot(pdc, 0), failure, kNow);
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{0});
  EXPECT_EQ(pdc.tx.base(), kFirst + 1);
  EXPECT_EQ(context_.ccc.inflight_bytes(), slot(pdc, 1).bytes);
}

// [PDS-093] It has arrived, and only its answer is missing: the data does not go again.
TEST_F(LossRecoveryPartTest, APacketOfWhichTheAnswerIsAwaitedIsNotLost) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  loss_.await_answer(pdc, kFirst, slot(pdc, 0), kNow);
  EXPECT_TRUE(slot(pdc, 0).state.has_arrived());
  EXPECT_EQ(lost(pdc), "");
  EXPECT_EQ(context_.ccc.inflight_bytes(), 0u);
}

// [T-38] The time-out doubles up to its cap; toward a source that may be forged without the cap.
TEST_F(LossRecoveryPartTest, AnUnprovenSourceIsSentLessAndLessOften) {
  peers_[peer_].no_probe = true;
  const Pdc& proven = target();
  EXPECT_EQ(loss_.rto_of(proven, 0), kRto);
  EXPECT_EQ(loss_.rto_of(proven, 3), kRto * 8);
  EXPECT_EQ(loss_.rto_of(proven, 10), res_.config.rto_max);
  const Pdc& unproven = target(Mode::rud, false);
  EXPECT_EQ(loss_.rto_of(unproven, 10), kRto * 1024);
}

}  // namespace
}  // namespace uet::pds::part
