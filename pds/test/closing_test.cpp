// Closes that come from the wrong side, twice, or find no memory, and requests that come too late.
// [PDS 5, 15]
#include "pds/test/table_bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;

// Return data of that PDC, in a number of packets.
void return_packets(Bench& b, PdcHandle pdc, uint32_t message, uint32_t packets) {
  b.client.messages[message] = {packets * b.client.mtu, 0, false, wire::NextHeader::response_data};
  ASSERT_TRUE(b.pds->send_return(pdc, MessageHandle(message)));
}

// A target in DRAIN: it sent `packets` return packets; the peer answered the first by CLOSING, and
// has not answered the others.
PdcHandle drain(TableBench& b, uint32_t packets) {
  b.to_target();
  const PdcHandle pdc = b.client.received.tokens.at({kFirst.value(), 0}).pdc;
  for (uint32_t m = 0; m < packets; ++m) return_packets(b, pdc, 500 + m, 1);
  EXPECT_EQ(b.tx().size(), packets);
  b.rx_header(b.nack(NackCode::closing, kFirst));
  EXPECT_EQ(b.state(), "CLOSE_WAIT");
  return pdc;
}

// [PDS-120, PDS-T16] The peer is done with the PDC, says so of the first return packet and
// acknowledges the others. A request that comes with the last of these, before the PDC has gone, is
// refused, and asks for no return data.
TEST(ClosingTest, ATargetThatDrainsTakesNoRequests) {
  TableBench b;
  drain(b, 3);
  b.rx_header(b.ack(kFirst + 2));
  b.client.verdict = [&](PacketName, const RxRequest& r) {
    b.client.messages[510] = {10, 0, false, wire::NextHeader::response_data};
    EXPECT_FALSE(b.pds->send_return(r.token.pdc, MessageHandle(510)));
    return Verdict::accepted();
  };
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.client.received.times.count({1001, 0}), 0u);
  EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING psn 1001 from own to 7 payload 1001"}));
  EXPECT_EQ(b.state(), "CLOSED");
  EXPECT_EQ(b.client.responded.size(), 2u);
  EXPECT_EQ(b.client.failed.size(), 1u);
}

// [PDS-120, PDS-167] Nor does the client get return data in while the PDC drains.
TEST(ClosingTest, ATargetThatDrainsReturnsNothingNew) {
  TableBench b;
  const PdcHandle pdc = drain(b, 2);
  b.client.messages[510] = {10, 0, false, wire::NextHeader::response_data};
  EXPECT_FALSE(b.pds->send_return(pdc, MessageHandle(510)));
  b.rx_header(b.ack(kFirst + 1));
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.state(), "CLOSED");
}

// [PDS-170, PDS-172] 60 targets have their windows full and are to close. Of the larger blocks of
// slots, which a Close Request behind a full window needs, there are 56: the others wait, nothing
// turns in a circle, and they go on when a block is free.
TEST(ClosingTest, ACloseRequestWithoutMemoryWaits) {
  Config config;
  config.max_pdcs = 64;
  config.target_floor_percent = config.low_water_percent = config.newcomer_percent = 0;
  config.tx_window_packets = 16;
  Bench b(config);
  b.client.script.names_are_unique = false;
  std::vector<Pdcid> ids;
  for (uint8_t n = 0; n < 60; ++n) {
    b.from = address(static_cast<uint8_t>(100 + n), 50000);
    b.open_target();
    ids.push_back(b.own);
    return_packets(b, b.client.received.tokens.at({kFirst.value(), 0}).pdc, 500u + n, 16);
    ASSERT_EQ(b.tx().size(), 16u);
  }
  b.pds->close_all(false, b.now);
  b.tx();
  EXPECT_EQ(b.count(Count::close_req_tx), 56u);
  EXPECT_EQ(b.count(Count::slot_stalls), 4u);
  b.elapse(config.nack_retx + 1_us);
  b.tx();
  EXPECT_EQ(b.count(Count::close_req_tx), 56u);
  EXPECT_EQ(b.count(Count::slot_stalls), 8u) << "tried again, once";
  b.from = address(100, 50000);
  b.own = ids[0];
  b.rx_header(b.ack(kFirst + 16));
  b.elapse(config.nack_retx + 1_us);
  b.tx();
  EXPECT_EQ(b.count(Count::close_req_tx), 57u);
}

// [PDS-161, PDS-079] A control packet of the wrong role takes no PSN, so the order of ROD does not
// go on over it: what then comes with that PSN is delivered, and what follows it.
TEST(ClosingTest, ACloseRequestOfTheWrongSidePassesNothing) {
  Bench b;
  wire::Request h = b.request(1000);
  h.type = wire::PdsType::rod_request;
  b.rx(h);
  b.own = b.tx().at(0).as<wire::Ack>().spdcid;
  b.rx_header(b.control(CtlType::close_req, 1001));
  EXPECT_EQ(b.lines(),
            (std::vector<std::string>{"NACK UNEXP_EVENT psn 1001 from own to 7 payload 1001"}));
  for (const uint32_t psn : {1001u, 1003u, 1002u}) {
    h = b.request(psn, false);
    h.type = wire::PdsType::rod_request;
    b.rx(h);
  }
  EXPECT_EQ(b.client.received.order, (PacketNames{{1000, 0}, {1001, 0}, {1002, 0}, {1003, 0}}));
  EXPECT_EQ(b.pds->usage().reordered_packets, 0u);
  b.tx();
  b.rx_header(b.control(CtlType::close_cmd, 1004));
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
}

// [PDS-T15, PDS-T16] A second Close command, below the first, does not say that what lies between
// them was never executed: the PDC ends at the first one.
TEST(ClosingTest, ASecondCloseInAHoleLowersNothing) {
  Bench b;
  b.open_target();
  b.rx(b.request(1004, false));
  b.rx_header(b.control(CtlType::close_cmd, 1005));
  b.rx_header(b.control(CtlType::close_cmd, 1002));
  b.tx();
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.pds->open_pdcs(), 1u) << "1003 is missing";
  b.tx();
  b.rx(b.request(1003, false));
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
  b.tx();
  wire::Request late = b.request(1004);
  late.retx = true;
  b.rx(late);
  EXPECT_EQ(b.lines(), (std::vector<std::string>{"ACK cack 1005 ack 1004 retx"}));
}

}  // namespace
}  // namespace uet::pds::test
