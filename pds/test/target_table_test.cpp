// The rows of PDS 5.2, one test each: it starts in the row's state, applies the row's event, checks
// action and next state.
#include "pds/test/table_bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;

Verdict answer() { return StubClient::plain_answer(); }

Config asks_for_new_start() {
  Config c;
  c.start_method = StartMethod::random_1rtt;
  return c;
}

// A SYN that begins at `start`.
wire::Request syn_at(const TableBench& b, Psn start) {
  wire::Request h = b.request(start.value());
  h.psn_offset = 0;
  h.clear_psn_offset = -1;
  return h;
}

const PdcState kOpen[] = {PdcState::established, PdcState::close_wait};

void to_open(TableBench& b, PdcState s) {
  s == PdcState::established ? b.to_target() : b.to_close_wait();
}

// [PDS-T1] CLOSED, a SYN: a PDC, its packet delivered, an ACK at once without AR. -> ESTABLISHED
TEST(TargetTable, T1SynOpens) {
  TableBench b;
  wire::Request h = b.request(1000);
  h.ar = false;
  b.rx(h);
  EXPECT_EQ(b.client.received.times.size(), 1u);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), "ACK cack 1000 ack 1000");
  b.own = out[0].as<wire::Ack>().spdcid;
  EXPECT_NE(b.own, Pdcid(0));
  EXPECT_EQ(b.state(), "ESTABLISHED");
}

// [PDS-T2] CLOSED, a SYN that needs another start: NACK NEW_START_PSN, New_PDC_Time armed, nothing
// delivered. -> PENDING
TEST(TargetTable, T2SecuredSynGetsItsStart) {
  TableBench b(asks_for_new_start());
  b.sdi = kDomain;
  b.rx(b.request(1000));
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  const auto told = out[0].as<wire::Nack>();
  EXPECT_EQ(told.nack_code, NackCode::new_start_psn);
  EXPECT_EQ(told.nack_psn, Psn(1000));
  b.own = told.spdcid;
  EXPECT_EQ(b.state(), "PENDING");
  EXPECT_TRUE(b.client.received.times.empty());
  EXPECT_LE(b.pds->next_deadline(), b.now + Config{}.new_pdc_time + 2_us);
}

// [PDS-T3] CLOSED, a SYN without a free resource: NACK 0x04, 0x05, 0x06. -> CLOSED
TEST(TargetTable, T3SynWithoutResourcesIsRefused) {
  Config config;
  config.max_contexts = 1;
  config.rx_windows = 1;
  TableBench b(config);
  b.client.script.names_are_unique = false;
  wire::Request h = b.request(1000);
  h.use_rsv_pdc = true;  // of a pool that is empty
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"NACK NO_PDC_AVAIL psn 1000 from own to 7 payload 0"}));
  EXPECT_EQ(b.pds->open_pdcs(), 0u);

  b.rx(b.request(1002));  // takes the only context and, for its gap, the only bitmap
  EXPECT_EQ(b.tx().size(), 1u);
  b.from = address(8);
  b.rx(b.request(1000));
  EXPECT_EQ(b.lines(), (Lines{"NACK NO_BITMAP psn 1000 from own to 7 payload 0"}));
  b.from = address(9, 50000);
  b.rx(b.request(1000));
  b.rx(b.request(1001));  // the gap is filled
  EXPECT_EQ(b.tx().size(), 1u);
  b.from = address(8);
  b.rx(b.request(1000));
  EXPECT_EQ(b.lines(), (Lines{"NACK NO_CCC_AVAIL psn 1000 from own to 7 payload 0"}));
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  EXPECT_EQ(b.client.received.times.size(), 3u) << "of the first peer only";
}

// [PDS-T4] CLOSED, a request or control packet without SYN: NACK INV_DPDCID, SPDCID 0. -> CLOSED
TEST(TargetTable, T4WithoutSynNothingOpens) {
  TableBench b;
  wire::Request h = b.request(1000, false);
  h.dpdcid = Pdcid(4711);
  b.rx(h);
  EXPECT_EQ(b.lines(), (Lines{"NACK INV_DPDCID psn 1000 from own to 7 payload 0"}));  // own is 0
  wire::Control cp = b.control(CtlType::close_cmd, 1000);
  cp.dpdcid = Pdcid(4711);
  b.rx_header(cp);
  EXPECT_EQ(b.lines(), (Lines{"NACK INV_DPDCID psn 1000 from own to 7 payload 0"}));
  EXPECT_EQ(b.pds->usage(), Usage{});
  EXPECT_TRUE(b.client.received.times.empty());
}

// [PDS-T5] PENDING, a SYN with the assigned start: delivered, acked. -> ESTABLISHED
TEST(TargetTable, T5AssignedStartOpens) {
  TableBench b(asks_for_new_start());
  const Psn told = b.to_pending();
  b.rx(syn_at(b, told));
  EXPECT_EQ(b.state(), "ESTABLISHED");
  EXPECT_EQ(b.client.received.times.size(), 1u);
  const std::string psn = std::to_string(told.value());
  EXPECT_EQ(b.lines(), (Lines{"ACK cack " + psn + " ack " + psn}));
  b.elapse(2_s);
  EXPECT_EQ(b.state(), "ESTABLISHED") << "New_PDC_Time is off";
}

// [PDS-T6] PENDING, a SYN with another start: NACK NEW_START_PSN again. -> PENDING
TEST(TargetTable, T6OtherStartGetsTheStartAgain) {
  TableBench b(asks_for_new_start());
  const Psn told = b.to_pending();
  b.rx(syn_at(b, told + 1));
  EXPECT_EQ(b.lines(), (Lines{"NACK NEW_START_PSN psn " + std::to_string((told + 1).value()) +
                              " from own to 7 payload " + std::to_string(told.value())}));
  EXPECT_EQ(b.state(), "PENDING");
  EXPECT_TRUE(b.client.received.times.empty());
}

// [PDS-T7] PENDING, New_PDC_Time is over: freed without a packet. -> CLOSED
TEST(TargetTable, T7PendingEndsInSilence) {
  TableBench b(asks_for_new_start());
  b.to_pending();
  b.elapse(Config{}.new_pdc_time - 1_ms);
  EXPECT_EQ(b.state(), "PENDING");
  b.elapse(2_ms);
  EXPECT_EQ(b.state(), "CLOSED");
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.count(Count::new_pdc_timeout), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-T8] ESTABLISHED, a request in the window: delivered and acked. -> ESTABLISHED
TEST(TargetTable, T8RequestIsDelivered) {
  TableBench b;
  b.to_target();
  b.rx(b.request(1001, false), 50);
  EXPECT_EQ(b.client.received.times.count({1001, 0}), 1u);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
  EXPECT_EQ(b.state(), "ESTABLISHED");
}

// [PDS-T9] ESTABLISHED, return data: a request of the return direction, with an RTO. -> ESTABLISHED
TEST(TargetTable, T9ReturnDataIsSent) {
  TableBench b;
  b.to_target();
  ASSERT_TRUE(b.return_data());
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(b.picture(out[0]), "REQ psn +0 ar clear -1");
  EXPECT_EQ(out[0].as<wire::Request>().next_hdr, wire::NextHeader::response_data);
  EXPECT_EQ(out[0].as<wire::Request>().dpdcid, kPeerId);
  EXPECT_EQ(b.state(), "ESTABLISHED");
  b.elapse(6_ms);
  EXPECT_EQ(b.lines().at(0), "REQ psn +0 retx ar clear -1");
  b.rx_header(b.ack(kFirst));
  EXPECT_EQ(b.client.responded.size(), 1u);
  EXPECT_EQ(b.state(), "ESTABLISHED");
}

// [PDS-T10] ESTABLISHED, a close is wanted: Close Request, REQ=close in ACKs, Close_REQ_Time.
// -> CLOSE_WAIT
void expect_close_is_asked_for(TableBench& b, uint32_t next_psn) {
  EXPECT_EQ(b.state(), "CLOSE_WAIT");
  EXPECT_LE(b.pds->next_deadline(), b.now + Config{}.close_req + 2_us);
  std::vector<wire::Control> asked;
  for (const auto& o : b.tx()) {
    if (o.type() == wire::PdsType::control) asked.push_back(o.as<wire::Control>());
  }
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].ctl_type, CtlType::close_req);
  EXPECT_TRUE(asked[0].ar);
  EXPECT_EQ(asked[0].spdcid, b.own);
  b.rx(b.request(next_psn, false));
  const std::string psn = std::to_string(next_psn);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack " + psn + " ack " + psn + " req CLOSE"}));
}

TEST(TargetTable, T10IdleTargetAsksForTheClose) {
  TableBench b;
  b.to_target();
  b.rx(b.request(1001, false));
  b.lines();
  b.elapse(Config{}.idle_time * 4 + 1_ms);
  EXPECT_EQ(b.count(Count::idle_closes), 1u);
  expect_close_is_asked_for(b, 1002);
}

// [PDS-T10, PDS-181]
TEST(TargetTable, T10TargetUnderPressureAsksForTheClose) {
  Config config;
  config.max_pdcs = 4;  // three of them for targets
  config.half_open_percent = 100;
  config.peer_share_percent = config.job_share_percent = 100;
  TableBench b(config);
  b.client.script.names_are_unique = false;
  b.to_target();
  b.rx(b.request(1001, false));
  b.tx();
  for (const uint16_t id : {uint16_t{8}, uint16_t{9}, uint16_t{10}}) {
    EXPECT_EQ(b.state(), "ESTABLISHED");
    wire::Request h = b.request(1000);
    h.spdcid = Pdcid(id);
    b.rx(h);
    if (id != 8) continue;
    // That peer is heard again, so most PDCs are not half-open [T-01], and its PDC has work.
    b.client.verdict = [](PacketName, const RxRequest&) { return Verdict::deferred(); };
    h = b.request(1001, false);
    h.spdcid = Pdcid(id);
    h.dpdcid = b.tx().at(0).as<wire::Ack>().spdcid;
    b.rx(h);
    b.client.verdict = nullptr;
  }
  EXPECT_EQ(b.count(Count::pressure_closes), 1u);
  expect_close_is_asked_for(b, 1002);
}

// [PDS-T10, PDS-036] The PSNs of return data come to their end first where few requests ask for
// much.
TEST(TargetTable, T10EndOfTheReturnPsnsAsksForTheClose) {
  Config config;
  config.psn_range_packets = 2 * 1024 + 2;  // PSN +2 is within two ranges of the end
  TableBench b(config);
  b.to_target();
  ASSERT_TRUE(b.return_data(2 * b.client.mtu));
  EXPECT_EQ(b.lines().size(), 2u);
  EXPECT_EQ(b.state(), "ESTABLISHED");
  b.rx_header(b.ack(kFirst + 1));
  ASSERT_TRUE(b.return_data(2 * b.client.mtu));
  EXPECT_EQ(b.step().size(), 2u) << "what was begun is sent";
  EXPECT_EQ(b.count(Count::psn_range_close), 1u);
  expect_close_is_asked_for(b, 1001);
}

TEST(TargetTable, T10CallerAsksForTheClose) {
  TableBench b;
  b.to_target();
  b.pds->close_all(false, b.now);
  expect_close_is_asked_for(b, 1001);
}

// [PDS-T11] CLOSE_WAIT, requests: accepted, acked with REQ=close. -> CLOSE_WAIT
TEST(TargetTable, T11RequestsAreStillTaken) {
  TableBench b;
  b.to_close_wait();
  for (const uint32_t psn : {1001u, 1002u}) {
    b.rx(b.request(psn, false));
    const std::string p = std::to_string(psn);
    EXPECT_EQ(b.lines(), (Lines{"ACK cack " + p + " ack " + p + " req CLOSE"}));
    EXPECT_EQ(b.state(), "CLOSE_WAIT");
  }
  EXPECT_EQ(b.client.received.times.size(), 3u);
}

// [PDS-T12] CLOSE_WAIT, Close_REQ_Time is over: NACK CLOSING_IN_ERR with the highest PSN received
// + 1, reported to the client. -> CLOSED
TEST(TargetTable, T12CloseRequestExpires) {
  TableBench b(Config::spec());
  b.to_close_wait();
  b.rx_header(b.ack(kFirst));  // the Close Request arrived
  b.elapse(Config::spec().close_req * 2 + 2_us);
  EXPECT_EQ(b.state(), "CLOSED");
  EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING_IN_ERR psn 1001 from own to 7 payload 1001"}));
  EXPECT_EQ(b.client.closed, std::vector<bool>{false});
  EXPECT_EQ(b.count(Count::close_req_expired), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-T13] ESTABLISHED, CLOSE_WAIT, Close command, nothing owed: stored responses are cleared, the
// Close is acked, a tombstone kept. -> CLOSED
TEST(TargetTable, T13CloseIsObeyed) {
  for (const PdcState s : kOpen) {
    SCOPED_TRACE(name(s));
    TableBench b;
    to_open(b, s);
    b.client.verdict = [](PacketName, const RxRequest&) { return answer(); };
    b.rx(b.request(1001, false));
    b.lines();
    EXPECT_EQ(b.pds->usage().stored_responses, 1u);
    b.rx_header(b.control(CtlType::close_cmd, 1002));
    EXPECT_EQ(b.state(), "CLOSED");
    EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1002"}));
    EXPECT_EQ(b.pds->usage(), Usage{});
    EXPECT_EQ(b.client.closed, std::vector<bool>{true});
    wire::Control again = b.control(CtlType::close_cmd, 1002);
    again.retx = true;
    b.rx_header(again);
    EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1002 retx"}));
  }
}

// [PDS-T14] ESTABLISHED, CLOSE_WAIT, Close command, return data unacked: NACK CLOSING_IN_ERR, the
// data fails. -> CLOSED
TEST(TargetTable, T14CloseOverReturnDataIsAnError) {
  for (const PdcState s : kOpen) {
    SCOPED_TRACE(name(s));
    TableBench b(Config::spec());
    to_open(b, s);
    ASSERT_TRUE(b.return_data());
    EXPECT_EQ(b.tx().size(), 1u);
    b.rx_header(b.control(CtlType::close_cmd, 1001));
    EXPECT_EQ(b.state(), "CLOSED");
    EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING_IN_ERR psn 1001 from own to 7 payload 1002"}));
    EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{kReturnData.value(), 0}, 1}}));
    EXPECT_EQ(b.client.closed, std::vector<bool>{false});
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
}

// [PDS-T14] The same by patience of time: the ACK is asked for, the Close not taken. -> same
TEST(TargetTable, T14CloseOverReturnDataWaitsForItsAck) {
  for (const PdcState s : kOpen) {
    SCOPED_TRACE(name(s));
    TableBench b;
    to_open(b, s);
    ASSERT_TRUE(b.return_data());
    const auto out = b.tx();
    ASSERT_EQ(out.size(), 1u);
    const Psn psn = out[0].as<wire::Request>().psn;
    b.rx_header(b.control(CtlType::close_cmd, 1001));
    EXPECT_EQ(b.state(), name(s));
    EXPECT_EQ(b.lines(),
              (Lines{"CP ACK_REQ psn " + std::to_string(psn.value()) + " ar payload 0"}));
    b.rx_header(b.ack(psn));
    b.rx_header(b.control(CtlType::close_cmd, 1001));
    EXPECT_EQ(b.state(), "CLOSED");
    EXPECT_TRUE(b.client.failed.empty());
  }
}

// [PDS-T15] ESTABLISHED, CLOSE_WAIT, Close command above a gap: held until the gap fills. -> same
TEST(TargetTable, T15CloseWaitsForTheGap) {
  for (const PdcState s : kOpen) {
    SCOPED_TRACE(name(s));
    TableBench b;
    to_open(b, s);
    b.rx_header(b.control(CtlType::close_cmd, 1003));
    b.lines();
    EXPECT_EQ(b.state(), name(s));
    b.rx(b.request(1002, false));
    b.lines();
    EXPECT_EQ(b.state(), name(s)) << "1001 is still missing";
    b.rx(b.request(1001, false));
    EXPECT_EQ(b.state(), "CLOSED");
    EXPECT_EQ(b.lines(), (Lines{"ACK cack 1003 ack 1003"}));
    EXPECT_EQ(b.client.received.times.size(), 3u);
  }
}

// [PDS-T16] CLOSE_WAIT or after the Close, a request beyond the close PSN: NACK CLOSING. -> same
TEST(TargetTable, T16NothingComesAfterTheClose) {
  TableBench b;
  b.to_close_wait();
  b.rx_header(b.control(CtlType::close_cmd, 1002));
  b.lines();
  b.rx(b.request(1003, false));
  EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING psn 1003 from own to 7 payload 1003"}));
  EXPECT_EQ(b.state(), "CLOSE_WAIT");
  b.rx(b.request(1001, false));
  b.lines();
  EXPECT_EQ(b.state(), "CLOSED");
  b.rx(b.request(1003, false));
  EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING psn 1003 from own to 7 payload 1003"}));
  EXPECT_EQ(b.client.received.times.size(), 2u);
}

// [PDS-T17] Return data fails, by a fatal NACK or because no answer comes: report to the client,
// one Close Request, Close_REQ_Time. -> CLOSE_WAIT, which the code names ERROR because the PDC
// takes no return data any more and its close will not be clean.
TEST(TargetTable, T17FailedReturnDataAsksForTheClose) {
  const std::pair<const char*, void (*)(TableBench&)> events[] = {
      {"fatal NACK", [](TableBench& b) { b.rx_header(b.nack(NackCode::exp_nack_fatal, b.start)); }},
      {"retries",
       [](TableBench& b) {
         for (int ms = 0; ms < 200 && b.client.failed.empty(); ++ms) {
           b.lines();
           b.elapse(1_ms);
         }
       }},
  };
  for (const auto& [what, happens] : events) {
    SCOPED_TRACE(what);
    Config config = Config::spec();
    config.close_req = 10_ms;
    TableBench b(config);
    b.to_target();
    ASSERT_TRUE(b.return_data());
    EXPECT_EQ(b.tx().size(), 1u);
    happens(b);
    EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{kReturnData.value(), 0}, 1}}));
    EXPECT_EQ(b.state(), "ERROR");
    EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_REQ psn 1001 ar payload 0"}));
    EXPECT_FALSE(b.return_data());
    b.rx(b.request(1001, false));
    EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001 req CLOSE"}));
    b.elapse(11_ms);
    EXPECT_EQ(b.state(), "CLOSED") << "Close_REQ_Time";
    EXPECT_EQ(b.client.closed, std::vector<bool>{false});
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
}

// [PDS-T17] The same from CLOSE_WAIT: it has asked before, and asks once more under its new cause.
TEST(TargetTable, T17FailedReturnDataInCloseWait) {
  TableBench b;
  b.to_close_wait();
  ASSERT_TRUE(b.return_data());
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +1 ar clear -2"}));
  b.rx_header(b.nack(NackCode::exp_nack_fatal, kFirst + 1));
  EXPECT_EQ(b.client.failed.size(), 1u);
  EXPECT_EQ(b.state(), "ERROR");
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_REQ psn 1002 ar payload 0"}));
}

}  // namespace
}  // namespace uet::pds::test
