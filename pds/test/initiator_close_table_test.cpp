// The rows of PDS 5.1 that close a PDC, one test each: it starts in the row's state, applies the
// row's event, checks action and next state.
#include "pds/test/table_bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;

// Goes on until the state is another one; true: it became `to`.
bool waits_until(TableBench& b, const std::string& to, int ms) {
  const std::string from = b.state();
  while (b.state() == from && ms-- > 0) {
    b.lines();
    b.elapse(1_ms);
  }
  return b.state() == to;
}

// A message that comes now is sent on another PDC, which it opens. [PDS-I21]
void expect_next_message_elsewhere(TableBench& b) {
  b.client.post(b.flow(), 9, 10);
  std::vector<wire::Request> fresh;
  for (const auto& o : b.tx()) {
    if (o.type() == wire::PdsType::rud_request) fresh.push_back(o.as<wire::Request>());
  }
  ASSERT_EQ(fresh.size(), 1u);
  EXPECT_TRUE(fresh[0].syn);
  EXPECT_NE(fresh[0].spdcid, b.own);
}

// [PDS-I10] ESTABLISHED, a close is wanted for any of the reasons of 15.1: no message is assigned
// any more. -> QUIESCE
TEST(InitiatorCloseTable, I10IdleBeginsTheClose) {
  TableBench b;
  b.to_established();
  b.rx_header(b.ack(b.start + 1));
  b.elapse(Config{}.idle_time + 1_ms);
  EXPECT_EQ(b.state(), "QUIESCE");
  EXPECT_EQ(b.count(Count::idle_closes), 1u);
  expect_next_message_elsewhere(b);
}

// [PDS-I10, PDS-181]
TEST(InitiatorCloseTable, I10PressureBeginsTheClose) {
  Config config;
  config.max_pdcs = 4;  // three of them for initiators
  TableBench b(config);
  b.to_established();
  b.rx_header(b.ack(b.start + 1));
  const PeerId peer = *b.peers.find_or_add(address(9), b.now);
  for (const uint32_t job : {2u, 3u}) {
    b.client.post(*b.pds->flow(peer, TrafficClass(0), Mode::rud, JobId(job)), job, 10);
  }
  EXPECT_EQ(b.step().size(), 2u);
  EXPECT_EQ(b.state(), "QUIESCE");
  EXPECT_EQ(b.count(Count::pressure_closes), 1u);
}

// [PDS-I10, PDS-036]
TEST(InitiatorCloseTable, I10EndOfThePsnRangeBeginsTheClose) {
  Config config;
  config.psn_range_packets = 2 * 1024 + 2;  // PSN +2 is within two ranges of the end
  TableBench b(config);
  b.to_established();
  b.client.post(b.flow(), 2, 10);
  EXPECT_EQ(b.step(), (Lines{"REQ psn +2 ar clear -2"}));
  EXPECT_EQ(b.state(), "QUIESCE");
  EXPECT_EQ(b.count(Count::psn_range_close), 1u);
  expect_next_message_elsewhere(b);
}

// [PDS-I10, PDS-094]
TEST(InitiatorCloseTable, I10RequestInAnAckBeginsTheClose) {
  TableBench b;
  b.to_established();
  wire::Ack ack = b.ack(b.start);
  ack.req = wire::AckRequest::close;
  b.rx_header(ack);
  EXPECT_EQ(b.state(), "QUIESCE");
  expect_next_message_elsewhere(b);
}

// [PDS-I10, PDS 13]
TEST(InitiatorCloseTable, I10CloseRequestBeginsTheClose) {
  TableBench b;
  b.to_established();
  b.rx_header(b.control(CtlType::close_req, b.start.value()));
  EXPECT_EQ(b.state(), "QUIESCE");
  EXPECT_EQ(b.step(), (Lines{"ACK cack " + b.at(0) + " ack " + b.at(0)}));
  expect_next_message_elsewhere(b);
}

// [PDS-I10] The endpoint closes.
TEST(InitiatorCloseTable, I10CallerBeginsTheClose) {
  TableBench b;
  b.to_established();
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.state(), "QUIESCE");
  expect_next_message_elsewhere(b);
}

// [PDS-I11] QUIESCE, packets of started messages: sent as usual. -> QUIESCE
// [PDS-I12] QUIESCE, the last one is sent. -> ACK_WAIT
TEST(InitiatorCloseTable, I11StartedMessagesAreSentAndI12TheLastOneEndsIt) {
  TableBench b;
  b.to_established();
  b.client.post(b.flow(), 2, 400 * 1024);
  auto sent = static_cast<int32_t>(2 + b.lines().size());
  ASSERT_LT(sent, 402) << "CMS holds some back";
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.state(), "QUIESCE");
  while (sent < 402) {
    EXPECT_EQ(b.state(), "QUIESCE");
    b.rx_header(b.ack(b.start + (sent - 1)));
    const auto out = b.tx();
    ASSERT_FALSE(out.empty());
    for (const auto& o : out) {
      ASSERT_EQ(o.type(), wire::PdsType::rud_request);
      EXPECT_EQ(o.as<wire::Request>().spdcid, b.own);
      EXPECT_EQ(o.as<wire::Request>().psn, b.start + sent++);
    }
  }
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.state(), "ACK_WAIT");
}

// [PDS-I12] QUIESCE, the message that kept the PDC has its data; nothing is sent. -> ACK_WAIT
TEST(InitiatorCloseTable, I12EndOfTheOpenMessageEndsQuiesce) {
  TableBench b;
  b.to_quiesce();
  b.elapse(1_ms);
  b.lines();
  EXPECT_EQ(b.state(), "QUIESCE");
  b.pds->message_done(b.client.started.pdc_of[1]);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.state(), "ACK_WAIT");
}

// [PDS-I13] ACK_WAIT, all is acked both ways: the Close command, with the next PSN, AR and an RTO.
// -> CLOSE_ACK_WAIT
TEST(InitiatorCloseTable, I13CloseGoesWhenAllIsAcked) {
  TableBench b;
  b.to_ack_wait();
  wire::Request h = b.request(b.start.value(), false);
  h.next_hdr = wire::NextHeader::response_data;
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack " + b.at(0) + " ack " + b.at(0)}));
  EXPECT_EQ(b.state(), "ACK_WAIT") << "a forward PSN is not acked";
  h = b.request((b.start + 1).value(), false);
  h.next_hdr = wire::NextHeader::response_data;
  b.rx(h);
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack " + b.at(1) + " ack " + b.at(1),
                              "CP CLOSE_CMD psn " + b.at(2) + " ar payload 0"}));
  EXPECT_EQ(b.state(), "CLOSE_ACK_WAIT");
  b.elapse(6_ms);
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_CMD psn " + b.at(2) + " retx ar payload 0"}));
}

// [PDS-I14] CLOSE_ACK_WAIT, the Close is acked: Expected_PSN is adopted. -> CLOSED
TEST(InitiatorCloseTable, I14AckedCloseEnds) {
  for (const uint32_t sdi : {0u, kDomain}) {
    SCOPED_TRACE(sdi);
    TableBench b;
    b.sdi = sdi;
    b.to_close_ack_wait();
    wire::Ack ack = b.ack(b.start + 2);
    ack.epsn = sdi != 0;
    ack.expected_start_psn = b.start + 4242;
    b.rx_header(ack);
    EXPECT_EQ(b.state(), "CLOSED");
    EXPECT_EQ(b.client.closed, std::vector<bool>{true});
    EXPECT_EQ(b.count(Count::pdc_closed_ok), 1u);
    EXPECT_EQ(b.pds->usage(), Usage{});
    b.client.post(b.flow(), 2, 10);
    const auto next = b.tx().at(0).as<wire::Request>();
    EXPECT_EQ(next.psn == b.start + 4242, sdi != 0);
  }
}

// [PDS-I15] CLOSE_ACK_WAIT, the Close finds no PDC: a success. -> CLOSED
TEST(InitiatorCloseTable, I15RefusedCloseIsASuccess) {
  for (const NackCode code : {NackCode::inv_dpdcid, NackCode::closing}) {
    SCOPED_TRACE(wire::name(code));
    TableBench b;
    b.to_close_ack_wait();
    b.rx_header(b.nack(code, b.start + 2));
    EXPECT_EQ(b.state(), "CLOSED");
    EXPECT_EQ(b.client.closed, std::vector<bool>{true});
    EXPECT_EQ(b.count(Count::pdc_closed_ok), 1u);
    EXPECT_TRUE(b.client.failed.empty());
  }
}

// [PDS-I16] CLOSE_ACK_WAIT, RTO: the Close again, same PSN, RETX. -> CLOSE_ACK_WAIT. After
// Max_RTO_Retx_Cnt: freed and counted. -> CLOSED
TEST(InitiatorCloseTable, I16UnansweredCloseIsRepeatedFiveTimes) {
  TableBench b;
  b.to_close_ack_wait();
  for (const int64_t rto_ms : {5, 10, 20, 40, 80}) {
    b.elapse(Duration::milliseconds(rto_ms) + 2_us);
    EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_CMD psn " + b.at(2) + " retx ar payload 0"}));
    EXPECT_EQ(b.state(), "CLOSE_ACK_WAIT");
  }
  EXPECT_TRUE(waits_until(b, "CLOSED", 200));
  EXPECT_EQ(b.count(Count::close_given_up), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-I16, PDS-176, PDS-T14] The target may still ask for the ACK of its last return packet.
TEST(InitiatorCloseTable, I16GivenUpCloseIsRemembered) {
  TableBench b;
  b.to_established();
  wire::Request data = b.request(b.start.value(), false);
  data.next_hdr = wire::NextHeader::response_data;
  b.rx(data);
  b.rx_header(b.ack(b.start + 1));
  b.pds->close_all(false, b.now);
  b.lines();
  EXPECT_TRUE(waits_until(b, "CLOSED", 1000));
  EXPECT_EQ(b.count(Count::close_given_up), 1u);
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.control(wire::CtlType::ack_req, b.start.value()));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack " + b.at(0) + " ack " + b.at(0)}));
  data.psn = b.start + 1;
  b.rx(data);
  EXPECT_EQ(b.lines(),
            (Lines{"NACK CLOSING psn " + b.at(1) + " from own to 7 payload " + b.at(1)}));
}

// [PDS-I16, PDS-176] Where return data is missing nothing is acknowledged in its place.
TEST(InitiatorCloseTable, I16GivenUpCloseOverAGapIsInDoubt) {
  TableBench b;
  b.to_established();
  wire::Request data = b.request(b.start.value() + 1, false);
  data.next_hdr = wire::NextHeader::response_data;
  b.rx(data);  // the one before was lost
  b.rx_header(b.ack(b.start + 1));
  b.pds->close_all(false, b.now);
  b.lines();
  EXPECT_TRUE(waits_until(b, "CLOSED", 1000));
  EXPECT_EQ(b.count(Count::close_given_up), 1u);
  b.lines();
  b.rx_header(b.control(wire::CtlType::ack_req, b.start.value()));
  EXPECT_EQ(b.lines(),
            (Lines{"NACK GTD_RESP_UNAVAIL psn " + b.at(0) + " from own to 7 payload " + b.at(2)}));
}

// [PDS-I17] CLOSE_ACK_WAIT, NACK CLOSING_IN_ERR: freed, the error counted. -> CLOSED
TEST(InitiatorCloseTable, I17CloseInErrorIsCounted) {
  TableBench b;
  b.to_close_ack_wait();
  b.rx_header(b.nack(NackCode::closing_in_err, b.start + 2));
  EXPECT_EQ(b.state(), "CLOSED");
  EXPECT_EQ(b.client.closed, std::vector<bool>{false});
  EXPECT_EQ(b.count(Count::pdc_closed_in_err), 1u);
  EXPECT_EQ(b.count(Count::pdc_closed_ok), 0u);
}

// [PDS-I18] ESTABLISHED, QUIESCE, ACK_WAIT, a fatal NACK of a peer that may hold state: what is
// outstanding fails once, queues are discarded, one Close goes. -> ERROR
TEST(InitiatorCloseTable, I18FatalNackFailsAllAndSaysClose) {
  for (const PdcState s : {PdcState::established, PdcState::quiesce, PdcState::ack_wait}) {
    for (const NackCode code :
         {NackCode::pdc_hdr_mismatch, NackCode::gtd_resp_unavail, NackCode::pdc_mode_mismatch,
          NackCode::unexp_event, NackCode::exp_nack_fatal}) {
      SCOPED_TRACE(std::string(name(s)) + " " + wire::name(code));
      TableBench b;
      b.to_initiator(s);
      b.rx_header(b.nack(code, b.start + 1));
      EXPECT_EQ(b.state(), "ERROR");
      EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 1024}, 1}}));
      EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_CMD psn " + b.at(2) + " ar payload 0"}));
      EXPECT_EQ(b.state(), "ERROR");
      EXPECT_EQ(b.pds->usage().pdcs, 1u);
    }
  }
}

// [PDS-I18] The peer has no state, so no Close goes to it. -> CLOSED
TEST(InitiatorCloseTable, I18FatalNackOfAPeerWithoutState) {
  for (const PdcState s : {PdcState::established, PdcState::quiesce, PdcState::ack_wait}) {
    for (const NackCode code :
         {NackCode::inv_dpdcid, NackCode::closing, NackCode::closing_in_err}) {
      SCOPED_TRACE(std::string(name(s)) + " " + wire::name(code));
      TableBench b;
      b.to_initiator(s);
      b.rx_header(b.nack(code, b.start + 1));
      EXPECT_EQ(b.state(), "CLOSED");
      EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 1024}, 1}}));
      EXPECT_EQ(b.lines(), Lines{});
      EXPECT_EQ(b.client.closed, std::vector<bool>{false});
    }
  }
}

// [PDS-I18] The rest of a message that is half sent is reported as well, once.
TEST(InitiatorCloseTable, I18QueuesAreDiscarded) {
  TableBench b;
  b.to_established();
  b.client.post(b.flow(), 2, 400 * 1024);
  const size_t sent = b.lines().size();
  b.rx_header(b.nack(NackCode::exp_nack_fatal, b.start + 1));
  EXPECT_EQ(b.client.failed.size(), sent + 1);
  ASSERT_EQ(b.client.aborted.size(), 1u);
  EXPECT_EQ(b.client.aborted.begin()->first, 2u);
  EXPECT_EQ(b.client.aborted.at(2).nack, NackCode::exp_nack_fatal);
  EXPECT_EQ(b.lines().size(), 1u) << "the Close";
  EXPECT_EQ(b.state(), "ERROR");
}

// [PDS-I18] The retries are exhausted. A target without the missing PSN would hold a Close back
// (T15), so none is sent. -> CLOSED
TEST(InitiatorCloseTable, I18ExhaustedRetriesEndThePdc) {
  for (const PdcState s : {PdcState::established, PdcState::quiesce, PdcState::ack_wait}) {
    SCOPED_TRACE(name(s));
    TableBench b(Config::spec());
    b.to_initiator(s);
    EXPECT_TRUE(waits_until(b, "CLOSED", 200));
    EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{1, 1024}, 1}}));
    EXPECT_EQ(b.client.failures.at(0).reason, FailureReason::timeout);
    EXPECT_EQ(b.count(Count::close_cmd_tx), 0u);
    EXPECT_EQ(b.lines(), Lines{});
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
}

// [PDS-I19] ERROR, the close PSN is acked, refused, or given up. -> CLOSED
TEST(InitiatorCloseTable, I19AnswerToTheCloseEndsTheError) {
  const std::pair<const char*, void (*)(TableBench&)> events[] = {
      {"acked", [](TableBench& b) { b.rx_header(b.ack(b.start + 2)); }},
      {"no such PDC",
       [](TableBench& b) { b.rx_header(b.nack(NackCode::inv_dpdcid, b.start + 2)); }},
      {"closing", [](TableBench& b) { b.rx_header(b.nack(NackCode::closing, b.start + 2)); }},
      {"silence", [](TableBench& b) { EXPECT_TRUE(waits_until(b, "CLOSED", 1000)); }},
  };
  for (const auto& [what, happens] : events) {
    SCOPED_TRACE(what);
    TableBench b;
    b.to_initiator_error();
    happens(b);
    EXPECT_EQ(b.state(), "CLOSED");
    EXPECT_EQ(b.client.closed.size(), 1u);
    EXPECT_EQ(b.client.failed.size(), 1u) << "reported when it failed, not again";
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
}

// [PDS-I21] QUIESCE, ACK_WAIT, a message with the same key: on another PDC (RUD). -> same
TEST(InitiatorCloseTable, I21RudMessageGoesElsewhere) {
  for (const PdcState s : {PdcState::quiesce, PdcState::ack_wait}) {
    SCOPED_TRACE(name(s));
    TableBench b;
    b.to_initiator(s);
    expect_next_message_elsewhere(b);
    EXPECT_EQ(b.state(), name(s));
  }
}

// [PDS-I21, PDS-003] The same with ROD: held until the PDC is gone. -> same
TEST(InitiatorCloseTable, I21RodMessageWaits) {
  TableBench b;
  b.to_quiesce(Mode::rod);
  b.client.post(b.flow(Mode::rod), 9, 10);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.state(), "QUIESCE");
  b.pds->message_done(b.client.started.pdc_of[1]);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.state(), "ACK_WAIT");
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.lines().size(), 1u) << "the Close";
  b.rx_header(b.ack(b.start + 2));
  EXPECT_EQ(b.state(), "CLOSED");
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(out[0].as<wire::Request>().syn);
  EXPECT_NE(out[0].as<wire::Request>().spdcid, b.own);
}

}  // namespace
}  // namespace uet::pds::test
