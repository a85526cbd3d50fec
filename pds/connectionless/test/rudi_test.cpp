// RUDI at both ends without the rest of the sublayer. [PDS 16]
#include "pds/connectionless/connectionless.h"

#include "pds/test/part.h"

namespace uet::pds::part {
namespace {

class RudiPartTest : public PartTest {
 protected:
  explicit RudiPartTest(const Config& config = usual()) : PartTest(config) {
    EXPECT_TRUE(rudi_.create(arena_).ok());
    flow_.key.peer = peer_;
    flow_.key.mode = Mode::rudi;
    EXPECT_TRUE(rudi_.adopt(flow_).ok());
    rudi_.advance(kNow);
  }
  ~RudiPartTest() override {
    rudi_.abort(kNow);
    flow_.message = {};
  }

  // So many messages of one packet each.
  void post(uint32_t messages) {
    client_.waiting = messages;
    client_.packets = 1;
    flow_.ready = true;
    rudi_.wake(flow_);
  }
  std::vector<wire::RudiRequest> transmit(Instant now = kNow) {
    batch_.clear();
    rudi_.transmit(batch_, now);
    std::vector<wire::RudiRequest> all;
    for (const TxPacket& packet : batch_.packets()) {
      wire::Reader in({packet.header, packet.header_bytes});
      all.push_back(*wire::RudiRequest::parse(in));
    }
    return all;
  }
  template <class Header>
  RxDatagram datagram(const Header& header, uint8_t from, Instant at) {
    octets_.assign(wire::Control::kSize + 16, std::byte{0});
    wire::Writer w(octets_);
    header.emit(w);
    octets_.resize(w.position() + 8);
    RxDatagram d;
    d.bytes = octets_;
    d.from = address(from);
    d.at = at;
    return d;
  }
  void answer(PktId id, bool is_marked = false, uint8_t from = 9, Instant at = kNow) {
    wire::RudiResponse h;
    h.next_hdr = wire::NextHeader::response;
    h.pkt_id = id;
    h.m = is_marked;
    rudi_.on_response(datagram(h, from, at), at);
  }
  void refuse(PktId id, wire::NackCode code) {
    wire::Nack h;
    h.nt = true;
    h.nack_code = code;
    h.nack_pkt_id = id;
    rudi_.on_nack(h, datagram(h, 9, kNow), kNow);
  }

  std::vector<std::byte> octets_;
  TxBatch batch_;
  Rudi rudi_{{res_.config, peers_, client_, res_.counters}, fixed(), random_};
};

// [PDS-200, PDS-204] A packet is known by its number, and answered once.
TEST_F(RudiPartTest, AResponseAnswersThePacketWithItsNumber) {
  post(1);
  const auto sent = transmit();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_FALSE(sent[0].retx);
  answer(PktId(sent[0].pkt_id.value() + 1));
  answer(sent[0].pkt_id, false, 10);
  EXPECT_EQ(client_.responded, std::vector<uint32_t>{}) << "another number, another peer";
  for (int i = 0; i < 2; ++i) answer(sent[0].pkt_id);
  EXPECT_EQ(client_.responded, std::vector<uint32_t>{0});
  EXPECT_EQ(counted(Count::drop_rudi_unmatched), 3u);
  EXPECT_EQ(rudi_.outstanding(), 0u);
}

// [PDS-201] A resend has the same number, with RETX.
TEST_F(RudiPartTest, AResendHasTheNumberOfItsPacket) {
  post(1);
  const auto first = transmit();
  rudi_.advance(kNow + kRto + kRto);
  const auto again = transmit(kNow + kRto * 2);
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].pkt_id, first[0].pkt_id);
  EXPECT_TRUE(again[0].retx);
  EXPECT_EQ(counted(Count::rudi_retx_rto), 1u);
}

// [PDS-203] A NACK that says that there is no room delays the packet; a NACK with an error code
// fails it.
TEST_F(RudiPartTest, ANackDelaysOrFailsAPacket) {
  post(1);
  const auto sent = transmit();
  refuse(sent[0].pkt_id, wire::NackCode::no_resource);
  EXPECT_EQ(transmit().size(), 0u);
  rudi_.advance(kNow + res_.config.nack_retx * 2);
  EXPECT_EQ(transmit().size(), 1u);
  refuse(sent[0].pkt_id, wire::NackCode::exp_nack_err);
  EXPECT_EQ(client_.failed, std::vector<uint32_t>{0});
}

// [PDS-203] A packet that was cut on its way goes again at once.
TEST_F(RudiPartTest, ACutPacketGoesAgainAtOnce) {
  post(1);
  const auto sent = transmit();
  refuse(sent[0].pkt_id, wire::NackCode::trimmed);
  EXPECT_EQ(transmit().size(), 1u);
}

// [PDS-148] A peer that answers nothing fails the packet, and an error of the route ends it sooner.
TEST_F(RudiPartTest, APacketFailsWhenPatienceEnds) {
  post(1);
  transmit();
  Instant now = kNow;
  while (client_.failed.empty() && now < kNow + Duration::seconds(100)) {
    now = now + Duration::milliseconds(100);
    rudi_.advance(now);
    transmit(now);
  }
  EXPECT_GE(now - kNow, res_.config.peer_timeout);
  EXPECT_LT(now - kNow, res_.config.peer_timeout + Duration::seconds(1));
}

class RudiWindowPartTest : public RudiPartTest {
 protected:
  static Config narrow() {
    Config config = usual();
    config.rudi_window = 4;
    return config;
  }
  RudiWindowPartTest() : RudiPartTest(narrow()) {}
};

// [PDS-205] A window takes the place of congestion control. A mark halves it.
TEST_F(RudiWindowPartTest, AWindowLimitsWhatIsOutstanding) {
  client_.payload_bytes = 8;
  post(9);
  client_.packets = 9;
  auto sent = transmit();
  EXPECT_EQ(sent.size(), 4u);
  answer(sent[0].pkt_id);
  EXPECT_EQ(transmit().size(), 1u);
  answer(sent[1].pkt_id, true);
  EXPECT_EQ(transmit().size(), 0u) << "two are too many now";
  EXPECT_EQ(counted(Count::rudi_window_halved), 1u);
}

// --- the target ---

class RudiTargetPartTest : public PartTest {
 protected:
  explicit RudiTargetPartTest(const Config& config = usual()) : PartTest(config) {
    EXPECT_TRUE(target_.create(arena_).ok());
    client_.verdict.kind = Verdict::Kind::respond;
    client_.verdict.response.next_hdr = wire::NextHeader::response;
    client_.verdict.response.length = 12;
  }
  wire::NackCode receive(uint32_t id) {
    wire::RudiRequest h;
    h.pkt_id = PktId(id);
    h.retx = true;
    RxDatagram d;
    d.ev = Entropy(44);
    d.ecn = Ecn::ce;
    return target_.on_request(h, d, std::span(client_.octets).first(20), address(9), kNow);
  }

  TxBatch batch_;
  RudiTarget target_{{res_.config, peers_, client_, res_.counters}};
};

// [PDS-202] Each request is executed, a copy as well, and answered once under its number.
TEST_F(RudiTargetPartTest, EachRequestIsExecutedAndAnswered) {
  for (int i = 0; i < 2; ++i) EXPECT_EQ(receive(7), wire::NackCode::none);
  EXPECT_EQ(client_.requests, (std::vector<uint32_t>{7, 7}));
  EXPECT_EQ(target_.transmit(batch_, kNow), 2u);
  EXPECT_EQ(target_.transmit(batch_, kNow), 0u);
  const TxPacket& packet = batch_.packets()[0];
  wire::Reader in({packet.header, packet.header_bytes});
  const auto h = *wire::RudiResponse::parse(in);
  EXPECT_EQ(h.pkt_id, PktId(7));
  EXPECT_TRUE(h.m && h.retx) << "mark and RETX of the request are echoed";
  EXPECT_EQ(packet.ev, Entropy(44));
  EXPECT_EQ(packet.dscp, res_.config.control_dscp);
}

// [PDS-203] The client refuses, and the caller sends that NACK.
TEST_F(RudiTargetPartTest, ARefusedRequestHasACode) {
  client_.verdict = Verdict::refused(wire::NackCode::no_resource);
  EXPECT_EQ(receive(7), wire::NackCode::no_resource);
  EXPECT_FALSE(target_.has_work());
}

class FullRudiTargetPartTest : public RudiTargetPartTest {
 protected:
  static Config few() {
    Config config = usual();
    config.rudi_answers = 2;
    return config;
  }
  FullRudiTargetPartTest() : RudiTargetPartTest(few()) {}
};

// [PDS-203] Without a place for its answer a request is not executed.
TEST_F(FullRudiTargetPartTest, ARequestWithoutAPlaceForItsAnswerIsRefused) {
  for (uint32_t id = 1; id <= 3; ++id) {
    EXPECT_EQ(receive(id), id < 3 ? wire::NackCode::none : wire::NackCode::no_resource);
  }
  EXPECT_EQ(client_.requests, (std::vector<uint32_t>{1, 2}));
}

class SlowSourcePartTest : public RudiTargetPartTest {
 protected:
  static Config slow() {
    Config config = usual();
    config.source_packets_per_second = 20;
    return config;
  }
  SlowSourcePartTest() : RudiTargetPartTest(slow()) {}
};

// [T-41] What one source sends above its rate costs the others nothing.
TEST_F(SlowSourcePartTest, ASourceHasARate) {
  for (uint32_t id = 1; id <= 5; ++id) receive(id);
  EXPECT_EQ(client_.requests, (std::vector<uint32_t>{1, 2})) << "a tenth at once";
  EXPECT_EQ(counted(Count::drop_source_rate), 3u);
}

// --- both, and UUD ---

class ConnectionlessPartTest : public PartTest {
 protected:
  ConnectionlessPartTest() { EXPECT_TRUE(modes_.create(arena_).ok()); }

  template <class Header>
  std::optional<Connectionless::Refusal> receive(const Header& h, wire::PdsType type,
                                                 uint32_t cut = 0) {
    std::vector<std::byte> octets(64);
    wire::Writer w(octets);
    h.emit(w);
    octets.resize(w.position() + 20 - cut);
    RxDatagram d;
    d.bytes = octets;
    d.from = address(9);
    return modes_.receive(d, type, kNow);
  }

  Connectionless modes_{{res_.config, peers_, client_, res_.counters}, fixed(), random_};
};

// [PDS-203, PDS-110] A refusal names the number of the request; the caller's budget decides whether
// it leaves.
TEST_F(ConnectionlessPartTest, ARefusalNamesTheRequest) {
  client_.verdict = Verdict::refused(wire::NackCode::no_resource);
  wire::RudiRequest h;
  h.next_hdr = wire::NextHeader::standard;
  h.pkt_id = PktId(77);
  const auto refusal = receive(h, wire::PdsType::rudi_request);
  ASSERT_TRUE(refusal.has_value());
  EXPECT_TRUE(refusal->nack.nt);
  EXPECT_EQ(refusal->nack.nack_pkt_id, PktId(77));
  EXPECT_EQ(refusal->nack.nack_code, wire::NackCode::no_resource);
  EXPECT_EQ(refusal->to, address(9));
}

// [PDS-V4] A header that is cut, or of the wrong kind, is dropped without an answer.
TEST_F(ConnectionlessPartTest, AMalformedRequestIsDropped) {
  wire::RudiRequest h;
  h.next_hdr = wire::NextHeader::response;
  EXPECT_FALSE(receive(h, wire::PdsType::rudi_request).has_value());
  h.next_hdr = wire::NextHeader::standard;
  EXPECT_FALSE(receive(h, wire::PdsType::rudi_request, 21).has_value());
  EXPECT_EQ(counted(Count::drop_malformed), 2u);
  EXPECT_EQ(client_.requests, std::vector<uint32_t>{});
}

// [PDS-211] A datagram of UUD has no answer, whatever the client says.
TEST_F(ConnectionlessPartTest, ADatagramIsNeverRefused) {
  client_.verdict = Verdict::refused(wire::NackCode::no_resource);
  wire::Uud h;
  h.next_hdr = wire::NextHeader::standard;
  EXPECT_FALSE(receive(h, wire::PdsType::uud_request).has_value());
  EXPECT_EQ(client_.requests.size(), 1u);
}

}  // namespace
}  // namespace uet::pds::part
