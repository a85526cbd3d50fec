// What a hostile or confused peer may not do, and the switches for peers with habits of their own.
// [PDS 22, T-01, T-04, T-06, T-08]
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

class GuardTest : public ::testing::Test {
 protected:
  // A SYN of peer number n, alone on its PDC.
  static void syn_from(Bench& b, uint8_t n, bool reserved = false) {
    b.from = address(n, 50000);
    wire::Request h = b.request(1000);
    h.use_rsv_pdc = reserved;
    b.rx(h);
  }
  static std::string refusal(Bench& b) {
    const auto lines = b.lines();
    return lines.size() == 1 && lines[0].substr(0, 4) == "NACK" ? lines[0].substr(5, 12) : "none";
  }
  Config config_;
};

// [T-06] Bits for PSNs that were never sent complete nothing, lose nothing and are counted.
TEST_F(GuardTest, SackBitsBeyondWhatWasSentAreIgnored) {
  Bench b;
  b.client.sack_completes = false;
  b.open_initiator(3);
  wire::AckCc h;
  h.ack = b.ack(b.start - 1);
  h.ack.ack_psn_offset = 1;
  h.ack.type = wire::PdsType::ack_cc;
  h.mpr = 8;
  h.sack_psn_offset = 4;  // base: start + 3, the first that was not sent
  h.sack_bitmap = ~uint64_t{0};
  b.rx_header(h);
  EXPECT_EQ(b.count(Count::sack_beyond), 1u);
  EXPECT_EQ(b.count(Count::sack_rx), 0u);
  EXPECT_EQ(b.lines(), Lines{});
  h.sack_psn_offset = INT16_MIN;
  b.rx_header(h);
  h.sack_psn_offset = INT16_MAX;
  b.rx_header(h);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.client.responded.size(), 1u) << "the one that ACK_PSN names";
  b.rx_header(b.ack(b.start + 2));
  EXPECT_EQ(b.client.responded.size(), 3u);
}

// [T-08] Codes that no peer can send in that state change nothing.
TEST_F(GuardTest, ImpossibleNacksAreIgnored) {
  Bench syn;
  syn.open_initiator(2);
  for (const NackCode code :
       {NackCode::inv_dpdcid, NackCode::pkt_not_rcvd, NackCode::ack_with_data, NackCode::rod_ooo}) {
    syn.rx_header(syn.nack(code, syn.start));
  }
  EXPECT_EQ(syn.count(Count::drop_nack_state), 4u);
  EXPECT_EQ(syn.lines(), Lines{});
  EXPECT_TRUE(syn.client.failed.empty());

  Bench b;
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  for (const NackCode code : {NackCode::invalid_syn, NackCode::new_start_psn, NackCode::rod_ooo}) {
    b.rx_header(b.nack(code, b.start + 1));
  }
  EXPECT_EQ(b.count(Count::drop_nack_state), 3u);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_TRUE(b.client.failed.empty());
  b.rx_header(b.nack(NackCode::pkt_not_rcvd, b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"})) << "possible by now";
}

// [T-08, PDS-117] A NACK that is copied spends the budget of its packet once per round trip.
TEST_F(GuardTest, CopiesOfARefusalSpendTheBudgetOnce) {
  Bench b(Config::spec());
  b.open_initiator(2);
  b.elapse(900_us);
  b.rx_header(b.ack(b.start));
  for (int i = 0; i < 50; ++i) b.rx_header(b.nack(NackCode::no_resource, b.start + 1));
  EXPECT_TRUE(b.client.failed.empty());
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
}

// [PDS-118] A packet that is refused within a round trip of each resend waits 2, 4 and 8 ms.
TEST_F(GuardTest, QuickRefusalsMakeTheDelayGrow) {
  Bench b;
  b.open_initiator(2);
  b.elapse(900_us);
  b.rx_header(b.ack(b.start));
  b.lines();
  for (const Duration delay : {2_ms, 4_ms, 8_ms}) {
    b.rx_header(b.nack(NackCode::no_resource, b.start + 1));
    b.elapse(delay - 100_us);
    EXPECT_EQ(b.lines(), Lines{});
    b.elapse(100_us + 2_us);
    EXPECT_EQ(b.lines().size(), 1u);
  }
  EXPECT_EQ(b.count(Count::retx_delayed), 3u);
}

// [T-01] Sources that never show that they heard us take no more than their share; when the peers
// of the oldest have been silent for Close_REQ_Time those give way.
TEST_F(GuardTest, HalfOpenPdcsAreLimited) {
  config_.max_pdcs = 8;
  config_.target_floor_percent = 0;
  config_.low_water_percent = 0;
  config_.half_open_percent = 50;
  Bench b(config_);
  b.client.names_are_unique = false;
  b.open_target();
  b.rx(b.request(1001, false));  // this one has heard us
  b.lines();
  for (uint8_t n = 20; n < 24; ++n) {
    syn_from(b, n);
    EXPECT_EQ(refusal(b), "none") << int{n};
  }
  syn_from(b, 24);
  EXPECT_EQ(refusal(b), "NO_PDC_AVAIL");
  EXPECT_EQ(b.count(Count::half_open_limit), 1u);
  EXPECT_EQ(b.pds->open_pdcs(), 5u);
  b.elapse(1_s + 1_ms);
  b.lines();
  syn_from(b, 24);
  EXPECT_EQ(refusal(b), "none");
  EXPECT_GE(b.count(Count::pdc_reclaimed), 1u);
  b.from = address(9, 50000);
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1002"})) << "undisturbed";
}

// [PDS-017] Who asks for the reserved pool gets nothing else, and nobody else gets it.
TEST_F(GuardTest, ReservedPoolIsApart) {
  config_.max_pdcs = 4;
  config_.reserved_pdcs = 2;
  config_.target_floor_percent = 0;
  config_.low_water_percent = 0;
  config_.half_open_percent = 100;
  Bench b(config_);
  b.client.names_are_unique = false;
  for (uint8_t n = 20; n < 22; ++n) {
    syn_from(b, n, true);
    EXPECT_EQ(refusal(b), "none") << int{n};
  }
  syn_from(b, 22, true);
  EXPECT_EQ(refusal(b), "NO_PDC_AVAIL") << "two general ones are free";
  for (uint8_t n = 23; n < 25; ++n) {
    syn_from(b, n);
    EXPECT_EQ(refusal(b), "none") << int{n};
  }
  syn_from(b, 25);
  EXPECT_EQ(refusal(b), "NO_PDC_AVAIL");
  b.pds->close_all(true, b.now);
  syn_from(b, 26, true);
  EXPECT_EQ(refusal(b), "none") << "given back";
  syn_from(b, 27);
  EXPECT_EQ(refusal(b), "none");
}

// [T-04] All PDCIDs tried from outside reach nobody.
TEST_F(GuardTest, GuessedPdcidsReachNobody) {
  Bench b;
  b.open_target();
  b.from = address(66, 50000);
  for (uint32_t id = 1; id < 65536; ++id) {
    wire::Request h = b.request(1001, false);
    h.dpdcid = Pdcid(static_cast<uint16_t>(id));
    b.rx(h);
    wire::Control close = b.control(CtlType::close_cmd, 1001);
    close.dpdcid = h.dpdcid;
    b.rx_header(close);
  }
  EXPECT_EQ(b.count(Count::drop_bad_peer), 2u);
  EXPECT_EQ(b.count(Count::drop_no_pdc), 2u * 65534);
  EXPECT_EQ(b.client.delivered.size(), 1u);
  EXPECT_LE(b.lines().size(), 100u) << "a tenth of a second of what strangers may cause [T-38]";
  b.from = address(9, 50000);
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
}

// --- habits of the reference provider [PDS 22] ---

// It closes its PDC over 0x10, 0x13 and 0x19, and over control packets that it does not know.
TEST_F(GuardTest, NothingThatTheReferenceProviderClosesOver) {
  Config config = Config::refprov();
  EXPECT_EQ(config.default_mpr, 1);
  EXPECT_EQ(config.pdcs_per_key, 1u);
  config.gd_per_pdc = 4;
  Bench b(config);
  b.client.verdict = StubClient::answer_all;
  b.open_target();
  b.rx_header(b.control(CtlType{12}, 1001));
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::drop_nack_muted), 1u);
  b.rx(b.request(1001, false));
  b.rx(b.request(1002, false));
  for (const std::string& line : b.lines()) EXPECT_EQ(line.substr(0, 3), "ACK") << line;

  Bench i(config);
  i.open_initiator(3);
  i.rx_header(i.nack(NackCode::exp_nack_err, i.start));  // no NOOP: it goes again
  EXPECT_TRUE(i.client.failed.empty());
  i.rx_header(i.ack(i.start));
  i.elapse(6_ms);
  for (const std::string& line : i.lines()) EXPECT_EQ(line.substr(0, 3), "REQ") << line;
  EXPECT_EQ(i.count(Count::probe_tx), 0u);
}

}  // namespace
}  // namespace uet::pds::test
