// What a PDC does when its timer fires, and for when the timer is armed again. [PDS 12, 15]
#include "pds/pdc/deadlines.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

constexpr Duration kSecond = Duration::seconds(1);

class DeadlinesPartTest : public AllParts {
 protected:
  Pdc& held(Pdc& pdc) {
    peers_[peer_].last_heard = kNow;
    return AllParts::held(pdc);
  }
  // Returns the deadline for which it was armed again, from kNow on.
  std::string fire(Pdc& pdc, Duration later) {
    calls().clear();
    deadlines_.on_timer(pdc, kNow + later);
    const Calls armed = calls_of("arm_by");
    return armed.empty() ? "gone" : armed.back().substr(7);
  }

  Inbox inbox_{res_, schedule_, proofs_, closing_, store_, reorder_, destination_, acks_, steps_};
  Deadlines deadlines_{res_, schedule_, proofs_, closing_, ending_, loss_, probes_, steps_, inbox_};
};

// [PDS-142] A packet is left alone for its time-out, then it is lost.
TEST_F(DeadlinesPartTest, APacketIsLostWhenItsTimeoutIsOver) {
  Pdc& pdc = held(initiator());
  send(pdc, 1);
  pdc.waiting.begin(kNow);
  EXPECT_EQ(fire(pdc, kRto / 2), "5000us");
  EXPECT_EQ(calls_of("mark_lost"), Calls{});
  fire(pdc, kRto);
  EXPECT_EQ(calls_of("mark_lost"), Calls{"mark_lost 1000"});
  EXPECT_EQ(slot(pdc, 0).state.timeouts(), 1u);
}

// [PDS-L6] Known to have arrived it is asked for instead.
TEST_F(DeadlinesPartTest, APacketThatHasArrivedIsAskedFor) {
  Pdc& pdc = held(initiator());
  send(pdc, 1);
  pdc.waiting.begin(kNow);
  slot(pdc, 0).state.arrive();
  pdc.tx.requeue(kFirst);
  fire(pdc, kRto);
  EXPECT_EQ(calls_of("mark_lost"), Calls{});
  EXPECT_TRUE(slot(pdc, 0).state.is_ask_due());
  EXPECT_TRUE(was_called("want_control"));
}

// [PDS-118] The delay of a refused packet is over.
TEST_F(DeadlinesPartTest, ARefusedPacketGoesAgain) {
  Pdc& pdc = held(initiator());
  send(pdc, 1);
  pdc.waiting.begin(kNow);
  slot(pdc, 0).state.refuse();
  pdc.tx.requeue(kFirst);
  fire(pdc, kRto);
  EXPECT_EQ(calls_of("end_delay"), Calls{"end_delay 1000"});
}

// [PDS-148] The PDC fails when its peer was silent for peer_timeout, and not if the peer was heard.
TEST_F(DeadlinesPartTest, ASilentPeerFailsThePdc) {
  Pdc& pdc = held(initiator());
  send(pdc, 1);
  pdc.waiting.begin(kNow);
  const Duration patience = res_.config.peer_timeout;
  peers_[peer_].last_heard = kNow + kSecond;
  fire(pdc, patience);
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{});
  EXPECT_EQ(fire(pdc, patience + kSecond), "gone");
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{0});
  EXPECT_EQ(counted(Count::pdc_closed_timeout), 1u);
}

// [PDS-148] It answers, and lets nothing pass: that ends as well.
TEST_F(DeadlinesPartTest, APeerThatOnlyRefusesFailsThePdc) {
  Pdc& pdc = held(initiator());
  send(pdc, 1);
  pdc.waiting.begin(kNow);
  pdc.waiting.note_refused(kNow);
  const Duration patience = res_.config.refusal_patience();
  peers_[peer_].last_heard = kNow + patience;
  fire(pdc, patience - kSecond);
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{});
  fire(pdc, patience);
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{0});
  EXPECT_EQ(counted(Count::pdc_closed_refused), 1u);
  EXPECT_EQ(pdc.state(), PdcState::error) << "a Close Request reports it to the peer";
}

// [PDS-249] Errors of the network, and nothing else.
TEST_F(DeadlinesPartTest, AnUnreachablePeerFailsThePdcSooner) {
  Pdc& pdc = held(initiator());
  send(pdc, 1);
  pdc.waiting.begin(kNow);
  const Duration limit = res_.config.unreachable_time;
  peers_[peer_].unreachable_since = kNow;
  peers_[peer_].unreachable_last = kNow + limit;
  fire(pdc, limit);
  ASSERT_EQ(client_.failures.size(), 1u);
  EXPECT_EQ(client_.failures[0].reason, FailureReason::unreachable);
}

// [PDS-I16] A Close command is not worth more than its retry limit.
TEST_F(DeadlinesPartTest, ACloseCommandIsGivenUp) {
  Pdc& pdc = held(initiator());
  for (const PdcEvent event :
       {PdcEvent::close_wanted, PdcEvent::messages_sent, PdcEvent::all_answered}) {
    pdc.life.change(event);
  }
  send(pdc, 1);
  pdc.waiting.begin(kNow);
  slot(pdc, 0).kind = SlotKind::close_cmd;
  fire(pdc, kRto * 32);
  EXPECT_EQ(table_.size(), 1u);
  while (slot(pdc, 0).state.timeouts() < res_.config.rto_retx_max)
    slot(pdc, 0).state.count_timeout();
  fire(pdc, kRto * 32);
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_EQ(counted(Count::close_given_up), 1u);
}

// [PDS 15.1] An idle initiator closes; a target waits four times as long, and asks.
TEST_F(DeadlinesPartTest, AnIdlePdcCloses) {
  Pdc& initiates = held(initiator());
  Pdc& serves = held(target());
  const Duration idle = res_.config.idle_time;
  EXPECT_EQ(fire(initiates, kSecond), text(idle));
  EXPECT_EQ(initiates.state(), PdcState::established);
  fire(initiates, idle);
  EXPECT_EQ(initiates.state(), PdcState::quiesce);
  fire(serves, idle);
  EXPECT_EQ(serves.state(), PdcState::established);
  fire(serves, idle * 4);
  EXPECT_EQ(serves.state(), PdcState::close_wait);
  EXPECT_EQ(counted(Count::idle_closes), 2u);
}

// [PDS-T7, PDS-052] No initiator uses the start that the target sent: its PDC is freed without a
// packet.
TEST_F(DeadlinesPartTest, APendingTargetExpires) {
  Pdc* const pdc = table_.allocate(false, random_);
  pdc->open_as(
      {.event = PdcEvent::start_needed, .peer = peer_, .start = kFirst, .context = &context_},
      res_.config, kNow);
  pdc->proof.confirm();
  pdc->end.wait_until(kNow + kSecond);
  held(*pdc);
  EXPECT_EQ(fire(*pdc, kSecond / 2), "1000000us");
  fire(*pdc, kSecond);
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_EQ(calls_of("nack"), Calls{});
  EXPECT_EQ(counted(Count::new_pdc_timeout), 1u);
}

// [PDS-190] The time for verdicts of a peer that has lost the PDC is over.
TEST_F(DeadlinesPartTest, AnOrphanEnds) {
  Pdc& pdc = held(initiator());
  send(pdc, 1);
  pdc.life.change(PdcEvent::orphaned);
  pdc.end.wait_until(kNow + kRto);
  EXPECT_EQ(fire(pdc, kRto / 2), text(kRto));
  fire(pdc, kRto);
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{0});
  EXPECT_FALSE(client_.failures[0].not_delivered) << "its fate is unknown";
}

// [PDS-083] With ack_delay_max set, each packet is acknowledged within that time.
TEST_F(DeadlinesPartTest, AnAckIsDelayedUntilItsDeadline) {
  res_.config.ack_delay_max = kRto;
  Pdc& pdc = held(target());
  AckedRequest request;
  request.trigger.arrival_tick = SentTick::of(kNow);
  request.payload_bytes = 100;
  pdc.ack.on_accepted({}, request, kFirst);
  fire(pdc, kRto / 2);
  EXPECT_FALSE(pdc.ack.is_due());
  fire(pdc, kRto + Duration::microseconds(5));
  EXPECT_TRUE(pdc.ack.is_due());
}

// [PDS-104] The target wants a clear that no request has carried by now.
TEST_F(DeadlinesPartTest, AClearThatNoRequestCarriedGoesByItself) {
  Pdc& pdc = held(initiator());
  pdc.clearing.want(kNow + kRto);
  EXPECT_EQ(fire(pdc, kRto / 2), text(kRto));
  EXPECT_FALSE(pdc.clearing.is_due());
  fire(pdc, kRto);
  EXPECT_TRUE(pdc.clearing.is_due());
  EXPECT_TRUE(was_called("want_control"));
}

// [PDS-112] A packet in order that the client refused is offered again.
TEST_F(DeadlinesPartTest, AStalledOrderIsDrainedAgain) {
  Pdc& pdc = held(target(Mode::rod));
  pdc.order.stall(true);
  EXPECT_EQ(fire(pdc, kRto), text(kRto + res_.config.nack_retx));
  EXPECT_TRUE(was_called("drain_reorder"));
}

}  // namespace
}  // namespace uet::pds::part
