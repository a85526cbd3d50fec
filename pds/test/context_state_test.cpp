// The states of a congestion context and what it counts, as a snapshot shows them. By hand: a
// packet of the bench has 1,092 nominal octets; with credit it has 1,096 and is announced with
// 1,132, see credit_bench.h.
#include "pds/test/credit_bench.h"

namespace uet::pds::test {
namespace {

ContextSnapshot context_of(const Bench& b) {
  ContextSnapshot s;
  EXPECT_EQ(b.pds->snapshot({&s, 1}, 0).listed, 1u);
  return s;
}

class ContextStateTest : public ::testing::Test {
 protected:
  static Config config() {
    Config c;
    c.payload_mtu = 1024;
    return c;
  }
  // Four packets, of which the largest may have 1,128 octets.
  static cms::Config window_of_four() {
    cms::Config c;
    c.algorithm = cms::Algorithm::fixed;
    c.mtu_bytes = 1128;
    c.window_bytes_max = 4 * 1128;
    c.base_rtt_probe = false;
    return c;
  }
  // Another stream of messages in the same context, with a PDC of its own.
  static FlowId flow_of(Bench& b, uint32_t job) {
    FabricAddress to = b.from;
    to.port = kUetPort;
    return *b.pds->flow(*b.peers.find_or_add(to, b.now), TrafficClass(0), Mode::rud, JobId(job));
  }
  static void post(Bench& b, FlowId flow, uint32_t message, uint32_t packets) {
    b.client.post(flow, message, packets * b.client.mtu);
  }
  // The only context is all that has work.
  static std::string state(const Bench& b) {
    const ContextSnapshot s = context_of(b);
    if (b.pds->has_work()) return "READY";
    if (s.is_held_back) return "ACTIVE";
    return s.inflight_bytes != 0 ? "PENDING" : "IDLE";
  }
  // Packets that leave now, and the state after that.
  static std::string sent(Bench& b) {
    const auto out = b.tx();
    if (!out.empty() && b.own == Pdcid{}) {
      b.own = out[0].as<wire::Request>().spdcid;
      b.start = out[0].as<wire::Request>().start_psn();
    }
    return std::to_string(out.size()) + " " + state(b);
  }
  static std::string acked(Bench& b, int cack) {
    b.rx_header(b.ack(b.start + cack));
    return state(b);
  }
};

// [CMS-010, CMS-011, CMS-012, CMS-013] Data that waits and may go makes a context READY; what may
// not go makes it ACTIVE, until there is room. When all is sent it is PENDING, and IDLE when all is
// answered. New data finds it in either.
TEST_F(ContextStateTest, TheStateFollowsWhatWaitsAndWhatIsInFlight) {
  Bench b(config(), window_of_four());
  const FlowId flow = flow_of(b, 1);
  EXPECT_EQ(state(b), "IDLE");
  post(b, flow, 1, 7);
  EXPECT_EQ(state(b), "READY");
  EXPECT_EQ(sent(b), "4 ACTIVE");
  EXPECT_EQ(acked(b, 0), "READY");
  EXPECT_EQ(sent(b), "1 ACTIVE");
  EXPECT_EQ(acked(b, 2), "READY");
  EXPECT_EQ(sent(b), "2 PENDING");
  post(b, flow, 2, 1);
  EXPECT_EQ(state(b), "READY");
  EXPECT_EQ(sent(b), "0 ACTIVE");
  EXPECT_EQ(acked(b, 3), "READY");
  EXPECT_EQ(sent(b), "1 PENDING");
  EXPECT_EQ(acked(b, 6), "PENDING");
  EXPECT_EQ(acked(b, 7), "IDLE");
  post(b, flow, 3, 1);
  EXPECT_EQ(sent(b), "1 PENDING");
}

// [CMS-011, CMS-012] A packet that is to be sent again is data, too.
TEST_F(ContextStateTest, ALostPacketIsDataThatWaits) {
  Bench b(config(), window_of_four());
  post(b, flow_of(b, 1), 1, 4);
  EXPECT_EQ(sent(b), "4 PENDING");
  b.rx_header(b.nack(wire::NackCode::trimmed, b.start + 1));
  EXPECT_EQ(state(b), "READY");
  EXPECT_EQ(sent(b), "1 PENDING");
}

// [CMS-013] A context is READY as long as one of its PDCs waits and there is room.
TEST_F(ContextStateTest, EachPdcThatWaitsGoesWhenThereIsRoom) {
  Bench b(config(), window_of_four());
  post(b, flow_of(b, 1), 1, 6);
  EXPECT_EQ(sent(b), "4 ACTIVE");
  post(b, flow_of(b, 2), 2, 1);
  EXPECT_EQ(sent(b), "0 ACTIVE");
  EXPECT_EQ(acked(b, 3), "READY");
  EXPECT_EQ(sent(b), "3 PENDING");
}

// [CMS-010, CMS-011] Packets of one PDC are acknowledged and another one waits for credit: the
// context is not IDLE, and its window does not begin anew after a millisecond. The peer has asked
// for less.
TEST_F(ContextStateTest, AContextWithAWaitingPdcIsNotIdle) {
  CreditBench b(cms::Algorithm::both);
  b.open_source();
  b.grant(1);
  b.post(1);
  ASSERT_EQ(b.sent().requests.size(), 1u);
  post(b, flow_of(b, 2), 50, 1);
  ASSERT_TRUE(b.sent().requests.empty());
  wire::AckCc h;
  h.ack = b.ack(b.start + 1);
  h.ack.type = wire::PdsType::ack_cc;
  h.mpr = 8;
  h.state = wire::NsccState{.rcv_cwnd_pend = 64, .rcvd_bytes = 9, .ooo_count = 0xFFFF}.pack();
  const uint64_t before = context_of(b).window_bytes;
  b.rx_header(h);
  const uint64_t smaller = context_of(b).window_bytes;
  ASSERT_LT(smaller, before);
  ASSERT_EQ(context_of(b).inflight_bytes, 0u);
  b.elapse(Duration::microseconds(1500));
  b.grant(10);
  ASSERT_EQ(b.sent().requests.size(), 1u);
  EXPECT_EQ(context_of(b).window_bytes, smaller);
}

// --- what is counted ---

std::string counts(const Bench& b) {
  const ContextSnapshot s = context_of(b);
  return std::to_string(s.backlog_bytes) + " " + std::to_string(s.resend_bytes) + " " +
         std::to_string(s.inflight_bytes);
}

// [CMS-014, CMS-016, CMS-018, CMS-019, CMS-020] How each event changes the backlog, the octets to
// be sent again and the octets in flight, which are zero at first.
TEST_F(ContextStateTest, EachEventChangesItsCounts) {
  Config one_pdc = credit_pds();
  one_pdc.pdcs_per_key = 1;
  CreditBench b(cms::Algorithm::rccc, one_pdc);
  (void)flow_of(b, 1);
  EXPECT_EQ(counts(b), "0 0 0");
  b.open_source();
  EXPECT_EQ(counts(b), "0 0 0");
  b.post(2);
  b.post(1);
  EXPECT_EQ(counts(b), "3396 0 0") << "new data is added";
  b.grant(1);
  EXPECT_EQ(b.sent().requests.size(), 1u);
  EXPECT_EQ(counts(b), "2264 0 1096");
  b.rx_header(b.nack(wire::NackCode::trimmed_lasthop, b.start + 1));
  EXPECT_EQ(counts(b), "2264 1096 0");
  b.grant(5);
  EXPECT_EQ(b.sent().requests.size(), 1u);
  EXPECT_EQ(counts(b), "2264 0 1096") << "a resend takes nothing from the backlog";
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(counts(b), "2264 0 0");
  b.grant(13);
  EXPECT_EQ(b.sent().requests.size(), 2u);
  EXPECT_EQ(counts(b), "0 0 2192");
  for (int i : {2, 3}) b.rx_header(b.nack(wire::NackCode::trimmed_lasthop, b.start + i));
  EXPECT_EQ(counts(b), "0 2192 0");
  b.rx_header(b.ack(b.start + 2));
  EXPECT_EQ(counts(b), "0 1096 0") << "it has arrived after all";
  b.post(1);
  b.pds->withdraw(b.flow, 1000);
  EXPECT_EQ(counts(b), "132 1096 0") << "the message needs less than was announced";
}

// [CMS-016] A context that waits for credit asks for what is new as soon as it may ask again, after
// a round trip of 12 us: 3 packets are 14 units, 5 are 23.
TEST_F(ContextStateTest, NewDataAsksForMoreCredit) {
  CreditBench b;
  b.open_initiator(1, Mode::rod);
  b.rx_header(b.ack(b.start));
  b.post(3);
  auto asked = b.sent().asked;
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].credit_target, 14u);
  b.post(2);
  b.sent();
  b.elapse(Duration::microseconds(20));
  asked = b.sent().asked;
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].credit_target, 23u);
}

}  // namespace
}  // namespace uet::pds::test
