// What an ACK says of the packets that were sent, and what it leaves to its caller. [PDS 8.5]
#include "pds/tx/ack_reader.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class AckReaderPartTest : public AllParts {
 protected:
  // An ACK of all packets up to that distance from the first one; it names the last of them.
  static wire::Ack up_to(int offset) {
    wire::Ack ack;
    ack.cack_psn = kFirst + offset;
    ack.spdcid = kPeerId;
    return ack;
  }
  AckEffect read(Pdc& pdc, const wire::Ack& ack, const wire::AckCc* cc = nullptr) {
    RxDatagram d;
    d.at = kNow + Duration::microseconds(100);
    d.ev = context_.ev.next(d.at);
    return reader_.process_ack(pdc, ack, cc, {}, d, d.at);
  }
  // The long form: bit i of the bitmap is the packet at that distance + i.
  AckEffect read_sack(Pdc& pdc, int cack, int from, uint64_t bits) {
    wire::AckCc cc;
    cc.ack = up_to(cack);
    cc.mpr = kDefaultMpr;
    cc.sack_psn_offset = static_cast<int16_t>(from - cack);
    cc.sack_bitmap = bits;
    return read(pdc, cc.ack, &cc);
  }

  AckReader reader_{res_, schedule_, idle_, proofs_, closing_, loss_, probes_};
};

// [PDS-092, PDS-168] Each packet is answered once, however often an ACK covers it.
TEST_F(AckReaderPartTest, ACumulativeAckAnswersEachPacketOnce) {
  Pdc& pdc = initiator();
  send(pdc, 3);
  for (int i = 0; i < 2; ++i) read(pdc, up_to(1));
  EXPECT_EQ(client_.responded, (std::vector<uint32_t>{1, 0})) << "first the one that it names";
  EXPECT_EQ(pdc.tx.base(), kFirst + 2);
  EXPECT_EQ(context_.ccc.inflight_bytes(), slot(pdc, 2).bytes);
}

// [PDS-256, PDS-252] An ACK in range shows that its peer lives; that of an unproven source must
// answer something.
TEST_F(AckReaderPartTest, AnAckThatProvesItsSenderIsHeard) {
  Pdc& proven = initiator();
  send(proven, 1);
  read(proven, up_to(1));
  EXPECT_FALSE(was_heard()) << "never sent";
  read(proven, up_to(0));
  EXPECT_TRUE(was_heard());
  calls().clear();
  Pdc& unproven = target(Mode::rud, false);
  read(unproven, up_to(-1));
  EXPECT_FALSE(was_heard());
  EXPECT_EQ(counted(Count::drop_unproven), 1u);
  send(unproven, 1);
  read(unproven, up_to(0));
  EXPECT_TRUE(was_heard());
}

// [CMS-019, CMS-198] A packet that counts as lost, and is answered before it goes again, was in
// flight: what the peer has received is counted once, by an ACK or by a SACK. It has left once.
TEST_F(AckReaderPartTest, APacketThatOnlySeemedLostWasInFlight) {
  for (const bool is_sacked : {false, true}) {
    Pdc& pdc = initiator();
    send(pdc, 4);
    const int32_t sent = pdc.heard.balance();
    loss_.mark_lost(pdc, kFirst + 1, slot(pdc, 1), cms::LossKind::inferred, Count::retx_ooo, kNow);
    ASSERT_EQ(pdc.heard.balance(), sent * 3 / 4);
    wire::AckCc cc;
    cc.ack = up_to(is_sacked ? 0 : 1);
    cc.ack.type = wire::PdsType::ack_cc;
    cc.mpr = kDefaultMpr;
    cc.sack_psn_offset = 1;
    cc.sack_bitmap = is_sacked ? 1 : 0;
    cc.state = wire::NsccState{.rcvd_bytes = 8, .ooo_count = 0xFFFF}.pack();
    read(pdc, cc.ack, &cc);
    EXPECT_EQ(pdc.heard.balance(), sent / 2) << is_sacked;
    EXPECT_EQ(pdc.heard.on_rcvd_units(static_cast<uint32_t>(sent) / 256 + 2, 0), std::nullopt);
    EXPECT_EQ(context_.ccc.inflight_bytes(), static_cast<uint64_t>(sent) / 2);
    EXPECT_EQ(lost(pdc), "");
    pdc.tx.abandon(res_.tx_pool);
    context_.ccc.on_forgotten(static_cast<uint32_t>(sent) / 2);
  }
}

// [PDS-092] Default answers are reported in groups: up to the end of a message, of at most 16
// packets, and the rest at the end of the ACK.
TEST_F(AckReaderPartTest, DefaultAnswersAreReportedInGroups) {
  Pdc& pdc = initiator();
  for (const uint32_t count : {3u, 20u, 5u}) send(pdc, count);
  read(pdc, up_to(26));
  EXPECT_EQ(calls_of("on_responses"),
            (Calls{"on_responses 3", "on_responses 16", "on_responses 4", "on_responses 3"}));
  std::vector<uint32_t> all{26};  // the one that it names, by itself
  for (uint32_t i = 0; i < 26; ++i) all.push_back(i);
  EXPECT_EQ(client_.responded, all);
}

// [PDS-090] An ACK of what was never sent is forged, and changes nothing.
TEST_F(AckReaderPartTest, AnAckOfPacketsThatWereNeverSentChangesNothing) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  calls().clear();
  wire::Ack names_too_much = up_to(0);
  names_too_much.ack_psn_offset = 2;
  for (const wire::Ack& ack : {up_to(2), names_too_much, up_to(-2)}) read(pdc, ack);
  EXPECT_EQ(counted(Count::drop_ack_range), 3u);
  EXPECT_EQ(client_.responded, std::vector<uint32_t>{});
  EXPECT_EQ(calls(), Calls{});
}

// [PDS-093] SACK says "arrived", which is not "answered", unless the client waits for no answer.
TEST_F(AckReaderPartTest, ASackShowsArrivalsAndNotAnswers) {
  Pdc& pdc = initiator();
  send(pdc, 4);
  slot(pdc, 3).ref.sack_completes = true;
  read_sack(pdc, 0, 2, 0b11);
  EXPECT_EQ(client_.responded, (std::vector<uint32_t>{0, 3}));
  EXPECT_TRUE(slot(pdc, 2).state.has_arrived());
  EXPECT_FALSE(slot(pdc, 2).state.in_flight());
  EXPECT_FALSE(slot(pdc, 1).state.has_arrived());
}

// [PDS-240] What a SACK shows leaves the window of the context, and does so once: not again when it
// is answered.
TEST_F(AckReaderPartTest, WhatASackShowsIsNoMoreInFlight) {
  Pdc& pdc = initiator();
  send(pdc, 4);
  const uint64_t bytes = slot(pdc, 0).bytes;
  for (int i = 0; i < 2; ++i) {
    read_sack(pdc, 0, 1, 0b1);
    EXPECT_EQ(context_.ccc.inflight_bytes(), 2 * bytes);
  }
  read(pdc, up_to(3));
  EXPECT_EQ(context_.ccc.inflight_bytes(), 0u);
  send(pdc, 1);
  EXPECT_EQ(context_.ccc.inflight_bytes(), bytes) << "none was taken off twice";
}

// [T-06] From the first bit of a PSN that was never sent on, the bitmap is invalid.
TEST_F(AckReaderPartTest, ABitmapIsReadUpToTheLastPacketSent) {
  Pdc& pdc = initiator();
  send(pdc, 3);
  read_sack(pdc, 0, 2, 0b11);
  EXPECT_EQ(counted(Count::sack_beyond), 1u);
  EXPECT_TRUE(slot(pdc, 2).state.has_arrived());
}

// [PDS-L4] A packet sent later on the same entropy value has arrived, so the earlier one is lost.
TEST_F(AckReaderPartTest, APacketThatWasOvertakenOnItsPathIsLost) {
  Pdc& pdc = initiator();
  send(pdc, 4);
  read_sack(pdc, -1, 2, 0b1);
  EXPECT_EQ(lost(pdc), "+0 +1") << "+3 was sent after the one that arrived";
  EXPECT_EQ(counted(Count::retx_ev), 2u);
}

// [PDS-042] The first ACK gives the peer's PDCID and ends SYN; the caller makes the PDC known by
// it.
TEST_F(AckReaderPartTest, TheFirstAckEstablishesThePdc) {
  Pdc& pdc = in_syn();
  send(pdc, 2);
  wire::Ack first = up_to(0);
  first.spdcid = Pdcid(77);
  EXPECT_TRUE(read(pdc, first).is_established);
  EXPECT_EQ(pdc.state(), PdcState::established);
  EXPECT_EQ(pdc.peer_id, Pdcid(77));
  EXPECT_FALSE(read(pdc, up_to(1)).is_established);
}

// [PDS-I22] A close that was wanted in SYN begins now.
TEST_F(AckReaderPartTest, ACloseThatWaitedForTheFirstAckBegins) {
  Pdc& pdc = in_syn();
  send(pdc, 1);
  pdc.life.change(PdcEvent::close_wanted);
  read(pdc, up_to(0));
  EXPECT_TRUE(was_called("begin_close"));
}

// [PDS-094] The target asks for a close, or for a clear within PDS_Clear_Time.
TEST_F(AckReaderPartTest, RequestsOfTheTargetAreHeeded) {
  Pdc& pdc = initiator();
  send(pdc, 3);
  wire::Ack ack = up_to(0);
  ack.req = wire::AckRequest::clear;
  read(pdc, ack);
  EXPECT_TRUE(pdc.clearing.is_wanted());
  EXPECT_TRUE(was_called("arm_by 2100us"));
  EXPECT_FALSE(was_called("begin_close"));
  ack = up_to(1);
  ack.req = wire::AckRequest::close;
  read(pdc, ack);
  EXPECT_TRUE(was_called("begin_close"));
}

// [PDS-094] Only an initiator closes.
TEST_F(AckReaderPartTest, ATargetIsNotAskedToClose) {
  Pdc& pdc = target();
  send(pdc, 1);
  wire::Ack ack = up_to(0);
  ack.req = wire::AckRequest::close;
  read(pdc, ack);
  EXPECT_EQ(client_.responded, std::vector<uint32_t>{0});
  EXPECT_FALSE(was_called("begin_close"));
}

// [PDS-I14] The caller ends the PDC when its Close command is answered, and not before.
TEST_F(AckReaderPartTest, TheAnswerOfACloseCommandIsReported) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  slot(pdc, 1).kind = SlotKind::close_cmd;
  EXPECT_FALSE(read(pdc, up_to(0)).is_closed);
  EXPECT_TRUE(read(pdc, up_to(1)).is_closed);
  EXPECT_EQ(client_.responded, std::vector<uint32_t>{0}) << "a Close is not reported to the client";
}

// [PDS-070] The report about the path of a packet counts once, and on the path that it took.
TEST_F(AckReaderPartTest, AMarkCountsOnceForItsPacket) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  wire::Ack marked = up_to(0);
  marked.m = true;
  for (int i = 0; i < 2; ++i) read(pdc, marked);
  EXPECT_EQ(context_.tally.marks.marked(), 1u);
}

// [PDS-141] An ACK of a resent packet may answer either transmission, so it gives no RTT sample.
TEST_F(AckReaderPartTest, OnlyAnUnambiguousAckMeasuresTheRoundTrip) {
  Pdc& pdc = initiator();
  send(pdc, 2);
  slot(pdc, 0).state.count_resend();
  read(pdc, up_to(0));
  EXPECT_EQ(pdc.rtt.smoothed(), Duration::zero());
  read(pdc, up_to(1));
  EXPECT_NEAR(static_cast<double>(pdc.rtt.smoothed().ns()), 100'000, 3'000);
}

// [PDS-252] An ACK proves its source only if it answers what was sent.
TEST_F(AckReaderPartTest, AnUnprovenSourceMustAnswerSomething) {
  Pdc& pdc = target(Mode::rud, false);
  read(pdc, up_to(-1));
  EXPECT_EQ(counted(Count::drop_unproven), 1u);
  EXPECT_FALSE(pdc.proof.is_confirmed());
  send(pdc, 1);
  read(pdc, up_to(0));
  EXPECT_TRUE(pdc.proof.is_confirmed());
}

}  // namespace
}  // namespace uet::pds::part
