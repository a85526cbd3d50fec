// UUD without the rest of the sublayer: what it asks the client for, and what it puts into a batch.
// [PDS-210 .. PDS-212]
#include "pds/connectionless/uud.h"

#include "base/arena.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace uet::pds {
namespace {

const Instant kStart = Instant::from_ns(1'000'000'000);

FabricAddress address(uint8_t last) { return FabricAddress::v4(0x0A000000U | last); }

// A client with a number of messages, each one packet of four octets.
class Sender final : public Client {
 public:
  bool start(FlowId, PdcHandle pdc, StartedMessage& out, Instant) override {
    EXPECT_EQ(pdc, PdcHandle{}) << "there is no PDC";
    if (messages == 0) return false;
    --messages;
    out.message = MessageHandle(++started);
    return true;
  }
  bool pull(MessageHandle message, PacketRef& out) override {
    out = {};
    out.message = message;
    out.next_hdr = wire::NextHeader::small;
    out.som = out.eom = true;
    return true;
  }
  void encode(const PacketRef& ref, wire::Writer& header, TxBatch& batch) override {
    header.u32(ref.message.value());
    batch.add_payload(octets.data(), 4);
  }
  Verdict on_request(const RxRequest& request, Instant) override {
    requests.push_back(request);
    return Verdict::refused(wire::NackCode::pdc_hdr_mismatch);
  }
  void on_response(const PacketRef& ref, const RxResponse& response, Instant) override {
    EXPECT_TRUE(response.ses.empty());
    done.push_back(ref.message.value());
  }
  void on_failed(const PacketRef&, const Failure&, Instant) override { ADD_FAILURE(); }
  void on_aborted(MessageHandle, const Failure&, Instant) override { ADD_FAILURE(); }
  JobId job_of(std::span<const std::byte>) const override { return JobId(1); }
  bool has_open_message(PdcHandle) const override { return false; }
  void on_pdc_closed(PdcHandle, PeerId, bool, Instant) override { ADD_FAILURE(); }

  uint32_t messages = 0;
  uint32_t started = 0;
  std::vector<uint32_t> done;
  std::vector<RxRequest> requests;
  std::array<std::byte, 4> octets{};
};

class UudPartTest : public testing::Test {
 protected:
  UudPartTest() { EXPECT_TRUE(peers_.create(arena_, 4, 1).ok()); }
  void make() {
    uud_ = std::make_unique<Uud>(Surroundings{config_, peers_, client_, counters_}, cms_, 1);
    flow_.key.peer = *peers_.find_or_add(address(9), kStart);
    flow_.key.tc = TrafficClass(10);
    uud_->advance(kStart);
  }
  uint32_t transmit(Instant now = kStart) {
    batch_.clear();
    return uud_->transmit(batch_, now);
  }
  // A request of that peer comes in.
  void receive(uint8_t from) {
    RxDatagram d;
    d.ecn = Ecn::ce;
    wire::Uud h;
    h.next_hdr = wire::NextHeader::small;
    uud_->on_request(h, d, client_.octets, address(from), kStart);
  }

  Arena arena_;
  PeerTable peers_;
  Config config_;
  cms::Config cms_;
  Counters counters_;
  Sender client_;
  Flow flow_{FlowKey{}};
  TxBatch batch_;
  std::unique_ptr<Uud> uud_;
};

// [PDS-210] A message is a packet: prologue, SES header, payload.
TEST_F(UudPartTest, AMessageIsOnePacketToThePeer) {
  make();
  client_.messages = 1;
  uud_->wake(flow_);
  ASSERT_EQ(transmit(), 1u);
  const TxPacket& p = batch_.packets()[0];
  EXPECT_EQ(p.to, address(9));
  EXPECT_EQ(p.dscp, 10);
  EXPECT_EQ(p.payload_bytes, 4u);
  EXPECT_EQ(p.header_bytes, wire::Uud::kSize + 4);
  EXPECT_EQ(wire::Prologue::of(wire::load_u16(p.header)).type, wire::PdsType::uud_request);
}

// [PDS-211] A message completes, and its record is freed, at the call after the one that put it
// into a batch.
TEST_F(UudPartTest, AMessageCompletesWhenItsBatchIsHandedOver) {
  make();
  client_.messages = 2;
  uud_->wake(flow_);
  ASSERT_EQ(transmit(), 2u);
  EXPECT_TRUE(client_.done.empty());
  EXPECT_FALSE(uud_->idle());
  EXPECT_EQ(transmit(), 0u);
  EXPECT_EQ(client_.done, (std::vector<uint32_t>{1, 2}));
  EXPECT_TRUE(uud_->idle());
}

// No more of a turn than its share.
TEST_F(UudPartTest, ManyMessagesTakeSeveralTurns) {
  make();
  client_.messages = 40;
  uud_->wake(flow_);
  EXPECT_EQ(transmit(), kPacketsPerTurn);
  EXPECT_EQ(transmit(), kPacketsPerTurn);
  EXPECT_EQ(transmit(), 40 - 2 * kPacketsPerTurn);
}

// [PDS-212] 1,000 packets a second: 64 at once, and then one a millisecond.
TEST_F(UudPartTest, TheRateCapHoldsPacketsBack) {
  config_.uud_packets_per_second = 1'000;
  make();
  client_.messages = 100;
  uud_->wake(flow_);
  uint32_t sent = 0;
  for (int i = 0; i < 10; ++i) sent += transmit();
  EXPECT_EQ(sent, 64u);
  EXPECT_FALSE(uud_->has_work()) << "only what was sent is to be reported";
  const Instant next = uud_->next_deadline();
  EXPECT_EQ(next, kStart + Duration::milliseconds(1) + Duration::nanoseconds(1));
  uud_->advance(next);
  EXPECT_EQ(transmit(next), 1u);
}

// [PDS-211] A request reaches the client; the sender does not learn of a refusal.
TEST_F(UudPartTest, ARequestIsDeliveredAndNotAnswered) {
  make();
  receive(7);
  ASSERT_EQ(client_.requests.size(), 1u);
  EXPECT_EQ(client_.requests[0].mode, Mode::uud);
  EXPECT_TRUE(client_.requests[0].ce);
  EXPECT_EQ(peers_[client_.requests[0].peer].address, address(7));
  EXPECT_EQ(transmit(), 0u);
}

// [T-41] Each source has a rate of its own.
TEST_F(UudPartTest, AFloodOfOneSourceDoesNotAffectOtherSources) {
  config_.source_packets_per_second = 100;
  make();
  for (int i = 0; i < 10'000; ++i) receive(7);
  EXPECT_GT(counters_[Count::drop_source_rate], 9'000u);
  const size_t before = client_.requests.size();
  receive(8);
  EXPECT_EQ(client_.requests.size(), before + 1);
}

}  // namespace
}  // namespace uet::pds
