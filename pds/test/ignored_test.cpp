// A peer that is alive and never answers for a packet: the wait ends like that for a peer that only
// refuses. And a target whose Close Request finds that the peer has closed already: the data that
// it returned is not lost. [PDS-148, PDS-T17, PDS-176]
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using Lines = std::vector<std::string>;

class IgnoredTest : public ::testing::Test {
 protected:
  IgnoredTest() {
    config_.peer_timeout = 2_s;
    config_.probe = false;
  }
  // A PDC that the peer opened, with return data of `packets` packets on its way to the peer.
  static void owe(Bench& b, uint32_t packets) {
    b.open_target();
    b.rx(b.request(1001, false));  // it knows our PDCID
    b.tx();
    b.start = kFirst;
    b.client.messages[5] = {packets * 1024, 0, false, wire::NextHeader::response_data};
    ASSERT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(5)));
    ASSERT_EQ(b.tx().size(), packets);
  }
  // Until `end` the peer sends a request each half second, and no ACK.
  static void talk_until(Bench& b, uint32_t& psn, Instant end) {
    while (b.now < end) {
      b.rx(b.request(psn++, false));
      b.tx();
      b.elapse(std::min(500_ms, end - b.now));
      b.tx();
    }
  }
  Config config_;
};

// [PDS-148, PDS-T17] Five times peer_timeout after what it last acknowledged. Unfinished messages
// fail once, the peer is asked once to close, and after Close_REQ_Time the PDC is free.
TEST_F(IgnoredTest, TheWaitOfATargetEndsAfterTheTimeLimit) {
  Bench b(config_);
  owe(b, 3);
  uint32_t psn = 1002;
  talk_until(b, psn, b.now + 5_s);
  b.rx_header(b.ack(kFirst));  // the first of the three
  EXPECT_EQ(b.client.responded.size(), 1u);
  const Instant end = b.now + config_.refusal_patience();
  talk_until(b, psn, end - 2_us);
  EXPECT_TRUE(b.client.failures.empty());
  talk_until(b, psn, end + config_.rto_max);
  ASSERT_EQ(b.client.failures.size(), 2u);
  EXPECT_EQ(b.client.failures[0].reason, FailureReason::timeout);
  EXPECT_EQ(b.count(Count::pdc_closed_ignored), 1u);
  EXPECT_EQ(b.count(Count::close_req_tx), 1u);
  b.elapse(config_.close_req + 1_ms);
  b.tx();
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-148, PDS-I18] An initiator ends the wait as well, although packets of the peer arrive on
// other PDCs.
TEST_F(IgnoredTest, TheWaitOfAnInitiatorEndsAfterTheTimeLimit) {
  Bench b(config_);
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  const Instant end = b.now + config_.refusal_patience();
  wire::Request other = b.request(kFirst.value());
  other.spdcid = Pdcid(8);
  for (; b.now < end - 2_us; ++other.psn) {
    b.rx(other);
    for (const auto& o : b.tx()) {
      if (o.type() == wire::PdsType::ack) other.dpdcid = o.as<wire::Ack>().spdcid;
    }
    other.syn = false;  // it has our PDCID [PDS-256]
    other.psn_offset = 0;
    b.elapse(std::min(500_ms, end - 2_us - b.now));
  }
  EXPECT_TRUE(b.client.failures.empty());
  b.tx();
  b.elapse(config_.rto_max);
  EXPECT_EQ(b.client.failures.size(), 1u);
  EXPECT_EQ(b.count(Count::pdc_closed_ignored), 1u);
  bool said = false;
  for (const auto& o : b.tx()) {
    if (o.type() != wire::PdsType::control) continue;
    const auto h = o.as<wire::Control>();
    said = said || (h.ctl_type == CtlType::close_cmd && h.spdcid == b.own);
  }
  EXPECT_TRUE(said) << "the peer is there and may hold its side";
}

// [PDS-148] A PDC waits for a peer that answers each question with the code that it works on the
// request.
TEST_F(IgnoredTest, APeerThatReportsWorkIsWaitedFor) {
  Bench b(config_);
  b.open_initiator(2);
  b.rx_header(b.ack(b.start));
  for (int i = 0; i < 60; ++i) {
    b.rx_header(b.nack(NackCode::rcvd_ses_procg, b.start + 1));
    b.elapse(1_s);
    b.tx();
  }
  EXPECT_TRUE(b.client.failures.empty());
}

// [PDS-148] The peer works on a later packet: that is no reason to wait for the one before it.
TEST_F(IgnoredTest, WorkOnALaterPacketIsNoExcuse) {
  Bench b(config_);
  b.open_initiator(3);
  b.rx_header(b.ack(b.start));
  const Instant end = b.now + config_.refusal_patience();
  while (b.now < end - 2_us) {
    b.rx_header(b.nack(NackCode::rcvd_ses_procg, b.start + 2));
    b.elapse(std::min(500_ms, end - 2_us - b.now));
    b.tx();
  }
  EXPECT_TRUE(b.client.failures.empty());
  b.elapse(config_.rto_max);
  EXPECT_EQ(b.client.failures.size(), 2u);
  EXPECT_EQ(b.count(Count::pdc_closed_ignored), 1u);
}

// [PDS-119, PDS-120, PDS-176] The initiator gave up its Close, so a Close Request meets a tombstone
// and is refused by CLOSING. The tombstone also answers for the data returned before.
TEST_F(IgnoredTest, ClosingFailsNoPacketThatTheTombstoneKnows) {
  Bench b(config_);
  owe(b, 2);
  b.pds->close_all(false, b.now);
  ASSERT_EQ(b.lines(), (Lines{"CP CLOSE_REQ psn 1002 ar payload 0"}));
  b.rx_header(b.nack(NackCode::closing, Psn(1002)));
  EXPECT_TRUE(b.client.failures.empty());
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.elapse(6_ms);
  EXPECT_EQ(b.tx().size(), 2u) << "both go again, and no Close Request";
  b.rx_header(b.ack(Psn(1001)));
  b.tx();
  EXPECT_EQ(b.client.responded.size(), 2u);
  EXPECT_TRUE(b.client.failures.empty());
  EXPECT_EQ(b.client.closed, std::vector<bool>{true});
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-119, PDS-120] A named data packet was never received, and fails; an answer for the one
// before may come. If none comes, the wait ends with the peer time-out.
TEST_F(IgnoredTest, ClosingFailsTheNamedPacket) {
  Bench b(config_);
  owe(b, 2);
  b.rx_header(b.nack(NackCode::closing, Psn(1001)));
  ASSERT_EQ(b.client.failures.size(), 1u);
  EXPECT_TRUE(b.client.failures[0].not_delivered);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.elapse(config_.peer_timeout - 1_ms);
  b.tx();
  EXPECT_EQ(b.client.failures.size(), 1u);
  b.elapse(2_ms);
  b.tx();
  EXPECT_EQ(b.client.failures.size(), 2u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-176] A target that gives up its PDC has executed the packets on it, and the peer may not
// know: a SYN that is sent again opens no PDC, and its request is not executed again.
TEST_F(IgnoredTest, APacketThatAFailedPdcExecutedIsNotExecutedAgain) {
  Bench b(Config::spec());
  b.open_target();
  b.lines();
  b.elapse(40_s + 1_us);
  b.lines();
  b.elapse(3_ms);
  EXPECT_EQ(b.count(Count::close_req_expired), 1u);
  b.lines();
  b.rx(b.request(1000, true));
  b.rx(b.request(1001, true));
  EXPECT_EQ(b.lines(), (Lines{"NACK GTD_RESP_UNAVAIL psn 1000 from own to 7 payload 1001",
                              "NACK CLOSING psn 1001 from own to 7 payload 1001"}));
  EXPECT_EQ(b.client.received.times.size(), 1u);
  EXPECT_EQ(b.count(Count::tombstone_hits), 2u);
  EXPECT_EQ(b.count(Count::pdc_opened_target), 1u);
}

// [PDS-148, PDS-T17] The reader of return data posted the memory for it: it has no application to
// wait for, so refusing with the codes for that ends like any refusal.
TEST_F(IgnoredTest, ReturnDataWaitsForNoApplication) {
  for (const NackCode code : {NackCode::rcvd_ses_procg, NackCode::no_resource}) {
    SCOPED_TRACE(wire::name(code));
    Bench b(config_);
    owe(b, 1);
    b.rx_header(b.nack(code, kFirst));
    const Instant end = b.now + config_.refusal_patience();
    while (b.now < end - 2_us) {
      b.elapse(std::min(10_ms, end - 2_us - b.now));
      b.tx();
      b.rx_header(b.nack(code, kFirst));
    }
    EXPECT_TRUE(b.client.failures.empty());
    b.elapse(config_.rto_max + 4_us);
    ASSERT_EQ(b.client.failures.size(), 1u);
    EXPECT_EQ(b.client.failures[0].reason, FailureReason::timeout);
    EXPECT_EQ(b.count(Count::pdc_closed_refused), 1u);
  }
}

}  // namespace
}  // namespace uet::pds::test
