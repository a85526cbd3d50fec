// Messages that no operation waits for: which of them go without AR, and how their answers still
// arrive. Rows of PDS 6 and 8.2 with PDS-064; PSNs are counted from the first one of the PDC.
#include "pds/test/bench.h"
#include "pds/test/pair.h"

namespace uet::pds::test {
namespace {

using wire::NackCode;
using Lines = std::vector<std::string>;

class QuietTest : public ::testing::Test {
 protected:
  // A PDC in use; no operation waits for the messages that follow.
  static void establish(Bench& b, Mode mode = Mode::rud) {
    b.open_initiator(1, mode);
    b.rx_header(b.ack(b.start));
    b.client.script.quiet = true;
  }
  static FlowId flow(Bench& b, Mode mode = Mode::rud) {
    return *b.pds->flow(PeerId(1), TrafficClass(0), mode, JobId(1));
  }
  // Messages of one packet each; `first` is the handle of the first one.
  static void post(Bench& b, uint32_t first, uint32_t count, Mode mode = Mode::rud) {
    for (uint32_t i = 0; i < count; ++i) b.client.post(flow(b, mode), first + i, 8);
  }
  static std::string ack_request(const Bench& b, int offset) {
    return "CP ACK_REQ psn " + std::to_string((b.start + offset).value()) + " ar payload 0";
  }
  // How many of the lines ask for an ACK.
  static size_t asking(const Lines& lines) {
    size_t n = 0;
    for (const std::string& line : lines) n += line.find(" ar ") != std::string::npos;
    return n;
  }

  // Two sides with a PDC in use from side 0 to side 1, whose messages are quiet from here on.
  static void establish(Pair& pair) {
    pair.side[0].client.post(pair.flow(0), 1, 8);
    pair.run(100_us);
    EXPECT_EQ(pair.side[0].client.responded.size(), 1u);
    pair.side[0].client.script.quiet = true;
  }
  static void post(Pair& pair, uint32_t first, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) pair.side[0].client.post(pair.flow(0), first + i, 8);
  }
};

// [PDS-064] Fifteen by default, then one asks for all: in either mode.
TEST_F(QuietTest, TheSixteenthInARowAsks) {
  for (const Mode mode : {Mode::rud, Mode::rod}) {
    Bench b;
    establish(b, mode);
    post(b, 2, 20, mode);
    Lines expected;
    for (int i = 1; i <= 20; ++i) {
      expected.push_back("REQ psn +" + std::to_string(i) + (i == 16 ? " ar" : "") + " clear " +
                         std::to_string(-i));
    }
    EXPECT_EQ(b.lines(), expected);
    b.rx_header(b.ack(b.start + 16));
    EXPECT_EQ(b.client.responded.size(), 17u) << "the cumulative ACK answers all";
  }
}

// [PDS-064] Where an ACK has another use, or the setting says so, each asks.
TEST_F(QuietTest, OtherMessagesAskAsUsual) {
  Config none;
  none.quiet_packets = 0;
  Config each;
  each.ack_per_packet = true;
  for (const Config& config : {none, each, Config::spec()}) {
    Bench b(config);
    establish(b);
    post(b, 2, 3);
    EXPECT_EQ(asking(b.lines()), 3u);
  }
  Bench waited;
  establish(waited);
  waited.client.script.quiet = false;
  post(waited, 2, 3);
  EXPECT_EQ(asking(waited.lines()), 3u) << "an operation waits for them";

  Bench syn;
  syn.client.script.quiet = true;
  EXPECT_EQ(syn.picture(syn.open_initiator(1).at(0)), "REQ psn +0 syn ar clear -1");

  Config narrow;
  narrow.tx_window_packets = 4;
  Bench stalls(narrow);
  establish(stalls);
  post(stalls, 2, 6);
  EXPECT_EQ(stalls.lines(), (Lines{"REQ psn +1 clear -1", "REQ psn +2 clear -2",
                                   "REQ psn +3 clear -3", "REQ psn +4 ar clear -4"}))
      << "the last one before a stall";

  Bench resent;
  establish(resent);
  post(resent, 2, 1);
  EXPECT_EQ(resent.lines(), (Lines{"REQ psn +1 clear -1"}));
  resent.rx_header(resent.nack(NackCode::no_ses_msg_avail, resent.start + 1));
  resent.elapse(1_ms + 2_us);
  EXPECT_EQ(resent.lines(), Lines{}) << "refused, so known: nothing to ask for";
  resent.elapse(1_ms);
  EXPECT_EQ(resent.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
}

// [PDS-064, PDS-L6] The tail is asked for after quiet_time, by one ACK Request for its newest.
TEST_F(QuietTest, TheTailIsAskedForTogether) {
  Bench b;
  establish(b);
  post(b, 2, 2);
  EXPECT_EQ(b.lines().size(), 2u);
  b.elapse(400_us);
  post(b, 4, 1);
  EXPECT_EQ(b.lines().size(), 1u);
  b.elapse(599_us);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(3_us);  // the timer wheel counts in microseconds
  EXPECT_EQ(b.lines(), (Lines{ack_request(b, 3)}));
  EXPECT_EQ(b.count(Count::quiet_asked), 1u);
  b.rx_header(b.ack(b.start + 3));
  EXPECT_EQ(b.client.responded.size(), 4u);
  b.elapse(50_ms);
  EXPECT_EQ(b.lines(), Lines{});
  // The ACK Request carried an AR: the count restarts.
  post(b, 5, 16);
  EXPECT_EQ(asking(b.lines()), 1u);
}

// [PDS-064, PDS-140] A lost request for an ACK is not a time-out of the packet: the first one is
// RTO_Init_Time after it.
TEST_F(QuietTest, AnUnansweredAckRequestIsFollowedByTheResend) {
  Bench b;
  establish(b);
  post(b, 2, 1);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 clear -1"}));
  b.elapse(1_ms + 2_us);
  EXPECT_EQ(b.lines(), (Lines{ack_request(b, 1)}));
  b.elapse(4990_us);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(12_us);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_EQ(b.count(Count::retx_rto), 1u);
}

// [PDS-064] An application that was away for long: the request for an ACK comes before any resend.
TEST_F(QuietTest, ALateTimerAsksFirst) {
  Bench b;
  establish(b);
  post(b, 2, 3);
  EXPECT_EQ(b.lines().size(), 3u);
  b.now = b.now + 300_ms;
  b.pds->advance(b.now);
  EXPECT_EQ(b.lines(), (Lines{ack_request(b, 3)}));
  EXPECT_EQ(b.count(Count::retx_rto), 0u);
}

// [PDS-093] A packet that is known to have arrived waits for its answer like any other packet.
TEST_F(QuietTest, SackedPacketsAreNotAskedFor) {
  Bench b;
  establish(b);
  post(b, 2, 3);
  EXPECT_EQ(b.lines().size(), 3u);
  wire::AckCc h;
  h.ack = b.ack(b.start, 2);
  h.ack.type = wire::PdsType::ack_cc;
  h.mpr = 8;
  h.sack_psn_offset = 1;
  h.sack_bitmap = 0b110;
  b.rx_header(h);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  b.elapse(2_ms);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::quiet_asked), 0u);
}

// [PDS-141] The answer to an ACK Request is no RTT sample of the packet: it took 40 ms, and the
// time-out stays at the configured 60 ms.
TEST_F(QuietTest, TheAnswerToAnAckRequestIsNotARoundTrip) {
  Config config;
  config.rto_init = config.rto_min = 60_ms;
  config.tail_loss = 1_s;  // no Probe comes between
  Bench b(config);
  b.open_initiator(1);
  wire::Ack first = b.ack(b.start);
  first.retx = true;  // no sample either
  b.rx_header(first);
  b.client.script.quiet = true;
  post(b, 2, 1);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 clear -1"}));
  b.elapse(1_ms + 2_us);
  EXPECT_EQ(b.lines(), (Lines{ack_request(b, 1)}));
  b.elapse(40_ms);
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.client.responded.size(), 2u);
  b.client.script.quiet = false;
  post(b, 3, 1);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +2 ar clear -1"}));
  b.elapse(61_ms);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +2 retx ar clear -1"}));
}

// [PDS-119] INV_DPDCID for a request: it was not executed. For the request for its ACK: it may
// have been, by a PDC that is gone, and must not be sent again on another.
TEST_F(QuietTest, ARefusedAckRequestLeavesTheMessageInDoubt) {
  for (const bool asked : {false, true}) {
    Bench b;
    establish(b);
    post(b, 2, 1);
    EXPECT_EQ(b.lines().size(), 1u);
    if (asked) b.elapse(1_ms + 2_us);
    EXPECT_EQ(b.lines().size(), asked ? 1u : 0u);
    b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 1));
    ASSERT_EQ(b.client.failures.size(), 1u);
    EXPECT_EQ(b.client.failures[0].not_delivered, !asked);
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
}

// [PDS-119, PDS-176] CLOSING with RETX refuses the packet that was sent again, also when its first
// transmission was asked for: it was not executed, and may go on another PDC.
TEST_F(QuietTest, ClosingIsAVerdictOnAResendAfterAnAckRequest) {
  for (const bool retx : {false, true}) {
    Bench b;
    establish(b);
    post(b, 2, 1);
    EXPECT_EQ(b.lines().size(), 1u);
    b.elapse(1_ms + 2_us);
    EXPECT_EQ(b.lines(), (Lines{ack_request(b, 1)}));
    b.elapse(5_ms + 2_us);
    EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
    wire::Nack nack = b.nack(NackCode::closing, b.start + 1);
    nack.retx = retx;
    b.rx_header(nack);
    ASSERT_EQ(b.client.failures.size(), 1u);
    EXPECT_EQ(b.client.failures[0].not_delivered, retx);
  }
}

// [PDS-119, PDS-190] A peer that lost the PDC has a verdict for each packet, and none for
// requests for ACKs.
TEST_F(QuietTest, AForgetfulPeerIsNotAsked) {
  Bench b;
  establish(b);
  post(b, 2, 3);
  EXPECT_EQ(b.lines().size(), 3u);
  b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 1));
  b.pds->want_answers(flow(b), b.now);
  b.elapse(2_ms);
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 3));
  b.elapse(4_ms);
  EXPECT_EQ(b.lines(), Lines{});
  ASSERT_EQ(b.client.failures.size(), 3u);
  EXPECT_TRUE(b.client.failures[0].not_delivered);
  EXPECT_TRUE(b.client.failures[1].not_delivered);
  EXPECT_FALSE(b.client.failures[2].not_delivered) << "no verdict came";
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-I12, PDS-I13] A close waits for every answer, so it asks for them at once.
TEST_F(QuietTest, ACloseRequestsAcksAtOnce) {
  Bench b;
  establish(b);
  post(b, 2, 2);
  EXPECT_EQ(asking(b.lines()), 0u);
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.lines(), (Lines{ack_request(b, 2)}));
  b.rx_header(b.ack(b.start + 2));
  EXPECT_EQ(b.client.responded.size(), 3u);
  EXPECT_EQ(b.lines(),
            (Lines{"CP CLOSE_CMD psn " + std::to_string((b.start + 3).value()) + " ar payload 0"}));
  b.rx_header(b.ack(b.start + 3));
  EXPECT_EQ(b.client.closed, std::vector<bool>{true});
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-064] The client reports that an operation waits now; packets already asked for are not asked
// again.
TEST_F(QuietTest, TheClientMayAskEarlier) {
  Bench b;
  establish(b);
  post(b, 2, 2);
  EXPECT_EQ(asking(b.lines()), 0u);
  b.pds->want_answers(flow(b), b.now);
  EXPECT_EQ(b.lines(), (Lines{ack_request(b, 2)}));
  b.pds->want_answers(flow(b), b.now);
  EXPECT_EQ(b.lines(), Lines{});
}

// [PDS-064] 100 messages have eight ACKs, six of them asked for by AR.
TEST_F(QuietTest, MostMessagesHaveNoSeparateAck) {
  Pair pair;
  establish(pair);
  const uint64_t before = pair.count(1, Count::acks_tx);
  for (uint32_t i = 0; i < 100; ++i) {
    post(pair, 2 + i, 1);
    pair.run(20_us);
  }
  pair.run(2_ms);
  EXPECT_EQ(pair.side[0].client.responded.size(), 101u);
  EXPECT_EQ(pair.count(0, Count::quiet_asked), 1u) << "the last four";
  EXPECT_EQ(pair.count(1, Count::acks_tx) - before, 7u);
  EXPECT_EQ(pair.count(0, Count::retx_rto), 0u);
  pair.expect_all_given_back();
}

// [PDS-064, PDS-L1, PDS-L4] The request for an ACK shows the loss long before RTO_Init_Time.
TEST_F(QuietTest, AnAckRequestFindsALostMessage) {
  for (const uint32_t lost : {1u, 2u, 3u}) {  // of three
    SCOPED_TRACE(lost);
    for (const Mode mode : {Mode::rud, Mode::rod}) {
      Pair pair;
      pair.side[0].client.post(pair.flow(0, mode), 1, 8);
      pair.run(100_us);
      pair.side[0].client.script.quiet = true;
      pair.fate = [&](const InPipe& p) -> Fate {
        if (p.side == 1 && p.number == lost) return {};
        return {Pair::kDelay};
      };
      for (uint32_t i = 0; i < 3; ++i) pair.side[0].client.post(pair.flow(0, mode), 2 + i, 8);
      pair.run(1_ms + 100_us);
      EXPECT_EQ(pair.side[0].client.responded.size(), 4u);
      EXPECT_EQ(pair.count(0, Count::retx_rto), 0u);
      EXPECT_EQ(pair.count(0, Count::retx_nack) + pair.count(0, Count::retx_ev), 1u);
      pair.expect_all_given_back();
    }
  }
}

// Requests for ACKs and their answers are lost as well: each message arrives once and is answered
// once.
TEST_F(QuietTest, LossCostsTimeOnly) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Pair pair({}, {}, seed);
    establish(pair);
    Rng rng(seed);
    pair.fate = [&](const InPipe&) -> Fate {
      if (rng.chance(0.2)) return {};
      return {Pair::kDelay + Duration::microseconds(static_cast<int64_t>(rng.below(30)))};
    };
    for (uint32_t i = 0; i < 100; ++i) {
      post(pair, 2 + i, 1);
      pair.run(Duration::microseconds(static_cast<int64_t>(rng.below(400))));
    }
    pair.run(2_s);
    EXPECT_EQ(pair.side[0].client.responded.size(), 101u);
    EXPECT_EQ(pair.side[1].client.received.times.size(), 101u);
    pair.fate = {};
    pair.expect_all_given_back();
  }
}

}  // namespace
}  // namespace uet::pds::test
