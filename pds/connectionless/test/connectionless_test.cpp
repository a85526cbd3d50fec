// What the rest of the sublayer sees of the modes without PDCs. [PDS-060, PDS-V4, PDS 16, 17]
#include "pds/connectionless/connectionless.h"

#include "pds/connectionless/test/without_pdcs.h"

namespace uet::pds::part {
namespace {

using wire::NackCode;
using wire::PdsType;

class ConnectionlessTest : public PartTest {
 protected:
  ConnectionlessTest() {
    EXPECT_TRUE(modes_.create(arena_).ok());
    modes_.advance(kNow);
    client_.verdict.kind = Verdict::Kind::respond;
    client_.verdict.response.length = 12;
  }
  ~ConnectionlessTest() override {
    modes_.abort(kNow);
    for (Flow* const flow : {&rudi_, &uud_}) flow->message = {};
    if (rudi_.rudi != nullptr) modes_.leave(rudi_);
  }
  // Posts `messages` messages of one packet each.
  void post(Flow& flow, Mode mode, uint32_t messages) {
    flow.key.peer = peer_;
    flow.key.mode = mode;
    EXPECT_TRUE(modes_.adopt(flow).ok());
    client_.waiting += messages;
    client_.packets = 1;
    client_.pulled = 0;
    flow.ready = true;
    modes_.wake(flow);
  }
  // The types of what leaves, in order.
  std::vector<PdsType> transmit(Instant now = kNow) {
    batch_.clear();
    modes_.transmit(batch_, now);
    std::vector<PdsType> types;
    for (const TxPacket& packet : batch_.packets()) {
      wire::Reader r({packet.header, packet.header_bytes});
      types.push_back(wire::Prologue::peek(r)->type);
    }
    return types;
  }

  Datagrams datagrams_;
  TxBatch batch_;
  Flow rudi_{FlowKey{}};
  Flow uud_{FlowKey{}};
  Connectionless modes_{{res_.config, peers_, client_, res_.counters}, fixed(), random_};
};

// [PDS-203, PDS-110, PDS-011] A NACK names the request by its number: there is no PDC, no PSN.
TEST_F(ConnectionlessTest, ARefusalNamesItsRequest) {
  client_.verdict = Verdict::refused(NackCode::no_resource);
  RxDatagram d = datagrams_.with(rudi_request(0x55, true));
  d.ecn = Ecn::ce;
  d.sdi = 77;
  const auto refused = modes_.receive(d, PdsType::rudi_request, kNow);
  ASSERT_TRUE(refused);
  EXPECT_TRUE(refused->nack.nt);
  EXPECT_EQ(refused->nack.nack_code, NackCode::no_resource);
  EXPECT_EQ(refused->nack.nack_pkt_id, PktId(0x55));
  EXPECT_TRUE(refused->nack.m && refused->nack.retx);
  EXPECT_EQ(refused->nack.spdcid, Pdcid(0));
  EXPECT_EQ(refused->nack.dpdcid, Pdcid(0));
  EXPECT_EQ(refused->nack.payload, 0u);
  EXPECT_EQ(refused->to, address(9));
  EXPECT_EQ(refused->ev, Entropy(0x1234));
  EXPECT_EQ(refused->sdi, 77u);
}

// [PDS-V4] Packets that are no requests of these modes are dropped.
TEST_F(ConnectionlessTest, MalformedRequestsAreDropped) {
  RxDatagram d = datagrams_.with(rudi_request(1));
  d.bytes = d.bytes.first(wire::RudiRequest::kSize - 1);
  EXPECT_FALSE(modes_.receive(d, PdsType::rudi_request, kNow));
  wire::RudiRequest none = rudi_request(1);
  none.next_hdr = wire::NextHeader::none;
  EXPECT_FALSE(modes_.receive(datagrams_.with(none), PdsType::rudi_request, kNow));
  none.next_hdr = wire::NextHeader::response;
  EXPECT_FALSE(modes_.receive(datagrams_.with(none), PdsType::rudi_request, kNow));
  wire::Uud uud;
  uud.next_hdr = wire::NextHeader::none;
  EXPECT_FALSE(modes_.receive(datagrams_.with(uud), PdsType::uud_request, kNow));
  EXPECT_EQ(counted(Count::drop_malformed), 4u);
  EXPECT_EQ(client_.requests.size(), 0u);
}

// [PDS-207] The number of a request that a switch has cut is still there.
TEST_F(ConnectionlessTest, ACutRequestIsRefusedByItsNumber) {
  const auto refused = modes_.receive_trimmed(datagrams_.with(rudi_request(7)), NackCode::trimmed);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->nack.nack_code, NackCode::trimmed);
  EXPECT_EQ(refused->nack.nack_pkt_id, PktId(7));
  RxDatagram shorter = datagrams_.with(rudi_request(7));
  shorter.bytes = shorter.bytes.first(4);
  EXPECT_FALSE(modes_.receive_trimmed(shorter, NackCode::trimmed));
  EXPECT_EQ(client_.requests.size(), 0u) << "nothing is executed";
}

// [PDS-211] A datagram is never answered.
TEST_F(ConnectionlessTest, ADatagramIsNotAnswered) {
  client_.verdict = Verdict::refused(NackCode::no_resource);
  wire::Uud uud;
  uud.next_hdr = wire::NextHeader::standard;
  EXPECT_FALSE(modes_.receive(datagrams_.with(uud), PdsType::uud_request, kNow));
  EXPECT_EQ(client_.requests.size(), 1u);
  EXPECT_FALSE(modes_.has_work());
}

// [PDS-060] Answers leave before what this end sends.
TEST_F(ConnectionlessTest, AnswersLeaveBeforeRequests) {
  const auto ask = [&] {
    modes_.receive(datagrams_.with(rudi_request(1)), PdsType::rudi_request, kNow);
    EXPECT_EQ(modes_.waiting_answers(), 1u);
  };
  post(rudi_, Mode::rudi, 1);
  ask();
  EXPECT_EQ(transmit(), (std::vector<PdsType>{PdsType::rudi_response, PdsType::rudi_request}));
  EXPECT_EQ(modes_.outstanding(), 1u);
  EXPECT_FALSE(modes_.idle());
  post(uud_, Mode::uud, 1);
  ask();
  EXPECT_EQ(transmit(), (std::vector<PdsType>{PdsType::rudi_response, PdsType::uud_request}));
  EXPECT_EQ(modes_.outstanding(), 1u) << "no answer to a datagram comes";
}

// [PDS-206] The time-out of a request is a deadline; a datagram has none.
TEST_F(ConnectionlessTest, ARequestHasADeadline) {
  EXPECT_TRUE(modes_.next_deadline().is_never());
  post(rudi_, Mode::rudi, 1);
  transmit();
  const Instant due = modes_.next_deadline();
  EXPECT_FALSE(due.is_never());
  modes_.advance(due);
  EXPECT_EQ(transmit(due), std::vector<PdsType>{PdsType::rudi_request}) << "again";
}

// [PDS-204] A response and a NACK go to the request with that number.
TEST_F(ConnectionlessTest, AnAnswerEndsItsRequest) {
  post(rudi_, Mode::rudi, 1);
  transmit();
  wire::Reader r({batch_.packets()[0].header, batch_.packets()[0].header_bytes});
  wire::RudiResponse h;
  h.next_hdr = wire::NextHeader::response;
  h.pkt_id = wire::RudiRequest::read(r).pkt_id;
  EXPECT_FALSE(modes_.receive(datagrams_.with(h), PdsType::rudi_response, kNow));
  EXPECT_EQ(client_.responded.size(), 1u);
  EXPECT_TRUE(modes_.idle());
}

}  // namespace
}  // namespace uet::pds::part
