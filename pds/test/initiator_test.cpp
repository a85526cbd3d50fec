// The initiator's half, packet by packet: what it sends, and what it does with each ACK and NACK.
// Rows of PDS 5.1, 6, 8.5, 10.2, 12.
#include "pds/test/bench.h"

#include "pds/pdc/path_reports.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

class InitiatorTest : public ::testing::Test {
 protected:
  // An ACK_CC with the given PSNs (offsets from the start) as arrived.
  static wire::AckCc sack(const Bench& b, int cack, int named, std::initializer_list<int> arrived,
                          uint8_t mpr = 8) {
    wire::AckCc h;
    h.ack = b.ack(b.start + cack, named - cack);
    h.ack.type = wire::PdsType::ack_cc;
    h.mpr = mpr;
    h.sack_psn_offset = 1;
    for (const int a : arrived) h.sack_bitmap |= uint64_t{1} << (a - cack - 1);
    return h;
  }
  Config config_;
};

// [PDS-033, PDS-041, PDS-042, PDS-043, PDS-063, PDS-064, PDS-065, PDS-I2, PDS-I3, PDS-I7]
TEST_F(InitiatorTest, SynUntilTheFirstAck) {
  Bench b;
  const auto out = b.open_initiator(3);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(b.picture(out[0]), "REQ psn +0 syn clear -1");
  EXPECT_EQ(b.picture(out[1]), "REQ psn +1 syn clear -2");
  EXPECT_EQ(b.picture(out[2]), "REQ psn +2 syn ar clear -3");
  EXPECT_EQ(out[2].as<wire::Request>().psn_offset, 2);

  b.rx_header(b.nack(NackCode::no_pdc_avail, b.start));  // never establishes
  b.elapse(3_ms);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +0 syn retx ar clear -1"}));

  b.rx_header(b.ack(b.start));
  EXPECT_EQ(b.client.responded, (std::map<PacketName, int>{{{1, 0}, 1}}));
  b.elapse(3_ms);
  const auto again = b.tx();  // the resend is rebuilt for the established PDC
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(b.picture(again[0]), "REQ psn +1 retx ar clear -1");
  EXPECT_EQ(again[0].as<wire::Request>().dpdcid, kPeerId);
}

// [PDS-I20, PDS-090, PDS-073, PDS-V7] What an ACK must be to be believed.
TEST_F(InitiatorTest, AcksThatCannotBeOursAreDropped) {
  Bench b;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start + 2));  // CACK after the last one sent
  b.rx_header(b.ack(b.start, 2));   // ACK_PSN never sent
  b.rx_header(b.ack(b.start - 2));  // below the start
  EXPECT_EQ(b.count(Count::drop_ack_range), 3u);
  wire::Ack stranger = b.ack(b.start);
  stranger.dpdcid = Pdcid(static_cast<uint16_t>(b.own.value() + 1));
  b.rx_header(stranger);
  EXPECT_EQ(b.count(Count::drop_no_pdc), 1u);
  b.from = address(8);
  b.rx_header(b.ack(b.start));
  EXPECT_EQ(b.count(Count::drop_bad_peer), 1u);
  b.from = address(9);
  EXPECT_TRUE(b.client.responded.empty());
  b.rx_header(b.ack(b.start));
  wire::Ack other = b.ack(b.start + 1);
  other.spdcid = Pdcid(8);
  b.rx_header(other);
  EXPECT_EQ(b.count(Count::drop_bad_pdcid), 1u);
  EXPECT_EQ(b.client.responded.size(), 1u);
  EXPECT_EQ(b.lines(), Lines{}) << "an ACK is never answered [PDS-072]";
}

// [PDS-092, PDS-093] SACK completes only packets for which the client needs no answer.
TEST_F(InitiatorTest, SackedPacketsWaitForTheirAnswer) {
  Bench b;
  b.client.script.sack_completes = false;
  b.open_initiator(4);
  b.rx_header(sack(b, -1, 3, {1, 2, 3}));
  EXPECT_EQ(b.client.responded, (std::map<PacketName, int>{{{1, 3072}, 1}}));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +0 retx ar clear -1"})) << "overtaken on its EV";
  b.rx_header(sack(b, -1, 0, {1, 2, 3}));
  // Two arrived without an answer: they are asked for, not sent again. [PDS-L6]
  b.elapse(6_ms);
  const uint32_t first = b.start.value();
  EXPECT_EQ(b.lines(), (Lines{"CP ACK_REQ psn " + std::to_string(first + 1) + " ar payload 0",
                              "CP ACK_REQ psn " + std::to_string(first + 2) + " ar payload 0"}));
  b.rx_header(b.ack(b.start + 3));
  EXPECT_EQ(b.client.responded.size(), 4u);
}

// [PDS-I8, PDS-093]
TEST_F(InitiatorTest, SackCompletesPacketsThatNeedNoAnswer) {
  Bench b;
  b.open_initiator(4);
  b.rx_header(sack(b, 0, 2, {2}));
  EXPECT_EQ(b.client.responded.size(), 2u);
  EXPECT_EQ(b.count(Count::sack_rx), 0u) << "ACK_PSN said it already";
  b.rx_header(sack(b, 0, 0, {1, 2}));
  EXPECT_EQ(b.client.responded.size(), 3u);
  EXPECT_EQ(b.count(Count::sack_rx), 1u);
}

// [PDS-091] An ACK that names an old packet is valid in its other fields.
TEST_F(InitiatorTest, AckOfAnOldPacketIsRead) {
  Bench b;
  b.open_initiator(5);
  b.rx_header(b.ack(b.start));
  b.rx_header(sack(b, 1, 0, {3}));
  EXPECT_EQ(b.client.responded,
            (std::map<PacketName, int>{{{1, 0}, 1}, {{1, 1024}, 1}, {{1, 3072}, 1}}));
}

// [PDS-108] Return data is answered by the default response, whatever the client would say.
TEST_F(InitiatorTest, ReturnDataHasNoStoredResponse) {
  Bench b;
  b.open_initiator(1);
  b.rx_header(b.ack(b.start));
  b.client.verdict = StubClient::answer_all;
  wire::Request h = b.request(b.start.value(), false);
  h.next_hdr = wire::NextHeader::response_data;
  b.rx(h);
  const std::string psn = std::to_string(b.start.value());
  EXPECT_EQ(b.lines(), (Lines{"ACK cack " + psn + " ack " + psn}));
  EXPECT_EQ(b.pds->usage().stored_responses, 0u);
}

// [PDS-242, PDS-035, PDS-037] The source stays within the peer's range and its own window.
TEST_F(InitiatorTest, TheSourceStaysWithinBothWindows) {
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.initial_window_packets = 4000;
  cms.window_bytes_max = 4000 * 4300;
  config_.tx_window_packets = 256;
  Bench b(config_, cms);
  EXPECT_EQ(b.open_initiator(1000).size(), 256u);
  EXPECT_EQ(b.count(Count::window_stalls), 1u);
  b.rx_header(sack(b, 9, 9, {}, 1));
  EXPECT_TRUE(b.lines().empty()) << "128 PSNs above CACK are all in use";
  b.rx_header(sack(b, 199, 199, {}, 1));
  EXPECT_EQ(b.lines().size(), 199u + 128 + 1 - 256);
  // An ACK that was overtaken changes nothing. [PDS-095]
  b.rx_header(sack(b, 150, 150, {}, 255));
  EXPECT_TRUE(b.lines().empty());
}

// [PDS-I5, PDS-L1, PDS 10.2, PDS-116, PDS-118] The codes that only cost time.
TEST_F(InitiatorTest, RetryableNacks) {
  const std::pair<NackCode, Count> later[] = {
      {NackCode::no_pdc_avail, Count::nack_rx_no_pdc_avail},
      {NackCode::no_ccc_avail, Count::nack_rx_no_ccc_avail},
      {NackCode::no_bitmap, Count::nack_rx_no_bitmap},
      {NackCode::no_pkt_buffer, Count::nack_rx_no_pkt_buffer},
      {NackCode::no_ses_msg_avail, Count::nack_rx_no_ses_msg_avail},
      {NackCode::no_resource, Count::nack_rx_no_resource},
      {NackCode::psn_oor_window, Count::nack_rx_psn_oor_window},
      {NackCode::no_gtd_del_avail, Count::nack_rx_no_gtd_del_avail},
      {NackCode::exp_nack_normal, Count::nack_rx_other},
  };
  for (const auto& [code, count] : later) {
    SCOPED_TRACE(wire::name(code));
    Bench b;
    b.open_initiator(1);
    b.rx_header(b.nack(code, b.start));
    EXPECT_EQ(b.lines(), Lines{});
    b.elapse(1_ms);
    EXPECT_EQ(b.lines(), Lines{});
    b.elapse(1_ms + 2_us);
    EXPECT_EQ(b.lines(), (Lines{"REQ psn +0 syn retx ar clear -1"}));
    EXPECT_EQ(b.count(count), 1u);
    EXPECT_EQ(b.count(Count::retx_delayed), 1u);
    b.rx_header(b.ack(b.start));
    EXPECT_EQ(b.client.responded.size(), 1u);
  }
  for (const NackCode code :
       {NackCode::trimmed, NackCode::trimmed_lasthop, NackCode::rcvr_infer_loss}) {
    SCOPED_TRACE(wire::name(code));
    Bench b;
    b.open_initiator(1);
    b.rx_header(b.nack(code, b.start));
    EXPECT_EQ(b.lines(), (Lines{"REQ psn +0 syn retx ar clear -1"}));
    EXPECT_EQ(b.count(Count::retx_nack), 1u);
  }
}

// [PDS 10.2 0x0B, PDS-035] What a peer tracks that refuses a PSN as too far is 128 packets until it
// says otherwise.
TEST_F(InitiatorTest, RefusedPsnNarrowsTheRange) {
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.initial_window_packets = 4000;
  cms.window_bytes_max = 4000 * 4300;
  config_.tx_window_packets = 256;
  Bench b(config_, cms);
  ASSERT_EQ(b.open_initiator(1000).size(), 256u);
  b.rx_header(b.ack(b.start + 9));
  EXPECT_EQ(b.lines().size(), 10u);
  b.rx_header(b.nack(NackCode::psn_oor_window, b.start + 265));
  b.rx_header(b.ack(b.start + 49));
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(sack(b, 50, 50, {}, 8));
  EXPECT_EQ(b.lines().size(), 41u);
}

// [PDS 10.2 0x08, PDS-104] A peer without room for a response is sent a Clear at once.
TEST_F(InitiatorTest, FullStoreIsClearedAtOnce) {
  Bench b;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  b.rx_header(b.nack(NackCode::no_gtd_del_avail, b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"CP CLEAR_CMD psn 0 payload " + std::to_string(b.start.value())}));
}

// [PDS 10.2, PDS-119, PDS-I6, PDS-I18] Codes that end the PDC, and messages that the client may
// retry.
TEST_F(InitiatorTest, FatalNacks) {
  const std::pair<NackCode, bool> fatal[] = {
      {NackCode::pdc_hdr_mismatch, true},  {NackCode::closing_in_err, false},
      {NackCode::gtd_resp_unavail, false}, {NackCode::invalid_syn, true},
      {NackCode::pdc_mode_mismatch, true}, {NackCode::unexp_event, true},
      {NackCode::exp_nack_fatal, false},
  };
  for (const auto& [code, not_delivered] : fatal) {
    SCOPED_TRACE(wire::name(code));
    Bench b;
    b.open_initiator(2);
    b.rx_header(b.nack(code, b.start + 1));
    EXPECT_EQ(b.client.failed.size(), 2u);
    ASSERT_EQ(b.client.failures.size(), 2u);
    EXPECT_EQ(b.client.failures[1].reason, FailureReason::nack);
    EXPECT_EQ(b.client.failures[1].nack, code);
    // The packet that was named comes first, if its fate is known.
    EXPECT_EQ(b.client.failures[0].not_delivered, not_delivered);
    EXPECT_FALSE(b.client.failures[1].not_delivered);
    EXPECT_EQ(b.lines(), Lines{}) << "in SYN no Close can be sent [PDS-I6]";
    EXPECT_EQ(b.pds->usage(), Usage{});
    EXPECT_EQ(b.client.closed, std::vector<bool>{false});
  }
}

// [PDS-I18, PDS-I19] An established PDC sends Close before it ends, if the peer may receive it.
TEST_F(InitiatorTest, FailedPdcSaysClose) {
  Bench b;
  b.open_initiator(3);
  b.rx_header(b.ack(b.start));
  b.rx_header(b.nack(NackCode::pdc_mode_mismatch, b.start + 1));
  EXPECT_EQ(b.client.failed.size(), 2u);
  EXPECT_EQ(b.lines(),
            (Lines{"CP CLOSE_CMD psn " + std::to_string((b.start + 3).value()) + " ar payload 0"}));
  for (int i = 0; i < 100; ++i) {  // the peer has no such PDC
    b.elapse(10_ms);
    b.lines();
  }
  EXPECT_EQ(b.pds->usage(), Usage{});
  EXPECT_EQ(b.count(Count::close_given_up), 1u);
  EXPECT_EQ(b.client.closed, std::vector<bool>{false});
}

// [PDS-115, PDS-071, PDS-V7] NACKs that change nothing.
TEST_F(InitiatorTest, NacksThatChangeNothing) {
  Bench b;
  b.open_initiator(2);
  b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 2));
  b.rx_header(b.nack(NackCode::inv_dpdcid, b.start - 1));
  EXPECT_EQ(b.count(Count::drop_nack_range), 2u);
  b.rx_header(b.nack(NackCode{0x20}, b.start));
  b.rx_header(b.nack(NackCode::new_start_psn, b.start, b.start.value()));  // as it already does
  EXPECT_EQ(b.count(Count::drop_nack_code), 2u);
  wire::Nack rudi = b.nack(NackCode::no_resource, Psn(0));
  rudi.nt = true;
  b.rx_header(rudi);
  EXPECT_EQ(b.count(Count::drop_rudi_unmatched), 1u);
  b.rx_header(sack(b, -1, 1, {1}));
  b.rx_header(b.nack(NackCode::trimmed, b.start + 1));  // answered meanwhile [PDS-116]
  EXPECT_EQ(b.count(Count::drop_nack_answered), 1u);
  EXPECT_TRUE(b.client.failed.empty());
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
}

// [PDS 10.2 0x18] "SES still works on it": ask later, do not send the data again.
TEST_F(InitiatorTest, BusyTargetIsAskedAgain) {
  Bench b;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  b.elapse(6_ms);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_GT(b.pds->usage().inflight_bytes, 0u);
  b.rx_header(b.nack(NackCode::rcvd_ses_procg, b.start + 1));
  EXPECT_EQ(b.pds->usage().inflight_bytes, 0u) << "it arrived";
  b.elapse(11_ms);
  EXPECT_EQ(b.lines(),
            (Lines{"CP ACK_REQ psn " + std::to_string((b.start + 1).value()) + " ar payload 0"}));
}

// [PDS 10.2 0xFE, PDS-182] One message fails; a NOOP fills its PSN.
TEST_F(InitiatorTest, ErrNackFailsThePacketOnly) {
  Bench b;
  b.open_initiator(2);
  b.rx_header(b.nack(NackCode::exp_nack_err, b.start));
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 0}, 1}}));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  const auto noop = out[0].as<wire::Control>();
  EXPECT_EQ(noop.ctl_type, CtlType::noop);
  EXPECT_EQ(noop.psn, b.start);
  EXPECT_TRUE(noop.syn);
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.client.responded, (std::map<PacketName, int>{{{1, 1024}, 1}}));
}

// [PDS-078, PDS-150] Go-back-N from the PSN in the payload, without packets that the peer keeps.
TEST_F(InitiatorTest, RodGoesBack) {
  Bench b;
  b.open_initiator(5, Mode::rod);
  b.rx_header(b.nack(NackCode::rod_ooo, b.start + 3, (b.start + 1).value()));
  EXPECT_EQ(b.lines(),
            (Lines{"REQ psn +1 syn retx ar clear -2", "REQ psn +2 syn retx ar clear -3",
                   "REQ psn +3 syn retx ar clear -4", "REQ psn +4 syn retx ar clear -5"}));
  // The PSN in the payload is not outstanding: resends from the oldest, without SACKed packets.
  b.rx_header(sack(b, 0, 0, {3}));
  b.rx_header(b.nack(NackCode::rod_ooo, b.start + 4, 12345));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1", "REQ psn +2 retx ar clear -2",
                              "REQ psn +4 retx ar clear -4"}));
  EXPECT_EQ(b.count(Count::retx_go_back_n), 7u);
}

// [PDS-148, PDS-140, PDS-220] The spec profile counts.
TEST_F(InitiatorTest, SpecProfileGivesUpAfterFiveTimeOuts) {
  Bench b(Config::spec());
  b.open_initiator(1);
  std::vector<int64_t> waits_ms;
  Instant sent = b.now;
  while (b.client.failed.empty() && b.now < kBenchStart + 1_s) {
    b.elapse(10_us);
    if (b.lines().empty()) continue;
    waits_ms.push_back((b.now - sent).ms());
    sent = b.now;
  }
  EXPECT_EQ(waits_ms, (std::vector<int64_t>{1, 2, 4, 8, 16}));
  EXPECT_EQ((b.now - sent).ms(), 32);
  ASSERT_EQ(b.client.failures.size(), 1u);
  EXPECT_EQ(b.client.failures[0].reason, FailureReason::timeout);
  EXPECT_EQ(b.count(Count::retx_rto), 5u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-117]
TEST_F(InitiatorTest, SpecProfileGivesUpAfterSixNacks) {
  Bench b(Config::spec());
  b.open_initiator(1);
  int nacks = 0;
  while (b.client.failed.empty() && nacks < 50) {
    b.rx_header(b.nack(NackCode::no_resource, b.start));
    ++nacks;
    b.elapse(100_ms);
    b.lines();
  }
  EXPECT_EQ(nacks, 6);
  EXPECT_EQ(b.client.failures.at(0).nack, NackCode::no_resource);
}

// [decision 4] The PDC fails when only ICMP errors came for two seconds.
TEST_F(InitiatorTest, UnreachablePeerFailsAfterTwoSeconds) {
  Bench b;
  b.open_initiator(1);
  FabricAddress peer = address(9);
  for (int i = 0; i < 19; ++i) {
    b.pds->path_reports().on_unreachable(peer, b.now);
    b.elapse(100_ms);
    b.tx();
  }
  EXPECT_TRUE(b.client.failed.empty());
  for (int i = 0; i < 5; ++i) {
    b.pds->path_reports().on_unreachable(peer, b.now);
    b.elapse(100_ms);
    b.tx();
  }
  ASSERT_EQ(b.client.failures.size(), 1u);
  EXPECT_EQ(b.client.failures[0].reason, FailureReason::unreachable);
  EXPECT_EQ(b.count(Count::pdc_closed_unreachable), 1u);
}

// A single error long ago does not count.
TEST_F(InitiatorTest, OldUnreachableReportsAreForgotten) {
  Bench b;
  b.open_initiator(1);
  b.pds->path_reports().on_unreachable(address(9), b.now);
  b.elapse(30_s);
  EXPECT_TRUE(b.client.failed.empty());
}

// [PDS-105] The clear that no request carries goes alone, after a while.
TEST_F(InitiatorTest, ClearGoesAloneWhenNothingElseDoes) {
  Bench b;
  b.open_initiator(2);
  wire::Ack a = b.ack(b.start - 1, 2);  // names the second one
  a.req = wire::AckRequest::clear;
  b.rx_header(a);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +0 retx ar clear -1"})) << "overtaken on its EV";
  b.elapse(3_ms);
  EXPECT_EQ(b.lines(), Lines{}) << "a request is unanswered: it will carry the clear";
  a = b.ack(b.start - 1, 1);  // and the first
  a.req = wire::AckRequest::clear;
  b.rx_header(a);
  b.elapse(3_ms);
  EXPECT_EQ(b.lines(),
            (Lines{"CP CLEAR_CMD psn 0 payload " + std::to_string((b.start + 1).value())}));
  b.rx_header(a);
  b.elapse(10_ms);
  EXPECT_EQ(b.lines(),
            (Lines{"CP CLEAR_CMD psn 0 payload " + std::to_string((b.start + 1).value())}))
      << "asked again: the first one was lost";
  b.rx_header(b.control(wire::CtlType::clear_req, 0));
  b.elapse(3_ms);
  EXPECT_EQ(b.lines(),
            (Lines{"CP CLEAR_CMD psn 0 payload " + std::to_string((b.start + 1).value())}))
      << "a Clear Request asks the same";
  EXPECT_EQ(b.count(Count::clear_req_rx), 1u);
}

// [PDS-146] A path that lost the packet is not tried again with it at once.
TEST_F(InitiatorTest, AResendTakesAnotherEntropyValue) {
  Bench b;
  const auto first = b.open_initiator(4);
  ASSERT_EQ(first.size(), 4u);
  b.rx_header(sack(b, -1, 3, {1, 2, 3}));
  const auto again = b.tx();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(b.picture(again[0]), "REQ psn +0 retx ar clear -1");
  EXPECT_NE(again[0].ev, first[0].ev);
}

// [PDS-254] The answer is to the first transmission, which was sent at least a time-out of 5 ms
// before the resend: the round trip took at least 9 ms. The next time-out is 4 x 9 ms, and twice
// that for a packet that timed out before: 68 ms from here.
TEST_F(InitiatorTest, AnAnswerToTheFirstTransmissionMakesTimeOutsLonger) {
  Bench b;
  b.open_initiator(2);
  b.elapse(5100_us);
  EXPECT_EQ(b.lines(),
            (Lines{"REQ psn +0 syn retx ar clear -1", "REQ psn +1 syn retx ar clear -2"}));
  b.elapse(4_ms);
  b.rx_header(b.ack(b.start));
  b.elapse(67_ms);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(2_ms);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
}

// [PDS-141] No sample is an ACK that says it answers a resend, whatever we remember.
TEST_F(InitiatorTest, AnAckOfAResendGivesNoRttSample) {
  Bench b;
  b.open_initiator(2);
  b.elapse(4_ms);
  wire::Ack a = b.ack(b.start);
  a.retx = true;
  b.rx_header(a);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(1200_us);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
}

// [PDS-116] What a SACK showed was not lost, so a NACK for its loss is old news; only the peer
// saying that it has not got it brings it back.
TEST_F(InitiatorTest, ANackForLossOfASackedPacketIsIgnored) {
  Bench b;
  b.client.script.sack_completes = false;
  b.open_initiator(4);
  b.rx_header(sack(b, -1, 3, {1, 2, 3}));
  b.lines();
  b.rx_header(b.nack(NackCode::trimmed, b.start + 1));
  b.rx_header(b.nack(NackCode::rcvr_infer_loss, b.start + 2));
  EXPECT_EQ(b.count(Count::drop_nack_answered), 2u);
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.nack(NackCode::pkt_not_rcvd, b.start + 1));
  EXPECT_EQ(b.count(Count::drop_nack_answered), 2u);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -2"}));
}

}  // namespace
}  // namespace uet::pds::test
