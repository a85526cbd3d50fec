// The reaction of a source to each kind of NACK code. [PDS 10.2]
#include "pds/tx/nack_reader.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

using wire::NackCode;

class NackReaderPartTest : public AllParts {
 protected:
  std::optional<AckTrigger> read(Pdc& pdc, NackCode code, int offset, uint32_t payload = 0,
                                 Pdcid from = kPeerId) {
    wire::Nack h;
    h.nack_code = code;
    h.nack_psn = kFirst + offset;
    h.payload = payload;
    h.spdcid = from;
    RxDatagram d;
    d.at = kNow + Duration::microseconds(100);
    d.ev = context_.ev.next(d.at);
    return reader_.process_nack(pdc, h, d, d.at);
  }

  NackReader reader_{res_, schedule_, idle_, proofs_, closing_, ending_, loss_, probes_};
};

// [PDS-115] A NACK of a packet that is not outstanding changes nothing.
TEST_F(NackReaderPartTest, ANackOfAPacketThatIsNotOutstandingChangesNothing) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  calls().clear();
  for (const int offset : {-1, 2}) read(pdc, NackCode::trimmed, offset);
  EXPECT_EQ(counted(Count::drop_nack_range), 2u);
  EXPECT_EQ(lost(pdc), "");
  EXPECT_EQ(calls(), Calls{});
}

// [PDS-256] A NACK of a packet that waits for an answer shows that the peer lives. A NACK without a
// PDCID does not show this on the PDC of an unproven source, nor does a NACK in the clear on a
// secured PDC.
TEST_F(NackReaderPartTest, ANackThatProvesItsSenderIsHeard) {
  const auto is_heard = [this](Pdc& pdc, int offset, Pdcid from = kPeerId) {
    calls().clear();
    read(pdc, NackCode::no_resource, offset, 0, from);
    return was_heard();
  };
  Pdc& proven = initiator();
  send(proven, 2);
  EXPECT_TRUE(is_heard(proven, 0));
  EXPECT_FALSE(is_heard(proven, 2)) << "never sent";
  proven.tx.complete(kFirst + 1);
  EXPECT_FALSE(is_heard(proven, 1)) << "answered";

  Pdc& unproven = target(Mode::rud, false);
  send(unproven, 1);
  EXPECT_FALSE(is_heard(unproven, 0, Pdcid(0)));
  EXPECT_TRUE(is_heard(unproven, 0));
  Pdc& secured = initiator();
  send(secured, 1);
  secured.sdi = 77;
  EXPECT_FALSE(is_heard(secured, 0)) << "in the clear";
}

// [T-08] A code that no peer can send in this state is forged.
TEST_F(NackReaderPartTest, ACodeThatDoesNotFitTheStateIsDropped) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  for (const NackCode code : {NackCode::rod_ooo, NackCode::new_start_psn}) read(pdc, code, 0);
  EXPECT_EQ(counted(Count::drop_nack_state), 2u);
  EXPECT_EQ(lost(pdc), "");
}

// [PDS-118] The packet was cut on its way: it goes again at once.
TEST_F(NackReaderPartTest, ACutPacketGoesAgainAtOnce) {
  Pdc& pdc = initiator();
  send(pdc, 3);
  read(pdc, NackCode::trimmed, 1);
  EXPECT_EQ(lost(pdc), "+1");
  EXPECT_TRUE(was_called("want_send"));
}

// [PDS-116] A late NACK does not take back that the packet has arrived, unless it answers an ACK
// Request.
TEST_F(NackReaderPartTest, APacketThatHasArrivedIsNotSentAgainForALateNack) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  slot(pdc, 0).state.arrive();
  pdc.tx.requeue(kFirst);
  read(pdc, NackCode::trimmed, 0);
  EXPECT_EQ(lost(pdc), "");
  EXPECT_EQ(counted(Count::drop_nack_answered), 1u);
  read(pdc, NackCode::pkt_not_rcvd, 0);
  EXPECT_EQ(lost(pdc), "+0");
}

// [PDS-118] The peer has no room: the packet goes again after NACK_Retx_Time.
TEST_F(NackReaderPartTest, ARefusedPacketGoesAgainAfterADelay) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  read(pdc, NackCode::no_pkt_buffer, 0);
  EXPECT_TRUE(slot(pdc, 0).state.is_refused());
  EXPECT_EQ(lost(pdc), "");
  EXPECT_TRUE(was_called("arm_by 2100us"));
}

// [PDS-104] The store of the peer is full: a Clear command makes room.
TEST_F(NackReaderPartTest, AFullStoreIsCleared) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  read(pdc, NackCode::no_gtd_del_avail, 0);
  EXPECT_TRUE(pdc.clearing.is_due());
  EXPECT_TRUE(was_called("want_control"));
}

// [PDS-245] A refused PSN says how far the peer tracks.
TEST_F(NackReaderPartTest, APsnOutOfRangeNarrowsTheAssumedRange) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  read(pdc, NackCode::psn_oor_window, 0);
  EXPECT_EQ(pdc.range.packets(), PeerRange::kUnit);
  EXPECT_TRUE(slot(pdc, 0).state.is_refused());
}

// [PDS-051] The target says where the PSNs begin: what was sent goes again under new numbers.
TEST_F(NackReaderPartTest, ANewStartRenumbersWhatWasSent) {
  Pdc& pdc = in_syn();
  send(pdc, 2);
  read(pdc, NackCode::new_start_psn, 0, 5000);
  EXPECT_EQ(pdc.start.psn(), Psn(5000));
  EXPECT_EQ(pdc.tx.base(), Psn(5000));
  EXPECT_EQ(pdc.tx.next(), Psn(5002));
  EXPECT_EQ(pdc.rx.base(), Psn(5000));
  EXPECT_EQ(pdc.losses.lost(), 2u);
  EXPECT_EQ(context_.ccc.inflight_bytes(), 0u);
}

// [TSS-069] An attacker who answers each SYN does not keep the PDC busy without end.
TEST_F(NackReaderPartTest, NewStartsAreObeyedAFewTimes) {
  Pdc& pdc = in_syn();
  send(pdc, 1);
  for (uint32_t i = 1; i <= res_.config.rebases_max + 1; ++i) {
    const int offset = pdc.tx.base() - kFirst;
    read(pdc, NackCode::new_start_psn, offset, 5000 + i);
  }
  EXPECT_EQ(counted(Count::psn_rebased), res_.config.rebases_max);
  EXPECT_EQ(calls_of("fail"), Calls{"fail, not executed"});
}

// [PDS-119] A packet that went once and was refused for good was not executed.
TEST_F(NackReaderPartTest, ARefusedPacketThatWentOnceMayGoOnAnotherPdc) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  slot(pdc, 1).state.count_resend();
  read(pdc, NackCode::pdc_mode_mismatch, 0);
  ASSERT_EQ(client_.failed, std::vector<uint32_t>{0});
  EXPECT_TRUE(client_.failures[0].not_delivered);
  EXPECT_EQ(calls_of("fail"), Calls{"fail, fate unknown, the peer may hold its end"});
}

// [PDS-119] A resent packet is refused: its earlier transmission may have been executed.
TEST_F(NackReaderPartTest, TheFateOfAPacketThatWentTwiceIsUnknown) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  slot(pdc, 0).state.count_resend();
  read(pdc, NackCode::pdc_mode_mismatch, 0);
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{}) << "the end of the PDC reports it";
  EXPECT_EQ(calls_of("fail").size(), 1u);
}

// [PDS-120] A peer that closes refuses what comes later, and answers what it has received.
TEST_F(NackReaderPartTest, APdcThatThePeerClosesWaitsForTheOtherAnswers) {
  Pdc& pdc = initiator();
  send(pdc, 3);
  read(pdc, NackCode::closing, 2);
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{2});
  EXPECT_TRUE(pdc.life.is_draining());
  EXPECT_TRUE(was_called("abort_message"));
  EXPECT_TRUE(was_called("begin_close"));
  EXPECT_EQ(calls_of("fail"), Calls{});
}

// [PDS-190] The peer has lost the PDC: for one RTO, packets that were sent once may still be
// refused.
TEST_F(NackReaderPartTest, APdcThatThePeerHasLostWaitsForVerdicts) {
  Pdc& pdc = initiator();
  send(pdc, 3);
  read(pdc, NackCode::inv_dpdcid, 0);
  EXPECT_TRUE(client_.failures.at(0).not_delivered);
  EXPECT_TRUE(pdc.life.is_orphan());
  EXPECT_TRUE(was_called("close_idle_toward"));
  EXPECT_EQ(calls_of("fail"), Calls{});
  for (const int offset : {1, 2}) read(pdc, NackCode::inv_dpdcid, offset);
  EXPECT_EQ(client_.failed, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(calls_of("fail"), Calls{"fail, fate unknown"}) << "nothing is left to wait for";
}

// [PDS-182] The message fails, and a NOOP fills the hole that its packet would leave.
TEST_F(NackReaderPartTest, ANoopTakesThePsnOfAFailedMessage) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  read(pdc, NackCode::exp_nack_err, 0);
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{0});
  EXPECT_EQ(slot(pdc, 0).kind, SlotKind::noop);
  EXPECT_EQ(lost(pdc), "+0");
}

// [PDS-I15] A peer that has no such PDC any more needs no Close.
TEST_F(NackReaderPartTest, ACloseCommandEndsIfThePeerHasNoPdc) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  slot(pdc, 0).kind = SlotKind::close_cmd;
  read(pdc, NackCode::inv_dpdcid, 0);
  EXPECT_EQ(calls_of("free_pdc"), Calls{"free_pdc: Close void, clean"});
}

// [PDS-I17] A peer that closed in error did not finish.
TEST_F(NackReaderPartTest, ACloseCommandThatCameTooEarlyDoesNotEndCleanly) {
  Pdc& pdc = initiator();
  send(pdc, 1);
  slot(pdc, 0).kind = SlotKind::close_cmd;
  read(pdc, NackCode::closing_in_err, 0);
  EXPECT_EQ(calls_of("free_pdc"), Calls{"free_pdc: closed in error"});
}

// [PDS-117] With Patience::retries the PDC fails when one packet was refused more than
// nack_retx_max times. Copies of one NACK count once.
TEST_F(NackReaderPartTest, PatienceByCountEnds) {
  res_.config.patience = Patience::retries;
  res_.config.nack_retx_max = 2;
  Pdc& pdc = initiator();
  send(pdc, 1);
  for (int i = 0; i < 5; ++i) read(pdc, NackCode::no_resource, 0);
  EXPECT_EQ(slot(pdc, 0).state.refusals(), 1u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(calls_of("fail"), Calls{});
    loss_.end_delay(pdc, kFirst, slot(pdc, 0), kNow);
    context_.unmark(pdc, slot(pdc, 0));
    read(pdc, NackCode::no_resource, 0);
  }
  EXPECT_EQ(calls_of("fail").size(), 1u);
}

// [PDS-148, PDS-162] A target that has accepted nothing has a peer in SYN, which cannot take its
// Close Request. That refusal alone is forgiven: not that of another packet, nor another code.
TEST_F(NackReaderPartTest, OnlyTheRefusalOfAnEarlyCloseRequestIsForgiven) {
  const auto counts = [this](SlotKind kind, NackCode code, bool has_answered) {
    Pdc& pdc = target();
    send(pdc, 1);
    slot(pdc, 0).kind = kind;
    if (has_answered) pdc.told.note_answered();
    read(pdc, code, 0);
    return pdc.waiting.is_refused();
  };
  EXPECT_FALSE(counts(SlotKind::close_req, NackCode::unexp_event, false));
  EXPECT_TRUE(counts(SlotKind::close_req, NackCode::unexp_event, true));
  EXPECT_TRUE(counts(SlotKind::close_req, NackCode::no_resource, false));
  EXPECT_TRUE(counts(SlotKind::noop, NackCode::unexp_event, false));
  EXPECT_TRUE(counts(SlotKind::data, NackCode::unexp_event, false));
}

// [PDS-134] Our response was cut: the caller answers that packet of the peer again.
TEST_F(NackReaderPartTest, ACutResponseIsAnsweredAgain) {
  Pdc& pdc = target();
  pdc.rx.accept(res_.rx_pool, kFirst, false);
  const auto again = read(pdc, NackCode::trimmed_ack, 0);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->psn, kFirst);
  EXPECT_FALSE(read(pdc, NackCode::trimmed_ack, 1).has_value()) << "it was never received";
  EXPECT_EQ(counted(Count::drop_nack_range), 1u);
}

}  // namespace
}  // namespace uet::pds::part
