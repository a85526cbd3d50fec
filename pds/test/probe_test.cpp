// Probes at both ends, and an unanswered tail. [PDS 12 L5, PDS 13]
#include "pds/test/probe_bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

// --- destination ---

// [PDS-145, PDS-A10, PDS 8.1 P, PDS 8.3, PDS 13, CMS-033] The bitmap starts where the Probe wants
// it.
TEST_F(ProbeTest, IsAnsweredWithTheBitmapItAsksFor) {
  Bench b;
  b.open_target();
  for (const uint32_t psn : {1002u, 1003u, 1005u, 1070u}) {
    wire::Request h = b.request(psn, false);
    h.ar = false;
    b.rx(h);
  }
  EXPECT_EQ(b.lines(), Lines{});
  b.marks.ev = Entropy(77);
  b.marks.ecn = Ecn::ce;
  wire::Control h = b.control(CtlType::probe, 1005, 1003);
  h.probe_opaque = 0xBEEF;
  b.rx_header(h);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].ev, Entropy(77));
  const auto a = out[0].as<wire::AckCc>();
  wire::AckCc expected;
  expected.ack.m = true;
  expected.ack.p = true;
  expected.ack.probe_opaque = 0xBEEF;
  expected.ack.cack_psn = Psn(1000);
  expected.ack.spdcid = b.own;
  expected.ack.dpdcid = kPeerId;
  expected.mpr = 8;
  expected.sack_psn_offset = 3;
  expected.sack_bitmap = 0b101;  // 1003, 1005; 1070 is the 67th
  EXPECT_EQ(a, expected);
  EXPECT_EQ(b.count(Count::probe_rx), 1u);
  EXPECT_EQ(b.count(Count::ack_probe), 1u);
}

// [PDS 8.1] REQ is 0 in it whatever is wanted, and a base that no offset can express is replaced by
// the one above the cumulative ACK.
TEST_F(ProbeTest, AnswerHasNoRequestAndAnyBaseIsBelieved) {
  Bench b;
  b.client.verdict = StubClient::answer_all;
  b.open_target();
  b.rx_header(b.control(CtlType::probe, 1000, 1000u + 40000u));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  const auto a = out[0].as<wire::AckCc>();
  EXPECT_EQ(a.ack.req, wire::AckRequest::none);
  EXPECT_EQ(a.sack_psn_offset, 1);
  EXPECT_EQ(a.sack_bitmap, 1u) << "1000 arrived, but its response is not cleared";
}

// [T-40] A flood of Probes is answered no faster than NACKs would go.
TEST_F(ProbeTest, FloodIsLimited) {
  config_.nacks_per_second_per_peer = 80;
  Bench b(config_);
  b.open_target();
  for (int i = 0; i < 100; ++i) b.rx_header(b.control(CtlType::probe, 1000, 1000));
  EXPECT_EQ(b.lines().size(), 8u);
  EXPECT_EQ(b.count(Count::drop_probe_limited), 92u);
  EXPECT_EQ(b.client.received.times.size(), 1u);
}

// --- source ---

// [PDS-L5, PDS-145] The tail is lost: one Probe after Tail_Loss_Time, and packets that its answer
// shows as missing go again at once.
TEST_F(ProbeTest, FindsTheLostTail) {
  Bench b(config_);
  b.client.script.sack_completes = false;
  b.open_initiator(5);
  b.rx_header(b.ack(b.start));
  b.elapse(4_ms);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(1_ms + 1_us);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), probe_of(b, 4, 1));
  b.elapse(1_ms);
  b.rx_header(answer(b, out[0], 1, 0b0010));  // 1 by CACK; 2 is in the bitmap; 3 and 4 are not
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +3 retx ar clear -2", "REQ psn +4 retx ar clear -3"}));
  EXPECT_EQ(b.count(Count::retx_tail), 2u);
  EXPECT_EQ(b.count(Count::retx_rto), 0u);
  EXPECT_EQ(b.count(Count::probe_tx), 1u);
  EXPECT_EQ(b.count(Count::probe_answer_rx), 1u);
  EXPECT_EQ(b.client.responded.size(), 2u);
}

// [PDS-145] A packet resent after the Probe may still arrive: the answer is no evidence about it.
TEST_F(ProbeTest, PacketsResentAfterTheProbeAreNotLost) {
  cms::Config wide;
  wide.algorithm = cms::Algorithm::fixed;
  Bench b(config_, wide);
  b.open_initiator(5);
  b.rx_header(b.ack(b.start));
  b.elapse(5_ms + 1_us);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), probe_of(b, 4, 1));
  b.elapse(1_ms);
  b.rx_header(b.nack(NackCode::trimmed, b.start + 3));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +3 retx ar clear -3"}));
  b.elapse(1_ms);
  b.rx_header(answer(b, out[0], 2, 0));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +4 retx ar clear -2"}));
  EXPECT_EQ(b.count(Count::retx_tail), 1u);
}

// [PDS-145, CMS-106] The Probe of a new context measures the round trip beside the queues, and
// overtakes the data in them: what its answer does not show is under way.
TEST_F(ProbeTest, TheProbeForTheBaseRttShowsNoLosses) {
  cms::Config nscc;
  nscc.algorithm = cms::Algorithm::nscc;
  Bench b(config_, nscc);
  b.open_initiator(500);
  b.elapse(20_us);
  b.rx_header(b.ack(b.start));
  std::vector<Bench::Out> probes;
  for (const Bench::Out& out : b.tx()) {
    if (b.picture(out).starts_with("CP PROBE")) probes.push_back(out);
  }
  ASSERT_EQ(probes.size(), 1u);
  b.elapse(10_us);
  b.rx_header(answer(b, probes[0], 0, 0));
  b.tx();
  EXPECT_EQ(b.count(Count::probe_answer_rx), 1u);
  EXPECT_EQ(b.count(Count::retx_tail), 0u);
}

// [PDS-145] An answer to another Probe, or to none, shows nothing; one that took long only that the
// peer is there.
TEST_F(ProbeTest, LateAndForeignAnswersLoseNothing) {
  Bench b(config_);
  b.open_initiator(3);
  b.rx_header(b.ack(b.start));
  b.elapse(5_ms + 1_us);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  b.elapse(5_ms);
  b.rx_header(answer(b, out[0], 0, 0));
  EXPECT_EQ(b.count(Count::probe_answer_rx), 1u);
  b.rx_header(answer(b, out[0], 0, 0));
  EXPECT_EQ(b.count(Count::drop_probe_answer), 1u) << "answered already";
  b.elapse(5_ms + 1_us);
  const auto second = b.tx();
  ASSERT_EQ(second.size(), 1u);
  b.rx_header(answer(b, out[0], 0, 0));
  EXPECT_EQ(b.count(Count::drop_probe_answer), 2u) << "of the one before";
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::retx_tail), 0u);
}

// [PDS-145] Five Probes without a sign of life, each after twice the wait; then time decides.
TEST_F(ProbeTest, StopAfterFive) {
  config_.rto_init = 10_s;
  config_.rto_max = 10_s;
  config_.idle_time = 600_s;
  Bench b(config_);
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  std::vector<int64_t> at_ms;
  for (int ms = 0; ms < 1000; ++ms) {
    for (const auto& line : b.lines()) {
      EXPECT_EQ(line, probe_of(b, 1, 1));
      at_ms.push_back(ms);
    }
    b.elapse(1_ms);
  }
  // 5, 10, 20, 40, 80 ms after one another, each a tick of the wheel late, hence one ms more here.
  EXPECT_EQ(at_ms, (std::vector<int64_t>{6, 17, 38, 79, 160}));
  EXPECT_TRUE(b.client.failed.empty());
}

// [PDS-148] The spec profile gives the PDC up instead.
TEST_F(ProbeTest, SpecProfileGivesUpAfterFive) {
  config_.patience = Patience::retries;
  config_.rto_init = 8_s;
  config_.rto_max = 8_s;
  Bench b(config_);
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  int ms = 0;
  for (; ms < 1000 && b.client.failed.empty(); ++ms) {
    b.lines();
    b.elapse(1_ms);
  }
  EXPECT_EQ(ms, 321) << "after 5 + 10 + 20 + 40 + 80 and another 160 ms, in ticks";
  EXPECT_EQ(b.count(Count::probe_tx), 5u);
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 1024}, 1}}));
  EXPECT_EQ(b.count(Count::pdc_closed_timeout), 1u);
}

// [PDS-163, PDS-145, PDS 10.2 0x19] A peer that does not know Probes gets no more of them; the PDC
// lives, and its newest packet goes again instead.
TEST_F(ProbeTest, RefusalEndsProbesTowardThatPeer) {
  Bench b(config_);
  b.open_initiator(3);
  b.rx_header(b.ack(b.start));
  b.elapse(5_ms + 1_us);
  EXPECT_EQ(b.lines(), (Lines{probe_of(b, 2, 1)}));
  b.rx_header(b.nack(NackCode::unexp_event, b.start + 2));
  EXPECT_EQ(b.count(Count::probe_refused), 1u);
  EXPECT_TRUE(b.client.failed.empty());
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.elapse(10_ms + 2_us);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +2 retx ar clear -2"}));
  EXPECT_EQ(b.count(Count::retx_tail), 1u);
  EXPECT_EQ(b.count(Count::probe_tx), 1u);
  // The same code for another request is still fatal.
  b.rx_header(b.nack(NackCode::unexp_event, b.start + 2));
  EXPECT_EQ(b.client.failed.size(), 2u);
}

// [PDS-163, PDS 10.2 0x19] Two Probes were sent before the refusal of the first one arrived.
TEST_F(ProbeTest, EveryRefusalOfAProbeIsHarmless) {
  Bench b(config_);
  b.open_initiator(3);
  b.rx_header(b.ack(b.start));
  b.elapse(5_ms + 1_us);
  EXPECT_EQ(b.lines(), (Lines{probe_of(b, 2, 1)}));
  b.client.post(b.flow, 2, 1024);
  b.tx();
  b.elapse(10_ms + 1_ms);
  EXPECT_EQ(b.lines(), (Lines{probe_of(b, 3, 1)}));
  b.rx_header(b.nack(NackCode::unexp_event, b.start + 2));
  b.rx_header(b.nack(NackCode::unexp_event, b.start + 3));
  EXPECT_EQ(b.count(Count::probe_refused), 2u);
  EXPECT_TRUE(b.client.failed.empty());
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  // A third one counts as a copy until the packet was sent again.
  b.rx_header(b.nack(NackCode::unexp_event, b.start + 3));
  EXPECT_EQ(b.count(Count::drop_nack_answered), 1u);
  EXPECT_TRUE(b.client.failed.empty());
  b.elapse(1_s);
  b.tx();
  b.rx_header(b.nack(NackCode::unexp_event, b.start + 3));
  EXPECT_EQ(b.client.failed.size(), 3u) << "there was no third one";
}

// [PDS-163, PDS 10.2 0x19] A Probe names the last packet sent, so a refused PSN behind it belongs
// to a request.
TEST_F(ProbeTest, ARefusalBehindTheProbeIsOfARequest) {
  Bench b(config_);
  b.open_initiator(3);
  b.rx_header(b.ack(b.start));
  b.elapse(5_ms + 1_us);
  EXPECT_EQ(b.lines(), (Lines{probe_of(b, 2, 1)}));
  b.client.post(b.flow, 2, 1024);
  EXPECT_EQ(b.tx().size(), 1u);
  b.rx_header(b.nack(NackCode::unexp_event, b.start + 3));
  EXPECT_EQ(b.count(Count::probe_refused), 0u);
  EXPECT_EQ(b.client.failed.size(), 3u);
}

// [PDS-163] Or by configuration.
TEST_F(ProbeTest, NoneWhenSwitchedOff) {
  config_.probe = false;
  Bench b(config_);
  b.open_initiator(3);
  b.rx_header(b.ack(b.start));
  b.elapse(5_ms + 1_us);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +2 retx ar clear -2"}));
}

// In SYN the peer's PDCID is not known, so no Probe can go.
TEST_F(ProbeTest, NoneInSyn) {
  Bench b(config_);
  b.open_initiator(2);
  b.elapse(5_ms - 1_us);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::probe_tx), 0u);
}

// [PDS-252] Return data waits for a peer that has not shown that it receives our packets: Probes
// ask for proof, each after twice the time, and at most three times the received octets go there.
TEST_F(ProbeTest, AsksForProofBeforeReturnData) {
  Bench b(config_);
  b.proves = false;
  b.open_target();
  const PdcHandle pdc = b.client.received.tokens.at({1000, 0}).pdc;
  b.client.messages[500] = {1024, 0, false, wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(pdc, MessageHandle(500)));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), "CP PROBE psn 999 ar payload 1000");
  for (int i = 0; i < 60'000; ++i) {
    b.elapse(1_ms);
    b.tx();
  }
  EXPECT_EQ(b.count(Count::probe_tx), 3u) << "3 x 20 octets came, less the first ACK of 12";
  EXPECT_GT(b.count(Count::drop_unproven), 0u);
  EXPECT_EQ(b.count(Count::tx_requests), 0u);
  b.rx_header(answer(b, out[0], 0, 0));
  EXPECT_EQ(b.count(Count::tx_requests), 0u) << "the answer to another Probe than the last";
  b.prove();
  EXPECT_EQ(b.tx().size(), 1u);
  EXPECT_EQ(b.count(Count::tx_requests), 1u);
}

// [PDS-163, PDS-252] A refusal shows as much, and no more: it may have come before our first ACK.
TEST_F(ProbeTest, ARefusalIsProofToo) {
  Bench b(config_);
  b.proves = false;
  b.open_target();
  b.client.messages[500] = {1024, 0, false, wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(500)));
  ASSERT_EQ(b.tx().size(), 1u);
  wire::Nack refusal = b.nack(NackCode::unexp_event, kFirst - 1);
  refusal.spdcid = kPeerId;
  b.rx_header(refusal);
  EXPECT_EQ(b.tx().size(), 1u);
  EXPECT_EQ(b.count(Count::tx_requests), 1u);
  b.elapse(6_ms);
  b.tx();
  EXPECT_EQ(b.count(Count::probe_tx), 2u) << "it is still asked about a lost tail";
}

// [PDS-163] The network duplicates the refusal of a Probe. The copy does not refuse the return data
// whose PSN the Probe carried, unless that data is refused after it was sent again.
TEST_F(ProbeTest, ACopyOfARefusalIsHarmless) {
  Bench b(config_);
  b.open_target();
  b.start = kFirst;
  const PdcHandle pdc = b.client.received.tokens.at({1000, 0}).pdc;
  b.client.messages[500] = {100, 0, false, wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(pdc, MessageHandle(500)));
  ASSERT_EQ(b.lines(), (Lines{"REQ psn +0 ar clear -1"}));
  b.elapse(6_ms);
  ASSERT_EQ(b.lines(), (Lines{"CP PROBE psn 1000 ar payload 1000"}));
  b.rx_header(b.nack(NackCode::unexp_event, kFirst));
  EXPECT_EQ(b.count(Count::probe_refused), 1u);
  b.rx_header(b.nack(NackCode::unexp_event, kFirst));
  EXPECT_EQ(b.count(Count::drop_nack_answered), 1u);
  EXPECT_TRUE(b.client.failed.empty());
  b.elapse(1_s);
  b.tx();
  b.rx_header(b.nack(NackCode::unexp_event, kFirst));
  EXPECT_EQ(b.client.failed.size(), 1u);
}

// [PDS-163, PDS-252, T-38] A NACK without an SPDCID proves nothing: an attacker who opened many
// PDCs under a victim's address soon guesses one of their PDCIDs, and knows the PSNs.
TEST_F(ProbeTest, ARefusalWithoutItsPdcidIsNoProof) {
  Bench b(config_);
  b.proves = false;
  b.open_target();
  b.client.messages[500] = {64 * 1024, 0, false, wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(500)));
  ASSERT_EQ(b.tx().size(), 1u);
  b.rx_header(b.nack(NackCode::unexp_event, kFirst - 1));
  EXPECT_EQ(b.count(Count::probe_refused), 1u);
  b.rx(b.request(1001), 2000);  // lets a packet of return data go
  b.tx();
  const uint64_t sent = b.count(Count::tx_requests);
  EXPECT_LE(sent, 6u) << "three times as much as came";
  b.rx_header(b.nack(NackCode::no_pkt_buffer, kFirst));
  b.elapse(3_ms);
  b.tx();
  EXPECT_LE(b.count(Count::tx_requests), sent + 1);
}

}  // namespace
}  // namespace uet::pds::test
