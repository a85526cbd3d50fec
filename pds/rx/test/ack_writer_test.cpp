// The contents of ACKs, and which packets get one of their own. [PDS 8.1, 8.3]
#include "pds/rx/ack_writer.h"

#include "pds/test/all_parts.h"

namespace uet::pds::part {
namespace {

class AckWriterPartTest : public AllParts {
 protected:
  explicit AckWriterPartTest(const Config& config = usual()) : AllParts(config) {
    EXPECT_TRUE(store_.create(arena_).ok());
    EXPECT_TRUE(acks_.create(arena_).ok());
  }
  ~AckWriterPartTest() override {
    table_.for_each([&](Pdc& pdc) {
      while (StoredResponse* const e = pdc.responses.first()) store_.free_stored(pdc, *e);
    });
  }
  static AckTrigger trigger(int offset) {
    AckTrigger t;
    t.psn = kFirst + offset;
    return t;
  }
  void receive(Pdc& pdc, int offset, bool is_held = false) {
    pdc.rx.accept(res_.rx_pool, kFirst + offset, is_held);
    pdc.sweep.on_request(kFirst + offset, pdc.rx.cack_psn());
  }
  // Sends all ACKs that the PDC owes.
  void send(Pdc& pdc) {
    batch_.clear();
    acks_.send_probe_answers(batch_, kNow);
    acks_.send_responses(batch_, kNow);
    acks_.send_answers(batch_, kNow);
    acks_.flush_acks(pdc, batch_, kNow);
  }
  wire::PdsType type(uint32_t at) const {
    return wire::Prologue::peek(wire::Reader({batch_.packets()[at].header, 2}))->type;
  }
  wire::Ack ack(uint32_t at) const {
    wire::Reader in({batch_.packets()[at].header, batch_.packets()[at].header_bytes});
    return wire::Ack::read(in);
  }
  wire::AckCc long_ack(uint32_t at) const {
    wire::Reader in({batch_.packets()[at].header, batch_.packets()[at].header_bytes});
    return *wire::AckCc::parse(in);
  }
  // Cumulative ACK and named packet of each, by distance.
  std::string sent() const {
    std::string all;
    for (uint32_t i = 0; i < batch_.size(); ++i) {
      const wire::Ack h = ack(i);
      all += (i == 0 ? "" : ", ") + std::to_string(h.cack_psn - kFirst) + " names " +
             std::to_string(h.ack_psn() - kFirst);
    }
    return all;
  }
};

// [PDS-064] The cumulative ACK covers it, so one ACK serves all of them.
TEST_F(AckWriterPartTest, OneAckServesAllPacketsInOrder) {
  Pdc& pdc = target();
  for (int i = 0; i < 3; ++i) {
    receive(pdc, i);
    acks_.want_answer(pdc, Count::ack_ar, trigger(i));
  }
  send(pdc);
  EXPECT_EQ(sent(), "2 names 2");
  EXPECT_EQ(type(0), wire::PdsType::ack) << "nothing is out of order [PDS 8.3]";
  send(pdc);
  EXPECT_EQ(sent(), "");
}

// [PDS-064] Above a gap each packet that asked is named, because no other ACK covers it.
TEST_F(AckWriterPartTest, EachPacketAboveAGapIsNamed) {
  Pdc& pdc = target();
  for (const int i : {0, 2, 4}) {
    receive(pdc, i);
    acks_.want_answer(pdc, Count::ack_ar, trigger(i));
  }
  send(pdc);
  EXPECT_EQ(sent(), "0 names 2, 0 names 4");
  ASSERT_EQ(type(0), wire::PdsType::ack_cc);
  const wire::AckCc h = long_ack(0);
  EXPECT_EQ(h.mpr, res_.config.mpr);
  SackBitmap sack{h.sack_base(), h.sack_bitmap};
  EXPECT_TRUE(sack.has(kFirst + 2));
  EXPECT_TRUE(sack.has(kFirst + 4));
  EXPECT_FALSE(sack.has(kFirst + 3));
}

// [PDS-070] Each marked packet is reported by an ACK of its own, which names it.
TEST_F(AckWriterPartTest, AMarkedPacketIsNamedThoughTheCumulativeAckCoversIt) {
  Pdc& pdc = target();
  for (int i = 0; i < 3; ++i) receive(pdc, i);
  for (int i = 0; i < 2; ++i) {
    AckTrigger marked = trigger(i);
    marked.ce = true;
    acks_.want_answer(pdc, Count::ack_ecn, marked);
  }
  acks_.want_answer(pdc, Count::ack_ar, trigger(2));
  send(pdc);
  EXPECT_EQ(sent(), "2 names 0, 2 names 1") << "and they acknowledge the rest";
  EXPECT_TRUE(ack(0).m && ack(1).m);
}

// [PDS-080, PDS-100] A kept response goes in an ACK of its own, which names its packet. Another ACK
// that covers the packet would mean the default response.
TEST_F(AckWriterPartTest, AResponseTravelsInAnAckOfItsOwn) {
  Pdc& pdc = target();
  Verdict verdict;
  verdict.kind = Verdict::Kind::respond;
  verdict.response.next_hdr = wire::NextHeader::response;
  verdict.response.length = 12;
  verdict.response.bytes[11] = std::byte{0xA5};
  for (int i = 0; i < 2; ++i) {
    store_.store(pdc, trigger(i), verdict);
    receive(pdc, i, true);
  }
  acks_.want_answer(pdc, Count::ack_ar, trigger(1));
  send(pdc);
  EXPECT_EQ(sent(), "-1 names 0, -1 names 1, -1 names -1");
  const TxPacket& first = batch_.packets()[0];
  ASSERT_GT(first.header_bytes, 12);
  EXPECT_EQ(first.header[first.header_bytes - 1], std::byte{0xA5});
  EXPECT_EQ(ack(0).next_hdr, wire::NextHeader::response);
  EXPECT_EQ(ack(0).req, wire::AckRequest::clear) << "responses are kept [PDS-106]";
}

// [WIRE-002] Both offsets count from the cumulative ACK upwards, and are negative below it: the
// octets of the header, computed by hand.
TEST_F(AckWriterPartTest, OffsetsCountFromTheCumulativeAck) {
  Pdc& pdc = target();
  for (const int i : {0, 1, 2, 5}) receive(pdc, i);
  AckTrigger marked = trigger(1);
  marked.ce = true;
  acks_.want_answer(pdc, Count::ack_ecn, marked);
  acks_.want_answer(pdc, Count::ack_ar, trigger(5));
  send(pdc);
  ASSERT_EQ(batch_.size(), 2u);
  const auto octets = [this](uint32_t at, uint32_t from, uint32_t count) {
    const std::byte* const header = batch_.packets()[at].header;
    return std::vector<std::byte>(header + from, header + from + count);
  };
  using Octets = std::vector<std::byte>;
  constexpr std::byte k0{0x00};
  EXPECT_EQ(octets(0, 2, 2), (Octets{std::byte{0xFF}, std::byte{0xFF}})) << "+1 is 1 below +2";
  EXPECT_EQ(octets(1, 2, 2), (Octets{k0, std::byte{0x03}})) << "+5 is 3 above +2";
  EXPECT_EQ(octets(1, 4, 4), (Octets{k0, k0, std::byte{0x03}, std::byte{0xEA}})) << "1002";
  const wire::AckCc h = long_ack(1);
  const SackBitmap sack{h.ack.cack_psn + h.sack_psn_offset, h.sack_bitmap};
  std::string shown;
  for (int i = -2; i < 8; ++i) shown += sack.has(kFirst + i) ? '#' : '.';
  EXPECT_EQ(shown.substr(5), "..#..") << "+3 to +7";
}

// [PDS-093] Naming a packet answers it. While the answer of its client is awaited, an ACK names the
// cumulative ACK instead.
TEST_F(AckWriterPartTest, APacketWhoseAnswerIsAwaitedIsNotNamed) {
  Pdc& pdc = target();
  receive(pdc, 0);
  ASSERT_TRUE(store_.await(pdc, trigger(2)));
  receive(pdc, 2, true);
  AckTrigger asks = trigger(2);
  asks.retx = true;
  acks_.want_answer(pdc, Count::ack_ar, asks);
  send(pdc);
  EXPECT_EQ(sent(), "0 names 0");
  EXPECT_FALSE(ack(0).retx) << "that is said of the named packet";
  const wire::AckCc h = long_ack(0);
  EXPECT_TRUE((SackBitmap{h.sack_base(), h.sack_bitmap}.has(kFirst + 2))) << "it has arrived";
}

// [PDS-170] Each ACK of a target that wants to close asks for it.
TEST_F(AckWriterPartTest, AnAckOfAClosingTargetAsksForTheClose) {
  Pdc& pdc = target();
  receive(pdc, 0);
  pdc.life.change(PdcEvent::close_wanted);
  acks_.want_answer(pdc, Count::ack_ar, trigger(0));
  send(pdc);
  EXPECT_EQ(ack(0).req, wire::AckRequest::close);
}

// [PDS-252] An ACK that may not go to an unproven source counts as lost.
TEST_F(AckWriterPartTest, NoAckGoesToAnUnprovenSourceWithoutOctets) {
  Pdc& pdc = target(Mode::rud, false);
  receive(pdc, 0);
  acks_.want_answer(pdc, Count::ack_ar, trigger(0));
  answers().may_spend = false;
  send(pdc);
  EXPECT_TRUE(batch_.empty());
  EXPECT_FALSE(pdc.ack.is_due());
}

// [PDS-A11] The range is halved: peers must learn it soon. The next ACK reports a smaller step.
TEST_F(AckWriterPartTest, AHalvedRangeIsToldAtOnce) {
  Pdc& pdc = target();
  pdc.told.note_answered();
  EXPECT_FALSE(acks_.set_mpr(0).ok());
  EXPECT_TRUE(acks_.set_mpr(5).ok());
  EXPECT_FALSE(pdc.ack.is_due());
  EXPECT_TRUE(acks_.set_mpr(4).ok());
  EXPECT_TRUE(pdc.ack.is_due());
  send(pdc);
  ASSERT_EQ(type(0), wire::PdsType::ack_cc);
  EXPECT_EQ(long_ack(0).mpr, 4);
  EXPECT_EQ(pdc.told.mpr(), 4);
}

// [PDS-A10] The answer of a Probe has its number, and the bitmap from where the Probe wants it.
TEST_F(AckWriterPartTest, AProbeIsAnsweredByItsNumber) {
  Pdc& pdc = target();
  for (const int i : {0, 2}) receive(pdc, i);
  Inbound probe;
  probe.trigger = trigger(2);
  probe.ctl_payload = (kFirst + 1).value();
  probe.probe_opaque = 4711;
  acks_.on_probe(pdc, probe, kNow);
  answers().may_refuse = false;
  acks_.on_probe(pdc, probe, kNow);
  EXPECT_EQ(counted(Count::drop_probe_limited), 1u) << "as many as NACKs [PDS-072]";
  send(pdc);
  ASSERT_EQ(batch_.size(), 1u);
  const wire::AckCc h = long_ack(0);
  EXPECT_TRUE(h.ack.p);
  EXPECT_EQ(h.ack.probe_opaque, 4711);
  EXPECT_EQ(h.sack_base(), kFirst + 1);
  EXPECT_EQ(h.sack_bitmap, 0b10u);
}

// [CMS-036] With congestion control the source also hears how long the packet stayed here.
TEST_F(AckWriterPartTest, AnAckTellsTheServiceTime) {
  res_.config.ack_form = AckForm::cc;
  ASSERT_TRUE(destination_.create(arena_).ok());
  Pdc& pdc = target();
  receive(pdc, 0);
  AckTrigger t = trigger(0);
  t.arrival_tick = SentTick::of(kNow - Duration::microseconds(100));
  acks_.want_answer(pdc, Count::ack_ar, t);
  send(pdc);
  ASSERT_EQ(type(0), wire::PdsType::ack_cc);
  const wire::NsccState state = wire::NsccState::unpack(long_ack(0).state);
  EXPECT_NEAR(state.service_time * 128.0, 100'000, 3'000);
}

}  // namespace
}  // namespace uet::pds::part
