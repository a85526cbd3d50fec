// RUDI at the initiator: numbers, time-outs, refusals, the local guard, hostile answers. [PDS 16]
#include "pds/test/rudi_bench.h"

#include "pds/pdc/path_reports.h"

namespace uet::pds::test {
namespace {

using wire::NackCode;

class RudiTest : public ::testing::Test {
 protected:
  RudiBench b;
};

// [PDS-V8, PDS-208] Requests are sealed under the domain of their flow, and packets of another
// domain do not answer them.
TEST_F(RudiTest, OtherDomainsAnswerNothing) {
  b.sdi = 7;
  const auto out = b.send(1, 1);
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].sdi, 7u);
  b.sdi = 0;
  b.answer(RudiBench::id_of(out[0]));
  b.refuse(RudiBench::id_of(out[0]), NackCode::exp_nack_fatal);
  EXPECT_EQ(b.count(Count::drop_sdi), 2u);
  EXPECT_TRUE(b.client.responded.empty());
  EXPECT_TRUE(b.client.failed.empty());
  b.sdi = 7;
  b.answer(RudiBench::id_of(out[0]));
  EXPECT_EQ(b.client.responded.size(), 1u);
}

// [PDS-200, PDS-201, WIRE-042] Type 4 (00100), next header 3 (0011), no flags: 0x2180; 16 reserved
// bits; the number. Then the SES octets of the stub: message 1, offset 0.
TEST_F(RudiTest, RequestHasEightOctetsOfHeaderAndNoPdc) {
  const auto out = b.send(1, 1);
  ASSERT_EQ(out.size(), 1u);
  char id[9];
  std::snprintf(id, sizeof id, "%08x", RudiBench::id_of(out[0]).value());
  EXPECT_EQ(hex({out[0].octets.data(), 16}), "21800000" + std::string(id) + "0000000100000000");
  EXPECT_EQ(out[0].octets.size(), 16u + b.client.mtu);
  EXPECT_EQ(out[0].to, address(9));
  EXPECT_EQ(out[0].ecn, Ecn::ect0);
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
}

// [PDS-200, PDS-201] All transmissions of a packet have one number; RETX marks the later ones.
TEST_F(RudiTest, ResendCarriesTheSameNumberAndRetx) {
  const auto first = b.send(1, 1);
  b.elapse(6_ms);
  const auto second = b.tx();
  ASSERT_EQ(second.size(), 1u);
  auto expected = first[0].octets;
  expected[1] |= std::byte{0x10};  // RETX and nothing else
  EXPECT_EQ(hex(second[0].octets), hex(expected));
  EXPECT_EQ(b.count(Count::rudi_retx_rto), 1u);
}

// [PDS-204] Each packet has its own time-out: an answered packet is not sent again.
TEST_F(RudiTest, OnlyTheUnansweredPacketIsSentAgain) {
  const auto out = b.send(1, 3);
  ASSERT_EQ(out.size(), 3u);
  b.answer(RudiBench::id_of(out[0]));
  b.answer(RudiBench::id_of(out[2]));
  b.elapse(6_ms);
  const auto again = b.tx();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(RudiBench::id_of(again[0]), RudiBench::id_of(out[1]));
  b.answer(RudiBench::id_of(out[1]));
  b.elapse(1_s);
  EXPECT_TRUE(b.tx().empty());
  EXPECT_EQ(b.client.responded.size(), 3u);
  EXPECT_EQ(hex(b.client.response_octets.at({1, 0})).size(), 24u);
  EXPECT_TRUE(b.pds->idle());
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-204] Doubling each time: 5, 10, 20, 40, 80 ms after the transmission before.
TEST_F(RudiTest, TimeOutsDouble) {
  b.send(1, 1);
  for (const int64_t ms : {5, 10, 20, 40, 80}) {
    b.elapse(Duration::milliseconds(ms) - 100_us);
    EXPECT_TRUE(b.tx().empty()) << ms;
    b.elapse(200_us);
    EXPECT_EQ(b.tx().size(), 1u) << ms;
  }
}

// [PDS-204, PDS-148] By count: Max_RTO_Retx_Cnt resends, then the error, and no more packets.
TEST(RudiLimitTest, TimeOutsEndInOneError) {
  RudiBench b(Config::spec());
  b.send(1, 1);
  uint32_t resends = 0;
  for (int i = 0; i < 1000; ++i) {
    b.elapse(1_ms);
    resends += static_cast<uint32_t>(b.tx().size());
  }
  EXPECT_EQ(resends, 5u);
  ASSERT_EQ(b.client.failures.size(), 1u);
  EXPECT_EQ(b.client.failures[0].reason, FailureReason::timeout);
  EXPECT_FALSE(b.client.failures[0].not_delivered);
  EXPECT_EQ(b.count(Count::rudi_failed), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-204, architecture 5] By time: the silence about this packet counts, whatever else the peer
// answers. A peer that knows no RUDI answers everything but that.
TEST_F(RudiTest, AnswersToOtherPacketsDoNotExtendAWait) {
  b.send(1, 1);
  for (int i = 0; i < 61; ++i) {
    b.elapse(1_s);
    const auto out = b.send(100 + static_cast<uint32_t>(i), 1);
    ASSERT_FALSE(out.empty());
    b.answer(RudiBench::id_of(out.back()));
  }
  ASSERT_EQ(b.client.failed.count({1, 0}), 1u);
  EXPECT_EQ(b.client.failures[0].reason, FailureReason::timeout);
  EXPECT_EQ(b.client.failures.size(), 1u);
}

// [decision 4] If only ICMP errors come, the packet fails after two seconds.
TEST_F(RudiTest, UnreachablePeerFailsThePacket) {
  b.send(1, 1);
  for (int i = 0; i < 30; ++i) {
    b.pds->path_reports().on_unreachable(address(9), b.now);
    b.elapse(100_ms);
    b.tx();
  }
  ASSERT_EQ(b.client.failures.size(), 1u);
  EXPECT_EQ(b.client.failures[0].reason, FailureReason::unreachable);
}

// The rest of a message is not sent when one packet of it has failed. [PDS-149]
TEST(RudiLimitTest, FailureEndsTheMessage) {
  Config config = Config::spec();
  config.rudi_window = 2;
  RudiBench b(config);
  EXPECT_EQ(b.send(1, 5).size(), 2u);
  for (int i = 0; i < 1000; ++i) {
    b.elapse(1_ms);
    b.tx();
  }
  EXPECT_EQ(b.client.messages.at(1).pulled, 2 * b.client.mtu);
  EXPECT_EQ(b.client.failed.size(), 2u);
  EXPECT_EQ(b.client.aborted.count(1), 1u);
  EXPECT_TRUE(b.pds->idle());
}

// [PDS-203, PDS-118] No room there: again after NACK_Retx_Time, 2 ms, then 4 ms.
TEST_F(RudiTest, ARefusalWithoutRoomDelaysTheResend) {
  const PktId id = RudiBench::id_of(b.send(1, 1).at(0));
  for (const auto code :
       {NackCode::no_pkt_buffer, NackCode::no_ses_msg_avail, NackCode::no_resource}) {
    static int64_t wait_ms = 1;
    wait_ms *= 2;
    b.refuse(id, code);
    b.elapse(Duration::milliseconds(wait_ms) - 100_us);
    EXPECT_TRUE(b.tx().empty()) << wire::name(code);
    b.elapse(200_us);
    ASSERT_EQ(b.tx().size(), 1u) << wire::name(code);
  }
  EXPECT_EQ(b.count(Count::rudi_retx_delayed), 3u);
  EXPECT_EQ(b.count(Count::nack_rx_no_resource), 1u);
  b.answer(id);
  EXPECT_EQ(b.client.responded.size(), 1u);
}

// [PDS-207, PDS-203] A trimmed packet goes again at once; a second NACK about it has no effect.
TEST_F(RudiTest, TrimmedPacketGoesAgainAtOnce) {
  const PktId id = RudiBench::id_of(b.send(1, 1).at(0));
  b.refuse(id, NackCode::trimmed);
  b.refuse(id, NackCode::trimmed_lasthop);
  const auto again = b.tx();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_TRUE(again[0].as<wire::RudiRequest>().retx);
  EXPECT_EQ(b.count(Count::rudi_retx_nack), 1u);
}

// [PDS-117] By count: Max_NACK_Retx_Cnt refusals are allowed, the next one is the error.
TEST(RudiLimitTest, RefusalsEndInAnError) {
  RudiBench b(Config::spec());
  const PktId id = RudiBench::id_of(b.send(1, 1).at(0));
  for (int i = 0; i < 5; ++i) b.refuse(id, NackCode::no_resource);
  EXPECT_TRUE(b.client.failures.empty());
  b.refuse(id, NackCode::no_resource);
  ASSERT_EQ(b.client.failures.size(), 1u);
  EXPECT_EQ(b.client.failures[0].reason, FailureReason::nack);
  EXPECT_EQ(b.client.failures[0].nack, NackCode::no_resource);
}

// [PDS-119] A fatal code fails the packet; codes that speak of PSNs change nothing.
TEST_F(RudiTest, FatalCodeFailsAndForeignCodesAreCounted) {
  const PktId id = RudiBench::id_of(b.send(1, 1).at(0));
  for (const auto code : {NackCode::psn_oor_window, NackCode::rod_ooo, NackCode::no_gtd_del_avail,
                          NackCode::rcvd_ses_procg, NackCode::new_start_psn}) {
    b.refuse(id, code);
  }
  EXPECT_EQ(b.count(Count::drop_nack_code), 5u);
  EXPECT_TRUE(b.tx().empty());
  b.refuse(id, NackCode::unexp_event);
  ASSERT_EQ(b.client.failures.size(), 1u);
  EXPECT_EQ(b.client.failures[0].nack, NackCode::unexp_event);
}

// [PDS-204, PDS-208] Guessed numbers, numbers of another peer's packets, repeated answers: dropped
// and counted.
TEST_F(RudiTest, AnswersThatMatchNothingAreDropped) {
  const PktId id = RudiBench::id_of(b.send(1, 1).at(0));
  Rng rng(3);
  for (int i = 0; i < 1000; ++i) {
    const PktId guess(rng.u32());
    if (guess == id) continue;
    b.answer(guess);
    b.refuse(guess, NackCode::unexp_event);
  }
  b.from = address(10, 50000);  // the right number, but not from the peer that it was sent to
  b.answer(id);
  b.refuse(id, NackCode::unexp_event);
  EXPECT_TRUE(b.client.responded.empty());
  EXPECT_TRUE(b.client.failed.empty());
  EXPECT_EQ(b.count(Count::drop_rudi_unmatched), 2002u);
  b.from = address(9, 50000);
  b.answer(id);
  b.answer(id);
  EXPECT_EQ(b.client.responded.size(), 1u);
  EXPECT_EQ(b.count(Count::drop_rudi_unmatched), 2003u);
  EXPECT_TRUE(b.tx().empty());
}

// [PDS-V4] A response carries a SES response: 4, 5 or 6.
TEST_F(RudiTest, MalformedResponsesAreDropped) {
  const PktId id = RudiBench::id_of(b.send(1, 1).at(0));
  for (const uint32_t next : {0u, 1u, 3u, 7u, 15u}) {
    std::vector<std::byte> octets(20);
    wire::Writer w(octets);
    w.u16(static_cast<uint16_t>(5u << 11 | next << 7));
    w.u16(0);
    w.u32(id.value());
    b.rx_octets(octets);
  }
  for (size_t length = 2; length < 8; ++length) {
    std::vector<std::byte> octets(length);
    octets[0] = std::byte{5u << 3 | 2};
    b.rx_octets(octets);
  }
  EXPECT_EQ(b.count(Count::drop_malformed), 11u);
  EXPECT_TRUE(b.client.responded.empty());
}

// --- the guard [PDS-205] ---

// [PDS-205, CMS-009] 64 toward one destination, regardless of any congestion window; another
// destination has another 64.
TEST(RudiGuardTest, WindowLimitsEachDestination) {
  cms::Config cms;
  cms.initial_window_packets = 1;
  RudiBench b({}, cms);
  const auto out = b.send(1, 100);
  EXPECT_EQ(out.size(), 64u);
  EXPECT_GT(b.count(Count::rudi_window_stalls), 0u);
  EXPECT_EQ(b.send(2, 100, 1, 10).size(), 64u);
  EXPECT_EQ(b.pds->usage().inflight_bytes, 0u);
  EXPECT_EQ(b.pds->footprint().context_bytes, 0u) << "RUDI has none";
  EXPECT_EQ(b.pds->usage().rudi_packets, 128u);
  b.answer(RudiBench::id_of(out[5]));
  EXPECT_EQ(b.tx().size(), 1u);
}

// [PDS-205] A mark halves the window, once per time-out however many come.
TEST_F(RudiTest, MarksHalveTheWindowOncePerTimeOut) {
  const auto out = b.send(1, 200);
  ASSERT_EQ(out.size(), 64u);
  for (int i = 0; i < 32; ++i) b.answer(RudiBench::id_of(out[static_cast<size_t>(i)]), true);
  EXPECT_EQ(b.count(Count::rudi_window_halved), 1u);
  EXPECT_TRUE(b.tx().empty()) << "32 are outstanding";
  b.answer(RudiBench::id_of(out[32]), true);
  EXPECT_EQ(b.tx().size(), 1u);
}

// [PDS-205] So do a refusal and a time-out.
TEST_F(RudiTest, RefusalAndTimeOutHalveTheWindow) {
  const auto out = b.send(1, 200);
  b.refuse(RudiBench::id_of(out[0]), NackCode::no_resource);
  EXPECT_EQ(b.count(Count::rudi_window_halved), 1u);
  b.elapse(5100_us);
  EXPECT_EQ(b.count(Count::rudi_window_halved), 2u);
  for (const auto& o : out) b.answer(RudiBench::id_of(o));
  EXPECT_EQ(b.tx().size(), 19u) << "a quarter of 64, and one for each of 16, 17 and 18 answers";
}

// [PDS-205] One more for each window of clean responses, up to rudi_window.
TEST(RudiGuardTest, CleanResponsesWidenTheWindow) {
  Config config;
  config.rudi_window = 4;
  RudiBench b(config);
  auto out = b.send(1, 1000);
  ASSERT_EQ(out.size(), 4u);
  b.answer(RudiBench::id_of(out[0]), true);  // 2
  for (int i = 1; i < 4; ++i) b.answer(RudiBench::id_of(out[static_cast<size_t>(i)]));
  out = b.tx();
  ASSERT_EQ(out.size(), 3u);
  for (const auto& o : out) b.answer(RudiBench::id_of(o));
  out = b.tx();
  EXPECT_EQ(out.size(), 4u);
  for (int i = 0; i < 20; ++i) {
    for (const auto& o : out) b.answer(RudiBench::id_of(o));
    out = b.tx();
    EXPECT_EQ(out.size(), 4u) << "never above rudi_window";
  }
}

// [PDS-205] What timed out is taken for lost: a packet that the peer never answers does not hold up
// the others, although each of its time-outs halves the window. It still counts among the 64.
TEST(RudiGuardTest, UnansweredPacketsDoNotBlockOtherPackets) {
  Config config;
  config.rudi_window = 3;
  RudiBench b(config);
  b.send(1, 2);
  for (int i = 0; i < 20; ++i) {
    b.elapse(300_ms);
    b.tx();
  }
  EXPECT_GT(b.count(Count::rudi_window_halved), 2u);
  EXPECT_EQ(b.send(2, 5).size(), 1u);
}

// A mark on the answer itself says the same: the data of reads queues on the way here.
TEST_F(RudiTest, MarkedAnswerHalvesTheWindow) {
  const auto out = b.send(1, 2);
  b.marks.ecn = Ecn::ce;
  b.answer(RudiBench::id_of(out[0]));
  EXPECT_EQ(b.count(Count::rudi_window_halved), 1u);
}

// --- bounds and fairness ---

// All packets in use: flows wait, and go on in turn as answers come.
TEST(RudiBoundsTest, PacketsAreBoundedAndFlowsTakeTurns) {
  Config config;
  config.rudi_packets = 4;
  RudiBench b(config);
  b.client.post(b.flow(Mode::rudi, 1), 1, 3 * b.client.mtu);
  b.client.post(b.flow(Mode::rudi, 2), 2, 3 * b.client.mtu);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 4u);
  EXPECT_GT(b.count(Count::rudi_slot_stalls), 0u);
  EXPECT_EQ(b.client.messages.at(1).pulled, 2 * b.client.mtu);
  EXPECT_EQ(b.client.messages.at(2).pulled, 2 * b.client.mtu);
  for (const auto& o : out) b.answer(RudiBench::id_of(o));
  EXPECT_EQ(b.tx().size(), 2u);
}

TEST(RudiBoundsTest, DestinationsAreBounded) {
  Config config;
  config.rudi_destinations = 2;
  RudiBench b(config);
  b.flow(Mode::rudi, 1, 9);
  b.flow(Mode::rudi, 2, 9);  // the same peer
  b.flow(Mode::rudi, 1, 10);
  const auto third = b.pds->flow(b.peer(11), TrafficClass(0), Mode::rudi, JobId(1));
  EXPECT_EQ(third.error(), Errc::again);
}

// A turn is bounded, and a full batch loses nothing.
TEST_F(RudiTest, OneTurnTakesSixteenPackets) {
  b.client.post(b.flow(), 1, 40 * b.client.mtu);
  TxBatch batch;
  EXPECT_EQ(b.pds->transmit(batch, b.now), 16u);
  EXPECT_TRUE(b.pds->has_work());
}

// [PDS-182] Abort: each packet fails once, a message that is half sent is aborted, all is free.
TEST_F(RudiTest, AbortReportsEverythingOnce) {
  b.send(1, 100);
  b.pds->close_all(true, b.now);
  EXPECT_EQ(b.client.failed.size(), 64u);
  EXPECT_EQ(b.client.failures[0].reason, FailureReason::aborted);
  EXPECT_EQ(b.client.aborted.count(1), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});
  EXPECT_TRUE(b.tx().empty());
  EXPECT_TRUE(b.pds->idle());
}

}  // namespace
}  // namespace uet::pds::test
