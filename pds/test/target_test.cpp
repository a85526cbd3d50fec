// The target's half, packet by packet: packets that a peer can send, and their answers. Rows of PDS
// 5.2, 7.1, 7.2 and 8.2.
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

class TargetTest : public ::testing::Test {
 protected:
  Config config_;
};

// [PDS-A2, PDS-045, PDS-047, PDS-T1] The first SYN that arrives need not be the first that was
// sent.
TEST_F(TargetTest, OpensOnAnySynOfTheWindowAndAcksAtOnce) {
  Bench b;
  wire::Request h = b.request(1003);
  h.ar = false;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 999 ack 1003 sack 1003"}));
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  EXPECT_EQ(b.count(Count::ack_syn), 1u);
}

// [PDS-A2, PDS-042, PDS-118] A SYN that is sent again shows that the ACK was lost. Its refusal does
// not establish the PDC, and what arrived is not sent again before that.
TEST_F(TargetTest, ResentSynThatIsRefusedLearnsWhatHasArrived) {
  Bench b;
  b.client.verdict = [](PacketName name, const RxRequest&) {
    const bool is_taken = name.first == 1003;
    return is_taken ? Verdict::accepted() : Verdict::refused(NackCode::no_ses_msg_avail);
  };
  wire::Request h = b.request(1000);
  h.retx = true;
  b.rx(h);
  EXPECT_EQ(b.tx().size(), 1u) << "nothing has arrived: only a NACK";
  b.rx(b.request(1003));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), "ACK cack 999 ack 1003 sack 1003");
  b.own = out[0].as<wire::Ack>().spdcid;
  const std::string refusal = "NACK NO_SES_MSG_AVAIL psn 1000 from own to 7 payload 1004";
  h.retx = false;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{refusal}));
  h.retx = true;
  b.rx(h);
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{refusal, refusal, "ACK cack 999 ack 999 retx sack 1003"}));
  h = b.request(1000, false);
  h.retx = true;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{refusal})) << "it has heard an ACK";
}

// [PDS-060, PDS-111, PDS-T4, PDS-110, PDS-V6] No PDC and no SYN.
TEST_F(TargetTest, UnknownDpdcidIsRefused) {
  Bench b;
  wire::Request h = b.request(1000, false);
  h.dpdcid = Pdcid(4711);
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"NACK INV_DPDCID psn 1000 from own to 7 payload 0"}));  // own is 0
  b.rx_header(b.control(CtlType::noop, 1000));
  EXPECT_EQ(b.lines(), (Lines{"NACK INV_DPDCID psn 1000 from own to 7 payload 0"}));
  EXPECT_EQ(b.count(Count::drop_no_pdc), 2u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-V7, PDS-073] Another address, another PDCID.
TEST_F(TargetTest, StrangersAreNotLetIntoAPdc) {
  Bench b;
  b.open_target();
  b.from = address(10, 50000);
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.lines(), (Lines{"NACK PDC_HDR_MISMATCH psn 1001 from 0 to 7 payload 0"}));
  b.from = address(9, 50001);
  wire::Request h = b.request(1001, false);
  h.spdcid = Pdcid(8);
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"NACK PDC_HDR_MISMATCH psn 1001 from 0 to 8 payload 0"}));
  EXPECT_EQ(b.count(Count::drop_bad_peer), 1u);
  EXPECT_EQ(b.count(Count::drop_bad_pdcid), 1u);
  EXPECT_EQ(b.client.received.times.size(), 1u);
}

// [PDS-001, PDS-V9]
TEST_F(TargetTest, ModeOfThePdcIsKept) {
  Bench b;
  b.open_target();
  wire::Request h = b.request(1001, false);
  h.type = wire::PdsType::rod_request;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"NACK PDC_MODE_MISMATCH psn 1001 from own to 7 payload 1001"}));
  // The form with congestion control state is the same mode.
  h = b.request(1001, false);
  h.type = wire::PdsType::rud_cc_request;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
}

// [PDS-T8, PDS-111, PDS-046, PDS-074, PDS-075, PDS-V11, PDS-035] The table of PSN classes.
TEST_F(TargetTest, PsnClasses) {
  Bench b;
  b.open_target();
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1002 sack 1002"}));

  wire::Request h = b.request(1002, false);  // in the window, received
  h.retx = true;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1002 retx sack 1002"}));
  h = b.request(1000, false);  // below
  h.retx = true;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1000 retx sack 1002"}));
  b.rx(b.request(1001 + 1023, false));  // last one that is tracked
  EXPECT_EQ(b.client.received.times.size(), 3u);
  b.lines();
  b.rx(b.request(1001 + 1024, false));  // one too far
  EXPECT_EQ(b.lines(), (Lines{"NACK PSN_OOR_WINDOW psn 2025 from own to 7 payload 2025"}));
  b.rx(b.request(1001u - 32769u, false));
  EXPECT_EQ(b.lines(), (Lines{"NACK PSN_OOR_WINDOW psn 4294935528 from own to 7 payload 2025"}));
  b.rx(b.request(1001u - 32768u, false));  // the last that ACK_PSN can express
  EXPECT_EQ(b.count(Count::dup_below), 3u) << "with the one that proves the peer";
  EXPECT_EQ(b.count(Count::psn_beyond), 1u);
  EXPECT_EQ(b.count(Count::psn_too_old), 1u);
}

// [PDS-075, PDS-A4] Without RETX and AR a duplicate is a copy made by the network.
TEST_F(TargetTest, SilentCopies) {
  Bench b;
  b.proves = false;
  b.open_target();
  wire::Request h = b.request(1000, false);
  h.ar = false;
  b.rx(h);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::dup_no_retx), 1u);
  h.retx = true;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1000 retx"}));
}

// [PDS-083] No timer sends an ACK: the source must ask for it.
TEST_F(TargetTest, NoAckIsDelayed) {
  Bench b;
  b.open_target();
  wire::Request h = b.request(1001, false);
  h.ar = false;
  b.rx(h);
  b.elapse(9_s);
  EXPECT_EQ(b.lines(), Lines{});
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1002"}));
}

// [PDS-046, PDS-191]
TEST_F(TargetTest, ASynWithAnotherStartIsRefusedOnAnExistingPdc) {
  Bench b;
  b.open_target();
  b.rx(b.request(1001));  // same start: an ordinary request
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
  b.rx(b.request(1000 + 1024 + 2));  // above the window
  EXPECT_EQ(b.lines(), (Lines{"NACK INVALID_SYN psn 2026 from own to 7 payload 1002"}));
  // A restarted peer with another start. The old PDC is probed for a user.
  wire::Request h = b.request(5000);
  h.psn_offset = 0;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"NACK INVALID_SYN psn 5000 from 0 to 7 payload 0",
                              "CP CLOSE_REQ psn 1000 ar payload 0"}));
  // It has no user.
  wire::Nack gone = b.nack(NackCode::inv_dpdcid, Psn(1000));
  gone.dpdcid = b.own;
  b.rx_header(gone);
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
  EXPECT_EQ(b.client.closed, std::vector<bool>{false});
}

// [PDS-160, PDS-040, PDS 13] A NOOP with SYN opens a PDC and is just a PSN.
TEST_F(TargetTest, NoopOpens) {
  Bench b;
  wire::Control cp = b.control(CtlType::noop, 1000);
  cp.syn = true;
  b.rx_header(cp);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1000"}));
  b.rx(b.request(1001));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
  EXPECT_EQ(b.count(Count::noop_rx), 1u);
}

// [PDS-064, PDS-A1] One ACK for all AR packets of a batch that the cumulative ACK covers, one
// more for each that it does not.
TEST_F(TargetTest, OneAckPerBatchUnlessAGapHidesTheRest) {
  Bench b;
  b.open_target();
  for (uint32_t p = 1001; p <= 1010; ++p) b.rx(b.request(p, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1010 ack 1010"}));
  b.rx(b.request(1012, false));
  b.rx(b.request(1013, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1010 ack 1012 sack 1012 1013",
                              "ACK cack 1010 ack 1013 sack 1012 1013"}));
  // The hole closes: the AR packets above it are covered now. [PDS-A9]
  wire::Request h = b.request(1011, false);
  h.ar = false;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1013 ack 1011"}));
  EXPECT_EQ(b.count(Count::ack_hole_closed), 1u);
}

// [PDS-082, PDS-A7] 16 KiB, a packet counting for at least 1 KiB.
TEST_F(TargetTest, AcksAfterEnoughOctets) {
  Bench b;
  b.open_target();
  for (uint32_t p = 1001; p <= 1016; ++p) {
    EXPECT_EQ(b.lines(), Lines{}) << p;
    wire::Request h = b.request(p, false);
    h.ar = false;
    b.rx(h, 100);
  }
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1016 ack 1016"}));
  EXPECT_EQ(b.count(Count::ack_bytes), 1u);
}

// [PDS 8.1 M, PDS-A6, PDS-070, CMS-026] CE is echoed at once, with the entropy value.
TEST_F(TargetTest, CeIsEchoed) {
  Bench b;
  b.open_target();
  b.marks.ecn = Ecn::ce;
  b.marks.ev = Entropy(91);
  wire::Request h = b.request(1001, false);
  h.ar = false;
  b.rx(h);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), "ACK cack 1001 ack 1001 m");
  EXPECT_EQ(out[0].ev, Entropy(91));
  EXPECT_EQ(out[0].dscp, 46);
  EXPECT_EQ(b.count(Count::ack_ecn), 1u);
}

// [PDS-A8]
TEST_F(TargetTest, AckPerPacketWhenConfigured) {
  config_.ack_per_packet = true;
  Bench b(config_);
  b.open_target();
  wire::Request h = b.request(1001, false);
  h.ar = false;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
  EXPECT_EQ(b.count(Count::ack_per_packet), 1u);
}

// [PDS-A5, PDS-081, PDS-100, PDS-102, PDS-103, PDS-104] The cumulative ACK waits for the clear.
TEST_F(TargetTest, GuaranteedResponseHoldsTheCumulativeAck) {
  Bench b;
  b.open_target();
  b.client.verdict = [&](PacketName name, const RxRequest&) {
    return name.first == 1001 ? StubClient::plain_answer() : Verdict::accepted();
  };
  b.rx(b.request(1001, false));
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1001 req CLEAR sack 1001 1002 ses 12",
                              "ACK cack 1000 ack 1002 req CLEAR sack 1001 1002"}));
  // A duplicate gets the response again. [PDS-075]
  wire::Request h = b.request(1001, false);
  h.retx = true;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1001 retx req CLEAR sack 1001 1002 ses 12"}));
  b.rx_header(b.control(CtlType::clear_cmd, 0, 1001));
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.pds->usage().stored_responses, 0u);
  // Another clear rides on a request: CLEAR_PSN = psn + offset. [PDS-033, PDS-063]
  b.client.verdict = [&](PacketName name, const RxRequest&) {
    return name.first == 1003 ? StubClient::plain_answer() : Verdict::accepted();
  };
  b.rx(b.request(1003, false));
  b.lines();
  h = b.request(1004, false);
  h.clear_psn_offset = -1;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1004 ack 1004"}));
  EXPECT_EQ(b.count(Count::gd_cleared), 2u);
}

// [T-10] A peer cannot clear PSNs that it has not sent.
TEST_F(TargetTest, ClearBeyondTheReceivedPsnsIsIgnored) {
  Bench b;
  b.client.verdict = StubClient::answer_all;
  b.open_target();
  b.rx_header(b.control(CtlType::clear_cmd, 0, 1001));
  EXPECT_EQ(b.pds->usage().stored_responses, 1u);
  EXPECT_EQ(b.count(Count::drop_clear_range), 1u);
  b.rx_header(b.control(CtlType::clear_cmd, 0, 1000));
  EXPECT_EQ(b.pds->usage().stored_responses, 0u);
}

// [PDS-102, PDS-103] All up to CLEAR_PSN, and not one more.
TEST_F(TargetTest, ClearFreesUpToItsPsnOnly) {
  Bench b;
  b.client.verdict = StubClient::answer_all;
  b.open_target();
  b.rx(b.request(1001, false));
  b.rx(b.request(1002, false));
  b.lines();
  b.rx_header(b.control(CtlType::clear_cmd, 0, 1000));
  EXPECT_EQ(b.pds->usage().stored_responses, 2u);
  wire::Request h = b.request(1001, false);
  h.retx = true;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1001 retx req CLEAR sack 1001 1002 ses 12"}));
  b.rx_header(b.control(CtlType::clear_cmd, 0, 1002));
  EXPECT_EQ(b.pds->usage().stored_responses, 0u);
}

// [PDS-080, PDS-V12, PDS-101, PDS-106, PDS-109] The store is bounded; what finds no room is not
// executed.
TEST_F(TargetTest, FullStoreRefusesBeforeExecution) {
  config_.gd_per_pdc = 4;
  Bench b(config_);
  b.client.verdict = StubClient::answer_all;
  b.open_target();
  for (uint32_t p = 1001; p <= 1004; ++p) {
    b.rx(b.request(p, false));
  }
  EXPECT_EQ(b.lines(), (Lines{"NACK NO_GTD_DEL_AVAIL psn 1004 from own to 7 payload 1004",
                              "ACK cack 999 ack 1001 req CLEAR sack 1000 1001 1002 1003 ses 12",
                              "ACK cack 999 ack 1002 req CLEAR sack 1000 1001 1002 1003 ses 12",
                              "ACK cack 999 ack 1003 req CLEAR sack 1000 1001 1002 1003 ses 12",
                              "CP CLEAR_REQ psn 0 payload 1003"}));
  EXPECT_EQ(b.client.received.times.size(), 4u);
  EXPECT_EQ(b.count(Count::gd_full), 1u);
}

// [PDS-104, PDS-106] A Clear may be lost: a response that stays is asked for again, but not before
// the largest time-out has passed, and no more when it is cleared.
TEST_F(TargetTest, AResponseThatStaysIsAskedForAgain) {
  config_.rto_max = 200_ms;
  config_.idle_time = 10_s;
  Bench b(config_);
  b.client.verdict = StubClient::answer_all;
  b.open_target();
  b.rx(b.request(1001, false));
  b.lines();
  const Lines asked{"CP CLEAR_REQ psn 0 payload 1001"};
  b.elapse(199_ms);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(2_ms);
  EXPECT_EQ(b.lines(), asked);
  b.elapse(199_ms);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(2_ms);
  EXPECT_EQ(b.lines(), asked);
  b.rx_header(b.control(CtlType::clear_cmd, 0, 1001));
  b.elapse(1_s);
  EXPECT_EQ(b.lines(), Lines{});
}

// [PDS-075, PDS-076, PDS-168] An answer that comes later.
TEST_F(TargetTest, LateAnswer) {
  Bench b;
  b.open_target();
  b.client.verdict = [](PacketName, const RxRequest&) { return Verdict::deferred(); };
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.lines(), Lines{});
  wire::Request h = b.request(1001, false);
  h.retx = true;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"NACK RCVD_SES_PROCG psn 1001 from own to 7 payload 1002"}));
  b.rx_header(b.control(CtlType::ack_req, 1001));
  EXPECT_EQ(b.lines(), (Lines{"NACK RCVD_SES_PROCG psn 1001 from own to 7 payload 1002"}));
  const RxToken token = b.client.received.tokens.at({1001, 0});
  EXPECT_TRUE(b.pds->respond(token, StubClient::plain_answer(), b.now));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1001 req CLEAR sack 1001 ses 12"}));
  EXPECT_FALSE(b.pds->respond(token, StubClient::plain_answer(), b.now)) << "only once";
}

// [PDS 13] ACK Request, cases a to e.
TEST_F(TargetTest, AckRequest) {
  Bench b;
  b.open_target();
  b.client.verdict = StubClient::answer_all;
  b.rx(b.request(1001, false));
  b.lines();
  b.rx_header(b.control(CtlType::ack_req, 1001));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1001 req CLEAR sack 1001 ses 12"}));
  b.rx_header(b.control(CtlType::ack_req, 1002));
  EXPECT_EQ(b.lines(), (Lines{"NACK PKT_NOT_RCVD psn 1002 from own to 7 payload 1002"}));
  b.rx_header(b.control(CtlType::ack_req, 1000));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1000 req CLEAR sack 1001"}));
  b.rx_header(b.control(CtlType::ack_req, 90000));
  EXPECT_EQ(b.lines(), (Lines{"NACK PSN_OOR_WINDOW psn 90000 from own to 7 payload 1002"}));
  EXPECT_EQ(b.count(Count::ack_request_rx), 4u);
}

// [PDS-V10, PDS-161, PDS-163, PDS-071]
TEST_F(TargetTest, ControlPacketsOfTheWrongDirectionAreRefused) {
  Bench b;
  b.open_target();
  b.rx_header(b.control(CtlType::close_req, 1001));
  EXPECT_EQ(b.lines(), (Lines{"NACK UNEXP_EVENT psn 1001 from own to 7 payload 1001"}));
  b.rx_header(b.control(CtlType::clear_req, 0));
  EXPECT_EQ(b.lines(), (Lines{"NACK UNEXP_EVENT psn 0 from own to 7 payload 1001"}));
  EXPECT_EQ(b.count(Count::drop_cp_direction), 2u);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
}

// [WIRE-121, decision 3] A source that marks its SYN gets answers at its own port.
TEST_F(TargetTest, AnswersGoWhereTheMarkSays) {
  Bench b;
  b.client.script.names_are_unique = false;
  b.from = address(9, 16389);
  b.rx(b.request(1000));
  EXPECT_EQ(b.tx().at(0).to, address(9, 4793));
  wire::Request h = b.request(1000);
  h.private_mark = true;
  b.rx(h);
  auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].to, address(9, 16384));
  EXPECT_EQ(b.pds->open_pdcs(), 2u) << "two processes of one address are two peers";
  b.own = out[0].as<wire::Ack>().spdcid;
  b.from = address(9, 16399);  // another of its sixteen ports
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.tx().at(0).to, address(9, 16384));
  b.from = address(9, 16400);  // the next process's block
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.lines(), (Lines{"NACK PDC_HDR_MISMATCH psn 1002 from 0 to 7 payload 0"}));
}

// [WIRE-121, decision 3] A packet with no place for the mark: the ports that blocks are taken
// of first are the sender's own, and so is any block that a peer is known at.
TEST_F(TargetTest, AnswersWithoutAPlaceForTheMarkGoToKnownBlocks) {
  Bench b;
  b.client.script.names_are_unique = false;
  b.own = Pdcid(77);  // of no PDC
  const auto answered_at = [&b](uint16_t port) {
    b.from = address(9, port);
    b.rx(b.request(1001, false));
    return b.tx().at(0).to;
  };
  EXPECT_EQ(answered_at(20479), address(9, 20464));
  EXPECT_EQ(answered_at(20480), address(9, 4793)) << "may be a stranger's entropy";
  EXPECT_EQ(answered_at(30005), address(9, 4793));
  b.from = address(9, 30001);
  wire::Request h = b.request(1000);
  h.private_mark = true;
  b.rx(h);
  EXPECT_EQ(b.tx().at(0).to, address(9, 30000)) << "the mark counts for every port";
  EXPECT_EQ(answered_at(30005), address(9, 30000));
  EXPECT_EQ(answered_at(30016), address(9, 4793)) << "the next block";
}

// [PDS-V1, PDS-V4, WIRE-116] Each way to be malformed is counted and answered with silence.
TEST_F(TargetTest, MalformedPacketsAreCountedAndNotAnswered) {
  Bench b;
  b.rx_octets({});
  b.rx_octets({std::byte{0x10}});
  EXPECT_EQ(b.count(Count::drop_too_short), 2u);
  b.rx_octets(std::vector<std::byte>(64, std::byte{0}));     // type 0
  b.rx_octets(std::vector<std::byte>(64, std::byte{0xFF}));  // type 31
  EXPECT_EQ(b.count(Count::drop_type_reserved), 2u);
  b.rx_octets(std::vector<std::byte>(64, std::byte{0x08}));  // TSS
  EXPECT_EQ(b.count(Count::drop_type_unsupported), 1u);
  wire::Request h = b.request(1000);
  h.spdcid = Pdcid(0);
  b.rx(h);
  EXPECT_EQ(b.count(Count::drop_malformed), 1u);
  std::vector<std::byte> octets(12);
  wire::Writer w(octets);
  b.request(1000).emit(w);
  for (size_t n = 2; n < 12; ++n) b.rx_octets({octets.begin(), octets.begin() + long(n)});
  EXPECT_EQ(b.count(Count::drop_malformed), 11u);
  octets[1] = octets[1] | std::byte{0x80};  // next_hdr 7
  octets[0] = octets[0] | std::byte{0x07};
  b.rx_octets(octets);
  EXPECT_EQ(b.count(Count::drop_malformed), 12u);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-012] Requests travel forward, responses back.
TEST_F(TargetTest, ResponseHeadersDoNotTravelForward) {
  Bench b;
  b.open_target();
  std::vector<std::byte> octets(20);
  wire::Request h = b.request(1001, false);
  h.next_hdr = wire::NextHeader::response_data;
  wire::Writer w(octets);
  h.emit(w);
  b.rx_octets(octets);
  EXPECT_EQ(b.lines(), (Lines{"NACK PDC_HDR_MISMATCH psn 1001 from own to 7 payload 1001"}));
  EXPECT_EQ(b.count(Count::drop_direction), 1u);
}

}  // namespace
}  // namespace uet::pds::test
