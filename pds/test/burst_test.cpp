// Bursts: packets of a PDC that leave together under one entropy value, and how they fill batches.
#include "pds/test/bench.h"

namespace uet::pds::test {
namespace {

class BurstTest : public ::testing::Test {
 protected:
  Config config_;
};

// [PDS-004, PDS-062] The EV changes between bursts of 16, and with ROD not at all.
TEST_F(BurstTest, OneEvPerBurst) {
  Bench b;
  const auto out = b.open_initiator(32);
  ASSERT_EQ(out.size(), 32u);
  for (size_t i = 0; i < 32; ++i) EXPECT_EQ(out[i].ev, out[i / 16 * 16].ev) << i;
  EXPECT_NE(out[0].ev, out[16].ev);
  Bench r;
  const auto rod = r.open_initiator(32, Mode::rod);
  for (const auto& o : rod) EXPECT_EQ(o.ev, rod[0].ev);
}

// [CMS-156] The batch names the planes whose ports take packets, of three: entropy values of
// packets belong to these, also of those that are sent again.
TEST_F(BurstTest, EntropyValuesBelongToFreePlanes) {
  config_.packets_per_entropy = 1;
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.entropy.planes = 3;
  Bench b(config_, cms);
  ASSERT_EQ(b.open_initiator(4).size(), 4u);
  b.rx_header(b.nack(wire::NackCode::trimmed, b.start + 1));
  b.client.post(b.flow, 2, 7 * b.client.mtu);
  for (uint32_t plane = 0; plane < 3; ++plane) {
    TxBatch batch;
    batch.set_free_planes(uint32_t{1} << plane);
    batch.set_limit(plane == 2 ? 2 : 3);
    b.pds->transmit(batch, b.now);
    EXPECT_EQ(batch.size(), plane == 2 ? 2u : 3u);
    for (const TxPacket& p : batch.packets()) EXPECT_EQ(p.ev.value() % 3, plane);
  }
}

// [PDS-004] A message of several packets begins a burst of its own, if no more than
// 64 KiB with their headers are in flight.
TEST_F(BurstTest, AMessageOfSeveralPacketsBeginsABurst) {
  config_.packets_per_entropy = 8;
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.initial_window_packets = 200;
  for (const uint32_t in_flight : {3u, 61u, 83u}) {
    Bench b(config_, cms);
    const auto first = b.open_initiator(in_flight);
    b.client.post(b.flow, 2, 2 * b.client.mtu);
    const auto out = b.tx();
    ASSERT_EQ(out.size(), 2u);
    EXPECT_EQ(out[0].ev, out[1].ev);
    const bool goes_on = out[0].ev == first.back().ev;
    EXPECT_EQ(goes_on, in_flight == 83) << in_flight;
    b.client.post(b.flow, 3, 100);
    EXPECT_EQ(b.tx().at(0).ev, out[0].ev) << "a message of one packet goes on with the burst";
  }
}

// [PDS-062] The backend sends a burst as one, so the end of a batch does not cut it.
TEST_F(BurstTest, ABurstIsNotCutByTheEndOfABatch) {
  config_.packets_per_entropy = 15;
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.initial_window_packets = 200;
  Bench b(config_, cms);
  const auto peer = b.peers.find_or_add(address(20), b.now);
  b.peers.add_ref(*peer);
  b.client.post(*b.pds->flow(*peer, TrafficClass(0), Mode::rud, JobId(1)), 10, 1 << 20);
  TxBatch batch;
  for (int round = 0; round < 3; ++round) {
    ASSERT_EQ(b.pds->transmit(batch, b.now), 60u);
    for (uint32_t i = 0; i < 60; ++i) {
      EXPECT_EQ(batch.packets()[i].ev, batch.packets()[i / 15 * 15].ev) << round << ", " << i;
    }
    batch.clear();
  }
}

// [PDS-062] A batch has room for little more than a long burst. The rest of a message of 64 packets
// leaves with its burst, because the peer waits for it; a stream leaves burst by burst.
TEST_F(BurstTest, TheLongBurstsOfAStreamLeaveWhole) {
  config_.packets_per_entropy = 60;
  config_.payload_mtu = 1024;
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.mtu_bytes = 1024 + kPacketOverheadBytes;
  cms.initial_window_packets = 400;
  Bench b(config_, cms);
  b.client.mtu = 1024;
  const auto peer = b.peers.find_or_add(address(20), b.now);
  b.peers.add_ref(*peer);
  b.client.post(*b.pds->flow(*peer, TrafficClass(0), Mode::rud, JobId(1)), 10, 1 << 20);
  TxBatch batch;
  for (const uint32_t packets : {64u, 56u, 60u, 60u}) {
    ASSERT_EQ(b.pds->transmit(batch, b.now), packets);
    EXPECT_EQ(batch.packets()[packets - 1].ev, batch.packets()[packets == 64 ? 60 : 0].ev);
    batch.clear();
  }
}

// An ACK in the middle of a message would delay its end. Yet no stream holds up the ACKs of others,
// whether its batches are long or short. [PDS-083]
TEST_F(BurstTest, PayloadLeadsFor128KiBOrFourBatches) {
  config_.payload_mtu = 1024;
  cms::Config cms;
  cms.algorithm = cms::Algorithm::fixed;
  cms.initial_window_packets = 4000;
  for (const uint32_t octets : {1u << 20, 8u}) {
    Bench b(config_, cms);
    b.client.mtu = 1024;
    b.open_initiator(1);
    b.rx_header(b.ack(b.start));
    b.rx(b.request(kFirst.value()));
    for (uint32_t message = 2; message < 1000; ++message) b.client.post(b.flow, message, octets);
    TxBatch batch;
    uint32_t bytes = 0;
    uint32_t batches = 0;
    for (bool is_answer = false; !is_answer && batches < 100; ++batches) {
      ASSERT_GT(b.pds->transmit(batch, b.now, Lead::payload), 0u);
      const auto type = wire::Prologue::of(wire::load_u16(batch.packets()[0].header)).type;
      is_answer = !wire::is_request(type);
      if (!is_answer) bytes += batch.payload_bytes();
      batch.clear();
    }
    EXPECT_EQ(batches, octets == 8 ? 5u : 3u) << "the last of them begins with the ACK";
    EXPECT_LE(bytes, 192u * 1024);
  }
}

// [PDS-004] A short packet counts for a quarter of another: four times as many share an EV.
TEST_F(BurstTest, ShortPacketsMakeLongBursts) {
  config_.packets_per_entropy = 8;
  Bench b(config_);
  const auto peer = b.peers.find_or_add(address(20), b.now);
  b.peers.add_ref(*peer);
  const FlowId flow = *b.pds->flow(*peer, TrafficClass(0), Mode::rud, JobId(1));
  for (uint32_t i = 0; i < 64; ++i) b.client.post(flow, 10 + i, 8);
  const auto out = b.tx();
  ASSERT_EQ(out.size(), 64u);
  for (size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i].ev, out[i / 32 * 32].ev) << i;
  EXPECT_NE(out[0].ev, out[32].ev);
}

}  // namespace
}  // namespace uet::pds::test
