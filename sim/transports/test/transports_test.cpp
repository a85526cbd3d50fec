// Both ends of each transport, packet by packet.
#include "sim/transports/test/pair.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace uet::sim::transports {
namespace {

constexpr Picoseconds kPacketTime = 332'800;

TEST(GoBackNTest, PacketsLeaveAtTheRateOfTheLink) {
  Pair pair("roce", 10);
  EXPECT_EQ(numbers(pair.send(3 * kPacketTime)), "0 1 2 3");
  EXPECT_EQ(numbers(pair.send(100 * kPacketTime)), "4 5 6 7 8 9");
  EXPECT_FALSE(pair.sender->is_done());
}

// Packet 1 of four is lost: 2 is asked for once, 3 is not; all from 1 on come again.
TEST(GoBackNTest, EverythingBehindALossIsSentAgain) {
  Pair pair("roce", 4);
  const auto sent = pair.send(3 * kPacketTime);
  ASSERT_EQ(numbers(sent), "0 1 2 3");
  auto answers = pair.receive(sent[0]);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].kind, SegmentKind::ack);
  pair.answer(answers);
  answers = pair.receive(sent[2]);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].kind, SegmentKind::nack);
  EXPECT_EQ(answers[0].below, 1u);
  EXPECT_TRUE(pair.receive(sent[3]).empty());
  pair.answer(answers);
  const auto again = pair.send(10 * kPacketTime);
  EXPECT_EQ(numbers(again), "1 2 3");
  EXPECT_TRUE(again[0].is_resent && again[2].is_resent);
  for (const Segment& packet : again) pair.answer(pair.receive(packet));
  EXPECT_TRUE(pair.sender->is_done());
  EXPECT_EQ(pair.counts.data_sent, 7u);
  EXPECT_EQ(pair.counts.data_resent, 3u);
  EXPECT_EQ(pair.counts.go_backs, 1u);
}

// The whole flow is lost, so the receiver does not ask.
TEST(GoBackNTest, SilenceEndsWithTheTimeOut) {
  Pair pair("roce,timeout-us=50", 2);
  EXPECT_EQ(numbers(pair.send(49 * kMicrosecond)), "0 1");
  EXPECT_EQ(numbers(pair.send(51 * kMicrosecond)), "0 1");
  EXPECT_EQ(pair.counts.timeouts, 1u);
}

std::string told_at(Pair& pair, const std::string& marks, uint32_t every_us) {
  std::string out;
  for (uint32_t i = 0; i < marks.size(); ++i) {
    pair.now = i * every_us * kMicrosecond;
    Segment packet;
    packet.number = i;
    packet.payload_bytes = 4096;
    packet.is_marked = marks[i] == 'x';
    for (const Segment& s : pair.receive(packet)) {
      if (s.kind == SegmentKind::cnp) out += std::to_string(i * every_us) + " ";
    }
  }
  return out;
}

// [Zhu 2015, section 3] A notification each 50 us at most, whatever is marked.
TEST(DcqcnTest, MarksAreReportedOnceInAnInterval) {
  Pair pair("dcqcn", 10);
  EXPECT_EQ(told_at(pair, "xxxxxxxxxx", 20), "0 60 120 180 ");
}

// A mark within the interval is reported at its end, and only then: the packet that ends it need
// not be marked.
TEST(DcqcnTest, AMarkWithinTheIntervalIsReportedAtItsEnd) {
  Pair pair("dcqcn", 20);
  EXPECT_EQ(told_at(pair, ".x..x.......x.......", 10), "10 60 120 ");
}

// Out of order arrival asks for nothing; three that are later do.
TEST(SwiftTest, ThreeLaterPacketsShowALoss) {
  Pair pair("swift", 8);
  const auto sent = pair.send(7 * kPacketTime);
  ASSERT_EQ(numbers(sent), "0 1 2 3 4 5 6 7");
  for (const uint32_t arrived : {1, 2}) pair.answer(pair.receive(sent[arrived]));
  EXPECT_EQ(numbers(pair.send(8 * kPacketTime)), "");
  pair.answer(pair.receive(sent[3]));
  const auto again = pair.send(9 * kPacketTime);
  EXPECT_EQ(numbers(again), "0");
  for (const uint32_t arrived : {4, 5, 6, 7}) pair.answer(pair.receive(sent[arrived]));
  EXPECT_FALSE(pair.sender->is_done());
  pair.answer(pair.receive(again[0]));
  EXPECT_TRUE(pair.sender->is_done());
  EXPECT_EQ(pair.counts.data_resent, 1u);
}

// The window is 15 packets at first, and a packet that was acknowledged makes room for one.
TEST(SwiftTest, TheWindowBoundsTheOctetsInFlight) {
  Pair pair("swift", 100);
  const auto sent = pair.send(50 * kPacketTime);
  EXPECT_EQ(sent.size(), 15u);
  pair.answer(pair.receive(sent[0]));
  EXPECT_EQ(numbers(pair.send(60 * kPacketTime)), "15");
}

// On one path a packet is overtaken by none, so three later ones are proof; sprayed ones get two
// base round trips, 28 us, more.
TEST(SrdTest, OvertakingIsNoLoss) {
  Pair pair("srd,first-packets=43", 200);
  const auto sent = pair.send(40 * kPacketTime);
  ASSERT_GE(sent.size(), 41u);
  bool is_sprayed = false;
  for (const Segment& packet : sent) is_sprayed = is_sprayed || packet.path != sent[0].path;
  EXPECT_TRUE(is_sprayed);
  for (uint32_t i = 1; i < 40; ++i) pair.answer(pair.receive(sent[i]));
  EXPECT_EQ(pair.counts.data_resent, 0u);
  const auto later = pair.send(41 * kPacketTime);
  for (const Segment& packet : later) EXPECT_FALSE(packet.is_resent);
}

// 1.5 products of 43 packets leave without a grant; the first answer ends that, and then each grant
// is for one packet.
TEST(EqdsTest, CreditPacesBehindTheFirstWindow) {
  Pair pair("eqds", 300);
  auto sent = pair.send(0);  // the card paces, not the sender
  EXPECT_EQ(sent.size(), 65u);
  pair.answer(pair.receive(sent[0]));
  EXPECT_TRUE(pair.send(0).empty());
  Segment grant;
  ASSERT_TRUE(pair.queue->take(0, grant));
  EXPECT_EQ(grant.kind, SegmentKind::pull);
  EXPECT_FALSE(pair.queue->take(kPacketTime, grant));  // 0.99 of the link: 336.2 ns
  pair.answer({grant});
  EXPECT_EQ(pair.send(0).size(), 1u);
}

// A flow that fits the first window asks for no grant, so it does not need one.
TEST(EqdsTest, AShortFlowNeedsNoGrant) {
  Pair pair("eqds", 3);
  Segment first;
  ASSERT_TRUE(pair.sender->next(0, first));
  EXPECT_EQ(first.credit, 0u);
  pair.answer(pair.receive(first));
  EXPECT_EQ(numbers(pair.send(0)), "1 2");
}

// Trimmed packets are granted and sent before new ones.
TEST(EqdsTest, CutPacketsComeFirst) {
  Pair pair("eqds", 300);
  auto sent = pair.send(0);
  Segment cut = sent[3];
  cut.is_trimmed = true;
  const auto answers = pair.receive(cut);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].kind, SegmentKind::nack);
  EXPECT_EQ(answers[0].number, 3u);
  pair.answer(answers);
  Segment grant;
  ASSERT_TRUE(pair.queue->take(0, grant));
  pair.answer({grant});
  const auto again = pair.send(0);
  ASSERT_FALSE(again.empty());
  EXPECT_EQ(again[0].number, 3u);
  EXPECT_TRUE(again[0].is_resent);
}

// Flow 7 waits already when a packet of flow 8 is cut.
TEST(EqdsTest, AFlowWithACutPacketIsGrantedFirst) {
  Pair pair("eqds", 300);
  Segment asks;
  asks.flow = 7;
  asks.payload_bytes = 4096;
  asks.credit = 10 * 4160;
  pair.receive(asks);
  const FlowSetup other{8, 300 * 4096, 6};
  const auto receiver = pair.transport->receiver(other, pair.network, pair.queue.get());
  Segment cut = asks;
  cut.flow = 8;
  cut.credit = 0;
  cut.is_trimmed = true;
  std::vector<Segment> answers;
  receiver->on_packet(cut, 0, answers);
  Segment grant;
  ASSERT_TRUE(pair.queue->take(0, grant));
  EXPECT_EQ(grant.flow, 8u);
  ASSERT_TRUE(pair.queue->take(kMicrosecond, grant));
  EXPECT_EQ(grant.flow, 7u);
}

// A grant that came on a quicker path than the NACK went to a new packet: the sender asks.
TEST(EqdsTest, AGrantThatOvertakesItsNackIsAskedForAgain) {
  Pair pair("eqds", 66);
  auto sent = pair.send(0);
  ASSERT_EQ(sent.size(), 65u);
  Segment cut = sent[3];
  cut.is_trimmed = true;
  const auto nack = pair.receive(cut);
  Segment grant;
  ASSERT_TRUE(pair.queue->take(0, grant));
  pair.answer({grant});
  ASSERT_EQ(numbers(pair.send(0)), "65");
  pair.answer(nack);
  const auto asked = pair.send(0);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].kind, SegmentKind::request);
  pair.receive(asked[0]);
  pair.now = kMicrosecond;
  ASSERT_TRUE(pair.queue->take(pair.now, grant));
  pair.answer({grant});
  EXPECT_EQ(numbers(pair.send(pair.now)), "3");
}

TEST(CatalogueTest, ConstantsAreSetBehindTheName) {
  EXPECT_EQ(transport_named("swift,base-us=25")->name, "swift");
  EXPECT_EQ(transport_named("nscc"), nullptr);
  EXPECT_NO_THROW(make_transport("swift,base-us=25,hop-us=0"));
  EXPECT_THROW(make_transport("swift,base=25"), std::invalid_argument);
  EXPECT_THROW(make_transport("swift,base-us=x"), std::invalid_argument);
  EXPECT_THROW(make_transport("swift,base-us=-1"), std::invalid_argument);
  EXPECT_THROW(make_transport("roce,base-us=1"), std::invalid_argument);
  for (const char* const wrong : {"swift,base-us=1e300", "srd,paths=1e9", "srd,paths=0",
                                  "srd,paths=nan", "eqds,paths=0", "roce,timeout-us=0"}) {
    EXPECT_THROW(make_transport(wrong), std::invalid_argument) << wrong;
  }
  EXPECT_EQ(transport_names().size(), 6u);
}

}  // namespace
}  // namespace uet::sim::transports
