// Which packets bring an ACK, and which packet that ACK answers. [PDS 8.2]
#include "pds/rx/ack_scheduler.h"

#include <gtest/gtest.h>

#include <vector>

namespace uet::pds {
namespace {

constexpr Psn kFirstRequest(1000);

class AckSchedulerPartTest : public testing::Test {
 protected:
  // A request of `bytes` octets. Its PSN is `offset` after that of the first request, which the
  // cumulative ACK covers.
  static AckedRequest request(int offset, uint32_t bytes = 4096) {
    AckedRequest r;
    r.trigger.psn = kFirstRequest + offset;
    r.payload_bytes = bytes;
    r.covered = true;
    return r;
  }
  void accept(const AckedRequest& request) { accept(request, request.trigger.psn); }
  void accept(const AckedRequest& request, Psn cack) { acks_.on_accepted(rules_, request, cack); }
  // The ACK leaves.
  Count cause() {
    Count cause{};
    answered_ = acks_.take(cause).psn;
    return cause;
  }

  AckRules rules_;
  AckScheduler acks_;
  Psn answered_;
};

// [PDS-A7] Octets add up to ACK_Gen_Trigger; the ACK answers the packet that reached it.
TEST_F(AckSchedulerPartTest, ReceivedOctetsBringAnAck) {
  for (int i = 0; i < 3; ++i) accept(request(i));
  EXPECT_FALSE(acks_.is_due());
  EXPECT_TRUE(acks_.is_behind());
  accept(request(3));
  ASSERT_TRUE(acks_.is_due());
  EXPECT_EQ(cause(), Count::ack_bytes);
  EXPECT_EQ(answered_, kFirstRequest + 3);
  EXPECT_FALSE(acks_.is_due());
  for (int i = 4; i < 7; ++i) accept(request(i));
  EXPECT_FALSE(acks_.is_due()) << "the count began anew";
}

// [PDS-A7] A short packet counts as ACK_Gen_Min_Pkt_Add.
TEST_F(AckSchedulerPartTest, ShortPacketsCountForMore) {
  for (int i = 0; i < 15; ++i) accept(request(i, 8));
  EXPECT_FALSE(acks_.is_due());
  accept(request(15, 8));
  EXPECT_TRUE(acks_.is_due());
}

// [PDS-A7] An ACK of received octets is not urgent until 16 times as many were received.
TEST_F(AckSchedulerPartTest, AnAckOfOctetsMayWaitForAWhile) {
  for (int i = 0; i < 63; ++i) accept(request(i));
  EXPECT_TRUE(acks_.may_wait());
  accept(request(63));
  EXPECT_FALSE(acks_.may_wait());
}

// [PDS-A1, PDS-A2, PDS-A3, PDS-A6] What a packet says, or is, brings an ACK at once.
TEST_F(AckSchedulerPartTest, APacketBringsAnAckAtOnce) {
  AckedRequest ar = request(0, 8), first = request(1, 8), retx = request(2, 8),
               marked = request(3, 8);
  ar.ar = first.first = retx.trigger.retx = marked.trigger.ce = true;
  const std::pair<AckedRequest, Count> cases[] = {{ar, Count::ack_ar},
                                                  {first, Count::ack_syn},
                                                  {retx, Count::ack_retx},
                                                  {marked, Count::ack_ecn}};
  for (const auto& [packet, why] : cases) {
    accept(packet);
    ASSERT_TRUE(acks_.is_due());
    EXPECT_FALSE(acks_.may_wait());
    EXPECT_EQ(cause(), why);
    EXPECT_EQ(answered_, packet.trigger.psn);
  }
  rules_.on_ecn = false;
  accept(marked);
  EXPECT_FALSE(acks_.is_due());
}

// [PDS-A8] Enb_ACK_Per_Pkt.
TEST_F(AckSchedulerPartTest, EachPacketBringsAnAckIfSetSo) {
  rules_.per_packet = true;
  accept(request(0, 8));
  ASSERT_TRUE(acks_.is_due());
  EXPECT_EQ(cause(), Count::ack_per_packet);
}

// [PDS-A9] A packet asked for an ACK while one below it was missing: its source waits for the
// cumulative ACK, which another ACK reports when the hole closes.
TEST_F(AckSchedulerPartTest, AClosedHoleBringsAnotherAck) {
  AckedRequest above = request(2, 8);
  above.ar = true;
  above.covered = false;
  accept(above, kFirstRequest);
  EXPECT_EQ(cause(), Count::ack_ar);
  accept(request(4, 8), kFirstRequest);
  EXPECT_FALSE(acks_.is_due()) << "the hole is there";
  accept(request(1, 8), kFirstRequest + 2);
  ASSERT_TRUE(acks_.is_due());
  EXPECT_EQ(cause(), Count::ack_hole_closed);
  accept(request(5, 8), kFirstRequest + 2);
  EXPECT_FALSE(acks_.is_due());
}

// One ACK serves several reasons. It answers the latest packet, but no mark gets lost. [PDS 8.1]
TEST_F(AckSchedulerPartTest, AMarkedPacketIsAnsweredThoughLaterOnesCame) {
  AckedRequest marked = request(0, 8), later = request(1, 8);
  marked.trigger.ce = later.ar = true;
  accept(marked);
  accept(later);
  EXPECT_EQ(acks_.trigger().psn, kFirstRequest);
  EXPECT_EQ(cause(), Count::ack_ecn);
  accept(later);
  accept(request(2, 8));
  EXPECT_EQ(acks_.trigger().psn, kFirstRequest + 1) << "only a packet that asks is answered";
}

// [PDS-083] Without a reason an ACK is behind, and answers the last packet.
TEST_F(AckSchedulerPartTest, AnAckForAnotherReasonAnswersTheLastPacket) {
  AckedRequest one = request(0, 8), two = request(1, 8);
  one.trigger.arrival_tick = 10;
  two.trigger.arrival_tick = 20;
  accept(one);
  accept(two);
  EXPECT_TRUE(acks_.is_behind());
  EXPECT_EQ(acks_.behind_since_tick(), 10u);
  EXPECT_EQ(acks_.trigger().psn, kFirstRequest + 1);
  acks_.want(Count::ack_delay, acks_.trigger());
  EXPECT_FALSE(acks_.may_wait());
  EXPECT_EQ(cause(), Count::ack_delay);
  EXPECT_FALSE(acks_.is_behind());
}

// What a packet says, or has met.
struct Says {
  bool ar = false;
  bool ce = false;
  bool retx = false;
  uint32_t bytes = 0;
};

class AckSchedulerTest : public ::testing::Test {
 protected:
  // A packet arrives; `cack` is the cumulative ACK after it.
  void arrive(uint32_t psn, uint32_t cack, const Says& says = {}) {
    AckedRequest r;
    r.trigger = {Psn(psn), Entropy(static_cast<uint16_t>(psn)), says.ce, says.retx};
    r.ar = says.ar;
    r.covered = psn <= cack;
    r.payload_bytes = says.bytes;
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
  arrive(2, 2, {.ar = true});
  ASSERT_TRUE(acks_.is_due());
  EXPECT_EQ(take(), Count::ack_ar);
  EXPECT_EQ(last_.psn, Psn(2));
  EXPECT_FALSE(acks_.is_due());
  arrive(3, 3, {.ce = true});
  EXPECT_EQ(take(), Count::ack_ecn);
  EXPECT_TRUE(last_.ce);
  arrive(4, 4, {.retx = true});
  EXPECT_EQ(take(), Count::ack_retx);
  rules_.on_ecn = false;
  arrive(5, 5, {.ce = true});
  EXPECT_FALSE(acks_.is_due());
  rules_.per_packet = true;
  arrive(6, 6);
  EXPECT_EQ(take(), Count::ack_per_packet);
}

// [PDS-082, PDS-A7] Payload counts, a packet for at least the minimum; an ACK resets the count.
TEST_F(AckSchedulerTest, CountsOctets) {
  for (uint32_t p = 1; p <= 3; ++p) arrive(p, p, {.bytes = 4096});
  EXPECT_FALSE(acks_.is_due());
  arrive(4, 4, {.bytes = 4096});
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
  arrive(1, 1, {.bytes = 8192});
  EXPECT_FALSE(acks_.may_wait()) << "none is due";
  for (uint32_t p = 2; p <= 31; ++p) arrive(p, p, {.bytes = 8192});
  EXPECT_TRUE(acks_.is_due());
  EXPECT_TRUE(acks_.may_wait());
  arrive(32, 32, {.bytes = 8192});
  EXPECT_FALSE(acks_.may_wait()) << "256 KiB";
  take();
  EXPECT_FALSE(acks_.may_wait()) << "it has left";
  for (uint32_t p = 33; p <= 34; ++p) arrive(p, p, {.bytes = 8192});
  EXPECT_TRUE(acks_.may_wait());
  arrive(35, 35, {.ar = true, .bytes = 8192});
  EXPECT_FALSE(acks_.may_wait()) << "the source asks";
}

// [PDS-A9] While an AR packet is above a hole: every fourth arrival, and when it is covered.
TEST_F(AckSchedulerTest, TellsAboutHolesBelowAnArPacket) {
  arrive(10, 1, {.ar = true});
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
  arrive(1, 1, {.ce = true});
  arrive(2, 2, {.ar = true});
  take();
  EXPECT_TRUE(last_.ce);
  EXPECT_EQ(last_.psn, Psn(1));
}

}  // namespace
}  // namespace uet::pds
