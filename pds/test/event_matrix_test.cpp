// Every state of PDS 5 against the events that its table has no row for: each is dropped or refused
// under its own counter, nothing reaches the client, and the state stays. [PDS-194, PDS-V10]
#include "pds/test/state_of.h"
#include "pds/test/table_bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType;
using wire::NackCode;
using wire::NextHeader;

// The event has a table row (or another rule) in that state, and another test covers it.
constexpr Count kHasItsRow = Count::count_;

// Counts of what the client has seen: must not change.
std::array<size_t, 5> seen(const TableBench& b) {
  const StubClient& c = b.client;
  return {c.received.times.size(), c.responded.size(), c.failed.size(), c.aborted.size(),
          c.closed.size()};
}

// Applies the event and checks that `counted` moves by one and nothing else happens.
void expect_refused(TableBench& b, void (*happens)(TableBench&), Count counted,
                    const std::string& next) {
  const auto before = seen(b);
  const uint32_t pdcs = b.pds->open_pdcs();
  const uint64_t count = b.count(counted);
  happens(b);
  EXPECT_EQ(b.count(counted), count + 1) << name(counted);
  EXPECT_EQ(b.state(), next);
  EXPECT_EQ(seen(b), before);
  EXPECT_EQ(b.pds->open_pdcs(), pdcs);
  b.lines();  // whatever is answered can be sent
  EXPECT_EQ(b.state(), next);
}

wire::Request return_data(const TableBench& b, Psn psn) {
  wire::Request h = b.request(psn.value(), false);
  h.next_hdr = NextHeader::response_data;
  return h;
}

// The oldest PSN that is not answered, in each state of TableBench.
Psn oldest(const TableBench& b) {
  const auto s = state_of(*b.pds, b.own);
  const bool is_close = s == PdcState::close_ack_wait || s == PdcState::error;
  return b.start + (is_close ? 2 : s == PdcState::syn ? 0 : 1);
}

struct InitiatorRow {
  const char* what;
  void (*happens)(TableBench&);
  Count in_syn;
  Count later;  // ESTABLISHED, QUIESCE, ACK_WAIT, CLOSE_ACK_WAIT, ERROR
};

const InitiatorRow kInitiatorRows[] = {
    {"request forward", [](TableBench& b) { b.rx(b.request(b.start.value(), false)); },
     Count::drop_syn_state, Count::drop_direction},
    {"SYN of the peer's PDCID",
     [](TableBench& b) {
       wire::Request h = b.request(b.start.value());
       h.psn_offset = 0;
       b.rx(h);
     },
     kHasItsRow, Count::nack_tx_invalid_syn},
    {"return data of the other mode",
     [](TableBench& b) {
       wire::Request h = return_data(b, b.start);
       h.type = wire::PdsType::rod_request;
       b.rx(h);
     },
     Count::drop_syn_state, Count::nack_tx_pdc_mode_mismatch},
    {"return data above the window", [](TableBench& b) { b.rx(return_data(b, b.start + 1024)); },
     Count::drop_syn_state, Count::psn_beyond},
    {"return data far below the window",
     [](TableBench& b) { b.rx(return_data(b, b.start - 40000)); }, Count::drop_syn_state,
     Count::psn_too_old},
    {"Close command",
     [](TableBench& b) { b.rx_header(b.control(CtlType::close_cmd, b.start.value())); },
     Count::drop_syn_state, Count::drop_cp_direction},
    {"Clear command", [](TableBench& b) { b.rx_header(b.control(CtlType::clear_cmd, 0)); },
     Count::drop_syn_state, Count::drop_cp_direction},
    {"Negotiation",
     [](TableBench& b) { b.rx_header(b.control(CtlType::negotiation, b.start.value())); },
     Count::drop_syn_state, Count::cp_unsupported_rx},
    {"unknown control packet",
     [](TableBench& b) { b.rx_header(b.control(CtlType{12}, b.start.value())); },
     Count::drop_syn_state, Count::cp_unsupported_rx},
    {"ACK of what was never sent", [](TableBench& b) { b.rx_header(b.ack(b.start + 7)); },
     Count::drop_ack_range, Count::drop_ack_range},
    {"ACK below Start_PSN", [](TableBench& b) { b.rx_header(b.ack(b.start - 2)); },
     Count::drop_ack_range, Count::drop_ack_range},
    {"ACK of another address",
     [](TableBench& b) {
       b.from = address(8, 50000);
       b.rx_header(b.ack(b.start));
     },
     Count::drop_bad_peer, Count::drop_bad_peer},
    {"ACK of another domain",
     [](TableBench& b) {
       b.sdi = kDomain;
       b.rx_header(b.ack(b.start));
     },
     Count::drop_sdi, Count::drop_sdi},
    {"answer to no Probe",
     [](TableBench& b) {
       wire::Ack h = b.ack(b.start - 1);
       h.p = true;
       h.probe_opaque = 77;
       b.rx_header(h);
     },
     Count::drop_probe_answer, Count::drop_probe_answer},
    {"NACK of what is not outstanding",
     [](TableBench& b) { b.rx_header(b.nack(NackCode::exp_nack_fatal, b.start + 7)); },
     Count::drop_nack_range, Count::drop_nack_range},
    {"NACK of an unknown code",
     [](TableBench& b) { b.rx_header(b.nack(NackCode{0x20}, oldest(b))); }, Count::drop_nack_code,
     Count::drop_nack_code},
    {"NACK ROD_OOO without ROD",
     [](TableBench& b) { b.rx_header(b.nack(NackCode::rod_ooo, oldest(b), 0)); },
     Count::drop_nack_state, Count::drop_nack_state},
    {"NACK NEW_START_PSN without TSS",
     [](TableBench& b) { b.rx_header(b.nack(NackCode::new_start_psn, oldest(b), 5)); }, kHasItsRow,
     Count::drop_nack_state},
    {"NACK INVALID_SYN",
     [](TableBench& b) { b.rx_header(b.nack(NackCode::invalid_syn, oldest(b))); }, kHasItsRow,
     Count::drop_nack_state},
    {"NACK INV_DPDCID", [](TableBench& b) { b.rx_header(b.nack(NackCode::inv_dpdcid, oldest(b))); },
     Count::drop_nack_state, kHasItsRow},
    {"NACK TRIMMED_ACK of what never came",
     [](TableBench& b) { b.rx_header(b.nack(NackCode::trimmed_ack, b.start + 3)); },
     Count::drop_nack_range, Count::drop_nack_range},
    {"trimmed request of another PDCID",
     [](TableBench& b) {
       b.marks.dscp = Config{}.trimmed_dscp;
       wire::Request h = return_data(b, b.start);
       h.spdcid = Pdcid(8);
       b.rx(h);
     },
     Count::drop_trimmed, Count::drop_trimmed},
};

TEST(EventMatrix, InitiatorStatesRefuseEventsWithoutARow) {
  for (const PdcState s : {PdcState::syn, PdcState::established, PdcState::quiesce,
                           PdcState::ack_wait, PdcState::close_ack_wait, PdcState::error}) {
    for (const InitiatorRow& row : kInitiatorRows) {
      SCOPED_TRACE(std::string(name(s)) + ", " + row.what);
      const Count counted = s == PdcState::syn ? row.in_syn : row.later;
      if (counted == kHasItsRow) continue;
      TableBench b;
      b.to_initiator(s);
      expect_refused(b, row.happens, counted, name(s));
    }
  }
}

// [PDS-I10] A second wish to close changes nothing: the request is a PSN like any other.
TEST(EventMatrix, ClosingInitiatorsAckACloseRequest) {
  for (const PdcState s :
       {PdcState::quiesce, PdcState::ack_wait, PdcState::close_ack_wait, PdcState::error}) {
    SCOPED_TRACE(name(s));
    TableBench b;
    b.to_initiator(s);
    b.rx_header(b.control(CtlType::close_req, b.start.value()));
    EXPECT_EQ(b.lines(), (Lines{"ACK cack " + b.at(0) + " ack " + b.at(0)}));
    EXPECT_EQ(b.count(Count::close_req_rx), 1u);
    EXPECT_EQ(b.state(), name(s));
  }
}

struct TargetRow {
  const char* what;
  void (*happens)(TableBench&);
  Count in_pending;
  Count later;  // ESTABLISHED, CLOSE_WAIT, ERROR
};

const TargetRow kTargetRows[] = {
    {"response forward", [](TableBench& b) { b.rx(return_data(b, kFirst + 1)); },
     Count::drop_syn_state, Count::drop_direction},
    {"copy made by the network",
     [](TableBench& b) {
       wire::Request h = b.request(1000, false);
       h.ar = false;
       b.rx(h);
     },
     Count::drop_syn_state, Count::dup_no_retx},
    {"SYN above the window", [](TableBench& b) { b.rx(b.request(1000 + 1025)); }, kHasItsRow,
     Count::nack_tx_invalid_syn},
    {"request of the other mode",
     [](TableBench& b) {
       wire::Request h = b.request(1001, false);
       h.type = wire::PdsType::rod_request;
       b.rx(h);
     },
     Count::drop_syn_state, Count::nack_tx_pdc_mode_mismatch},
    {"request above the window", [](TableBench& b) { b.rx(b.request(1000 + 1025, false)); },
     Count::drop_syn_state, Count::psn_beyond},
    {"request far below the window",
     [](TableBench& b) { b.rx(b.request((kFirst - 40000).value(), false)); }, Count::drop_syn_state,
     Count::psn_too_old},
    {"request of another PDCID",
     [](TableBench& b) {
       wire::Request h = b.request(1001, false);
       h.spdcid = Pdcid(8);
       b.rx(h);
     },
     Count::drop_bad_pdcid, Count::drop_bad_pdcid},
    {"request of another address",
     [](TableBench& b) {
       b.from = address(8, 50000);
       b.rx(b.request(1001, false));
     },
     Count::drop_bad_peer, Count::drop_bad_peer},
    {"request of another domain",
     [](TableBench& b) {
       b.sdi = kDomain + 1;
       b.rx(b.request(1001, false));
     },
     Count::drop_sdi, Count::drop_sdi},
    {"Close Request", [](TableBench& b) { b.rx_header(b.control(CtlType::close_req, 1001)); },
     Count::drop_syn_state, Count::drop_cp_direction},
    {"Clear Request", [](TableBench& b) { b.rx_header(b.control(CtlType::clear_req, 0)); },
     Count::drop_syn_state, Count::drop_cp_direction},
    {"Clear command beyond what came",
     [](TableBench& b) { b.rx_header(b.control(CtlType::clear_cmd, 0, 1001)); },
     Count::drop_syn_state, Count::drop_clear_range},
    {"Negotiation", [](TableBench& b) { b.rx_header(b.control(CtlType::negotiation, 1001)); },
     Count::drop_syn_state, Count::cp_unsupported_rx},
    {"unknown control packet", [](TableBench& b) { b.rx_header(b.control(CtlType{12}, 1001)); },
     Count::drop_syn_state, Count::cp_unsupported_rx},
    {"ACK of what was never sent", [](TableBench& b) { b.rx_header(b.ack(b.start + 9)); },
     Count::drop_ack_range, Count::drop_ack_range},
    {"answer to no Probe",
     [](TableBench& b) {
       wire::Ack h = b.ack(b.start - 1);
       h.p = true;
       b.rx_header(h);
     },
     Count::drop_probe_answer, Count::drop_probe_answer},
    {"NACK of what is not outstanding",
     [](TableBench& b) { b.rx_header(b.nack(NackCode::exp_nack_fatal, b.start + 9)); },
     Count::drop_nack_range, Count::drop_nack_range},
    {"trimmed Close",
     [](TableBench& b) {
       b.marks.dscp = Config{}.trimmed_dscp;
       b.rx_header(b.control(CtlType::close_cmd, 1001));
     },
     Count::drop_trimmed, Count::drop_trimmed},
};

TEST(EventMatrix, TargetStatesRefuseEventsWithoutARow) {
  for (const PdcState s :
       {PdcState::pending, PdcState::established, PdcState::close_wait, PdcState::error}) {
    for (const TargetRow& row : kTargetRows) {
      SCOPED_TRACE(std::string(name(s)) + ", " + row.what);
      const Count counted = s == PdcState::pending ? row.in_pending : row.later;
      if (counted == kHasItsRow) continue;
      Config config;
      config.start_method = StartMethod::random_1rtt;
      TableBench b(config);
      switch (s) {
        case PdcState::pending:
          b.start = b.to_pending();
          break;
        case PdcState::close_wait:
          b.to_close_wait();
          break;
        case PdcState::error:
          b.to_target_error();
          break;
        default:
          b.to_target();
      }
      expect_refused(b, row.happens, counted, name(s));
    }
  }
}

// [PDS-191] A SYN with another start is refused in every state of a target; the first one makes the
// target probe whether the old PDC still has a user.
TEST(EventMatrix, RestartedPeerIsRefusedInEveryState) {
  const auto other_start = [](TableBench& b) {
    wire::Request h = b.request(9000);
    h.psn_offset = 0;
    b.rx(h);
  };
  TableBench established, close_wait, error;
  established.to_target();
  expect_refused(established, other_start, Count::nack_tx_invalid_syn, "CLOSE_WAIT");
  close_wait.to_close_wait();
  expect_refused(close_wait, other_start, Count::nack_tx_invalid_syn, "CLOSE_WAIT");
  error.to_target_error();
  expect_refused(error, other_start, Count::nack_tx_invalid_syn, "ERROR");
}

// Without a PDC nothing is answered but requests and control packets, and none opens one.
TEST(EventMatrix, ClosedAnswersRequestsOnly) {
  TableBench b;
  b.own = Pdcid(4711);
  b.rx_header(b.ack(Psn(5)));
  b.rx_header(b.nack(NackCode::exp_nack_fatal, Psn(5)));
  EXPECT_EQ(b.count(Count::drop_no_pdc), 2u);
  EXPECT_EQ(b.lines(), Lines{});
  for (uint8_t type = 0; type < 16; ++type) {
    b.rx_header(b.control(static_cast<CtlType>(type), 5));
    EXPECT_EQ(b.lines(), (Lines{"NACK INV_DPDCID psn 5 from 0 to 7 payload 0"})) << int{type};
  }
  EXPECT_EQ(b.count(Count::drop_no_pdc), 18u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// Calls of the client for a closed PDC do nothing.
TEST(EventMatrix, CallsForAClosedPdcDoNothing) {
  TableBench b;
  b.to_target();
  const RxToken token = b.client.received.tokens.at({1000, 0});
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  ASSERT_EQ(b.state(), "CLOSED");
  b.lines();
  EXPECT_FALSE(b.pds->respond(token, Verdict::accepted(), b.now));
  EXPECT_FALSE(b.pds->send_return(token.pdc, kReturnData));
  b.pds->message_done(token.pdc);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.pds->usage(), Usage{});
}

TEST(EventMatrix, StatesHaveTheNamesOfTheReference) {
  const std::pair<PdcState, const char*> names[] = {
      {PdcState::pending, "PENDING"},
      {PdcState::syn, "SYN"},
      {PdcState::established, "ESTABLISHED"},
      {PdcState::quiesce, "QUIESCE"},
      {PdcState::ack_wait, "ACK_WAIT"},
      {PdcState::close_ack_wait, "CLOSE_ACK_WAIT"},
      {PdcState::error, "ERROR"},
      {PdcState::close_wait, "CLOSE_WAIT"},
  };
  for (const auto& [s, text] : names) EXPECT_STREQ(name(s), text);
  EXPECT_STREQ(name(PdcState{99}), "reserved");
}

}  // namespace
}  // namespace uet::pds::test
