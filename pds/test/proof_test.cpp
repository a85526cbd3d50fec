// Unproven sources: the proof that a SYN needs when too many sources are unproven, and what ACKs
// report about the packets that they answer. [PDS-251, PDS-252, PDS-070]
#include "pds/sent_tick.h"
#include "pds/test/bench.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace uet::pds::test {
namespace {

using wire::NackCode;

using Lines = std::vector<std::string>;

class ProofTest : public ::testing::Test {
 protected:
  static Config few() {
    Config c;
    c.max_pdcs = 64;
    c.challenge_above = 4;
    return c;
  }
  static void flood(Bench& b, uint8_t first, uint8_t count) {
    b.client.script.names_are_unique = false;
    for (uint8_t i = 0; i < count; ++i) {
      b.from = address(static_cast<uint8_t>(first + i), 50000);
      b.rx(b.request(kFirst.value()));
    }
    b.tx();
  }
};

// [PDS-251, T-01] The fifth source opens no PDC before it has shown that it receives our packets.
TEST_F(ProofTest, AFloodedTargetChallengesSyns) {
  Bench b(few());
  flood(b, 20, 4);
  EXPECT_EQ(b.pds->open_pdcs(), 4u);
  b.from = address(9, 50000);
  b.rx(b.request(kFirst.value()));
  auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  const auto told = out[0].as<wire::Nack>();
  EXPECT_EQ(told.nack_code, NackCode::new_start_psn);
  EXPECT_EQ(told.nack_psn, kFirst);
  EXPECT_EQ(told.spdcid, Pdcid(0));
  EXPECT_EQ(told.dpdcid, kPeerId);
  EXPECT_EQ(b.pds->open_pdcs(), 4u);

  b.from = address(8, 50000);  // the number is good for one address only
  b.rx(b.syn_at(told.payload));
  EXPECT_EQ(b.pds->open_pdcs(), 4u);
  b.from = address(9, 50000);
  b.rx(b.syn_at(told.payload + 1));
  EXPECT_EQ(b.pds->open_pdcs(), 4u);
  b.rx(b.syn_at(told.payload));
  EXPECT_EQ(b.pds->open_pdcs(), 5u);
  EXPECT_EQ(b.count(Count::challenged), 3u);
}

// [PDS-251] A challenge is valid for 8 to 17 seconds, and challenges go on for as long after it.
TEST_F(ProofTest, ChallengesEndWithTheFlood) {
  Bench b(few());
  flood(b, 20, 4);
  b.from = address(9, 50000);
  b.rx(b.request(kFirst.value()));
  const uint32_t told = b.tx().at(0).as<wire::Nack>().payload;
  b.elapse(18_s);
  b.rx(b.syn_at(told));
  EXPECT_EQ(b.pds->open_pdcs(), 4u) << "too old";
  b.tx();
  b.elapse(120_s);  // the forged ones have gone
  b.tx();
  b.from = address(10, 50000);
  b.rx(b.request(kFirst.value()));
  EXPECT_EQ(b.count(Count::pdc_opened_target), 5u) << "no flood any more";
}

// [PDS-251, PDS-051] The initiator sends its packets again from the start in the NACK.
TEST_F(ProofTest, AnInitiatorAnswersAChallengeInTheClear) {
  Bench b;
  b.open_initiator(2);
  b.rx_header(b.nack(NackCode::new_start_psn, b.start, 777));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 2u);
  for (uint32_t i = 0; i < 2; ++i) {
    const auto h = out[i].as<wire::Request>();
    EXPECT_EQ(h.psn, Psn(777 + i));
    EXPECT_TRUE(h.syn);
    EXPECT_EQ(h.start_psn(), Psn(777));
  }
}

// [PDS-252] A packet with the right PDCID and an impossible PSN does not prove its source.
TEST_F(ProofTest, APsnOutOfTheWindowIsNoProof) {
  Bench b;
  b.proves = false;
  b.open_target();
  b.rx(b.request(kFirst.value() + 5000, false));
  b.client.messages[500] = {8192, 0, false, wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(500)));
  b.tx();
  EXPECT_EQ(b.count(Count::tx_requests), 0u);
  b.rx(b.request(kFirst.value() + 1, false));
  b.tx();
  EXPECT_GT(b.count(Count::tx_requests), 0u);
}

// [PDS-252] ACKs count like the Probes that ask for proof: together they are at most three times
// the received octets.
TEST_F(ProofTest, AllSentOctetsCount) {
  constexpr uint32_t kPayload = 100;
  Bench b;
  b.proves = false;
  b.rx(b.request(kFirst.value()), kPayload);
  b.client.messages[500] = {8192, 0, false, wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(500)));
  size_t octets = 0;
  for (int i = 0; i < 300; ++i) {
    for (const auto& o : b.tx()) octets += o.octets.size();
    b.elapse(100_ms);
  }
  EXPECT_GT(b.count(Count::probe_tx), 10u);
  EXPECT_GT(b.count(Count::drop_unproven), 0u) << "then nothing more goes";
  EXPECT_LE(octets, 3 * (wire::Request::kSize + 8u + kPayload));
}

// [PDS-252] Return data that waits for octets goes when octets arrive, even if the peer no longer
// answers Probes. A new process at the address refuses it, so the target's room becomes free.
TEST_F(ProofTest, ReceivedOctetsLetReturnDataGo) {
  Bench b;
  b.proves = false;
  b.open_target();
  const PdcHandle pdc = b.client.received.tokens.at({1000, 0}).pdc;
  b.client.messages[500] = {1024, 0, false, wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(pdc, MessageHandle(500)));
  ASSERT_EQ(b.lines(), (Lines{"CP PROBE psn 999 ar payload 1000"}));
  b.rx(b.request(1001), 4000);
  b.start = kFirst;
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001", "REQ psn +0 ar clear -1"}));
  b.rx_header(b.nack(NackCode::inv_dpdcid, kFirst));
  EXPECT_EQ(b.client.failed.count({500, 0}), 1u);
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
}

// [PDS-252, T-38] What goes again counts like the first time.
TEST_F(ProofTest, ResendsWaitForOctetsToo) {
  Bench b;
  b.proves = false;
  b.open_target();
  const PdcHandle pdc = b.client.received.tokens.at({1000, 0}).pdc;
  size_t came = 12 + 8;
  size_t went = 12;
  const auto count = [&] {
    for (const auto& out : b.tx()) went += out.octets.size();
  };
  const auto come = [&](uint32_t psn) {
    b.rx(b.request(psn), 4000);
    came += 12 + 8 + 4000;
    count();
  };
  b.client.messages[500] = {64 * 1024, 0, false, wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(pdc, MessageHandle(500)));
  for (uint32_t psn = 1001; psn < 1005; ++psn) come(psn);
  EXPECT_GT(b.count(Count::tx_requests), 20u);
  for (uint32_t psn = 1005; psn < 1010; ++psn) {
    b.elapse(300_ms);
    count();
    come(psn);
    EXPECT_LE(went, 3 * came);
  }
  EXPECT_GT(b.count(Count::retx_rto), 0u);
}

class FeedbackTest : public ::testing::Test {
 protected:
  static void rx(Bench& b, uint32_t psn, uint16_t ev, bool ce) {
    b.marks.ev = Entropy(ev);
    b.marks.ecn = ce ? Ecn::ce : Ecn::ect0;
    b.rx(b.request(psn, false));
  }
  struct Told {
    uint32_t psn;
    uint16_t ev;
    bool m;
    bool operator==(const Told&) const = default;
  };
  static std::vector<Told> told(Bench& b) {
    std::vector<Told> all;
    for (const auto& o : b.tx()) {
      const auto a = o.as<wire::Ack>();
      all.push_back({a.ack_psn().value(), o.ev.value(), a.m});
    }
    return all;
  }
};

// [PDS-070, PDS 8.1] Above a gap each ACK reports its own packet.
TEST_F(FeedbackTest, AcksAboveAGapReportTheirOwnPackets) {
  Bench b;
  b.open_target();
  rx(b, 1002, 41, true);
  rx(b, 1003, 42, false);
  rx(b, 1004, 43, true);
  EXPECT_EQ(told(b), (std::vector<Told>{{1002, 41, true}, {1003, 42, false}, {1004, 43, true}}));
}

// [PDS-070, PDS-A6] Two marked packets in order get an ACK each: one ACK cannot report both paths.
TEST_F(FeedbackTest, EveryMarkIsReported) {
  Bench b;
  b.open_target();
  rx(b, 1001, 41, true);
  rx(b, 1002, 42, true);
  rx(b, 1003, 43, false);
  const auto acks = told(b);
  EXPECT_EQ(std::count(acks.begin(), acks.end(), Told{1001, 41, true}), 1);
  EXPECT_EQ(std::count(acks.begin(), acks.end(), Told{1002, 42, true}), 1);
}

// [PDS-070] The ACK of a late verdict carries the notes made when the packet came.
TEST_F(FeedbackTest, AcksOfLateVerdictsReportTheirPacket) {
  Bench b;
  b.open_target();
  b.client.verdict = [](PacketName name, const RxRequest&) {
    return name.first == 1001 ? Verdict::deferred() : Verdict::accepted();
  };
  rx(b, 1001, 41, true);
  rx(b, 1002, 42, false);
  for (const Told& t : told(b)) EXPECT_FALSE(t.m) << "1001 is not named, so nothing is said of it";
  ASSERT_TRUE(
      b.pds->respond(b.client.received.tokens.at({1001, 0}), StubClient::plain_answer(), b.now));
  EXPECT_EQ(told(b), (std::vector<Told>{{1001, 41, true}}));
}

// [PDS-141] A round trip ends when the ACK arrives, however late it is looked at.
TEST_F(FeedbackTest, LateLooksMakeNoRoundTripLonger) {
  Bench b;
  b.open_initiator(1);
  b.now = b.now + 899_us;
  b.marks.late = 889_us;
  b.rx_header(b.ack(b.start));
  std::array<PdcSnapshot, 1> pdcs;
  ASSERT_EQ(b.pds->snapshot(pdcs, b.now), 1u);
  EXPECT_GE(pdcs[0].round_trip, 10_us - SentTick::one());
  EXPECT_LE(pdcs[0].round_trip, 10_us + SentTick::one());
}

// [PDS-241, CMS-036] The time that a packet lay unread counts as time inside the destination. In
// units of 128 ns.
TEST_F(FeedbackTest, ServiceTimeBeginsWithTheArrival) {
  Config c;
  c.ack_form = AckForm::cc;
  Bench b(c);
  b.open_target();
  b.marks.late = 5_ms;
  b.rx(b.request(1001, false));
  const auto state = wire::NsccState::unpack(b.tx().at(0).as<wire::AckCc>().state);
  EXPECT_NEAR(state.service_time, 5'000'000 / 128, 2);
}

// [PDS 8.1] The mark of a packet counts although a later ACK has answered the packet before.
TEST_F(FeedbackTest, MarksOfOvertakenAcksCount) {
  cms::Config cms;
  cms.algorithm = cms::Algorithm::aimd;
  Bench b({}, cms);
  b.open_initiator(30);
  const auto window = [&] {
    std::array<PdcSnapshot, 1> pdcs;
    EXPECT_EQ(b.pds->snapshot(pdcs, b.now), 1u);
    return pdcs[0].window_bytes;
  };
  b.elapse(1_ms);
  b.rx_header(b.ack(b.start + 20));
  b.tx();
  const uint64_t before = window();
  wire::Ack overtaken = b.ack(b.start + 10);
  overtaken.m = true;
  b.rx_header(overtaken);
  EXPECT_LT(window(), before);
}

// An answer for which the queue has no room is covered by the next ACK of the PDC.
TEST_F(FeedbackTest, AnswersThatFindNoRoomAreCovered) {
  Config c;
  c.reply_queue = 16;
  Bench b(c);
  b.open_target();
  for (uint32_t i = 0; i < 20; ++i) rx(b, 1002 + i, static_cast<uint16_t>(i), false);
  EXPECT_EQ(told(b).size(), 17u);
  EXPECT_GT(b.count(Count::ack_answers_full), 0u);
}

// [PDS 13 ACK Request d, PDS-116] The data of the answer is gone: the request goes again, although
// its packet is known to have arrived.
TEST_F(FeedbackTest, AckWithDataBringsTheRequestAgain) {
  Bench b;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  b.tx();
  wire::AckCc h;
  h.ack = b.ack(b.start);
  h.ack.type = wire::PdsType::ack_cc;
  h.sack_psn_offset = 1;
  h.sack_bitmap = 1;
  b.rx_header(h);
  b.elapse(6_ms);
  EXPECT_EQ(b.tx().at(0).type(), wire::PdsType::control) << "the question";
  b.rx_header(b.nack(NackCode::ack_with_data, b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
}

}  // namespace
}  // namespace uet::pds::test
