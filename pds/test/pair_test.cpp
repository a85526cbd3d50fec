// Two Pds over a scripted pipe: opening, acknowledgement, loss, guaranteed delivery, close.
#include "pds/test/pair.h"

namespace uet::pds::test {
namespace {

using wire::PdsType;

class PairTest : public ::testing::Test {
 protected:
  static Verdict error_response(uint8_t mark) {
    Verdict v;
    v.kind = Verdict::Kind::respond;
    v.response.next_hdr = wire::NextHeader::response;
    v.response.length = 12;
    v.response.bytes.fill(static_cast<std::byte>(mark));
    return v;
  }
  static size_t total(const std::map<PacketName, int>& m) { return m.size(); }
};

// [PDS-040, PDS-042, PDS-045, PDS-I1, PDS-I3, PDS-T1] Data travels in the first packet.
TEST_F(PairTest, FirstPacketCarriesSynAndData) {
  Pair pair;
  const FlowId flow = pair.flow(0);
  pair.side[0].client.post(flow, 1, 100);
  pair.run(100_us);

  EXPECT_EQ(pair.side[1].client.received.times, (std::map<PacketName, int>{{{1, 0}, 1}}));
  EXPECT_EQ(pair.side[0].client.responded, (std::map<PacketName, int>{{{1, 0}, 1}}));
  ASSERT_EQ(pair.sent.size(), 2u);  // one request, one ACK
  const wire::Request h = pair.sent[0].request();
  EXPECT_EQ(h.type, PdsType::rud_request);
  EXPECT_TRUE(h.syn);
  EXPECT_TRUE(h.ar);
  EXPECT_FALSE(h.retx);
  EXPECT_EQ(h.psn_offset, 0);
  EXPECT_EQ(h.clear_psn_offset, -1);
  EXPECT_NE(h.spdcid, Pdcid(0));
  EXPECT_EQ(pair.sent[1].type(), PdsType::ack);
  EXPECT_EQ(pair.sent[1].octets.size(), 12u);
  EXPECT_EQ(pair.sent[1].dscp, 46);
  EXPECT_EQ(pair.sent[0].ecn, Ecn::ect0);

  pair.side[0].client.post(flow, 2, 100);
  pair.run(100_us);
  EXPECT_FALSE(pair.sent[2].request().syn);
  EXPECT_EQ(pair.sent[2].request().psn, h.psn + 1);
  EXPECT_NE(pair.sent[2].request().dpdcid, Pdcid(0));
  pair.expect_all_given_back();
}

TEST_F(PairTest, LongMessageArrivesWholeAndIsAcknowledgedByBytes) {
  Pair pair;
  pair.side[0].client.post(pair.flow(0), 1, 1024 * 1024);
  pair.run(50_ms);
  EXPECT_EQ(total(pair.side[1].client.received.times), 1024u);
  EXPECT_EQ(total(pair.side[0].client.responded), 1024u);
  EXPECT_EQ(pair.side[1].client.received.bytes, 1024u * 1024u);
  EXPECT_EQ(pair.count(0, Count::retx_rto) + pair.count(0, Count::retx_ev), 0u);
  EXPECT_LT(pair.count(1, Count::acks_tx) + pair.count(1, Count::ack_cc_tx), 200u);
  EXPECT_GT(pair.count(1, Count::ack_bytes), 0u);
  pair.expect_all_given_back();
}

// [PDS-L4] A packet that was overtaken on its own EV is sent again at once.
TEST_F(PairTest, LostPacketIsResentBeforeTheTimeOut) {
  Pair pair;
  pair.fate = [](const InPipe& p) -> Fate {
    if (p.side == 1 && p.number == 3) return {};
    return {Pair::kDelay};
  };
  pair.side[0].client.post(pair.flow(0), 1, 16 * 1024);
  pair.run(1_ms);
  EXPECT_EQ(total(pair.side[0].client.responded), 16u);
  EXPECT_EQ(pair.count(0, Count::retx_ev), 1u);
  EXPECT_EQ(pair.count(0, Count::retx_rto), 0u);
  pair.expect_all_given_back();
}

// [PDS-L2, PDS-140, PDS-146] No packet follows the last one: only a time-out finds its loss.
TEST_F(PairTest, LostTailIsResentAfterTheTimeOut) {
  Pair pair;
  pair.fate = [](const InPipe& p) -> Fate {
    if (p.side == 1 && p.number == 3) return {};
    return {Pair::kDelay};
  };
  pair.side[0].client.post(pair.flow(0), 1, 4 * 1024);
  pair.run(4_ms);
  EXPECT_EQ(total(pair.side[0].client.responded), 3u);
  pair.run(2_ms);
  EXPECT_EQ(total(pair.side[0].client.responded), 4u);
  EXPECT_EQ(pair.count(0, Count::retx_rto), 1u);
  pair.expect_all_given_back();
}

TEST_F(PairTest, LostAckIsRepairedByTheResend) {
  Pair pair;
  pair.fate = [](const InPipe& p) -> Fate {
    if (p.side == 0 && p.number == 0) return {};
    return {Pair::kDelay};
  };
  pair.side[0].client.post(pair.flow(0), 1, 100);
  pair.run(10_ms);
  EXPECT_EQ(total(pair.side[0].client.responded), 1u);
  EXPECT_EQ(pair.count(1, Count::dup_below), 1u);
  EXPECT_EQ(pair.count(1, Count::ack_duplicate), 1u);
  pair.expect_all_given_back();
}

// [PDS-075] A copy made by the network, without RETX and AR, is dropped without an answer.
TEST_F(PairTest, CopiesMadeByTheNetworkAreNotDeliveredTwice) {
  Pair pair;
  pair.fate = [](const InPipe&) -> Fate { return {Pair::kDelay, Pair::kDelay + 1_us}; };
  pair.side[0].client.post(pair.flow(0), 1, 8 * 1024);
  pair.run(20_ms);
  EXPECT_EQ(total(pair.side[0].client.responded), 8u);
  EXPECT_EQ(pair.count(1, Count::dup_no_retx), 7u);
  pair.expect_all_given_back();
}

// [PDS-169, PDS-100, PDS-103, PDS-105] An error response is kept until the source has cleared it.
TEST_F(PairTest, StoredResponseSurvivesTheLossOfItsAck) {
  Pair pair;
  pair.side[1].client.verdict = [](PacketName, const RxRequest&) { return error_response(0xE7); };
  int acks = 0;
  pair.fate = [&](const InPipe& p) -> Fate {
    if (p.side == 0 && wire::is_ack(p.type()) && acks++ == 0) return {};
    return {Pair::kDelay};
  };
  pair.side[0].client.post(pair.flow(0), 1, 100);
  pair.run(6_ms);
  ASSERT_EQ(total(pair.side[0].client.responded), 1u);
  EXPECT_EQ((pair.side[0].client.response_octets[{1, 0}]),
            std::vector<std::byte>(12, std::byte{0xE7}));
  EXPECT_EQ(pair.count(1, Count::gd_resent), 1u);
  EXPECT_EQ(pair.side[1].pds->usage().stored_responses, 1u);
  pair.run(10_ms);
  EXPECT_EQ(pair.count(0, Count::clear_cmd_tx), 1u);
  EXPECT_EQ(pair.side[1].pds->usage().stored_responses, 0u);
  pair.expect_all_given_back();
}

// [PDS-112, PDS-118] A refusal because resources are missing leaves no trace and ends in success.
TEST_F(PairTest, ResourceNackIsRetriedUntilThereIsRoom) {
  Pair pair;
  pair.side[1].client.verdict = [&](PacketName, const RxRequest&) {
    return pair.now() < kStart + 5_s ? Verdict::refused(wire::NackCode::no_ses_msg_avail)
                                     : Verdict::accepted();
  };
  pair.side[0].client.post(pair.flow(0), 1, 100);
  pair.run(4900_ms);
  EXPECT_EQ(total(pair.side[0].client.responded), 0u);
  EXPECT_GT(pair.count(0, Count::nack_rx_no_ses_msg_avail), 10u);
  EXPECT_LT(pair.count(0, Count::nack_rx_no_ses_msg_avail), 60u) << "the delay grows";
  pair.run(500_ms);
  EXPECT_EQ(total(pair.side[0].client.responded), 1u);
  EXPECT_EQ(pair.count(0, Count::retx_rto), 0u);
  pair.expect_all_given_back();
}

// [PDS-I9, PDS-167] Return data goes back on the PDC of the request.
TEST_F(PairTest, ReturnDataTravelsOnTheSamePdc) {
  Pair pair;
  StubClient& target = pair.side[1].client;
  target.verdict = [&](PacketName, const RxRequest& r) {
    target.messages[77].bytes = 5000;
    target.messages[77].next_hdr = wire::NextHeader::response_data;
    EXPECT_TRUE(pair.side[1].pds->send_return(r.token.pdc, MessageHandle(77)));
    return Verdict::accepted();
  };
  pair.side[0].client.post(pair.flow(0), 1, 64, true);
  pair.run(5_ms);
  EXPECT_EQ(total(pair.side[0].client.received.times), 5u);
  EXPECT_EQ(total(target.responded), 5u);
  EXPECT_EQ(pair.side[1].pds->open_pdcs(), 1u);
  pair.side[0].pds->message_done(pair.side[0].client.started.pdc_of[1]);
  pair.expect_all_given_back();
}

// [PDS-061] A short message does not wait behind a long one.
TEST_F(PairTest, ShortMessageOvertakesLongOneOnAnotherPdc) {
  Pair pair;
  const FlowId flow = pair.flow(0);
  pair.side[0].client.post(flow, 1, 4 * 1024 * 1024);
  pair.side[0].client.post(flow, 2, 100);
  pair.run(300_us);
  EXPECT_EQ(pair.side[0].client.responded.count({2, 0}), 1u);
  EXPECT_LT(total(pair.side[0].client.responded), 4096u);
  pair.run(500_ms);
  EXPECT_EQ(total(pair.side[0].client.responded), 4097u);
  EXPECT_EQ(pair.count(0, Count::pdc_opened_initiator), 2u);
  pair.expect_all_given_back();
}

// [decision 4] A target that is silent for ten seconds costs time, nothing else.
TEST_F(PairTest, TenSecondsOfSilenceEndInSuccess) {
  Pair pair;
  pair.fate = [&](const InPipe&) -> Fate {
    if (pair.now() < kStart + 10_s) return {};
    return {Pair::kDelay};
  };
  pair.side[0].client.post(pair.flow(0), 1, 64 * 1024);
  pair.run(11_s);
  EXPECT_EQ(total(pair.side[0].client.responded), 64u);
  EXPECT_EQ(total(pair.side[0].client.failed), 0u);
  pair.expect_all_given_back();
}

// [PDS-192, PDS-I6, PDS-149] Without a peer everything fails once; a later message opens a new PDC.
TEST_F(PairTest, AbsentPeerFailsEverythingOnceAndLeavesNothingBehind) {
  Pair pair;
  bool dead = true;
  pair.fate = [&](const InPipe&) -> Fate {
    if (dead) return {};
    return {Pair::kDelay};
  };
  pair.side[0].client.post(pair.flow(0), 1, 1024 * 1024);
  pair.run(61_s);
  StubClient& c = pair.side[0].client;
  EXPECT_EQ(total(c.failed), 1024u - (c.messages[1].bytes - c.messages[1].pulled) / 1024);
  ASSERT_FALSE(c.failures.empty());
  EXPECT_EQ(c.failures[0].reason, FailureReason::timeout);
  EXPECT_EQ(c.aborted.count(1), 1u);
  EXPECT_EQ(c.closed, std::vector<bool>{false});
  EXPECT_EQ(pair.side[0].pds->usage(), Usage{});

  dead = false;
  c.post(pair.flow(0), 2, 100);
  pair.run(1_ms);
  EXPECT_EQ(c.responded.count({2, 0}), 1u);
  pair.expect_all_given_back();
}

// A peer that forgot everything, as after a restart, costs the message that meets it; the idle PDCs
// from before are closed instead of failing one message each. [PDS-190, PDS-119, PDS-I15]
TEST_F(PairTest, ForgetfulPeerFailsOneMessageNotOneForEachPdc) {
  Pair pair;
  const FlowId flow = pair.flow(0);
  StubClient& c = pair.side[0].client;
  c.post(flow, 1, 256 * 1024);
  c.post(flow, 2, 256 * 1024);
  pair.run(500_ms);
  ASSERT_EQ(pair.side[0].pds->usage().pdcs, 2u) << "both idle";
  pair.side[1].pds->close_all(true, pair.now());

  c.post(flow, 3, 100);
  pair.run(10_ms);
  EXPECT_EQ(total(c.failed), 1u);
  EXPECT_EQ(pair.side[0].pds->usage().pdcs, 0u);
  for (uint32_t m = 4; m < 8; ++m) c.post(flow, m, 100);
  pair.run(10_ms);
  EXPECT_EQ(total(c.failed), 1u);
  for (uint32_t m = 4; m < 8; ++m) EXPECT_EQ(c.responded.count({m, 0}), 1u) << m;
  pair.expect_all_given_back();
}

}  // namespace
}  // namespace uet::pds::test
