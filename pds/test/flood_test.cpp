// Peers that ask for much, or promise it: credit, requests for credit, requests that no PDC holds
// back. What they get is bounded, and the others lose nothing. [tss.md, T-33, T-34, T-41]
#include "pds/test/rudi_bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using Lines = std::vector<std::string>;

// A window for exactly four packets of 1024 octets.
cms::Config window_of_four() {
  cms::Config c;
  c.algorithm = cms::Algorithm::fixed;
  c.mtu_bytes = 1120;
  c.window_bytes_max = 4 * 1120;
  return c;
}

// [T-33] Credit for the whole world opens no window, and credit that is taken back closes none:
// with and without it as many packets leave. What somebody else grants is not heard.
TEST(FloodTest, CreditOpensNoWindow) {
  Config config;
  config.payload_mtu = 1024;
  Bench b(config, window_of_four());
  ASSERT_EQ(b.open_initiator(40).size(), 4u);
  b.rx_header(b.ack(b.start));
  ASSERT_EQ(b.tx().size(), 1u);
  wire::Control h = b.control(CtlType::credit, 0, wire::pack_credit(0x7F'FFFF));
  h.ar = false;
  b.rx_header(h);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::credit_clamped), 1u);
  h.payload = wire::pack_credit(1);
  b.rx_header(h);
  EXPECT_EQ(b.count(Count::credit_old), 1u);

  wire::AckCc ack;
  ack.ack = b.ack(b.start + 1);
  ack.ack.type = wire::PdsType::ack_cc;
  ack.mpr = 8;
  ack.cc_type = wire::CcType::credit;
  ack.state = wire::CreditState{.credit = 0x80'0000}.pack();
  b.rx_header(ack);
  EXPECT_EQ(b.tx().size(), 1u) << "what the ACK makes room for";
  EXPECT_EQ(b.count(Count::credit_clamped), 2u);

  b.from = address(8);
  b.rx_header(h);
  EXPECT_EQ(b.count(Count::drop_bad_peer), 1u);
  EXPECT_EQ(b.count(Count::credit_rx), 2u);
  EXPECT_EQ(b.count(Count::credit_old), 1u);
}

// [T-34] Requests for credit, however many and for however much, are answered by nothing and leave
// a few numbers behind, for so many peers as there are places. What is beyond is counted.
TEST(FloodTest, RequestsForCreditAreBounded) {
  cms::Config cms;
  cms.window_bytes_max = 65536;  // 256 units
  Config config;
  config.credit_sources = 1;
  Bench b(config, cms);
  b.client.script.names_are_unique = false;  // two peers count from the same PSN
  const auto ask = [&](uint8_t ccc_id, uint32_t target) {
    wire::Control h = b.control(CtlType::credit_req, 0, wire::CreditRequest{ccc_id, target}.pack());
    h.ar = false;
    b.rx_header(h);
  };
  b.open_target();
  const Usage before = b.pds->usage();
  for (int i = 0; i < 100; ++i) ask(3, 256);
  EXPECT_EQ(b.count(Count::creq_drop), 0u);
  for (int i = 0; i < 100; ++i) ask(3, 257);
  EXPECT_EQ(b.count(Count::creq_drop), 100u);
  for (int i = 0; i < 256; ++i) ask(static_cast<uint8_t>(i), 200);
  EXPECT_EQ(b.count(Count::creq_drop), 355u) << "of the 256 only the one it already had";
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.pds->usage(), before);

  const Pdcid first = b.own;
  b.from = address(8);
  b.open_target();
  ask(3, 10);
  EXPECT_EQ(b.count(Count::creq_drop), 356u) << "the place is taken";
  b.from = address(9, 50000);
  const Pdcid second = std::exchange(b.own, first);
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  b.lines();
  b.from = address(8);
  b.own = second;
  ask(3, 10);
  EXPECT_EQ(b.count(Count::creq_drop), 356u) << "and free when its PDC is gone";
  EXPECT_EQ(b.count(Count::credit_request_rx), 458u);
}

// [T-41] Of datagrams and RUDI requests each source has so many a second looked at, a tenth of that
// at once. What is beyond is neither delivered nor answered, and another source notices nothing.
TEST(FloodTest, EachSourceHasARateOfItsOwn) {
  Config config;
  config.source_packets_per_second = 1000;
  for (const bool is_rudi : {false, true}) {
    SCOPED_TRACE(is_rudi);
    RudiBench b(config);
    uint32_t id = 0;
    const auto send = [&](uint8_t who, int count) {
      b.from = address(who, 50000);
      for (int i = 0; i < count; ++i) {
        b.rx_octets(is_rudi ? RudiBench::request(++id) : RudiBench::datagram());
      }
      return b.tx().size();
    };
    EXPECT_EQ(send(9, 1000), is_rudi ? 100u : 0u);
    EXPECT_EQ(b.client.received.order.size(), 100u);
    EXPECT_EQ(b.count(Count::drop_source_rate), 900u);
    EXPECT_EQ(send(8, 50), is_rudi ? 50u : 0u);
    EXPECT_EQ(b.client.received.order.size(), 150u);
    b.elapse(10_ms);
    send(9, 1000);
    EXPECT_EQ(b.client.received.order.size(), 160u);
    EXPECT_EQ(b.count(Count::drop_source_rate), 1890u);
    EXPECT_EQ(b.count(Count::nacks_tx), 0u);
  }
}

// [T-41] No limit where none is wanted.
TEST(FloodTest, TheRateOfASourceCanBeLifted) {
  Config config;
  config.source_packets_per_second = 0;
  RudiBench b(config);
  for (int i = 0; i < 200'000; ++i) b.rx_octets(RudiBench::datagram());
  EXPECT_EQ(b.client.received.order.size(), 200'000u);
  EXPECT_EQ(b.count(Count::drop_source_rate), 0u);
}

}  // namespace
}  // namespace uet::pds::test
