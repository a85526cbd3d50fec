// The end of PDCs: which reports go to the client and the peer, and that everything is given back.
// [PDS 5, 15]
#include "pds/pdc/ending.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class EndingPartTest : public AllParts {
 protected:
  static constexpr Failure kTimeout{.reason = FailureReason::timeout};

  // A target as Door counts it.
  Pdc& counted_target(bool is_proven = true) {
    Pdc& pdc = target(Mode::rud, is_proven);
    pdc.job = JobId(5);
    peers_.add_ref(peer_);
    peers_.count_target(peer_, 1);
    shares_.take(0, pdc.job);
    if (!is_proven) proofs_.begin(peer_);
    ++context_.refs;
    return pdc;
  }
  Pdc& counted_initiator() { return with_refs(initiator()); }
  Pdc& counted_in_syn() { return with_refs(in_syn()); }
  const Tombstone* grave() const { return table_.find_tombstone(peer_, kPeerId, kFirst); }

 private:
  Pdc& with_refs(Pdc& pdc) {
    peers_.add_ref(peer_);
    ++context_.refs;
    return pdc;
  }
};

// [PDS-149] Everything unfinished is reported once: packets, the message that is being pulled, and
// return data that waits.
TEST_F(EndingPartTest, AFailureIsReportedOnceForEachUnfinishedThing) {
  Pdc& pdc = counted_target();
  send(pdc, 3);
  pdc.tx.complete(kFirst + 1);
  pdc.messages.start(kMessage, false);
  ReturnMessage* const queued = res_.return_messages.alloc();
  queued->message = MessageHandle(9);
  pdc.messages.add_return(*queued);
  slot(pdc, 2).kind = SlotKind::close_req;
  ending_.fail(pdc, kTimeout, Count::pdc_closed_timeout, Notice::none, kNow);
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{0}) << "+1 is answered, +2 is a control packet";
  EXPECT_EQ(client_.aborted, (std::vector<uint32_t>{1, 9}));
  EXPECT_EQ(client_.closed, std::vector<bool>{false});
  EXPECT_EQ(res_.return_messages.size(), 0u);
  EXPECT_EQ(counted(Count::pdc_closed_timeout), 1u);
}

// [PDS-240] Nothing of it fills the window of the others.
TEST_F(EndingPartTest, AFailedPdcLeavesTheWindowOfItsPath) {
  Pdc& failing = counted_initiator();
  Pdc& other = counted_initiator();
  send(failing, 3);
  send(other, 1);
  ending_.fail(failing, kTimeout, Count::pdc_closed_timeout, Notice::none, kNow);
  EXPECT_EQ(context_.ccc.inflight_bytes(), slot(other, 0).bytes);
  EXPECT_TRUE(was_called("wake_context"));
}

// [PDS-174] The peer may hold its end: the PDC stays until the peer has answered the report.
TEST_F(EndingPartTest, APdcThatThePeerMayHoldSaysThatItEnds) {
  Pdc& initiator = counted_initiator();
  Pdc& target = counted_target();
  for (Pdc* const pdc : {&initiator, &target}) {
    ending_.fail(*pdc, kTimeout, Count::pdc_closed_timeout, Notice::close, kNow);
    EXPECT_EQ(pdc->state(), PdcState::error);
  }
  EXPECT_EQ(count_of("want_control"), 2u);
  EXPECT_TRUE(target.end.is_request_due());
  EXPECT_EQ(target.end.at(), kNow + res_.config.close_req);
  EXPECT_EQ(client_.closed, std::vector<bool>{});
  EXPECT_EQ(table_.size(), 2u);
}

// [PDS-I6] In SYN the peer's PDCID is unknown, so no Close can be sent.
TEST_F(EndingPartTest, APdcInSynEndsAtOnce) {
  Pdc& pdc = counted_in_syn();
  ending_.fail(pdc, kTimeout, Count::pdc_closed_timeout, Notice::close, kNow);
  EXPECT_EQ(table_.size(), 0u);
}

// [PDS-176] Requests that a target has executed may be resent: a tombstone refuses them for the
// peer time-out. After an abort there is no tombstone.
TEST_F(EndingPartTest, AFailedTargetIsRemembered) {
  Pdc& pdc = counted_target();
  pdc.rx.accept(res_.rx_pool, kFirst, false);
  ending_.fail(pdc, kTimeout, Count::pdc_closed_timeout, Notice::none, kNow);
  ASSERT_NE(grave(), nullptr);
  EXPECT_EQ(grave()->close_psn, kFirst);
  EXPECT_TRUE(grave()->is_doubtful);
  EXPECT_EQ(grave()->until, kNow + res_.config.peer_timeout);
  table_.expire_tombstones(kNow + res_.config.peer_timeout);
  ending_.fail(counted_target(), {.reason = FailureReason::aborted}, Count::pdc_closed_aborted,
               Notice::none, kNow);
  EXPECT_EQ(grave(), nullptr);
}

// [PDS-190] The peer is gone, so its ends of idle PDCs are gone, too: the next message must not use
// one of these PDCs.
TEST_F(EndingPartTest, IdlePdcsTowardALostPeerClose) {
  Pdc& failing = counted_initiator();
  Pdc& idle = counted_initiator();
  Pdc& busy = counted_initiator();
  peers_[peer_].first_context = &context_;
  context_.flows.push_back(flow_);
  send(busy, 1);
  ending_.fail(failing, kTimeout, Count::pdc_closed_timeout, Notice::none, kNow);
  EXPECT_EQ(idle.state(), PdcState::quiesce);
  EXPECT_EQ(busy.state(), PdcState::established);
  context_.flows.erase(flow_);
}

// [T-01, T-02] The shares of its peer and of its job are free again.
TEST_F(EndingPartTest, AnEndedTargetGivesItsSharesBack) {
  Pdc& pdc = counted_target(false);
  EXPECT_EQ(peers_[peer_].targets, 1u);
  ending_.free_pdc(pdc, PdcEvent::freed, Outcome::clean, Remains::nothing, kNow);
  EXPECT_EQ(peers_[peer_].targets, 0u);
  EXPECT_EQ(peers_[peer_].half_open, 0u);
  EXPECT_EQ(proofs_.half_open(), 0u);
  EXPECT_EQ(shares_.held({0, 5}), 0u);
  EXPECT_EQ(context_.refs, 1u);
  EXPECT_EQ(client_.closed, std::vector<bool>{true});
}

// What waits for the PDC goes with it: kept responses, and packets that wait for their turn.
TEST_F(EndingPartTest, AnEndedTargetFreesWhatItKept) {
  Pdc& pdc = counted_target();
  StoredResponse response;
  response.trigger.psn = kFirst + 3;
  pdc.responses.add(response);
  ReorderedPacket packet;
  packet.trigger.psn = kFirst + 7;
  pdc.order.keep(packet);
  ending_.free_pdc(pdc, PdcEvent::freed, Outcome::clean, Remains::nothing, kNow);
  EXPECT_EQ(calls_of("free"), (Calls{"free_stored 1003", "free reordered 1007"}));
}

// [PDS-021] A PDC is free: flows that waited for one are served.
TEST_F(EndingPartTest, AFlowThatWaitsForAPdcGoesOn) {
  Pdc& pdc = counted_in_syn();
  Flow waiting{FlowKey{}};
  schedule_.starve(waiting);
  EXPECT_FALSE(schedule_.has_new_work());
  ending_.discard(pdc);
  EXPECT_TRUE(schedule_.has_new_work());
  EXPECT_EQ(client_.closed, std::vector<bool>{}) << "no packet of it was sent";
  EXPECT_EQ(flow_.pdc_count, 0u);
}

// [PDS-247] The last PDC of a released flow is gone, and the flow with it.
TEST_F(EndingPartTest, AReleasedFlowGoesWithItsLastPdc) {
  Pdc& pdc = counted_in_syn();
  flow_.is_released = true;
  EXPECT_FALSE(flows_.has_released());
  ending_.free_pdc(pdc, PdcEvent::freed, Outcome::unfinished, Remains::nothing, kNow);
  EXPECT_EQ(flows_.next_released(), &flow_);
}

// [PDS-I16] The peer does not answer the Close command. A target that has acknowledged all hears
// from the tombstone.
TEST_F(EndingPartTest, ACloseThatIsNotAnsweredEndsThePdc) {
  Pdc& pdc = counted_initiator();
  for (const PdcEvent event :
       {PdcEvent::close_wanted, PdcEvent::messages_sent, PdcEvent::all_answered}) {
    pdc.life.change(event);
  }
  ending_.give_up_close(pdc, kNow);
  EXPECT_EQ(client_.closed, std::vector<bool>{true});
  EXPECT_EQ(counted(Count::close_given_up), 1u);
  EXPECT_NE(grave(), nullptr);
}

}  // namespace
}  // namespace uet::pds::part
