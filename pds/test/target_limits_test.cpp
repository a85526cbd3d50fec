// The target without a resource: contexts, bitmaps, peers, room for answers. Which code it refuses
// with, and that a refusal leaves no state.
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

class TargetLimitsTest : public ::testing::Test {
 protected:
  Config config_;
};

// [PDS-017, PDS-040, PDS-046, PDS-047, PDS-048, PDS-T3] A refused SYN leaves nothing behind.
TEST_F(TargetLimitsTest, RefusedSynLeavesNothingBehind) {
  Bench b;
  wire::Request h = b.request(1000);
  h.use_rsv_pdc = true;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"NACK NO_PDC_AVAIL psn 1000 from own to 7 payload 0"}));
  h = b.request(1000);
  h.next_hdr = wire::NextHeader::none;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"NACK PDC_HDR_MISMATCH psn 1000 from own to 7 payload 0"}));
  b.rx(b.request(1000 + 1024));
  EXPECT_EQ(b.lines(), (Lines{"NACK INVALID_SYN psn 2024 from own to 7 payload 0"}));
  wire::Control cp = b.control(CtlType::close_cmd, 1000);
  cp.syn = true;
  b.rx_header(cp);
  EXPECT_EQ(b.lines(), (Lines{"NACK UNEXP_EVENT psn 1000 from own to 7 payload 0"}));
  EXPECT_EQ(b.pds->usage(), Usage{});
  EXPECT_TRUE(b.client.received.times.empty());
}

// [PDS-018, PDS-047] Targets never take the initiators' share.
TEST_F(TargetLimitsTest, PoolExhaustionIsAnswered) {
  config_.max_pdcs = 8;
  config_.half_open_percent = 100;
  config_.low_water_percent = 0;
  config_.peer_share_percent = config_.job_share_percent = 100;
  Bench b(config_);
  b.client.script.names_are_unique = false;
  for (uint16_t i = 1; i <= 7; ++i) {
    wire::Request h = b.request(1000);
    h.spdcid = Pdcid(i);
    b.rx(h);
  }
  const auto lines = b.lines();
  EXPECT_EQ(b.pds->open_pdcs(), 6u);
  EXPECT_EQ(lines.at(0), "NACK NO_PDC_AVAIL psn 1000 from own to 7 payload 0");
  EXPECT_EQ(b.count(Count::pdc_alloc_fail), 1u);
  const FlowId flow = *b.pds->flow(PeerId(0), TrafficClass(0), Mode::rud, JobId(1));
  b.client.post(flow, 1, 10);
  EXPECT_EQ(b.tx().size(), 1u);
}

// [PDS-V12, PDS-047] Each thing a new PDC needs and cannot have is named, and nothing is kept.
TEST_F(TargetLimitsTest, RefusesWithoutAContextOrBitmap) {
  config_.max_contexts = 1;
  config_.rx_windows = 1;
  Bench b(config_);
  b.client.script.names_are_unique = false;
  b.rx(b.request(1000));
  b.from = address(8);
  b.rx(b.request(1000));
  EXPECT_EQ(b.lines(), (Lines{"NACK NO_CCC_AVAIL psn 1000 from own to 7 payload 0",
                              "ACK cack 1000 ack 1000"}));
  b.from = address(9);
  b.rx(b.request(1002));  // the gap needs the only bitmap
  wire::Request h = b.request(1000);
  h.spdcid = Pdcid(8);
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"NACK NO_BITMAP psn 1000 from own to 8 payload 0",
                              "ACK cack 1000 ack 1002 sack 1002"}));
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  EXPECT_EQ(b.pds->usage().rx_blocks, 1u);
}

// [PDS-V12] Packets in order take no bitmap, and a gap gives it back when it is filled.
TEST_F(TargetLimitsTest, OnlyAGapHoldsABitmap) {
  Bench b;
  for (uint32_t psn : {1000u, 1001u}) b.rx(b.request(psn));
  EXPECT_EQ(b.pds->usage().rx_blocks, 0u);
  b.rx(b.request(1003));
  EXPECT_EQ(b.pds->usage().rx_blocks, 1u);
  b.rx(b.request(1002));
  EXPECT_EQ(b.pds->usage().rx_blocks, 0u);
}

// A full peer table refuses strangers.
TEST_F(TargetLimitsTest, RefusesWithoutAPeer) {
  Bench b;
  b.client.script.names_are_unique = false;
  for (uint8_t i = 1; i <= 65; ++i) {
    b.from = address(i);
    b.rx(b.request(1000));
  }
  EXPECT_EQ(b.count(Count::drop_no_peer), 1u);
  EXPECT_EQ(b.lines().at(0), "NACK NO_PDC_AVAIL psn 1000 from own to 7 payload 0");
  EXPECT_EQ(b.pds->open_pdcs(), 64u);
}

// [PDS-V12, PDS-112, PDS-V13] Whatever the client refuses with is passed on, and leaves no trace.
TEST_F(TargetLimitsTest, RefusalsOfTheClientArePassedOn) {
  Bench b;
  b.open_target();
  for (const NackCode code : {NackCode::no_pkt_buffer, NackCode::no_ses_msg_avail,
                              NackCode::no_resource, NackCode::exp_nack_normal}) {
    b.client.verdict = [code](PacketName, const RxRequest&) { return Verdict::refused(code); };
    b.rx(b.request(1001, false));
    EXPECT_EQ(b.lines(), (Lines{std::string("NACK ") + wire::name(code) +
                                " psn 1001 from own to 7 payload 1001"}));
  }
  b.client.verdict = nullptr;
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
}

// The queue of answers without a PDC is bounded.
TEST_F(TargetLimitsTest, AnswersBeyondTheQueueAreDropped) {
  config_.reply_queue = 16;
  Bench b(config_);
  for (int i = 0; i < 20; ++i) {
    wire::Request h = b.request(1000, false);
    h.dpdcid = Pdcid(4711);
    b.rx(h);
  }
  EXPECT_EQ(b.lines().size(), 16u);
  EXPECT_EQ(b.count(Count::drop_reply_full), 4u);
}

// [PDS-181] Under pressure unproven PDCs are reclaimed first.
TEST_F(TargetLimitsTest, ForgedSourcesAreReclaimed) {
  config_.max_pdcs = 8;
  config_.low_water_percent = 50;
  Bench b(config_);
  b.client.script.names_are_unique = false;
  for (uint16_t i = 1; i <= 40; ++i) {
    b.from = address(static_cast<uint8_t>(10 + i));
    b.rx(b.request(1000));
    b.elapse(500_ms);
    EXPECT_EQ(b.picture(b.tx().front()), "ACK cack 1000 ack 1000") << i;
  }
  EXPECT_GT(b.count(Count::pdc_reclaimed), 30u);
}

// [PDS-101, PDS-102] Responses above a gap leave room for the packet that fills it. Clears are
// cumulative, so only that packet can free these responses.
TEST_F(TargetLimitsTest, GapCanAlwaysBeFilled) {
  config_.gd_per_pdc = 2;
  Bench b(config_);
  b.open_target();
  b.client.verdict = StubClient::answer_all;
  b.rx(b.request(1002, false));
  b.rx(b.request(1003, false));
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.lines(), (Lines{"NACK NO_GTD_DEL_AVAIL psn 1003 from own to 7 payload 1003",
                              "ACK cack 1000 ack 1002 req CLEAR sack 1001 1002 ses 12",
                              "ACK cack 1000 ack 1001 req CLEAR sack 1001 1002 ses 12",
                              "CP CLEAR_REQ psn 0 payload 1002"}));
  wire::Request h = b.request(1003, false);
  h.retx = true;
  h.clear_psn_offset = -1;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1003 retx req CLEAR sack 1003 ses 12"}));
}

// The NACKs that 5,000 packets without a PDC cause in a second; `host_of` gives the host of the
// next packet.
template <class HostOf>
size_t nacks_for_strangers(Bench& b, HostOf host_of) {
  size_t nacks = 0;
  for (uint32_t i = 0; i < 5000; ++i) {
    wire::Request h = b.request(1000, false);
    h.dpdcid = Pdcid(4711);
    b.from = address(host_of(i), static_cast<uint16_t>(40'000 + i));
    b.rx(h);
    nacks += b.tx().size();
    b.now = b.now + 200_us;
  }
  return nacks;
}

// [PDS-072] At most 1,000 NACKs a second for packets without a PDC, plus a saved burst of a tenth.
TEST_F(TargetLimitsTest, NacksForStrangersAreLimited) {
  Bench b;
  const size_t nacks = nacks_for_strangers(b, [](uint32_t i) { return uint8_t(20 + i % 200); });
  EXPECT_GT(nacks, 990u);
  EXPECT_LT(nacks, 1110u);
  EXPECT_EQ(nacks + b.count(Count::drop_nack_limited), 5000u);
}

// [PDS-072] A host gets half of them, whatever ports it uses: another one is still answered.
TEST_F(TargetLimitsTest, OneHostDoesNotUseUpTheNacksForStrangers) {
  Bench b;
  const size_t nacks = nacks_for_strangers(b, [](uint32_t) { return uint8_t{20}; });
  EXPECT_GT(nacks, 490u);
  EXPECT_LT(nacks, 560u);
  wire::Request h = b.request(1000, false);
  h.dpdcid = Pdcid(4711);
  b.from = address(21);
  b.rx(h);
  EXPECT_EQ(b.tx().size(), 1u);
}

// [PDS-072, PDS-176] A tombstone refuses no more often than a PDC would: the peer's rate, plus a
// saved burst of a tenth.
TEST_F(TargetLimitsTest, NacksForAClosedPdcAreLimited) {
  config_.nacks_per_second_per_peer = 1000;
  config_.tombstone_time = 2_s;
  Bench b(config_);
  b.open_target();
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  EXPECT_EQ(b.tx().size(), 1u);
  size_t nacks = 0;
  for (int i = 0; i < 5000; ++i) {
    b.rx(b.request(1002, false));
    nacks += b.tx().size();
    b.now = b.now + 200_us;
  }
  EXPECT_EQ(b.count(Count::tombstone_hits), 5000u);
  EXPECT_GT(nacks, 990u);
  EXPECT_LT(nacks, 1110u);
  EXPECT_EQ(nacks + b.count(Count::drop_nack_limited), 5000u);
}

// [PDS-079, PDS-077, PDS-220] The profile decides about 100 packets that overtook one. `soft` keeps
// them and reports them by SACK, and the missing packet releases all of them. `spec` keeps none: it
// names the gap once, no SACK reports them, and they must be sent again.
TEST(RodReceiverTest, TheProfileDecidesAboutPacketsOutOfOrder) {
  constexpr uint32_t kGap = 1001;
  constexpr uint32_t kLast = 1101;
  for (const bool is_spec : {false, true}) {
    SCOPED_TRACE(is_spec ? "spec" : "soft");
    Bench b(is_spec ? Config::spec() : Config{});
    const auto arrive = [&](uint32_t psn, bool is_resend) {
      wire::Request h = b.request(psn);
      h.type = wire::PdsType::rod_request;
      h.retx = is_resend;
      b.rx(h);
    };
    arrive(1000, false);
    b.tx();
    for (uint32_t psn = kGap + 1; psn <= kLast; ++psn) arrive(psn, false);
    EXPECT_EQ(b.pds->usage().reordered_packets, is_spec ? 0u : 100u);
    EXPECT_EQ(b.count(Count::nack_tx_rod_ooo), is_spec ? 1u : 0u);
    uint64_t reported = 0;
    for (const auto& o : b.tx()) {
      if (o.type() == wire::PdsType::ack_cc) reported |= o.as<wire::AckCc>().sack_bitmap >> 8;
    }
    EXPECT_EQ(reported != 0, !is_spec);
    EXPECT_EQ(b.client.received.order.size(), 1u);

    arrive(kGap, true);
    EXPECT_EQ(b.client.received.order.size(), is_spec ? 2u : 102u);
    for (uint32_t psn = kGap + 1; psn <= kLast; ++psn) arrive(psn, true);
    ASSERT_EQ(b.client.received.order.size(), 102u);
    for (uint32_t i = 0; i < 102; ++i)
      EXPECT_EQ(b.client.received.order[i], PacketName(1000 + i, 0));
  }
}

// [TSS-072] Answers to repeated packets of a secured PDC are limited: a tenth of a second's answers
// at once, then at the configured rate. In the clear each repetition is answered. Nothing is
// delivered again.
TEST_F(TargetLimitsTest, AnswersToDuplicatesHaveALimit) {
  constexpr uint32_t kDomain = 77;
  config_.duplicate_answers_per_second = 100;
  for (const uint32_t sdi : {kDomain, 0u}) {
    Bench b(config_);
    b.sdi = sdi;
    b.open_target();
    b.rx(b.request(1001, false));
    b.lines();
    const auto answered = [&](int copies) {
      size_t answers = 0;
      for (int i = 0; i < copies; ++i) {
        wire::Request again = b.request(1001, false);
        again.retx = true;
        b.rx(again);
        answers += b.tx().size();
      }
      return answers;
    };
    EXPECT_EQ(answered(10), 10u);
    EXPECT_EQ(answered(5), sdi == 0 ? 5u : 0u);
    EXPECT_EQ(b.count(Count::drop_dup_limited), sdi == 0 ? 0u : 5u);
    b.elapse(50_ms);
    EXPECT_EQ(answered(10), sdi == 0 ? 10u : 5u);
    EXPECT_EQ(b.client.received.order.size(), 2u);
  }
}

}  // namespace
}  // namespace uet::pds::test
