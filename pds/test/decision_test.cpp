// The deciders that hold no packets: AckScheduler, RtoEstimator, LossDetector, the NACK table.
#include "pds/rx/ack_scheduler.h"
#include "pds/tx/loss_detector.h"
#include "pds/nack_codes.h"

#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace uet::pds {
namespace {

using wire::NackCode;

class AckSchedulerTest : public ::testing::Test {
 protected:
  // A packet arrives; `cack` is the cumulative ACK after it.
  void arrive(uint32_t psn, uint32_t cack, bool ar = false, bool ce = false, bool retx = false,
              uint32_t bytes = 0) {
    AckedRequest r;
    r.trigger = {Psn(psn), Entropy(static_cast<uint16_t>(psn)), ce, retx};
    r.ar = ar;
    r.covered = psn <= cack;
    r.payload_bytes = bytes;
    acks_.on_accepted(rules_, r, Psn(cack));
  }
  Count take() {
    Count cause{};
    last_ = acks_.take(cause);
    return cause;
  }
  AckRules rules_;
  AckScheduler acks_;
  AckTrigger last_;
};

// [PDS-A1, PDS-A3, PDS-A6, PDS-A8]
TEST_F(AckSchedulerTest, EachTriggerAlone) {
  arrive(1, 1);
  EXPECT_FALSE(acks_.is_due());
  arrive(2, 2, true);
  ASSERT_TRUE(acks_.is_due());
  EXPECT_EQ(take(), Count::ack_ar);
  EXPECT_EQ(last_.psn, Psn(2));
  EXPECT_FALSE(acks_.is_due());
  arrive(3, 3, false, true);
  EXPECT_EQ(take(), Count::ack_ecn);
  EXPECT_TRUE(last_.ce);
  arrive(4, 4, false, false, true);
  EXPECT_EQ(take(), Count::ack_retx);
  rules_.on_ecn = false;
  arrive(5, 5, false, true);
  EXPECT_FALSE(acks_.is_due());
  rules_.per_packet = true;
  arrive(6, 6);
  EXPECT_EQ(take(), Count::ack_per_packet);
}

// [PDS-082, PDS-A7] Payload counts, a packet for at least the minimum; an ACK resets the count.
TEST_F(AckSchedulerTest, CountsOctets) {
  for (uint32_t p = 1; p <= 3; ++p) arrive(p, p, false, false, false, 4096);
  EXPECT_FALSE(acks_.is_due());
  arrive(4, 4, false, false, false, 4096);
  EXPECT_TRUE(acks_.is_due());
  EXPECT_EQ(take(), Count::ack_bytes);
  for (uint32_t p = 5; p <= 19; ++p) arrive(p, p);
  EXPECT_FALSE(acks_.is_due()) << "15 packets of 1024 at least";
  arrive(20, 20);
  EXPECT_TRUE(acks_.is_due());
}

// [PDS-083] The client may let an ACK of received octets wait, until they are 16 times the
// trigger or something else wants the ACK.
TEST_F(AckSchedulerTest, AnAckOfOctetsMayWait) {
  arrive(1, 1, false, false, false, 8192);
  EXPECT_FALSE(acks_.may_wait()) << "none is due";
  for (uint32_t p = 2; p <= 31; ++p) arrive(p, p, false, false, false, 8192);
  EXPECT_TRUE(acks_.is_due());
  EXPECT_TRUE(acks_.may_wait());
  arrive(32, 32, false, false, false, 8192);
  EXPECT_FALSE(acks_.may_wait()) << "256 KiB";
  take();
  EXPECT_FALSE(acks_.may_wait()) << "it has left";
  for (uint32_t p = 33; p <= 34; ++p) arrive(p, p, false, false, false, 8192);
  EXPECT_TRUE(acks_.may_wait());
  arrive(35, 35, true, false, false, 8192);
  EXPECT_FALSE(acks_.may_wait()) << "the source asks";
}

// [PDS-A9] While an AR packet is above a hole: every fourth arrival, and when it is covered.
TEST_F(AckSchedulerTest, TellsAboutHolesBelowAnArPacket) {
  arrive(10, 1, true);
  take();
  std::vector<uint32_t> acked;
  for (uint32_t p = 20; p < 30; ++p) {
    arrive(p, 1);
    if (acks_.is_due()) {
      acked.push_back(p);
      take();
    }
  }
  // The AR packet itself was the first arrival.
  EXPECT_EQ(acked, (std::vector<uint32_t>{22, 26}));
  arrive(2, 10);
  EXPECT_EQ(take(), Count::ack_hole_closed);
  arrive(11, 11);
  EXPECT_FALSE(acks_.is_due());
}

// [PDS-A6, PDS 8.1 M] A CE mark is reported, even if later packets have none.
TEST_F(AckSchedulerTest, CeIsNotLostToALaterPacket) {
  arrive(1, 1, false, true);
  arrive(2, 2, true);
  take();
  EXPECT_TRUE(last_.ce);
  EXPECT_EQ(last_.psn, Psn(1));
}

// [PDS-140] Doubling from the initial value to the cap; samples only raise it.
TEST(RtoEstimatorTest, DoublesUpToTheCap) {
  RtoEstimator e;
  const Duration init = Duration::milliseconds(5);
  const Duration max = Duration::milliseconds(200);
  std::vector<int64_t> ms;
  for (uint32_t i = 0; i < 8; ++i) ms.push_back(e.rto(init, max, i).ms());
  EXPECT_EQ(ms, (std::vector<int64_t>{5, 10, 20, 40, 80, 160, 200, 200}));
  EXPECT_EQ(e.rto(init, max, 255).ms(), 200);
  e.on_rtt(Duration::microseconds(20));
  EXPECT_EQ(e.rto(init, max, 0).ms(), 5);
  for (int i = 0; i < 100; ++i) e.on_rtt(Duration::milliseconds(30));
  // All alike: four round trips, less what rounding leaves below that.
  EXPECT_GE(e.rto(init, max, 0).ms(), 118);
  EXPECT_LE(e.rto(init, max, 0).ms(), 120);
}

// [PDS-140] After the first sample SRTT is 20 ms and RTTVAR 10 ms, of which four are less than
// three SRTT: 80 ms.
TEST(RtoEstimatorTest, FirstSampleByHand) {
  RtoEstimator e;
  e.on_rtt(Duration::milliseconds(20));
  EXPECT_EQ(e.smoothed().ms(), 20);
  EXPECT_EQ(e.rto(Duration::milliseconds(5), Duration::seconds(1), 0).ms(), 80);
}

// [PDS-140] 10 ms, then 50 ms: RTTVAR becomes (3 * 5 + 40) / 4 = 13.75 ms and SRTT
// (7 * 10 + 50) / 8 = 15 ms. Four RTTVAR are more than three SRTT: 15 + 55 = 70 ms.
TEST(RtoEstimatorTest, RoundTripsThatDifferMakeTheTimeOutLonger) {
  RtoEstimator e;
  e.on_rtt(Duration::milliseconds(10));
  e.on_rtt(Duration::milliseconds(50));
  EXPECT_EQ(e.smoothed().ms(), 15);
  EXPECT_EQ(e.rto(Duration::milliseconds(5), Duration::seconds(1), 0).ms(), 70);
}

// [PDS-140] 48 ms before the first sample. Each sample of 0.1 ms takes about a quarter of what is
// left off the deviation: ((12 * 3 + 0) / 4) = 9 ms after two samples, 4 * 9 + 0.1 = 36.1 ms.
TEST(RtoEstimatorTest, TheFirstTimeOutGivesWayToSamples) {
  const Duration min = Duration::milliseconds(5);
  const Duration max = Duration::milliseconds(200);
  RtoEstimator e(Duration::milliseconds(48));
  EXPECT_EQ(e.rto(min, max, 0).ms(), 48);
  EXPECT_EQ(e.rto(min, max, 1).ms(), 96);
  e.on_rtt(Duration::microseconds(100));
  EXPECT_EQ(e.rto(min, max, 0).us(), 48'100);
  e.on_rtt(Duration::microseconds(100));
  EXPECT_EQ(e.rto(min, max, 0).us(), 36'100);
  for (int i = 0; i < 8; ++i) e.on_rtt(Duration::microseconds(100));
  EXPECT_EQ(e.rto(min, max, 0).ms(), 5);
}

class LossDetectorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    pool_.create(arena_, 4);
    window_.start(Psn(0));
  }
  void send(uint16_t ev, int64_t at_us = 0) {
    ASSERT_TRUE(window_.reserve(pool_));
    TxSlot& s = window_.push();
    s.ev = Entropy(ev);
    s.state.send();
    s.note_sent(at(at_us));
    window_.settle(window_.next() - 1);
  }
  void sack(uint32_t psn) {
    window_[Psn(psn)].state.arrive();
    window_[Psn(psn)].state.land();
    window_.settle(Psn(psn));
    if (psn > highest_) highest_ = psn;
  }
  static Instant at(int64_t us) { return Instant::from_ns(1'000'000'000 + us * 1000); }
  std::vector<uint32_t> infer(uint32_t threshold, LossCause want, int64_t now_us = 1000,
                              Duration time = Duration::zero()) {
    std::vector<uint32_t> lost;
    LossDetector::infer(window_, Psn(highest_), {threshold, 0, time}, at(now_us),
                        [&](Psn p, TxSlot& slot, LossCause cause) {
                          EXPECT_EQ(cause, want);
                          slot.state.land();
                          slot.state.set_lost(true);
                          window_.settle(p);
                          lost.push_back(p.value());
                        });
    return lost;
  }
  void resend(uint32_t psn, int64_t at_us) {
    TxSlot& s = window_[Psn(psn)];
    s.state.set_lost(false);
    s.state.send();
    s.state.count_resend();
    s.note_sent(at(at_us));
    window_.settle(Psn(psn));
  }
  Arena arena_;
  TxPool pool_;
  TxWindow window_;
  uint32_t highest_ = 0;
};

// [PDS-L4] A packet overtaken on the same EV is lost; other EVs prove nothing.
TEST_F(LossDetectorTest, OvertakenOnItsOwnEv) {
  for (const int ev : {1, 2, 1, 2, 3}) send(static_cast<uint16_t>(ev));
  sack(2);
  EXPECT_EQ(infer(100, LossCause::ev_order), (std::vector<uint32_t>{0}));
  sack(4);
  EXPECT_TRUE(infer(100, LossCause::ev_order).empty());
  sack(3);
  EXPECT_EQ(infer(100, LossCause::ev_order), (std::vector<uint32_t>{1}));
}

// A resent packet is judged by its resend, and is no evidence itself.
TEST_F(LossDetectorTest, AResendRestartsTheEvidence) {
  for (int i = 0; i < 4; ++i) send(1, 0);
  sack(1);
  EXPECT_EQ(infer(100, LossCause::ev_order), (std::vector<uint32_t>{0}));
  resend(0, 50);
  sack(2);
  EXPECT_TRUE(infer(100, LossCause::ev_order).empty()) << "2 was sent before the resend of 0";
  send(1, 60);
  sack(4);
  EXPECT_EQ(infer(100, LossCause::ev_order), (std::vector<uint32_t>{3, 0})) << "as they were sent";
  resend(3, 70);
  window_[Psn(3)].state.arrive();  // by whichever copy
  window_.settle(Psn(3));
  send(1, 65);
  EXPECT_TRUE(infer(100, LossCause::ev_order).empty());
}

// [PDS-L3, PDS-143] Many later arrivals on other EVs make a loss; each packet once per recovery.
TEST_F(LossDetectorTest, TooManyOutOfOrder) {
  for (uint16_t ev = 0; ev < 12; ++ev) send(ev);
  for (uint32_t p = 2; p < 6; ++p) sack(p);
  EXPECT_TRUE(infer(5, LossCause::ooo_count).empty());
  sack(6);
  EXPECT_EQ(infer(5, LossCause::ooo_count, 100), (std::vector<uint32_t>{0, 1}));
  EXPECT_TRUE(LossDetector::in_recovery(window_));
  resend(0, 101);
  resend(1, 101);
  sack(7);
  EXPECT_TRUE(infer(5, LossCause::ooo_count, 102).empty());
  sack(9);
  EXPECT_EQ(infer(5, LossCause::ooo_count, 103), (std::vector<uint32_t>{8}));
  for (uint32_t p = 0; p < 12; ++p) window_.complete(Psn(p));
  send(50, 200);
  EXPECT_TRUE(infer(5, LossCause::ooo_count, 201).empty());
  EXPECT_FALSE(LossDetector::in_recovery(window_)) << "everything of the recovery is answered";
}

// [PDS-L3, PDS-143] Few later arrivals, but one was sent long after; on whatever EV, and also after
// the resend.
TEST_F(LossDetectorTest, LostIfSentLongBeforeAnArrival) {
  send(1, 0);
  send(2, 50);
  send(3, 51);
  sack(1);
  EXPECT_TRUE(infer(100, LossCause::ooo_count, 90, 50_us).empty()) << "50 us are believed";
  sack(2);
  EXPECT_EQ(infer(100, LossCause::ooo_count, 91, 50_us), (std::vector<uint32_t>{0}));
  resend(0, 92);
  send(4, 140);
  sack(3);
  EXPECT_TRUE(infer(100, LossCause::ooo_count, 180, 50_us).empty());
  send(5, 143);
  sack(4);
  EXPECT_EQ(infer(100, LossCause::ooo_count, 183, 50_us), (std::vector<uint32_t>{0}));
  resend(0, 184);
  EXPECT_TRUE(infer(100, LossCause::ooo_count, 999).empty()) << "without a round trip no time";
}

TEST_F(LossDetectorTest, NothingAboveTheBaseNothingLost) {
  EXPECT_TRUE(infer(1, LossCause::ooo_count).empty());
  send(1);
  EXPECT_TRUE(infer(1, LossCause::ooo_count).empty());
}

// A row of the table of codes in the reference: "| 0x01 | name | sent by | class | reaction | CMS
// |".
struct NackRow {
  uint32_t first = 0, last = 0;
  std::string kind, reaction;
};

std::vector<NackRow> read_nack_rows() {
  std::ifstream in(UET_SOURCE_DIR "/docs/reference/pds.md");
  std::vector<NackRow> rows;
  bool is_there = false;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("##", 0) == 0) is_there = line.rfind("### 10.2", 0) == 0;
    if (!is_there || line.rfind("| 0x", 0) != 0) continue;
    std::vector<std::string> cells;
    std::istringstream text(line);
    for (std::string cell; std::getline(text, cell, '|');) cells.push_back(cell);
    if (cells.size() < 6) continue;
    const size_t dash = cells[1].find("-0x");
    NackRow row;
    row.first = static_cast<uint32_t>(std::stoul(cells[1], nullptr, 16));
    row.last = dash == std::string::npos
                   ? row.first
                   : static_cast<uint32_t>(std::stoul(cells[1].substr(dash + 1), nullptr, 16));
    row.kind = cells[4];
    row.reaction = cells[5];
    rows.push_back(row);
  }
  return rows;
}

// The reaction of a source that each row demands, the narrower words first.
NackReaction reaction_in(const NackRow& row) {
  const auto says = [&](const char* words) {
    return row.reaction.find(words) != std::string::npos;
  };
  if (says("drop") || says("(destination)")) return NackReaction::ignore;
  if (row.kind.find("FATAL") != std::string::npos) return NackReaction::fail_pdc;
  if (says("go-back-N")) return NackReaction::go_back_n;
  if (says("hold until")) return NackReaction::hold_window;
  if (says("send clear")) return NackReaction::send_clear;
  if (says("PDS-051")) return NackReaction::rebase;
  if (says("restart RTO")) return NackReaction::wait;
  if (says("fail the message")) return NackReaction::fail_message;
  if (says("delayed resend") || says("as 0x04")) return NackReaction::resend_later;
  EXPECT_TRUE(says("resend")) << row.first;
  return NackReaction::resend_now;
}

// [PDS 10.2, PDS-071] The table of the reference, code by code. decision_table_test covers the
// effect of each reaction.
TEST(NackReactionTest, AsTheReferenceHasIt) {
  std::set<uint32_t> seen;
  for (const NackRow& row : read_nack_rows()) {
    for (uint32_t code = row.first; code <= row.last; ++code) {
      EXPECT_EQ(reaction_to(static_cast<NackCode>(code)), reaction_in(row)) << "code " << code;
      seen.insert(code);
    }
  }
  EXPECT_EQ(seen.size(), 255u) << "all but 0, which is none";
  EXPECT_EQ(reaction_to(NackCode::none), NackReaction::ignore);
  // [PDS-119] Not 0x11 and 0x13, which leave the outcome unknown.
  EXPECT_FALSE(is_certainly_not_executed(NackCode::closing_in_err));
  EXPECT_FALSE(is_certainly_not_executed(NackCode::gtd_resp_unavail));
  EXPECT_TRUE(is_certainly_not_executed(NackCode::inv_dpdcid));
}

TEST(CountersTest, EveryDropHasItsLineInTheDocument) {
  std::ifstream in(UET_SOURCE_DIR "/docs/counters.md");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  ASSERT_FALSE(text.empty());
  for (size_t i = 0; i < Counters::kCount; ++i) {
    const std::string name = pds::name(static_cast<Count>(i));
    if (name.substr(0, 5) != "drop_") continue;
    EXPECT_NE(text.find("| `" + name + "` |"), std::string::npos) << name;
  }
}

TEST(CountersTest, NamesAndCodes) {
  EXPECT_STREQ(name(Count::rx_packets), "rx_packets");
  EXPECT_STREQ(name(Count::nack_rx_other), "nack_rx_other");
  EXPECT_EQ(nack_rx_count(NackCode::trimmed), Count::nack_rx_trimmed);
  EXPECT_EQ(nack_tx_count(NackCode::closing), Count::nack_tx_closing);
}

// Each code has the counter of its name; codes that are never sent, reserved or experimental share
// one.
TEST(CountersTest, EveryNackCodeHasItsCounters) {
  const std::set<NackCode> unsent{NackCode::trimmed_ack, NackCode::ack_with_data,
                                  NackCode::rcvr_infer_loss};
  for (uint32_t i = 0; i < 256; ++i) {
    const auto code = static_cast<NackCode>(i);
    std::string own = wire::name(code);
    for (char& c : own) c = static_cast<char>(std::tolower(c));
    const bool is_code = i >= 0x01 && i <= 0x1A && i != 0x0C;
    EXPECT_EQ(name(nack_rx_count(code)), "nack_rx_" + (is_code ? own : "other")) << i;
    const bool is_sent = is_code && unsent.count(code) == 0;
    EXPECT_EQ(name(nack_tx_count(code)), "nack_tx_" + (is_sent ? own : "other")) << i;
  }
}

}  // namespace
}  // namespace uet::pds
