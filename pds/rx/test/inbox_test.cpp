// What becomes of each packet of a PDC: delivered, answered again, refused or kept. [PDS 7.1
// V9-V13, 7.2, 7.3]
#include "pds/rx/inbox.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class InboxPartTest : public AllParts {
 protected:
  InboxPartTest() {
    EXPECT_TRUE(store_.create(arena_).ok());
    EXPECT_TRUE(reorder_.create(arena_).ok());
    EXPECT_TRUE(acks_.create(arena_).ok());
    EXPECT_TRUE(inbox_.create(arena_).ok());
  }
  ~InboxPartTest() override {
    table_.for_each([&](Pdc& pdc) {
      while (StoredResponse* const e = pdc.responses.first()) store_.free_stored(pdc, *e);
      while (ReorderedPacket* const p = pdc.order.first()) reorder_.free(pdc, *p);
    });
  }

  // A packet at that distance from the first one.
  Inbound packet(const Pdc& pdc, int offset) const {
    Inbound in;
    in.datagram = &datagram_;
    in.arrival = kNow;
    in.trigger.psn = kFirst + offset;
    in.clear_psn = kFirst - 1;
    in.mode = pdc.mode;
    in.next_hdr = pdc.is_initiator() ? wire::NextHeader::response : wire::NextHeader::standard;
    in.ses = std::span(client_.octets).first(100);
    in.nominal_bytes = 200;
    return in;
  }
  Inbound control(const Pdc& pdc, int offset, wire::CtlType type) const {
    Inbound in = packet(pdc, offset);
    in.is_control = true;
    in.ctl_type = type;
    in.next_hdr = {};
    in.ses = {};
    return in;
  }
  Admission take(Pdc& pdc, const Inbound& in, Instant now = kNow) {
    const Admission result = inbox_.admit(pdc, in, now);
    if (!result.is_refused()) return result;
    const bool is_usual = result.payload == pdc.nack_hint().value();  // [PDS-111]
    refusals_.push_back(std::string(wire::name(result.nack)) + " psn " + text(in.psn()) +
                        (is_usual ? "" : " payload " + std::to_string(result.payload)));
    return result;
  }
  Admission admit(Pdc& pdc, int offset) { return take(pdc, packet(pdc, offset)); }
  // What the client got, by distance.
  std::string delivered() const {
    std::string all;
    for (const uint32_t psn : client_.requests) {
      all += (all.empty() ? "+" : " +") + std::to_string(psn - kFirst.value());
    }
    return all;
  }
  // The NACKs that its caller is to send.
  Calls refusals() const { return refusals_; }
  static Verdict answer(uint8_t octets) {
    Verdict v;
    v.kind = Verdict::Kind::respond;
    v.response.next_hdr = wire::NextHeader::response;
    v.response.length = octets;
    return v;
  }

  RxDatagram datagram_;
  Calls refusals_;
  Inbox inbox_{res_, schedule_, proofs_, closing_, store_, reorder_, destination_, acks_, steps_};
};

// [PDS-075] A packet that comes again is not delivered again. The network made the copy, so its
// source waits for no answer.
TEST_F(InboxPartTest, ARequestIsDeliveredOnce) {
  Pdc& pdc = target();
  for (int i = 0; i < 2; ++i) admit(pdc, 0);
  EXPECT_EQ(delivered(), "+0");
  EXPECT_EQ(counted(Count::dup_no_retx), 1u);
  EXPECT_EQ(pdc.rx.cack_psn(), kFirst);
}

// [PDS-075] Its source sent it again, so the answer was lost.
TEST_F(InboxPartTest, ARequestThatWasSentAgainIsAnsweredAgain) {
  Pdc& pdc = target();
  admit(pdc, 0);
  Count cause{};
  pdc.ack.take(cause);
  Inbound again = packet(pdc, 0);
  again.trigger.retx = true;
  take(pdc, again);
  EXPECT_EQ(delivered(), "+0");
  EXPECT_TRUE(pdc.ack.is_due());
  pdc.ack.take(cause);
  EXPECT_EQ(cause, Count::ack_duplicate);
}

// [PDS-076] RUD delivers what is not in order, and the cumulative ACK waits for the gap.
TEST_F(InboxPartTest, UnorderedRequestsAreDeliveredAsTheyCome) {
  Pdc& pdc = target();
  for (const int offset : {2, 0, 1}) admit(pdc, offset);
  EXPECT_EQ(delivered(), "+2 +0 +1");
  EXPECT_EQ(pdc.rx.cack_psn(), kFirst + 2);
}

// [PDS-001] A PDC has one mode.
TEST_F(InboxPartTest, ARequestOfTheOtherModeIsRefused) {
  Pdc& pdc = target(Mode::rud);
  Inbound in = packet(pdc, 0);
  in.mode = Mode::rod;
  take(pdc, in);
  EXPECT_EQ(refusals(), Calls{"PDC_MODE_MISMATCH psn 1000"});
  EXPECT_EQ(delivered(), "");
}

// [PDS-012] Requests go to the target, and return data to the initiator.
TEST_F(InboxPartTest, ARequestToTheInitiatorIsRefused) {
  Pdc& pdc = initiator();
  Inbound in = packet(pdc, 0);
  in.next_hdr = wire::NextHeader::standard;
  take(pdc, in);
  EXPECT_EQ(refusals(), Calls{"PDC_HDR_MISMATCH psn 1000"});
  admit(pdc, 0);
  EXPECT_EQ(delivered(), "+0");
}

// [PDS-112] A refused request leaves no trace: it may come again.
TEST_F(InboxPartTest, ARequestThatTheClientRefusesLeavesNoTrace) {
  Pdc& pdc = target();
  client_.verdict = Verdict::refused(wire::NackCode::no_resource);
  admit(pdc, 0);
  EXPECT_EQ(refusals(), Calls{"NO_RESOURCE psn 1000"});
  EXPECT_FALSE(pdc.rx.received(kFirst));
  client_.verdict = {};
  admit(pdc, 0);
  EXPECT_TRUE(pdc.rx.received(kFirst));
}

// [PDS-035] What lies beyond the range is refused and not tracked.
TEST_F(InboxPartTest, APsnBeyondTheRangeIsRefused) {
  Pdc& pdc = target();
  const int range = static_cast<int>(res_.config.tracked_packets());
  admit(pdc, range);
  EXPECT_EQ(refusals(), (Calls{"PSN_OOR_WINDOW psn " + text(kFirst + range)}));
  admit(pdc, range - 1);
  EXPECT_EQ(delivered(), "+" + std::to_string(range - 1));
}

// [PDS-V12] No bitmap is free for what arrives.
TEST_F(InboxPartTest, WithoutABitmapNothingIsTaken) {
  Pdc& pdc = target();
  while (res_.rx_pool.can_take()) ASSERT_NE(res_.rx_pool.take(), nullptr);
  admit(pdc, 0);
  EXPECT_EQ(refusals(), Calls{"NO_BITMAP psn 1000"});
  EXPECT_EQ(delivered(), "");
}

// [PDS-101, SES-191] There is no place for the response: the request is not executed.
TEST_F(InboxPartTest, ARequestIsNotExecutedWithoutAPlaceForItsResponse) {
  res_.config.gd_per_pdc = 1;
  Pdc& pdc = target();
  client_.verdict = answer(12);
  for (const int offset : {0, 1}) admit(pdc, offset);
  EXPECT_EQ(delivered(), "+0");
  EXPECT_EQ(refusals(), Calls{"NO_GTD_DEL_AVAIL psn 1001"});
  EXPECT_EQ(calls_of("on_no_place").size(), 1u) << "the client is called [SES-191]";
  EXPECT_EQ(pdc.responses.stored(), 1u);
  EXPECT_EQ(pdc.rx.cack_psn(), kFirst - 1) << "held by the response [PDS-081]";
}

// [PDS-102] A request carries the clear of those before it.
TEST_F(InboxPartTest, ARequestClearsTheResponsesBeforeIt) {
  Pdc& pdc = target();
  client_.verdict = answer(12);
  admit(pdc, 0);
  Inbound next = packet(pdc, 1);
  next.clear_psn = kFirst;
  client_.verdict = {};
  take(pdc, next);
  EXPECT_EQ(pdc.responses.stored(), 0u);
  EXPECT_EQ(pdc.rx.cack_psn(), kFirst + 1);
}

// [PDS-075] The client answers later: until then a NACK tells the requester that it is working.
TEST_F(InboxPartTest, ARequestThatIsAnsweredLaterWaitsForItsAnswer) {
  Pdc& pdc = target();
  client_.verdict = Verdict::deferred();
  admit(pdc, 0);
  Inbound again = packet(pdc, 0);
  again.ar = true;
  take(pdc, again);
  EXPECT_EQ(refusals(), Calls{"RCVD_SES_PROCG psn 1000"});
  EXPECT_TRUE(inbox_.respond(pdc, kFirst, answer(12), kNow).is_known);
  EXPECT_EQ(pdc.responses.stored(), 1u);
  EXPECT_FALSE(inbox_.respond(pdc, kFirst, answer(12), kNow).is_known) << "answered";
  EXPECT_FALSE(inbox_.respond(pdc, kFirst + 1, answer(12), kNow).is_known) << "no such request";
}

// [PDS-077] Without a buffer ROD takes nothing behind a gap, and says once where the gap is.
TEST_F(InboxPartTest, WithoutABufferPacketsBehindAGapAreDropped) {
  res_.config.rod_reorder = false;
  Pdc& pdc = target(Mode::rod);
  for (const int offset : {1, 2}) admit(pdc, offset);
  EXPECT_EQ(refusals(), Calls{"ROD_OOO psn 1001"});
  for (const int offset : {0, 1}) admit(pdc, offset);
  EXPECT_EQ(delivered(), "+0 +1");
}

// [PDS-079] With one, packets behind a gap wait for their turn.
TEST_F(InboxPartTest, OrderedRequestsWaitForTheirTurn) {
  Pdc& pdc = target(Mode::rod);
  for (const int offset : {2, 1}) admit(pdc, offset);
  EXPECT_EQ(delivered(), "");
  EXPECT_TRUE(pdc.ack.is_due()) << "the source must see the gap soon";
  admit(pdc, 0);
  EXPECT_EQ(delivered(), "+0 +1 +2");
  EXPECT_TRUE(pdc.order.empty());
  EXPECT_EQ(pdc.rx.cack_psn(), kFirst + 2);
}

// [PDS-112] A packet that waited was SACKed: refused by the client, it stays and is offered again.
TEST_F(InboxPartTest, ARefusedPacketOfTheBufferIsOfferedAgain) {
  Pdc& pdc = target(Mode::rod);
  admit(pdc, 1);
  client_.verdict = Verdict::refused(wire::NackCode::no_resource);
  take(pdc, control(pdc, 0, wire::CtlType::noop));
  EXPECT_TRUE(pdc.order.is_stalled());
  EXPECT_TRUE(pdc.rx.received(kFirst + 1));
  EXPECT_EQ(refusals(), Calls{});
  client_.verdict = {};
  inbox_.drain_reorder(pdc, kNow);
  EXPECT_EQ(delivered(), "+1 +1");
  EXPECT_TRUE(pdc.order.empty());
}

// [PDS-160] A NOOP takes a PSN and is answered; the client does not see it.
TEST_F(InboxPartTest, ANoopTakesAPsn) {
  Pdc& pdc = target();
  take(pdc, control(pdc, 0, wire::CtlType::noop));
  EXPECT_EQ(pdc.rx.cack_psn(), kFirst);
  EXPECT_TRUE(pdc.ack.is_due());
  EXPECT_EQ(delivered(), "");
}

// [PDS-161] A target does not close by command, and an initiator does not ask for a close.
TEST_F(InboxPartTest, AControlPacketOfTheWrongSideIsRefused) {
  Pdc& from_target = initiator();
  Pdc& from_initiator = target();
  take(from_target, control(from_target, 0, wire::CtlType::close_cmd));
  take(from_initiator, control(from_initiator, 0, wire::CtlType::close_req));
  EXPECT_EQ(refusals(), (Calls{"UNEXP_EVENT psn 1000", "UNEXP_EVENT psn 1000"}));
  EXPECT_FALSE(from_target.rx.received(kFirst));
  EXPECT_FALSE(was_called("begin_close"));
}

// [PDS-170] A Close Request is heeded at once.
TEST_F(InboxPartTest, ACloseRequestBeginsAClose) {
  Pdc& pdc = initiator();
  take(pdc, control(pdc, 0, wire::CtlType::close_req));
  EXPECT_TRUE(was_called("begin_close"));
  EXPECT_TRUE(pdc.ack.is_due());
}

// [PDS-T15] A Close command is kept until all lower PSNs are there: each packet that is taken may
// be the last one, and its caller looks.
TEST_F(InboxPartTest, ACloseCommandIsKept) {
  Pdc& pdc = target();
  EXPECT_TRUE(admit(pdc, 1).is_taken);
  EXPECT_TRUE(take(pdc, control(pdc, 2, wire::CtlType::close_cmd)).is_taken);
  EXPECT_TRUE(pdc.life.close_received());
  EXPECT_EQ(pdc.end.psn(), kFirst + 2);
  EXPECT_FALSE(admit(pdc, 1).is_taken) << "received before";
  EXPECT_TRUE(take(pdc, control(pdc, 0, wire::CtlType::close_cmd)).is_taken);
  EXPECT_EQ(pdc.end.psn(), kFirst + 2) << "a second one fills a hole below the first";
}

// [PDS-T16] The peer has nothing to send behind its Close command.
TEST_F(InboxPartTest, NothingIsTakenBehindACloseCommand) {
  Pdc& pdc = target();
  take(pdc, control(pdc, 1, wire::CtlType::close_cmd));
  admit(pdc, 2);
  EXPECT_EQ(refusals(), Calls{"CLOSING psn 1002"});
  admit(pdc, 0);
  EXPECT_EQ(delivered(), "+0");
}

// [PDS-120] The peer is done with the PDC, so it does not wait for an answer to anything new.
TEST_F(InboxPartTest, ADrainingTargetTakesNothingNew) {
  Pdc& pdc = target();
  pdc.life.change(PdcEvent::peer_done);
  EXPECT_FALSE(admit(pdc, 0).is_taken);
  EXPECT_EQ(refusals(), Calls{"CLOSING psn 1000"});
}

// [PDS-T14] A Close command that comes before the last ACK counts as lost.
TEST_F(InboxPartTest, ACloseThatIsEarlyIsNotTaken) {
  Pdc& pdc = target();
  answers().is_close_early = true;
  EXPECT_FALSE(take(pdc, control(pdc, 0, wire::CtlType::close_cmd)).is_taken);
  EXPECT_FALSE(pdc.rx.received(kFirst));
  EXPECT_EQ(refusals(), Calls{});
}

// [TSS-072] Each answer of a secured PDC is sealed anew, so copies cause a limited number of them.
TEST_F(InboxPartTest, CopiesOnASecuredPdcAreAnsweredUpToALimit) {
  res_.config.duplicate_answers_per_second = 20;
  Pdc& clear = target();
  Pdc& secured = target();
  secured.sdi = 77;
  for (Pdc* const pdc : {&clear, &secured}) {
    admit(*pdc, 0);
    Inbound copy = packet(*pdc, 0);
    copy.ar = true;
    for (int i = 0; i < 5; ++i) take(*pdc, copy);
  }
  EXPECT_EQ(counted(Count::drop_dup_limited), 3u) << "a tenth at once, and none in the clear";
}

// [PDS-252] A packet with our PDCID proves its source: the PDCID was sent to that address only.
TEST_F(InboxPartTest, APacketThatKnowsOurPdcidProvesItsSource) {
  Pdc& pdc = target(Mode::rud, false);
  Inbound syn = packet(pdc, 0);
  syn.syn = true;
  take(pdc, syn);
  EXPECT_FALSE(pdc.proof.is_confirmed());
  admit(pdc, 1);
  EXPECT_TRUE(pdc.proof.is_confirmed());
}

// [PDS-256] A packet shows that its peer lives if its PSN fits, whether it is taken, came before or
// finds no room; on the PDC of an unproven source none does.
TEST_F(InboxPartTest, APacketWhosePsnFitsIsHeard) {
  for (const bool is_proven : {true, false}) {
    SCOPED_TRACE(is_proven);
    const auto is_heard = [&](Pdc& pdc, Inbound in) {
      in.syn = true;  // it proves nothing
      calls().clear();
      take(pdc, in);
      return was_heard();
    };
    Pdc& pdc = target(Mode::rud, is_proven);
    EXPECT_EQ(is_heard(pdc, packet(pdc, 0)), is_proven);
    EXPECT_EQ(is_heard(pdc, packet(pdc, 0)), is_proven) << "a copy";
    EXPECT_EQ(is_heard(pdc, packet(pdc, 2)), is_proven);
    EXPECT_EQ(is_heard(pdc, packet(pdc, 2)), is_proven) << "a copy above a gap";
    client_.verdict = Verdict::refused(wire::NackCode::no_resource);
    EXPECT_EQ(is_heard(pdc, packet(pdc, 1)), is_proven);
    client_.verdict = {};
    EXPECT_FALSE(is_heard(pdc, packet(pdc, static_cast<int>(res_.config.tracked_packets()) + 1)));
    EXPECT_FALSE(is_heard(pdc, packet(pdc, -40'000)));
    Inbound other_mode = packet(pdc, 1);
    other_mode.mode = Mode::rod;
    EXPECT_FALSE(is_heard(pdc, other_mode));
    Inbound wrong_way = packet(pdc, 1);
    wrong_way.next_hdr = wire::NextHeader::response;
    EXPECT_FALSE(is_heard(pdc, wrong_way));
    EXPECT_EQ(pdc.proof.is_confirmed(), is_proven);
  }
}

// [PDS-256] Control packets without a PSN of their own: of a known type, in the right direction.
TEST_F(InboxPartTest, AControlPacketThatFitsIsHeard) {
  using wire::CtlType;
  const auto is_heard = [&](Pdc& pdc, CtlType type, int offset = 0) {
    calls().clear();
    take(pdc, control(pdc, offset, type));
    return was_heard();
  };
  Pdc& at_target = target();
  Pdc& at_initiator = initiator();
  for (Pdc* const pdc : {&at_target, &at_initiator}) {
    for (const CtlType type :
         {CtlType::ack_req, CtlType::probe, CtlType::credit, CtlType::credit_req, CtlType::noop}) {
      EXPECT_TRUE(is_heard(*pdc, type)) << wire::name(type);
    }
    EXPECT_TRUE(is_heard(*pdc, CtlType::ack_req, 1)) << "of a packet that was lost";
    EXPECT_FALSE(is_heard(*pdc, CtlType::ack_req, -40'000));
    for (const CtlType type : {CtlType::negotiation, CtlType{13}}) {
      EXPECT_FALSE(is_heard(*pdc, type));
    }
  }
  EXPECT_TRUE(is_heard(at_target, CtlType::clear_cmd));
  EXPECT_TRUE(is_heard(at_initiator, CtlType::clear_req));
  EXPECT_FALSE(is_heard(at_initiator, CtlType::clear_cmd));
  EXPECT_FALSE(is_heard(at_target, CtlType::clear_req));

  for (const CtlType type : {CtlType::probe, CtlType::credit, CtlType::credit_req}) {
    Pdc& unproven = target(Mode::rud, false);
    EXPECT_FALSE(is_heard(unproven, type, -2)) << wire::name(type);
    table_.free(unproven);
  }
}

// [PDS-A10] An ACK Request for a received packet is answered by an ACK; one for a missing packet is
// answered by a NACK, so that its data is sent again.
TEST_F(InboxPartTest, AnAckRequestTellsWhetherAPacketArrived) {
  Pdc& pdc = target();
  admit(pdc, 0);
  Count cause{};
  pdc.ack.take(cause);
  take(pdc, control(pdc, 0, wire::CtlType::ack_req));
  EXPECT_TRUE(pdc.ack.is_due());
  take(pdc, control(pdc, 1, wire::CtlType::ack_req));
  EXPECT_EQ(refusals(), Calls{"PKT_NOT_RCVD psn 1001"});
}

// [PDS-071] Types that we do not know are refused once a second, if their source wants to know.
TEST_F(InboxPartTest, UnknownControlPacketsAreRefusedOnceInASecond) {
  Pdc& pdc = target();
  Inbound odd = control(pdc, 0, wire::CtlType{13});
  take(pdc, odd);
  EXPECT_EQ(refusals(), Calls{});
  odd.ar = true;
  for (int i = 0; i < 2; ++i) take(pdc, odd);
  EXPECT_EQ(refusals(), Calls{"UNEXP_EVENT psn 1000"});
  take(pdc, odd, kNow + Duration::seconds(1));
  EXPECT_EQ(refusals().size(), 2u);
}

}  // namespace
}  // namespace uet::pds::part
