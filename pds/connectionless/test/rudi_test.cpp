// RUDI at the initiator without the rest of the sublayer. [PDS 16]
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

  // Posts `messages` messages of one packet each.
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

// [PDS-141] The answer to a packet that went once is a round trip, and time-outs follow it. That to
// a packet that went again may answer either transmission.
TEST_F(RudiPartTest, OnlyAPacketThatWentOnceGivesARoundTrip) {
  PktId id{};
  const auto rto_of_next = [&](Instant now) {
    post(1);
    id = transmit(now).at(0).pkt_id;
    return rudi_.next_deadline() - now;
  };
  const Duration first = rto_of_next(kNow);
  Instant now = rudi_.next_deadline();
  rudi_.advance(now);
  ASSERT_EQ(transmit(now).size(), 1u);
  now = now + kRto;
  answer(id, false, 9, now);
  EXPECT_LE(rto_of_next(now), first + Duration::microseconds(2)) << "no sample";
  now = now + kRto;
  answer(id, false, 9, now);
  ASSERT_EQ(client_.responded.size(), 2u);
  EXPECT_GE(rto_of_next(now), kRto * 3) << "a sample of one RTO";
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

}  // namespace
}  // namespace uet::pds::part
