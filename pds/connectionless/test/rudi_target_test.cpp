// RUDI at the target: each request is executed, and answered once. [PDS-202, PDS-203]
#include "pds/connectionless/rudi_target.h"

#include "pds/connectionless/test/without_pdcs.h"

namespace uet::pds::part {
namespace {

using wire::NackCode;

class RudiTargetPartTest : public PartTest {
 protected:
  RudiTargetPartTest() {
    res_.config.rudi_answers = 4;
    EXPECT_TRUE(rudi_.create(arena_).ok());
    client_.verdict.kind = Verdict::Kind::respond;
    client_.verdict.response.next_hdr = wire::NextHeader::response;
    client_.verdict.response.length = 12;
  }
  NackCode give(uint32_t id, Ecn ecn = Ecn::ect0, bool retx = false) {
    const wire::RudiRequest h = rudi_request(id, retx);
    RxDatagram d = datagrams_.with(h);
    d.ecn = ecn;
    d.sdi = 77;
    return rudi_.on_request(h, d, d.bytes.subspan(wire::RudiRequest::kSize), d.from, kNow);
  }
  std::vector<wire::RudiResponse> transmit(Instant now = kNow) {
    batch_.clear();
    rudi_.transmit(batch_, now);
    return responses_in(batch_);
  }

  Datagrams datagrams_;
  TxBatch batch_;
  RudiTarget rudi_{{res_.config, peers_, client_, res_.counters}};
};

// [PDS-202] Nothing is remembered: one that comes again is executed again.
TEST_F(RudiTargetPartTest, ARequestIsExecutedEachTime) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(give(5), NackCode::none);
    EXPECT_EQ(transmit().size(), 1u);
  }
  EXPECT_EQ(client_.requests, (std::vector<uint32_t>{5, 5})) << "by its number";
  EXPECT_EQ(transmit().size(), 0u);
}

// [PDS-200, PDS-202, PDS-069] An answer has the number, the entropy value, the CE mark, RETX and
// the domain of its request, and goes as control traffic.
TEST_F(RudiTargetPartTest, AnAnswerIsThatOfItsRequest) {
  give(5, Ecn::ce, true);
  give(6);
  const auto sent = transmit();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].pkt_id, PktId(5));
  EXPECT_TRUE(sent[0].m && sent[0].retx);
  EXPECT_FALSE(sent[1].m || sent[1].retx);
  EXPECT_EQ(sent[0].next_hdr, wire::NextHeader::response);
  const TxPacket& packet = batch_.packets()[0];
  EXPECT_EQ(packet.header_bytes, wire::RudiResponse::kSize + 12);
  EXPECT_EQ(packet.ev, Entropy(0x1234));
  EXPECT_EQ(packet.to, address(9));
  EXPECT_EQ(packet.sdi, 77u);
  EXPECT_EQ(packet.dscp, res_.config.control_dscp);
  EXPECT_EQ(packet.ecn, Ecn::not_ect);
}

// [PDS-203] No place for an answer: asked before the client executes anything.
TEST_F(RudiTargetPartTest, WithoutAPlaceForItsAnswerNothingIsExecuted) {
  for (uint32_t id = 1; id <= 4; ++id) EXPECT_EQ(give(id), NackCode::none);
  EXPECT_EQ(give(5), NackCode::no_resource);
  EXPECT_EQ(client_.requests.size(), 4u);
  EXPECT_EQ(counted(Count::drop_rudi_answers_full), 1u);
  transmit();
  EXPECT_EQ(give(5), NackCode::none);
}

// [PDS-203] The client refuses it, or wants nothing of it.
TEST_F(RudiTargetPartTest, TheClientMayRefuse) {
  client_.verdict = Verdict::refused(NackCode::no_ses_msg_avail);
  EXPECT_EQ(give(5), NackCode::no_ses_msg_avail);
  client_.verdict.kind = Verdict::Kind::drop;
  EXPECT_EQ(give(6), NackCode::none);
  EXPECT_EQ(counted(Count::drop_client), 1u);
  EXPECT_FALSE(rudi_.has_work());
}

// [T-41] Requests of a source above its rate are dropped, and do not affect other sources. A tenth
// of a second's requests may come at once.
TEST_F(RudiTargetPartTest, ASourceHasARate) {
  res_.config.source_packets_per_second = 20;
  for (uint32_t id = 1; id <= 4; ++id) EXPECT_EQ(give(id), NackCode::none);
  EXPECT_EQ(client_.requests, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(counted(Count::drop_source_rate), 2u);
}

// [PDS-202, WIRE-015] Data is read when it leaves, goes as data, and is not sent again.
TEST_F(RudiTargetPartTest, DataIsReadWhenItLeaves) {
  client_.verdict.answer = MessageHandle(3);
  give(5);
  EXPECT_EQ(client_.pulled, 0u);
  client_.packets = 1;
  transmit();
  EXPECT_EQ(client_.pulled, 1u);
  EXPECT_EQ(client_.responded.size(), 1u) << "it is over";
  const TxPacket& packet = batch_.packets()[0];
  EXPECT_EQ(packet.payload_bytes, 1024u);
  EXPECT_EQ(packet.dscp, res_.config.return_class.value());
  EXPECT_EQ(packet.ecn, Ecn::ect0);
  give(6);
  EXPECT_EQ(transmit().size(), 0u) << "the client has nothing of it any more";
}

// A turn sends kPacketsPerTurn packets at most. [PDS-060]
TEST_F(RudiTargetPartTest, ATurnHasALimitOfPackets) {
  res_.config.rudi_answers = 64;
  Arena arena;
  RudiTarget rudi{{res_.config, peers_, client_, res_.counters}};
  ASSERT_TRUE(rudi.create(arena).ok());
  const wire::RudiRequest h = rudi_request(1);
  for (uint32_t i = 0; i < kPacketsPerTurn + 3; ++i) {
    const RxDatagram d = datagrams_.with(h);
    rudi.on_request(h, d, {}, d.from, kNow);
  }
  EXPECT_EQ(rudi.transmit(batch_, kNow), kPacketsPerTurn);
  EXPECT_EQ(rudi.waiting(), 3u);
}

// [PDS-250] A report that an answer was too long is believed for a second.
TEST_F(RudiTargetPartTest, AnAnswerThatHasLeftMayHaveBeenTooLong) {
  client_.verdict.answer = MessageHandle(3);
  client_.packets = 1;
  give(5);
  transmit();
  const uint32_t bytes = batch_.packets()[0].bytes();
  const auto is_too_long = [&](PeerId peer, uint32_t limit, Duration later) {
    PathLimit at;
    at.datagram_bytes = limit;
    return rudi_.has_too_long(peer, at, kNow + later);
  };
  EXPECT_TRUE(is_too_long(peer_, bytes - 1, kRto));
  EXPECT_FALSE(is_too_long(peer_, bytes, kRto));
  EXPECT_FALSE(is_too_long(PeerId(7), bytes - 1, kRto));
  EXPECT_FALSE(is_too_long(peer_, bytes - 1, Duration::seconds(1)));
}

// Answers that have not left are dropped, and the client learns that their data is free.
TEST_F(RudiTargetPartTest, AnAbortDropsWhatHasNotLeft) {
  give(5);
  client_.verdict.answer = MessageHandle(3);
  give(6);
  rudi_.abort(kNow);
  EXPECT_EQ(client_.aborted, std::vector<uint32_t>{3});
  EXPECT_EQ(transmit().size(), 0u);
}

}  // namespace
}  // namespace uet::pds::part
