// A bench whose PDC can be brought into each state of PDS 5 by the shortest way, so that a test of
// one row begins in the row's state. The rows themselves are in the *_table_test.cpp files.
#pragma once

#include "pds/test/bench.h"
#include "pds/test/state_of.h"

namespace uet::pds::test {

using Lines = std::vector<std::string>;

inline constexpr uint32_t kDomain = 77;  // of secured PDCs
inline constexpr MessageHandle kReturnData{500};

class TableBench : public Bench {
 public:
  explicit TableBench(const Config& config = {}, const cms::Config& cms = {})
      : Bench(config, cms) {}

  // "CLOSED" when the PDC is not there (any more).
  std::string state() const {
    const auto s = test::state_of(*pds, own);
    return s ? name(*s) : "CLOSED";
  }
  // One call of transmit; the rest waits for the next call.
  Lines step() {
    TxBatch batch;
    pds->transmit(batch, now);
    Lines text;
    for (const TxPacket& p : batch.packets()) {
      Out o{{p.header, p.header + p.header_bytes}, p.to, p.ev, p.dscp, p.ecn, p.sdi};
      text.push_back(picture(o));
    }
    return text;
  }
  FlowId flow(Mode mode = Mode::rud) {
    return *pds->flow(*peers.find_or_add(address(9), now), TrafficClass(0), mode, JobId(1), sdi);
  }
  std::string at(int offset) const { return std::to_string((start + offset).value()); }

  // --- initiator: message 1 and its unanswered packets ---

  // Two packets out, nothing heard. `keep`: return data is expected.
  void to_syn(Mode mode = Mode::rud, bool keep = false) {
    client.post(flow(mode), 1, 2 * client.mtu, keep);
    const auto out = tx();
    ASSERT_EQ(out.size(), 2u);
    own = out[0].as<wire::Request>().spdcid;
    start = out[0].as<wire::Request>().psn;
    ASSERT_EQ(state(), "SYN");
  }
  // The first one is answered.
  void to_established(Mode mode = Mode::rud, bool keep = false) {
    to_syn(mode, keep);
    rx_header(ack(start));
    ASSERT_EQ(state(), "ESTABLISHED");
  }
  // Its message waits for return data.
  void to_quiesce(Mode mode = Mode::rud) {
    to_established(mode, true);
    pds->close_all(false, now);
    ASSERT_EQ(lines(), Lines{});
    ASSERT_EQ(state(), "QUIESCE");
  }
  // The second packet is not answered.
  void to_ack_wait(Mode mode = Mode::rud) {
    to_established(mode);
    pds->close_all(false, now);
    ASSERT_EQ(lines(), Lines{});
    ASSERT_EQ(state(), "ACK_WAIT");
  }
  // The Close command is PSN +2.
  void to_close_ack_wait(Mode mode = Mode::rud) {
    to_ack_wait(mode);
    rx_header(ack(start + 1));
    ASSERT_EQ(lines(), (Lines{"CP CLOSE_CMD psn " + at(2) + " ar payload 0"}));
    ASSERT_EQ(state(), "CLOSE_ACK_WAIT");
  }
  // The same after a failure.
  void to_initiator_error(Mode mode = Mode::rud) {
    to_established(mode);
    rx_header(nack(wire::NackCode::pdc_mode_mismatch, start + 1));
    ASSERT_EQ(lines(), (Lines{"CP CLOSE_CMD psn " + at(2) + " ar payload 0"}));
    ASSERT_EQ(state(), "ERROR");
  }
  void to_initiator(PdcState s) {
    switch (s) {
      case PdcState::syn:
        return to_syn();
      case PdcState::established:
        return to_established();
      case PdcState::quiesce:
        return to_quiesce();
      case PdcState::ack_wait:
        return to_ack_wait();
      case PdcState::close_ack_wait:
        return to_close_ack_wait();
      case PdcState::error:
        return to_initiator_error();
      case PdcState::pending:
      case PdcState::close_wait:
      case PdcState::closed:
        FAIL() << "not of an open initiator";
    }
  }

  // --- target: request 1000 of the peer has opened it ---

  // Needs Config::start_method random_1rtt. Returns the Start_PSN that was assigned.
  Psn to_pending() {
    sdi = kDomain;
    rx(request(kFirst.value()));
    const auto out = tx();
    EXPECT_EQ(out.size(), 1u);
    const auto told = out.at(0).as<wire::Nack>();
    own = told.spdcid;
    EXPECT_EQ(state(), "PENDING");
    return Psn(told.payload);
  }
  void to_target() {
    open_target();
    start = kFirst;  // of the return direction as well [PDS-031]
    ASSERT_EQ(state(), "ESTABLISHED");
  }
  // The Close Request is return PSN 1000.
  void to_close_wait() {
    to_target();
    pds->close_all(false, now);
    ASSERT_EQ(lines(), (Lines{"CP CLOSE_REQ psn 1000 ar payload 0"}));
    ASSERT_EQ(state(), "CLOSE_WAIT");
  }
  // Return data failed; the Close Request is return PSN 1001.
  void to_target_error() {
    to_target();
    ASSERT_TRUE(return_data());
    ASSERT_EQ(tx().size(), 1u);
    rx_header(nack(wire::NackCode::pdc_mode_mismatch, kFirst));
    ASSERT_EQ(lines(), (Lines{"CP CLOSE_REQ psn 1001 ar payload 0"}));
    ASSERT_EQ(state(), "ERROR");
  }
  // One packet of return data for request 1000.
  bool return_data(uint32_t bytes = 10) {
    client.messages[kReturnData.value()] = {bytes, 0, false, wire::NextHeader::response_data};
    return pds->send_return(client.received.tokens.at({kFirst.value(), 0}).pdc, kReturnData);
  }
};

}  // namespace uet::pds::test
