// The checks of a datagram in their order, and which part gets it: Demux alone. [PDS 7.1]
#include "pds/test/demux_part.h"

namespace uet::pds::part {
namespace {

using wire::NackCode;
using wire::NextHeader;
using wire::PdsType;

// [PDS-V1]
TEST_F(DemuxPartTest, LessThanAPrologueIsDropped) {
  for (const uint32_t length : {0u, 1u})
    EXPECT_EQ(outcome(Octets(length)), Calls{"drop_too_short"});
}

// [PDS-V2] A cut packet of a reserved type is judged as a cut one.
TEST_F(DemuxPartTest, WhetherItWasCutComesBeforeItsType) {
  const Octets reserved(64, std::byte{0xFF});
  EXPECT_EQ(outcome(reserved), Calls{"drop_type_reserved"});
  EXPECT_EQ(outcome_cut(reserved), (Calls{"trimmed_rx", "drop_trimmed"}));
}

// [PDS-V4] At each length that is too short; and with an id that means no PDC.
TEST_F(DemuxPartTest, AHeaderThatIsCutOffIsDropped) {
  Pdc& pdc = target();
  wire::AckCc ack_cc;
  ack_cc.ack = ack(pdc);
  ack_cc.ack.type = PdsType::ack_cc;
  wire::AckCcx ack_ccx;
  ack_ccx.ack = ack(pdc);
  ack_ccx.ack.type = PdsType::ack_ccx;
  wire::Request with_cc = request(pdc);
  with_cc.type = PdsType::rod_cc_request;
  const Octets headers[] = {octets_of(request(pdc)), octets_of(with_cc),
                            octets_of(control(pdc)), octets_of(ack(pdc)),
                            octets_of(ack_cc),       octets_of(ack_ccx),
                            octets_of(nack(pdc)),    octets_of(request(pdc))};
  for (const Octets& whole : headers) {
    EXPECT_NE(outcome(whole), Calls{"drop_malformed"});
    for (size_t length = 2; length < whole.size(); ++length) {
      const Octets part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
      EXPECT_EQ(outcome(part), Calls{"drop_malformed"}) << length;
    }
  }
}

// [PDS-V4] A reserved next header, none where something must follow, and an SPDCID of 0.
TEST_F(DemuxPartTest, AnIllegalHeaderIsDropped) {
  Pdc& pdc = target();
  wire::Request h = request(pdc);
  h.next_hdr = NextHeader{9};
  EXPECT_EQ(outcome(octets_of(h)), Calls{"drop_malformed"});
  h.next_hdr = NextHeader::none;
  EXPECT_EQ(outcome(octets_of(h)), Calls{"drop_malformed"});
  h = syn();
  h.next_hdr = NextHeader::none;
  EXPECT_EQ(outcome(octets_of(h)), Calls{"look_up_syn 1000"}) << "a SYN may carry nothing";
  h = request(pdc);
  h.next_hdr = NextHeader::response_data;
  EXPECT_EQ(outcome(octets_of(h)), admitted(pdc, 12)) << "return data";
  h.spdcid = Pdcid(0);
  EXPECT_EQ(outcome(octets_of(h)), Calls{"drop_malformed"});
  wire::Control c = control(pdc);
  c.spdcid = Pdcid(0);
  EXPECT_EQ(outcome(octets_of(c)), Calls{"drop_malformed"});
  Octets sealed = octets_of(request(pdc));
  sealed[0] = std::byte{static_cast<uint8_t>(PdsType::tss) << 3};
  EXPECT_EQ(outcome(sealed), Calls{"drop_type_unsupported"}) << "no layer below has opened it";
}

// [PDS-V5] No PDC is looked for. What they refuse is subject to the budgets of all replies.
TEST_F(DemuxPartTest, ModesWithoutPdcsGoTheirWay) {
  wire::RudiRequest rudi;
  rudi.next_hdr = NextHeader::standard;
  EXPECT_EQ(outcome(octets_of(rudi)), Calls{"connectionless RUDI_REQ"});
  wire::RudiResponse response;
  EXPECT_EQ(outcome(octets_of(response)), Calls{"connectionless RUDI_RESP"});
  wire::Uud uud;
  EXPECT_EQ(outcome(octets_of(uud)), Calls{"connectionless UUD_REQ"});
  answers().to_demux.refused_without_pdc.emplace().nack.nack_code = NackCode::no_resource;
  EXPECT_EQ(outcome(octets_of(rudi)), (Calls{"connectionless RUDI_REQ", "refuse NO_RESOURCE"}));
  wire::Nack nack;
  nack.nt = true;
  EXPECT_EQ(outcome(octets_of(nack)), Calls{"NACK of RUDI"});
}

// [PDS-V6] A SYN goes to the door, whatever its field psn_offset says.
TEST_F(DemuxPartTest, ASynGoesToTheDoor) {
  EXPECT_EQ(outcome(octets_of(syn())), Calls{"look_up_syn 1000"}) << "it was answered there";
  Pdc& pdc = target();
  answers().to_demux.of_syn = &pdc;
  Calls expected = admitted(pdc, 12, {"drop_if_unused"});
  expected.insert(expected.begin(), "look_up_syn 1000");
  EXPECT_EQ(outcome(octets_of(syn())), expected);
}

// [PDS-V6, PDS-072] Requests and control packets of no PDC are refused, answers never are.
TEST_F(DemuxPartTest, ARequestOfNoPdcIsRefused) {
  Pdc& pdc = target();
  wire::Request h = request(pdc);
  h.dpdcid = kUnknown;
  const Calls refused{"nack_stranger INV_DPDCID psn 1000", "drop_no_pdc"};
  EXPECT_EQ(outcome(octets_of(h)), refused);
  wire::Control c = control(pdc);
  c.dpdcid = kUnknown;
  EXPECT_EQ(outcome(octets_of(c)), refused);
  wire::Ack a = ack(pdc);
  a.dpdcid = kUnknown;
  EXPECT_EQ(outcome(octets_of(a)), Calls{"drop_no_pdc"});
  wire::Nack n = nack(pdc);
  n.dpdcid = kUnknown;
  EXPECT_EQ(outcome(octets_of(n)), Calls{"drop_no_pdc"});
}

// [PDS-176] A late packet of a PDC that has closed, if it is of the peer that had it.
TEST_F(DemuxPartTest, ALatePacketIsAnsweredByTheTombstone) {
  Pdc& pdc = target();
  wire::Request h = request(pdc);
  table_.bury(pdc, kNow + Duration::seconds(1));
  EXPECT_EQ(outcome(octets_of(h)), Calls{"answer_for_tombstone 1000"});
  const Calls refused{"nack_stranger INV_DPDCID psn 1000", "drop_no_pdc"};
  EXPECT_EQ(outcome(octets_of(h), {.from = 8}), refused);
  h.spdcid = Pdcid(8);
  EXPECT_EQ(outcome(octets_of(h)), refused);
}

// [PDS-V7, TSS-073, T-04] Another address, another PDCID; in a secured PDC without an answer.
TEST_F(DemuxPartTest, ARequestOfAnotherSenderIsRefused) {
  Pdc& pdc = target();
  const std::string refusal = "nack_stranger PDC_HDR_MISMATCH psn 1000";
  EXPECT_EQ(outcome(octets_of(request(pdc)), {.from = 8}), (Calls{refusal, "drop_bad_peer"}));
  EXPECT_EQ(outcome(octets_of(control(pdc)), {.from = 8}), (Calls{refusal, "drop_bad_peer"}));
  wire::Request h = request(pdc);
  h.spdcid = Pdcid(8);
  EXPECT_EQ(outcome(octets_of(h)), (Calls{refusal, "drop_bad_pdcid"}));

  pdc.sdi = kSdi;
  EXPECT_EQ(outcome(octets_of(h), {.sdi = kSdi}), Calls{"drop_bad_pdcid"});
  EXPECT_EQ(outcome(octets_of(request(pdc)), {.from = 8, .sdi = kSdi}), Calls{"drop_bad_peer"});
}

// [PDS-V6, PDS-V7, PDS-073] Answers are dropped. A peer without the PDC names no id of its own.
TEST_F(DemuxPartTest, AnAnswerOfAnotherSenderIsDropped) {
  Pdc& pdc = initiator();
  EXPECT_EQ(outcome(octets_of(ack(pdc)), {.from = 8}), Calls{"drop_bad_peer"});
  EXPECT_EQ(outcome(octets_of(nack(pdc)), {.from = 8}), Calls{"drop_bad_peer"});
  wire::Ack a = ack(pdc);
  a.spdcid = Pdcid(8);
  EXPECT_EQ(outcome(octets_of(a)), Calls{"drop_bad_pdcid"});
  wire::Nack n = nack(pdc);
  n.spdcid = Pdcid(8);
  EXPECT_EQ(outcome(octets_of(n)), Calls{"drop_bad_pdcid"});
  n.spdcid = Pdcid(0);
  EXPECT_EQ(outcome(octets_of(n)), Calls{"process_nack NO_RESOURCE psn 1000"});
}

// [PDS-V7, PDS-042] In SYN the peer's PDCID is learnt from its ACK, so no other packet may come
// before; a control packet is refused, and names our PDC, for the peer has shown that it knows it.
TEST_F(DemuxPartTest, InSynTheFirstAckIsAwaited) {
  Pdc& pdc = in_syn();
  pdc.peer_id = Pdcid(0);
  EXPECT_EQ(outcome(octets_of(request(pdc))), Calls{"drop_syn_state"});
  EXPECT_EQ(outcome(octets_of(control(pdc))),
            (Calls{"nack_stranger UNEXP_EVENT psn 1000, of a PDC", "drop_syn_state"}));
  wire::Ack a = ack(pdc);
  a.p = true;
  EXPECT_EQ(outcome(octets_of(a)), Calls{"drop_probe_answer"}) << "no Probe was sent";
  EXPECT_EQ(outcome(octets_of(ack(pdc))), Calls{"process_ack 1000"});
}

// [TSS-141, TSS-078] A packet that was sealed in another domain than its PDC gets no answer.
TEST_F(DemuxPartTest, InSynAPacketOfAnotherDomainGetsNoAnswer) {
  Pdc& pdc = in_syn();
  pdc.sdi = kSdi;
  EXPECT_EQ(outcome(octets_of(control(pdc))), Calls{"drop_syn_state"});
  EXPECT_EQ(outcome(octets_of(control(pdc)), {.sdi = kSdi}),
            (Calls{"nack_stranger UNEXP_EVENT psn 1000, of a PDC", "drop_syn_state"}));
}

// [PDS-V8, T-18] Also of the secured domain of another PDC, and in the clear.
TEST_F(DemuxPartTest, APacketOfAnotherDomainIsDropped) {
  Pdc& pdc = secured();
  for (const uint32_t sdi : {0u, kSdi + 1}) {
    EXPECT_EQ(outcome(octets_of(request(pdc)), {.sdi = sdi}), Calls{"drop_sdi"});
    EXPECT_EQ(outcome(octets_of(control(pdc)), {.sdi = sdi}), Calls{"drop_sdi"});
    EXPECT_EQ(outcome(octets_of(ack(pdc)), {.sdi = sdi}), Calls{"drop_sdi"});
    EXPECT_EQ(outcome(octets_of(nack(pdc)), {.sdi = sdi}), Calls{"drop_sdi"});
  }
  EXPECT_EQ(outcome(octets_of(request(pdc)), {.sdi = kSdi}), admitted(pdc, 12));
  pdc.sdi = 0;
  EXPECT_EQ(outcome(octets_of(request(pdc)), {.sdi = kSdi}), Calls{"drop_sdi"});
}

// [TSS-068] A new start that is not sealed is believed only where the configuration says so.
TEST_F(DemuxPartTest, APlainNewStartIsAcceptedOnlyIfConfigured) {
  Pdc& pdc = secured();
  const Octets start = octets_of(nack(pdc, NackCode::new_start_psn));
  EXPECT_EQ(outcome(start), Calls{"drop_sdi"});
  res_.config.plain_new_start_psn = true;
  EXPECT_EQ(outcome(start), Calls{"process_nack NEW_START_PSN psn 1000"});
  EXPECT_EQ(outcome(start, {.sdi = kSdi + 1}), Calls{"drop_sdi"});
  EXPECT_EQ(outcome(octets_of(nack(pdc))), Calls{"drop_sdi"}) << "no other code";
  EXPECT_EQ(outcome(octets_of(ack(pdc))), Calls{"drop_sdi"});
}

// [PDS-060] Each packet has the fault of its row and all of the rows below; the first one decides.
TEST_F(DemuxPartTest, TheFirstFailureDecides) {
  Pdc& pdc = secured();
  wire::Request h = request(pdc);
  h.spdcid = Pdcid(8);
  EXPECT_EQ(outcome(octets_of(h)), Calls{"drop_bad_pdcid"}) << "V7 before V8";
  EXPECT_EQ(outcome(octets_of(h), {.from = 8}), Calls{"drop_bad_peer"});
  h.dpdcid = kUnknown;
  EXPECT_EQ(outcome(octets_of(h), {.from = 8}),
            (Calls{"nack_stranger INV_DPDCID psn 1000", "drop_no_pdc"}))
      << "V6 before V7";
  h.next_hdr = NextHeader{9};
  EXPECT_EQ(outcome(octets_of(h), {.from = 8}), Calls{"drop_malformed"}) << "V4 before V6";
  EXPECT_EQ(outcome_cut(octets_of(h)), (Calls{"trimmed_rx", "drop_trimmed"})) << "V2 before V4";
}

// [PDS-V10] The demultiplexer does not check the state of the PDC: Inbox and Door do.
TEST_F(DemuxPartTest, ARequestIsAdmitted) {
  Pdc& pdc = target();
  EXPECT_EQ(outcome(octets_of(request(pdc))), admitted(pdc, 12));
  EXPECT_EQ(outcome(octets_of(control(pdc))), admitted(pdc, 16));
  answers().to_demux.refusal = NackCode::closing;
  EXPECT_EQ(outcome(octets_of(request(pdc))),
            admitted(pdc, 12, {"nack CLOSING psn 1000 payload 5"}));
}

// [PDS-T15] Any packet may be the last one that a received Close waits for, if it is a new one.
TEST_F(DemuxPartTest, AnAdmittedPacketMayEndTheWaitOfAClose) {
  Pdc& pdc = target();
  pdc.life.change(PdcEvent::close_held);
  EXPECT_EQ(outcome(octets_of(request(pdc))), admitted(pdc, 12, {"finish_received_close"}));
  answers().to_demux.is_taken = false;
  EXPECT_EQ(outcome(octets_of(request(pdc))), admitted(pdc, 12));
}

// [PDS-T5, PDS-T6] Until its start is agreed on, the door judges each packet.
TEST_F(DemuxPartTest, APendingPdcIsLeftByTheDoor) {
  Pdc& pdc = *table_.allocate(false, random_);
  pdc.life.change(PdcEvent::start_needed);
  pdc.peer = peer_;
  pdc.peer_id = kPeerId;
  answers().to_demux.may_leave_pending = false;
  EXPECT_EQ(outcome(octets_of(request(pdc))), Calls{"leave_pending"});
}

// [PDS-252] Data that waited for octets of an unproven source is looked at again.
TEST_F(DemuxPartTest, WhatComesFromAnUnprovenSourceLetsDataGo) {
  Pdc& pdc = target(Mode::rud, false);
  outcome(octets_of(request(pdc), 88));
  EXPECT_EQ(calls_of("earn"), Calls{"earn by 100"});
  EXPECT_TRUE(was_called("want_send"));
}

// [PDS-042, PDS-I14, PDS-I19] What an ACK changes beside its packets.
TEST_F(DemuxPartTest, AnAckIsReadInItsForm) {
  Pdc& pdc = initiator();
  EXPECT_EQ(outcome(octets_of(ack(pdc), 12)), Calls{"process_ack 1000, 12 octets of SES"});
  EXPECT_EQ(table_.find_peer(peer_, kPeerId), nullptr);
  wire::AckCc cc;
  cc.ack = ack(pdc);
  cc.ack.type = PdsType::ack_cc;
  answers().to_demux.is_established = true;
  EXPECT_EQ(outcome(octets_of(cc)), Calls{"process_ack 1000, with a SACK"});
  EXPECT_EQ(table_.find_peer(peer_, kPeerId), &pdc) << "its SYN is known to be wrong from now on";
  wire::AckCcx ccx;
  ccx.ack = ack(pdc);
  ccx.ack.type = PdsType::ack_ccx;
  answers() = {};
  answers().to_demux.is_closed = true;
  EXPECT_EQ(outcome(octets_of(ccx)),
            (Calls{"process_ack 1000, with a SACK", "on_close_answered 1000"}));
}

// [PDS-134] The NACK says that the answer was lost: it is given again, or refused.
TEST_F(DemuxPartTest, ANackMayAskForALostAnswer) {
  Pdc& pdc = target();
  const std::string read = "process_nack TRIMMED_ACK psn 1000";
  EXPECT_EQ(outcome(octets_of(nack(pdc, NackCode::trimmed_ack))), Calls{read});
  answers().to_demux.lost_answer = AckTrigger{kFirst, {}, false, false, {}};
  EXPECT_EQ(outcome(octets_of(nack(pdc, NackCode::trimmed_ack))),
            (Calls{read, "answer_again 1000"}));
  answers().to_demux.refusal = NackCode::gtd_resp_unavail;
  EXPECT_EQ(outcome(octets_of(nack(pdc, NackCode::trimmed_ack))),
            (Calls{read, "answer_again 1000", "nack GTD_RESP_UNAVAIL psn 1000 payload 5"}));
  wire::NackCcx ccx;
  ccx.nack = nack(pdc);
  ccx.nack.type = PdsType::nack_ccx;
  answers() = {};
  EXPECT_EQ(outcome(octets_of(ccx)), Calls{"process_nack NO_RESOURCE psn 1000"});
}

}  // namespace
}  // namespace uet::pds::part
