// Full stores become empty again, and scarce places go to packets that free others: the packets
// that each end sends so that neither waits without end. [PDS 9]
#include "pds/test/bench.h"

#include <algorithm>

namespace uet::pds::test {
namespace {

using wire::CtlType;
using Lines = std::vector<std::string>;

int64_t times(const Lines& lines, const std::string& line) {
  return std::count(lines.begin(), lines.end(), line);
}

class FullStoreTest : public testing::Test {
 protected:
  // A ROD PDC, and three requests that want a response each, the first of them last.
  static void fill_behind_a_gap(Bench& b) {
    for (const uint32_t psn : {1000u, 1002u, 1003u, 1001u}) {
      wire::Request h = b.request(psn, psn == 1000);
      h.type = wire::PdsType::rod_request;
      b.rx(h);
      if (psn != 1000) continue;
      b.own = b.tx().at(0).as<wire::Ack>().spdcid;
      b.client.verdict = StubClient::answer_all;
    }
  }
  Config config_;
};

// [PDS-101, PDS-106] A ROD packet that waits in the reorder buffer for room in the store is not
// refused by a NACK, so a Clear Request informs its sender; if it is lost, another one follows.
TEST_F(FullStoreTest, APacketThatWaitsForRoomAsksForTheClear) {
  config_.gd_per_pdc = 2;
  config_.gd_high_water_percent = 1000;  // nothing else asks
  Bench b(config_);
  fill_behind_a_gap(b);
  const std::string ask = "CP CLEAR_REQ psn 0 payload 1002";
  EXPECT_EQ(times(b.lines(), ask), 1);
  b.elapse(3_ms);
  EXPECT_EQ(times(b.lines(), ask), 1) << "again: the first one was lost";
  EXPECT_EQ(b.client.received.times.count({1003, 0}), 0u);
  b.rx_header(b.control(CtlType::clear_cmd, 0, 1002));
  b.elapse(3_ms);
  EXPECT_EQ(b.client.received.times.count({1003, 0}), 1u);
}

// [PDS-101] A request that comes again gets its own response, although the hash table of responses
// has grown meanwhile.
TEST_F(FullStoreTest, EachOfManyResponsesIsSentAgain) {
  constexpr uint32_t kMany = 600;
  config_.gd_per_pdc = kMany + 1;
  config_.gd_high_water_percent = 1000;
  Bench b(config_);
  b.client.verdict = StubClient::answer_all;
  for (uint32_t psn = 1000; psn < 1000 + kMany; ++psn) {
    b.rx(b.request(psn, psn == 1000));
    const auto sent = b.tx();
    if (psn != 1000) continue;
    b.own = sent.at(0).as<wire::Ack>().spdcid;
    b.prove();
    b.tx();
  }
  ASSERT_EQ(b.pds->usage().stored_responses, kMany);
  for (uint32_t psn = 1000; psn < 1000 + kMany; ++psn) {
    b.rx(b.request(psn, false));
    const auto sent = b.tx();
    ASSERT_EQ(sent.size(), 1u) << psn;
    EXPECT_EQ(sent[0].as<wire::Ack>().ack_psn().value(), psn);
    EXPECT_GT(sent[0].octets.size(), wire::Ack::kSize) << psn << ": with its response";
  }
}

// [PDS-105] While a request is not answered the clear waits for it: the request carries it when it
// goes again, and until it is known whether it must no Clear command goes.
TEST_F(FullStoreTest, NoClearCommandBesideAnUnansweredRequest) {
  config_.rto_init = config_.rto_min = config_.tail_loss = 60_ms;
  Bench b(config_);
  b.open_initiator(2);
  wire::Ack h = b.ack(b.start);
  h.req = wire::AckRequest::clear;
  b.rx_header(h);
  b.elapse(config_.clear_time * 5);
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.ack(b.start + 1));
  b.elapse(config_.clear_time + 1_ms);
  EXPECT_EQ(b.lines(),
            (Lines{"CP CLEAR_CMD psn 0 payload " + std::to_string((b.start + 1).value())}));
}

// [PDS-101, PDS 22] No Clear Request goes to the reference provider: when the peer asks about the
// packet it gets a NACK for the full store, which makes it send its clear.
TEST_F(FullStoreTest, APacketThatWaitsForRoomIsRefusedWhereNothingAsks) {
  meet_refprov(config_);
  config_.gd_per_pdc = 2;
  config_.gd_high_water_percent = 1000;
  Bench b(config_);
  fill_behind_a_gap(b);
  b.tx();
  b.rx_header(b.control(CtlType::ack_req, 1003));
  EXPECT_EQ(b.lines(), (Lines{"NACK NO_GTD_DEL_AVAIL psn 1003 from own to 7 payload 1004"}));
  b.rx_header(b.control(CtlType::clear_cmd, 0, 1002));
  b.elapse(3_ms);
  EXPECT_EQ(b.client.received.times.count({1003, 0}), 1u);
}

// [PDS-106, PDS-109] The store of all PDCs has a high-water mark as well, and so has the share of
// the peer: when that is used up.
TEST_F(FullStoreTest, TheStoreOfAllAsksBeforeItIsFull) {
  config_.gd_entries = 8;
  config_.gd_high_water_percent = 25;
  Bench b(config_);
  b.open_target();
  b.client.verdict = StubClient::answer_all;
  b.rx(b.request(1001, false));
  EXPECT_EQ(times(b.lines(), "CP CLEAR_REQ psn 0 payload 1001"), 0);
  b.rx(b.request(1002, false));
  EXPECT_EQ(times(b.lines(), "CP CLEAR_REQ psn 0 payload 1002"), 1);
  config_.gd_high_water_percent = 100;
  Bench share(config_);
  share.open_target();
  share.client.verdict = StubClient::answer_all;
  for (const uint32_t psn : {1001u, 1002u, 1003u}) share.rx(share.request(psn, false));
  EXPECT_EQ(times(share.lines(), "CP CLEAR_REQ psn 0 payload 1003"), 0);
  share.rx(share.request(1004, false));
  EXPECT_EQ(times(share.lines(), "CP CLEAR_REQ psn 0 payload 1004"), 1);
}

// [PDS-105] Packets that the peer has received but not answered are not sent again, so they cannot
// carry the clear: a Clear Command is sent instead.
TEST_F(FullStoreTest, ArrivedPacketsDoNotHoldTheClearBack) {
  Bench b;
  b.client.script.sack_completes = false;
  b.open_initiator(3, Mode::rod);
  wire::AckCc h;
  h.ack = b.ack(b.start - 1, 1);  // answers the first
  h.ack.type = wire::PdsType::ack_cc;
  h.ack.req = wire::AckRequest::clear;
  h.mpr = 8;
  h.sack_psn_offset = 1;
  h.sack_bitmap = 0b111;  // all three are there
  b.rx_header(h);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(3_ms);
  EXPECT_EQ(b.lines(), (Lines{"CP CLEAR_CMD psn 0 payload " + std::to_string(b.start.value())}));
}

// [PDS-079, PDS-093] A packet of ROD that was SACKed may wait for its turn and be dropped instead
// of delivered: only an ACK completes it. With RUD there is nothing to wait for.
TEST_F(FullStoreTest, ASackDoesNotCompleteAPacketOfRod) {
  for (const Mode mode : {Mode::rud, Mode::rod}) {
    SCOPED_TRACE(static_cast<int>(mode));
    Bench b;
    b.open_initiator(3, mode);
    wire::AckCc h;
    h.ack = b.ack(b.start - 1, 1);
    h.ack.type = wire::PdsType::ack_cc;
    h.mpr = 8;
    h.sack_psn_offset = 1;
    h.sack_bitmap = 0b011;
    b.rx_header(h);
    EXPECT_EQ(b.client.responded.count({1, 0}), 1u);
    EXPECT_EQ(b.client.responded.count({1, 1024}), mode == Mode::rud ? 1u : 0u);
  }
}

// [SES-118] The client learns which packets can be completed whatever becomes of later ones.
TEST_F(FullStoreTest, TheClientLearnsWhetherAnythingBeforeIsMissing) {
  Bench b;
  b.open_target();
  std::map<uint32_t, bool> in_order;
  b.client.verdict = [&](PacketName name, const RxRequest& r) {
    in_order[name.first] = r.in_order;
    return Verdict::accepted();
  };
  for (const uint32_t psn : {1002u, 1001u, 1003u, 1005u}) b.rx(b.request(psn, false));
  EXPECT_EQ(in_order,
            (std::map<uint32_t, bool>{{1001, true}, {1002, false}, {1003, true}, {1005, false}}));
}

// [PDS-181] When free PDCs are few, a PDC whose peer sent nothing after its first packet is
// reclaimed after a second, and one with a partly received message after a quarter of the peer
// time-out.
TEST_F(FullStoreTest, AnOpenMessageKeepsItsPdcLonger) {
  config_.max_pdcs = 8;
  config_.low_water_percent = 50;
  Bench b(config_);
  b.client.script.names_are_unique = false;
  const auto open_from = [&](uint8_t host) {
    b.from = address(host);
    b.rx(b.request(1000));
    b.lines();
  };
  b.client.script.has_open = true;
  for (uint8_t host = 20; host < 30; ++host) open_from(host);
  b.elapse(14_s);
  open_from(30);
  EXPECT_EQ(b.count(Count::pdc_reclaimed), 0u);
  EXPECT_GT(b.count(Count::pdc_alloc_fail), 0u);
  b.elapse(2_s);
  open_from(31);
  EXPECT_GT(b.count(Count::pdc_reclaimed), 0u);
}

// [PDS-075, PDS-176] A request that was executed on a reclaimed PDC is not executed again: when the
// peer resends it, the tombstone answers. If the PDC had a gap, the tombstone cannot know which
// requests were executed, and the peer learns that the outcome is unknown.
TEST_F(FullStoreTest, AReclaimedPdcIsNotOpenedAgainByItsOwnSyn) {
  config_.max_pdcs = 8;
  config_.low_water_percent = 50;
  for (const bool has_gap : {false, true}) {
    SCOPED_TRACE(has_gap);
    Bench b(config_);
    b.client.script.names_are_unique = false;
    const auto syn_from = [&](uint8_t host, uint32_t psn, bool retx) {
      b.from = address(host);
      wire::Request h = b.request(psn);
      h.retx = retx;
      b.rx(h);
      return b.lines();
    };
    syn_from(20, has_gap ? 1001 : 1000, false);
    b.elapse(has_gap ? 16_s : 2_s);
    for (uint8_t host = 21; b.count(Count::pdc_reclaimed) == 0 && host < 30; ++host) {
      syn_from(host, 1000, false);
    }
    ASSERT_EQ(b.count(Count::pdc_reclaimed), 1u);
    b.elapse(5_s);
    const size_t delivered = b.client.received.order.size();
    const Lines again = syn_from(20, has_gap ? 1001 : 1000, true);
    ASSERT_EQ(again.size(), 1u);
    if (has_gap) {
      EXPECT_EQ(again[0].find("NACK GTD_RESP_UNAVAIL psn 1001 "), 0u) << again[0];
      EXPECT_EQ(b.count(Count::nack_tx_gtd_resp_unavail), 1u);
    } else {
      EXPECT_EQ(again[0], "ACK cack 1000 ack 1000 retx");
      const Lines later = syn_from(20, 1001, true);
      ASSERT_EQ(later.size(), 1u);
      EXPECT_EQ(later[0].find("NACK CLOSING psn 1001 "), 0u) << later[0];
    }
    EXPECT_EQ(b.client.received.order.size(), delivered);
  }
}

}  // namespace
}  // namespace uet::pds::test
