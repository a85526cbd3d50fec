// The target's half at the end of a PDC, and the order of ROD. Rows of PDS 5.2, 7.3 and 15.
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

using wire::CtlType, wire::NackCode;
using Lines = std::vector<std::string>;

class TargetCloseTest : public ::testing::Test {
 protected:
  Config config_;
};

// [PDS-160, PDS-175, PDS-T13, PDS-107, PDS-176, PDS-177] Close, its repetition, a late duplicate, a
// late request.
TEST_F(TargetCloseTest, CloseAndLaterPackets) {
  Bench b;
  b.client.verdict = StubClient::answer_all;
  b.open_target();
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001"}));
  EXPECT_EQ(b.pds->usage(), Usage{}) << "the Close clears what was stored";
  EXPECT_EQ(b.client.closed, std::vector<bool>{true});

  wire::Control again = b.control(CtlType::close_cmd, 1001);
  again.retx = true;
  b.rx_header(again);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001 retx"}));
  b.rx(b.request(1000));  // the SYN again: not executed
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1000"}));
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING psn 1002 from own to 7 payload 1002"}));
  EXPECT_EQ(b.count(Count::tombstone_hits), 3u);
  EXPECT_EQ(b.client.received.times.size(), 1u);

  b.elapse(401_ms);
  b.rx_header(again);
  EXPECT_EQ(b.lines(), (Lines{"NACK INV_DPDCID psn 1001 from 0 to 7 payload 0"}));
}

// [PDS-V10, PDS-T15, PDS-T16] A Close that overtook a request waits for it; nothing may come after
// it.
TEST_F(TargetCloseTest, CloseWaitsForTheGap) {
  Bench b;
  b.open_target();
  b.rx_header(b.control(CtlType::close_cmd, 1002));
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.lines();
  b.rx(b.request(1003, false));
  EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING psn 1003 from own to 7 payload 1003"}));
  b.rx(b.request(1001, false));
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1002"}));
  EXPECT_EQ(b.client.received.times.size(), 2u);
}

// Return data of `bytes` octets, one packet for each 1024; returns the number of packets that left.
size_t owe(Bench& b, uint32_t bytes) {
  b.open_target();
  b.client.messages[5].bytes = bytes;
  b.client.messages[5].next_hdr = wire::NextHeader::response_data;
  EXPECT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(5)));
  return b.tx().size();
}

// [PDS-174, PDS-T14] By Config::spec() a Close with return data unacknowledged is refused.
TEST_F(TargetCloseTest, CloseOverReturnDataFails) {
  Bench b(Config::spec());
  EXPECT_EQ(owe(b, 10), 1u);
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING_IN_ERR psn 1001 from own to 7 payload 1002"}));
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{5, 0}, 1}}));
  EXPECT_EQ(b.client.closed, std::vector<bool>{false});
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-T14, PDS-I13] The ACK of the last return packets was lost: the peer is asked for it, the
// Close is not acknowledged until it has come, and nothing fails. The peer is asked once a packet.
TEST_F(TargetCloseTest, CloseAfterALostAckOfReturnData) {
  Bench b;
  EXPECT_EQ(owe(b, 2048), 2u);
  b.lines();
  wire::Control close = b.control(CtlType::close_cmd, 1001);
  b.rx_header(close);
  EXPECT_EQ(b.lines(), (Lines{"CP ACK_REQ psn 1001 ar payload 0"}));
  close.retx = true;
  b.rx_header(close);
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.ack(Psn(1000)));
  b.rx_header(close);
  EXPECT_EQ(b.lines(), Lines{}) << "one is still missing";
  EXPECT_EQ(b.count(Count::close_early), 3u);
  b.rx_header(b.ack(Psn(1001)));
  b.rx_header(close);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001 retx"}));
  EXPECT_TRUE(b.client.failed.empty());
  EXPECT_EQ(b.client.responded, (std::map<PacketName, int>{{{5, 0}, 1}, {{5, 1024}, 1}}));
  EXPECT_EQ(b.client.closed, std::vector<bool>{true});
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-T14, PDS-L2, PDS 22] The reference provider is silent when asked about what lies below its
// window. Its Closes, each within the time-out of the one before, do not keep the data from going
// again, which it does answer.
TEST_F(TargetCloseTest, CloseOfAPeerThatDoesNotAnswerQuestions) {
  Bench b;
  EXPECT_EQ(owe(b, 10), 1u);
  b.lines();
  wire::Control close = b.control(CtlType::close_cmd, 1001);
  size_t questions = 0;
  for (int i = 0; i < 3; ++i) {
    b.rx_header(close);
    questions += b.lines().size();
    b.elapse(2_ms);
    close.retx = true;
  }
  EXPECT_EQ(questions, 1u);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].type(), wire::PdsType::rud_request);
  EXPECT_EQ(out[0].as<wire::Request>().psn, Psn(1000));
  EXPECT_TRUE(out[0].as<wire::Request>().retx);
}

// [PDS-T14] What the peer says it lacks is sent again, although it has asked for the Close.
TEST_F(TargetCloseTest, CloseBeforeReturnDataArrived) {
  Bench b;
  EXPECT_EQ(owe(b, 10), 1u);
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  b.lines();
  wire::Nack lacks = b.nack(NackCode::pkt_not_rcvd, Psn(1000));
  lacks.spdcid = kPeerId;
  b.rx_header(lacks);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].as<wire::Request>().psn, Psn(1000));
  EXPECT_TRUE(out[0].as<wire::Request>().retx);
  EXPECT_TRUE(b.client.failed.empty());
}

// [PDS-T14, PDS-174] Return data that was not even sent cannot have arrived.
TEST_F(TargetCloseTest, CloseBeforeReturnDataWasSentFails) {
  Bench b;
  b.open_target();
  b.client.messages[5].bytes = 10;
  b.client.messages[5].next_hdr = wire::NextHeader::response_data;
  EXPECT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(5)));
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING_IN_ERR psn 1001 from own to 7 payload 1002"}));
  EXPECT_EQ(b.client.aborted.size(), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-T14, PDS-174] The same with a partly sent message: the peer cannot have all of it.
TEST_F(TargetCloseTest, CloseBeforeTheRestOfReturnDataWasSentFails) {
  config_.tx_window_packets = 1;
  Bench b(config_);
  EXPECT_EQ(owe(b, 2048), 1u);
  b.rx_header(b.control(CtlType::close_cmd, 1001));
  EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING_IN_ERR psn 1001 from own to 7 payload 1002"}));
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{5, 0}, 1}}));
  EXPECT_EQ(b.client.aborted.size(), 1u);
  EXPECT_EQ(b.count(Count::close_early), 0u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-T14, PDS-148] The PDC of a peer that closes again and again and never acknowledges fails
// after a time.
TEST_F(TargetCloseTest, CloseWithoutEndFails) {
  Bench b;
  EXPECT_EQ(owe(b, 10), 1u);
  const wire::Control close = b.control(CtlType::close_cmd, 1001);
  const int64_t patience = config_.refusal_patience().ns() / Duration::seconds(1).ns();
  for (int64_t s = 0; s < patience; ++s) {
    EXPECT_TRUE(b.client.failed.empty()) << s;
    b.rx_header(close);
    b.elapse(1_s);
    b.lines();
  }
  b.elapse(1_s);
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{5, 0}, 1}}));
  EXPECT_EQ(b.count(Count::pdc_closed_refused), 1u);
}

// [PDS-031, PDS-T10, PDS-T11, PDS-T12, PDS-170, PDS-173] The target asks, and gives up by the
// spec's clock.
TEST_F(TargetCloseTest, IdleTargetAsksForTheClose) {
  config_ = Config::spec();
  Bench b(config_);
  b.open_target();
  b.rx(b.request(1001, false));
  b.lines();
  b.elapse(40_s + 1_us);
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_REQ psn 1000 ar payload 0"}));
  b.rx(b.request(1002, false));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1002 req CLOSE"}));
  b.rx_header(b.ack(Psn(1000)));
  b.elapse(3_ms);
  EXPECT_EQ(b.lines(), (Lines{"NACK CLOSING_IN_ERR psn 1003 from own to 7 payload 1003"}));
  EXPECT_EQ(b.count(Count::close_req_expired), 1u);
  EXPECT_EQ(b.pds->usage(), Usage{});
}

// [PDS-T9] Return data is a request of the target, on the PDC that is there: sent again until it is
// answered.
TEST_F(TargetCloseTest, ReturnDataIsResent) {
  Bench b;
  b.open_target();
  b.client.messages[5].bytes = 10;
  b.client.messages[5].next_hdr = wire::NextHeader::response_data;
  EXPECT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(5)));
  for (const bool again : {false, true}) {
    const auto out = b.tx();
    ASSERT_EQ(out.size(), 1u);
    const auto h = out[0].as<wire::Request>();
    EXPECT_EQ(h.next_hdr, wire::NextHeader::response_data);
    EXPECT_EQ(h.psn, Psn(1000));
    EXPECT_EQ(h.dpdcid, kPeerId);
    EXPECT_FALSE(h.syn);
    EXPECT_EQ(h.retx, again);
    b.elapse(6_ms);
  }
  b.lines();
  b.rx_header(b.ack(Psn(1000)));
  EXPECT_EQ(b.client.responded, (std::map<PacketName, int>{{{5, 0}, 1}}));
  b.elapse(1_s);
  EXPECT_EQ(b.lines(), Lines{});
}

// [PDS-T17, PDS-120, PDS-149] A fatal NACK for return data fails it; the target asks once for the
// Close and waits no longer than Close_REQ_Time.
TEST_F(TargetCloseTest, FailedReturnDataAsksForTheClose) {
  const auto fail_return = [](Bench& b, NackCode code) {
    b.open_target();
    b.client.messages[5].bytes = 2048;
    b.client.messages[5].next_hdr = wire::NextHeader::response_data;
    EXPECT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(5)));
    EXPECT_EQ(b.tx().size(), 2u);
    wire::Nack h = b.nack(code, Psn(1001));
    h.spdcid = kPeerId;
    b.rx_header(h);
    EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{5, 0}, 1}, {{5, 1024}, 1}}));
  };
  const Lines asked{"CP CLOSE_REQ psn 1002 ar payload 0"};
  {
    Bench b;
    fail_return(b, NackCode::pdc_hdr_mismatch);
    EXPECT_EQ(b.lines(), asked);
    EXPECT_FALSE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(5)));
    // A packet that arrives meanwhile is served, and its ACK asks for the close.
    b.rx(b.request(1001, false));
    EXPECT_EQ(b.lines(), (Lines{"ACK cack 1001 ack 1001 req CLOSE"}));
    b.rx_header(b.ack(Psn(999), 3));
    b.rx_header(b.control(CtlType::close_cmd, 1002));
    EXPECT_EQ(b.lines(), (Lines{"ACK cack 1002 ack 1002"}));
    EXPECT_EQ(b.client.closed, std::vector<bool>{false}) << "it failed all the same";
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
  {
    Bench b;
    fail_return(b, NackCode::unexp_event);
    EXPECT_EQ(b.lines(), asked);
    b.elapse(1_s + 1_ms);  // the peer does not close
    const auto lines = b.lines();
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.back(), "NACK CLOSING_IN_ERR psn 1001 from own to 7 payload 1001");
    EXPECT_EQ(b.pds->usage(), Usage{});
    EXPECT_EQ(b.client.closed, std::vector<bool>{false});
  }
  {
    Bench b;
    fail_return(b, NackCode::inv_dpdcid);
    EXPECT_EQ(b.lines(), Lines{}) << "no peer could answer";
    EXPECT_EQ(b.pds->usage(), Usage{});
  }
}

// [PDS-T17] The same when the retries are exhausted.
TEST_F(TargetCloseTest, UnansweredReturnDataAsksForTheClose) {
  Bench b(Config::spec());
  b.open_target();
  b.client.messages[5].bytes = 10;
  b.client.messages[5].next_hdr = wire::NextHeader::response_data;
  EXPECT_TRUE(b.pds->send_return(b.client.received.tokens.at({1000, 0}).pdc, MessageHandle(5)));
  for (int ms = 0; ms < 100 && b.client.failed.empty(); ++ms) {
    b.lines();
    b.elapse(1_ms);
  }
  EXPECT_EQ(b.client.failed, (std::map<PacketName, int>{{{5, 0}, 1}}));
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_REQ psn 1001 ar payload 0"}));
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
}

// [PDS-162] A Close Request that reached the initiator before its first ACK is repeated: no
// request was refused.
TEST_F(TargetCloseTest, CloseRequestThatCameTooEarlyGoesAgain) {
  Bench b;
  b.open_target();
  b.pds->close_all(false, b.now);
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_REQ psn 1000 ar payload 0"}));
  b.rx_header(b.nack(NackCode::unexp_event, Psn(1000)));
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.elapse(2_ms + 1_us);
  EXPECT_EQ(b.lines(), (Lines{"CP CLOSE_REQ psn 1000 retx ar payload 0"}));
}

// [PDS-173, PDS-220] By patience of time a slow peer keeps its PDC. [decision 4]
TEST_F(TargetCloseTest, SlowPeerIsNotClosedUpon) {
  Bench b;
  b.open_target();
  b.rx(b.request(1001, false));
  b.lines();
  b.elapse(45_s);
  b.lines();
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  EXPECT_EQ(b.count(Count::close_req_tx), 1u);
  EXPECT_EQ(b.count(Count::close_req_expired), 0u);
}

// The same before the peer ever used our PDCID: its path to us may be down for as long as we have
// patience. Under pressure such PDCs go first. [decision 4, PDS-181]
TEST_F(TargetCloseTest, PeerThatIsNotHeardAgainKeepsItsPdcAsLong) {
  Bench b;
  b.open_target();
  b.elapse(59_s);
  EXPECT_EQ(b.pds->open_pdcs(), 1u);
  b.elapse(3_s);
  EXPECT_EQ(b.pds->open_pdcs(), 0u);
  EXPECT_EQ(b.count(Count::close_req_expired), 1u);
}

// --- ROD [PDS 7.3] ---

// [PDS-077] The `spec` profile drops packets out of order and sends one NACK.
TEST_F(TargetCloseTest, RodDropsOutOfOrderInTheSpecProfile) {
  config_.rod_reorder = false;
  Bench b(config_);
  const auto rod = [&](uint32_t psn) {
    wire::Request h = b.request(psn);
    h.type = wire::PdsType::rod_request;
    b.rx(h);
  };
  rod(1000);
  rod(1002);
  rod(1003);
  b.own = Pdcid(0);
  const auto lines = b.lines();
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].substr(0, 22), "NACK ROD_OOO psn 1002 ");
  EXPECT_EQ(lines[0].substr(lines[0].size() - 12), "payload 1001");
  EXPECT_EQ(lines[1], "ACK cack 1000 ack 1000");
  EXPECT_EQ(b.count(Count::rod_dropped), 2u);
  EXPECT_EQ(b.client.received.times.size(), 1u);
}

// [PDS-079] The `soft` profile keeps it, reports it, and delivers in order.
TEST_F(TargetCloseTest, RodBuffersOutOfOrderInTheSoftProfile) {
  Bench b;
  const auto rod = [&](uint32_t psn) {
    wire::Request h = b.request(psn);
    h.type = wire::PdsType::rod_request;
    b.rx(h, 50);
  };
  rod(1000);
  rod(1003);
  rod(1002);
  EXPECT_EQ(b.client.received.times.size(), 1u);
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1000 ack 1000 sack 1002 1003"}));
  rod(1001);
  EXPECT_EQ(b.client.received.order, (PacketNames{{1000, 0}, {1001, 0}, {1002, 0}, {1003, 0}}));
  EXPECT_EQ(b.lines(), (Lines{"ACK cack 1003 ack 1003"}));
  EXPECT_EQ(b.pds->usage().reordered_packets, 0u);
}

// [PDS-243] Answers and return data leave in the order of the requests, not of their arrival.
TEST_F(TargetCloseTest, RodAnswersInOrder) {
  Bench b;
  std::vector<uint32_t> reads;
  b.client.verdict = [&](PacketName name, const RxRequest& r) {
    if (name.first == 1000) return Verdict::accepted();
    b.client.messages[name.first].bytes = 10;
    b.client.messages[name.first].next_hdr = wire::NextHeader::response_data;
    EXPECT_TRUE(b.pds->send_return(r.token.pdc, MessageHandle(name.first)));
    return StubClient::plain_answer();
  };
  std::vector<Psn> acks;
  for (uint32_t psn : {1000u, 1003u, 1002u, 1001u}) {
    wire::Request h = b.request(psn);
    h.type = wire::PdsType::rod_request;
    b.rx(h);
  }
  std::vector<Bench::Out> sent = b.tx();
  b.own = sent.at(0).as<wire::Ack>().spdcid;
  b.prove(wire::PdsType::rod_request);
  for (auto& o : b.tx()) sent.push_back(std::move(o));
  for (const auto& o : sent) {
    if (wire::is_ack(o.type())) {
      acks.push_back(o.as<wire::Ack>().ack_psn());
    } else if (wire::is_request(o.type())) {
      wire::Reader r(o.octets);
      (void)wire::Request::read(r);
      reads.push_back(r.u32());
    }
  }
  EXPECT_EQ(reads, (std::vector<uint32_t>{1001, 1002, 1003}));
  ASSERT_GE(acks.size(), 3u);
  EXPECT_EQ((std::vector<Psn>{acks.begin(), acks.begin() + 3}),
            (std::vector<Psn>{Psn(1001), Psn(1002), Psn(1003)}));
}

// A buffered packet that the client refuses is offered again; the sender need not send it again.
TEST_F(TargetCloseTest, RodOffersABufferedPacketAgain) {
  Bench b;
  int refusals = 3;
  b.client.verdict = [&](PacketName name, const RxRequest&) {
    if (name.first == 1001 && refusals-- > 0) return Verdict::refused(NackCode::no_ses_msg_avail);
    return Verdict::accepted();
  };
  for (uint32_t psn : {1001u, 1000u}) {
    wire::Request h = b.request(psn);
    h.type = wire::PdsType::rod_request;
    b.rx(h);
  }
  EXPECT_EQ(b.client.received.times.size(), 1u);
  b.elapse(10_ms);
  EXPECT_EQ(b.client.received.order, (PacketNames{{1000, 0}, {1001, 0}}));
  EXPECT_EQ(b.count(Count::rod_retries), 3u);
}

// [T-59, PDS-077, PDS-079] Without room the target acts as in the spec profile, so an open gap
// fills no memory. The NACK names the dropped packet and the missing one, not held-back ones.
TEST_F(TargetCloseTest, RodWithoutRoomRefuses) {
  config_.reorder_packets = 1;
  Bench b(config_);
  for (uint32_t psn : {1000u, 1002u, 1003u}) {
    wire::Request h = b.request(psn);
    h.type = wire::PdsType::rod_request;
    b.rx(h);
  }
  const auto nack = b.tx().at(0).as<wire::Nack>();
  EXPECT_EQ(nack.nack_code, NackCode::rod_ooo);
  EXPECT_EQ(nack.nack_psn, Psn(1003));
  EXPECT_EQ(nack.payload, 1001u);
  EXPECT_EQ(b.count(Count::rod_no_room), 1u);
  EXPECT_EQ(b.count(Count::rod_buffered), 1u);
}

// [T-59, PDS-077] A gap is named once in the shortest time-out, however many packets find no room
// above it: each ROD_OOO resends them all, and the client may refuse the gap packet for long.
TEST_F(TargetCloseTest, FullReorderBufferDoesNotCallForResendsWithoutPause) {
  config_.reorder_packets = 1;
  Bench b(config_);
  const auto arrive = [&](uint32_t psn) {
    wire::Request h = b.request(psn);
    h.type = wire::PdsType::rod_request;
    b.rx(h);
  };
  for (uint32_t psn : {1000u, 1002u, 1003u}) arrive(psn);
  b.lines();
  EXPECT_EQ(b.count(Count::nack_tx_rod_ooo), 1u);
  for (uint32_t psn = 1004; psn < 1030; ++psn) arrive(psn);
  EXPECT_EQ(b.lines(), Lines{});
  b.elapse(config_.shortest_rto());
  arrive(1004);
  EXPECT_EQ(b.count(Count::nack_tx_rod_ooo), 2u);
  EXPECT_EQ(b.count(Count::rod_no_room), 28u);
}

// A held-back packet that turns out to be useless counts as never received: it is not offered
// again, and a resend of it is checked again. [PDS-075, PDS-079]
TEST_F(TargetCloseTest, HeldBackPacketThatIsDroppedMayComeAgain) {
  Bench b;
  int offers = 0;
  b.client.verdict = [&](PacketName name, const RxRequest&) {
    if (name.first != 1002 || ++offers > 1) return Verdict::accepted();
    Verdict v;
    v.kind = Verdict::Kind::drop;
    return v;
  };
  const auto arrive = [&](uint32_t psn) {
    wire::Request h = b.request(psn);
    h.type = wire::PdsType::rod_request;
    b.rx(h);
  };
  for (uint32_t psn : {1000u, 1002u, 1003u, 1001u}) arrive(psn);
  b.elapse(1_s);
  EXPECT_EQ(offers, 1);
  EXPECT_EQ(b.count(Count::drop_client), 1u);
  EXPECT_EQ(b.pds->usage().reordered_packets, 1u);
  b.own = b.tx().back().as<wire::Ack>().spdcid;
  b.rx_header(b.control(CtlType::ack_req, 1002));
  EXPECT_EQ(b.lines().at(0).substr(0, 26), "NACK PKT_NOT_RCVD psn 1002");
  arrive(1002);
  EXPECT_EQ(b.client.received.order, (PacketNames{{1000, 0}, {1001, 0}, {1002, 0}, {1003, 0}}));
  EXPECT_EQ(b.pds->usage().reordered_packets, 0u);
}

}  // namespace
}  // namespace uet::pds::test
