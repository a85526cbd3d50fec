// The form of an ACK, its congestion control state, the ACKs that leave unasked, and how the source
// reads them. [PDS 8.1 to 8.3, 19.3]
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

class AckFormTest : public ::testing::Test {
 protected:
  // A request that asks for nothing.
  static void rx_quiet(Bench& b, uint32_t psn, uint32_t payload = 0) {
    wire::Request h = b.request(psn, false);
    h.ar = false;
    b.rx(h, payload);
  }
  static wire::AckCc one_ack_cc(Bench& b) {
    const auto out = b.tx();
    EXPECT_EQ(out.size(), 1u);
    if (out.empty() || out[0].type() != wire::PdsType::ack_cc) {
      ADD_FAILURE() << "no ACK_CC";
      return {};
    }
    return out[0].as<wire::AckCc>();
  }
  static wire::AckCc ack_cc(const Bench& b, int cack, wire::NsccState state) {
    wire::AckCc h;
    h.ack = b.ack(b.start + cack);
    h.ack.type = wire::PdsType::ack_cc;
    h.mpr = 8;
    h.sack_psn_offset = 1;
    h.state = state.pack();
    return h;
  }
  Config config_;
};

// --- forms [PDS 8.3] ---

// [PDS-035, PDS 8.3] Every ACK carries the range if it is not the one that peers assume; no ACK
// carries the assumed range.
TEST_F(AckFormTest, RangeIsSentUnlessItIsTheAssumedOne) {
  for (const uint8_t mpr : {uint8_t{4}, uint8_t{8}, uint8_t{16}}) {
    config_.mpr = mpr;
    Bench b(config_);
    b.rx(b.request(1000));
    auto out = b.tx();
    ASSERT_EQ(out.size(), 1u);
    if (mpr == 8) {
      EXPECT_EQ(out[0].type(), wire::PdsType::ack);
      continue;
    }
    ASSERT_EQ(out[0].type(), wire::PdsType::ack_cc);
    EXPECT_EQ(out[0].as<wire::AckCc>().mpr, mpr);
    EXPECT_EQ(out[0].as<wire::AckCc>().state, 0u) << "no congestion control listens";
    b.own = out[0].as<wire::AckCc>().ack.spdcid;
    b.rx(b.request(1001, false));
    EXPECT_EQ(one_ack_cc(b).mpr, mpr) << "the first one may have been lost";
  }
}

// [PDS-A11, PDS-035] A range of half or less is sent at once, a smaller change by the next ACK;
// packets within the range sent before are still accepted.
TEST_F(AckFormTest, SmallerRangeIsSentAtOnce) {
  Bench b;
  b.open_target();
  EXPECT_FALSE(b.pds->set_mpr(0).ok());
  EXPECT_FALSE(b.pds->set_mpr(9).ok()) << "windows are not made for more";
  EXPECT_TRUE(b.pds->set_mpr(5).ok());
  EXPECT_EQ(b.lines(), Lines{}) << "more than half";
  b.rx(b.request(1001, false));
  EXPECT_EQ(one_ack_cc(b).mpr, 5);
  EXPECT_TRUE(b.pds->set_mpr(2).ok());
  const wire::AckCc told = one_ack_cc(b);
  EXPECT_EQ(told.mpr, 2);
  EXPECT_EQ(told.ack.cack_psn, Psn(1001));
  EXPECT_EQ(b.count(Count::ack_mpr), 1u);
  b.rx(b.request(1002 + 1023, false));
  EXPECT_EQ(b.client.received.times.size(), 3u) << "within the old range";
}

// [PDS 8.3, WIRE-049] A vendor's form, when both ends are configured for it.
TEST_F(AckFormTest, VendorFormWhenConfigured) {
  config_.ack_form = AckForm::ccx;
  config_.ccx_type = 15;
  Bench b(config_);
  b.rx(b.request(1000));
  b.rx(b.request(1002));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u) << "it names the later one and covers the other";
  ASSERT_EQ(out[0].type(), wire::PdsType::ack_ccx);
  const auto x = out[0].as<wire::AckCcx>();
  EXPECT_EQ(x.ccx_type, 15);
  EXPECT_EQ(x.mpr, 8);
  EXPECT_EQ(x.ack.cack_psn, Psn(1000));
  EXPECT_EQ(x.sack_base(), Psn(1000));  // 1001, rounded down to a multiple of 8
  EXPECT_EQ(x.sack_bitmap, 0b101u);
  EXPECT_EQ(x.state, (std::array<std::byte, 16>{}));
  EXPECT_EQ(b.count(Count::ack_ccx_tx), 1u);
}

// [PDS 8.3, PDS-035, PDS-L4, WIRE-049] Range and SACK of a vendor's form are read like those of
// ACK_CC: of 256 packets the peer tracks 128, so nothing new goes, and two were overtaken.
TEST_F(AckFormTest, VendorFormIsRead) {
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.initial_window_packets = 4000;
  cms.window_bytes_max = 4000 * 4300;
  config_.tx_window_packets = 256;
  Bench b(config_, cms);
  ASSERT_EQ(b.open_initiator(1000).size(), 256u);
  wire::AckCcx h;
  h.ack = b.ack(b.start + 9);
  h.ack.type = wire::PdsType::ack_ccx;
  h.ccx_type = 14;
  h.mpr = 1;
  h.sack_psn_offset = 1;
  h.sack_bitmap = 0b100;  // the third from here on
  b.rx_header(h);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +10 retx ar clear -1", "REQ psn +11 retx ar clear -2"}));
}

// --- state [PDS 8.1 cc_state] ---

// [PDS-084, PDS-241, CMS-036, CMS-037, CMS-038, CMS-041] By hand: a request of 12 + 8 octets and
// its payload counts UDP payload + 8 + 40 octets, once, whether it is resent or not; units of 256
// octets rounded up.
TEST_F(AckFormTest, StateReportsReceivedOctetsAndServiceTime) {
  config_.ack_form = AckForm::cc;
  Bench b(config_);
  b.rx(b.request(1000), 188);  // 208 + 48 = 256 octets: one unit
  b.now = b.now + Duration::nanoseconds(128 * 5);
  wire::AckCc h = one_ack_cc(b);
  wire::NsccState s = wire::NsccState::unpack(h.state);
  EXPECT_EQ(s.service_time, 5);
  EXPECT_EQ(s.rcvd_bytes, 1u);
  EXPECT_EQ(s.ooo_count, 0);
  b.own = h.ack.spdcid;
  b.rx(b.request(1002, false), 189);  // one octet more: three units in all, and a gap
  s = wire::NsccState::unpack(one_ack_cc(b).state);
  EXPECT_EQ(s.rcvd_bytes, 3u);
  EXPECT_EQ(s.ooo_count, 1);
  EXPECT_EQ(s.service_time, 1) << "0 would mean: not known";
  wire::Request again = b.request(1002, false);
  again.retx = true;
  b.rx(again, 189);
  s = wire::NsccState::unpack(one_ack_cc(b).state);
  EXPECT_EQ(s.rcvd_bytes, 3u) << "a duplicate adds nothing";
  b.rx_header(b.control(CtlType::noop, 1003));
  s = wire::NsccState::unpack(one_ack_cc(b).state);
  EXPECT_EQ(s.rcvd_bytes, 3u) << "a control packet carries no data";
  EXPECT_EQ(s.ooo_count, 2);
  b.rx(b.request(1001, false));
  b.now = b.now + 9_ms;
  s = wire::NsccState::unpack(one_ack_cc(b).state);
  EXPECT_EQ(s.rcvd_bytes, 3u) << "256 + 257 + 68 octets are less than three units";
  EXPECT_EQ(s.ooo_count, 0);
  EXPECT_EQ(s.service_time, 0xFFFF) << "saturated: 8.4 ms or more";
}

// --- coalescing [PDS 8.2] ---

// By packets, when configured. [PDS-A7]
TEST_F(AckFormTest, AcksAfterEnoughPackets) {
  config_.ack_gen_packets = 3;
  Bench b(config_);
  b.open_target();
  rx_quiet(b, 1001);
  rx_quiet(b, 1002);
  EXPECT_EQ(b.lines(), Lines{});
  rx_quiet(b, 1003);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1003 ack 1003"}));
  EXPECT_EQ(b.count(Count::ack_packets), 1u);
  rx_quiet(b, 1004);
  EXPECT_EQ(b.lines(), Lines{}) << "the count starts anew with each ACK";
}

// [PDS-083] By time, when configured: since the first packet that no ACK has followed.
TEST_F(AckFormTest, AcksAfterEnoughTime) {
  config_.ack_delay_max = 1_ms;
  Bench b(config_);
  b.open_target();
  rx_quiet(b, 1001);
  b.elapse(600_us);
  rx_quiet(b, 1002);
  b.elapse(399_us);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(3_us);  // a tick of the wheel and more
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1002"}));
  EXPECT_EQ(b.count(Count::ack_delay), 1u);
  b.elapse(10_ms);
  EXPECT_EQ(b.lines(), Lines{}) << "nothing is owed";
}

// --- at the source [PDS 8.5] ---

// [PDS-L3, CMS-038] The destination's own count of what is out of order ends in a resend where the
// bitmap shows too little: 15 packets, one and a half windows of ten. Each packet has an EV of its
// own, so that their order says nothing.
TEST_F(AckFormTest, ReportedOutOfOrderCountEndsInAResend) {
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.trimming = false;
  cms.window_bytes_max = 10 * (12 + 44 + 4096 + 48);
  config_.packets_per_entropy = 1;
  Bench b(config_, cms);
  ASSERT_EQ(b.open_initiator(16).size(), 16u);
  b.elapse(10_us);
  wire::AckCc h = ack_cc(b, 0, {.service_time = 1, .rcvd_bytes = 9, .ooo_count = 14});
  h.sack_bitmap = 0b10;  // start + 2
  b.rx_header(h);
  EXPECT_EQ(b.lines(), Lines{});
  h.state = wire::NsccState{.service_time = 1, .rcvd_bytes = 9, .ooo_count = 0xFFFF}.pack();
  b.rx_header(h);
  EXPECT_EQ(b.lines(), Lines{}) << "not computed";
  h.state = wire::NsccState{.service_time = 1, .rcvd_bytes = 9, .ooo_count = 15}.pack();
  b.rx_header(h);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 retx ar clear -1"}));
  EXPECT_EQ(b.count(Count::retx_ooo), 1u);
}

// [PDS 13, PDS 19.3] Credit, in either carrier, and demand for it go to congestion control; nothing
// is answered and no window moves.
TEST_F(AckFormTest, CreditsAreRouted) {
  Bench b;
  b.open_target();
  wire::Control h = b.control(CtlType::credit, 0, wire::pack_credit(1000));
  h.ar = false;
  b.rx_header(h);
  h.ctl_type = CtlType::credit_req;
  h.payload = wire::CreditRequest{3, 70000}.pack();
  b.rx_header(h);
  wire::Request with_cc = b.request(1001, false);
  with_cc.type = wire::PdsType::rud_cc_request;
  with_cc.ccc_id = 3;
  with_cc.credit_target = 80000;
  b.rx(with_cc);
  EXPECT_EQ(b.count(Count::credit_rx), 1u);
  EXPECT_EQ(b.count(Count::credit_request_rx), 2u);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
  EXPECT_EQ(b.client.received.times.size(), 2u);
}

// [PDS-071] A negotiation packet is refused each time, an unknown type once a second, and neither
// without AR.
TEST_F(AckFormTest, UnknownControlPacketsAreRefusedOnceASecond) {
  Bench b;
  b.open_target();
  wire::Control h = b.control(CtlType{12}, 1001);
  const Lines refused{"NACK UNEXP_EVENT psn 1001 from own to 7 payload 1001"};
  b.rx_header(h);
  EXPECT_EQ(b.lines(), refused);
  b.rx_header(h);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(1_s);
  b.rx_header(h);
  EXPECT_EQ(b.lines(), refused);
  h.ar = false;
  b.elapse(1_s);
  b.rx_header(h);
  EXPECT_EQ(b.lines(), Lines{});
  h = b.control(CtlType::negotiation, 1001);
  for (int i = 0; i < 2; ++i) {
    b.rx_header(h);
    EXPECT_EQ(b.lines(), refused);
  }
  EXPECT_EQ(b.count(Count::cp_unsupported_rx), 6u);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
}

// [PDS-141] The answer to the only resend, marked as such, is a round trip again.
TEST_F(AckFormTest, AnsweredResendGivesARoundTrip) {
  config_.rto_init = 1_ms;
  config_.rto_max = 8_s;
  const auto rto_after = [&](bool marked, int resends) {
    Bench b(config_);
    b.open_initiator(2);
    b.rx_header(b.ack(b.start));  // established, and a round trip of 0
    for (int i = 0; i < resends; ++i) {
      b.rx_header(b.nack(NackCode::trimmed, b.start + 1));
      EXPECT_EQ(b.lines().size(), 1u);
    }
    b.elapse(900_us);
    wire::Ack h = b.ack(b.start + 1);
    h.retx = marked;
    b.rx_header(h);
    // How long the next packet waits shows whether the 900 us count as a round trip.
    b.client.post(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(1)), 2, 10);
    b.lines();
    b.elapse(1_ms + 1_us);
    return b.lines().empty() ? "longer" : "1 ms";
  };
  EXPECT_STREQ(rto_after(true, 1), "longer");
  EXPECT_STREQ(rto_after(false, 1), "1 ms") << "of the first transmission, perhaps";
  EXPECT_STREQ(rto_after(true, 2), "1 ms") << "of either resend";
}

// [PDS 8.1, PDS-070] A marked packet is to be named by an ACK, which cannot leave before 33,000
// more packets have come. Its PSN lies farther back than an ACK can say then: the cumulative ACK
// covers it.
TEST(AckNameTest, PsnsTooFarBackAreNotNamed) {
  Bench b;
  b.open_target();
  b.marks.ecn = Ecn::ce;
  wire::Request h = b.request(1001, false);
  h.ar = false;
  b.rx(h);
  b.marks.ecn = Ecn::ect0;
  for (uint32_t psn = 1002; psn <= 34'001; ++psn) {
    h = b.request(psn, false);
    h.ar = false;
    b.rx(h);
  }
  EXPECT_EQ(b.lines(), (std::vector<std::string>{"ACK cack 34001 ack 34001"}));
}

}  // namespace
}  // namespace uet::pds::test
