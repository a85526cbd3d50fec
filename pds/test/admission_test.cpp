// Which packets may leave, and when: which PDC carries a message, no packet is pulled that cannot
// be sent, CMS admits every resend and is charged once. Rows of PDS 2, 6, 12 and 19.
#include "pds/test/bench.h"

#include <set>

namespace uet::pds::test {
namespace {

using wire::NackCode;
using Lines = std::vector<std::string>;

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() { config_.payload_mtu = 1024; }

  // A window for exactly that many packets of 1024 octets.
  static cms::Config window_of(uint32_t packets, cms::Algorithm algorithm) {
    cms::Config c;
    c.algorithm = algorithm;
    c.mtu_bytes = 1120;
    c.initial_window_packets = packets;
    c.window_bytes_max = packets * c.mtu_bytes;
    return c;
  }
  static FlowId flow(Bench& b, uint8_t peer = 9, uint8_t tc = 0, Mode mode = Mode::rud,
                     uint32_t job = 1) {
    const auto id = b.peers.find_or_add(address(peer), b.now);
    b.peers.add_ref(*id);
    return *b.pds->flow(*id, TrafficClass(tc), mode, JobId(job));
  }
  // The message that an outgoing request belongs to.
  static uint32_t message(const Bench::Out& o) {
    wire::Reader r(o.octets);
    (void)wire::Request::read(r);
    return r.u32();
  }
  static wire::AckCc arrived(const Bench& b, int cack, int named, int sacked) {
    wire::AckCc h;
    h.ack = b.ack(b.start + cack, named - cack);
    h.ack.type = wire::PdsType::ack_cc;
    h.mpr = 8;
    h.sack_psn_offset = static_cast<int16_t>(sacked - cack);
    h.sack_bitmap = 1;
    return h;
  }
  Config config_;
};

// [PDS-016] A PDC carries one message after the other; interleaved messages of a peer are accepted.
TEST_F(AdmissionTest, MessagesAreNotInterleavedOnAPdc) {
  config_.pdcs_per_key = 1;
  Bench b(config_);
  for (uint32_t m = 1; m <= 3; ++m) b.client.post(flow(b), m, 3 * 1024);
  std::vector<uint32_t> messages;
  std::set<uint16_t> pdcs;
  for (const auto& o : b.tx()) {
    messages.push_back(message(o));
    pdcs.insert(o.as<wire::Request>().spdcid.value());
  }
  EXPECT_EQ(messages, (std::vector<uint32_t>{1, 1, 1, 2, 2, 2, 3, 3, 3}));
  EXPECT_EQ(pdcs.size(), 1u);

  Bench t;
  t.open_target();
  std::map<PacketName, int> expected{{{1000, 0}, 1}};
  for (uint32_t i = 0; i < 6; ++i) {
    std::vector<std::byte> octets(12 + 8);
    wire::Writer w(octets);
    t.request(1001 + i, false).emit(w);
    w.u32(1 + i % 2);
    w.u32(i / 2 * 1024);
    t.rx_octets(octets);
    expected[{1 + i % 2, i / 2 * 1024}] = 1;
  }
  EXPECT_EQ(t.client.received.times, expected);
}

// [PDS-002, PDS-013] Peer, class, mode and JobID choose the PDC, and the client chose the mode.
TEST_F(AdmissionTest, EachKeyHasItsOwnPdc) {
  Bench b(config_);
  const FlowId flows[] = {flow(b), flow(b, 8), flow(b, 9, 10), flow(b, 9, 0, Mode::rod),
                          flow(b, 9, 0, Mode::rud, 2)};
  std::set<uint16_t> pdcs;
  uint32_t m = 0;
  for (const FlowId f : flows) {
    b.client.post(f, ++m, 10);
    const auto out = b.tx();
    ASSERT_EQ(out.size(), 1u);
    pdcs.insert(out[0].as<wire::Request>().spdcid.value());
    EXPECT_EQ(out[0].type(), m == 4 ? wire::PdsType::rod_request : wire::PdsType::rud_request);
  }
  EXPECT_EQ(pdcs.size(), 5u);
  b.client.post(flows[3], 6, 10);
  const auto again = b.tx();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(pdcs.count(again[0].as<wire::Request>().spdcid.value()), 1u);
  b.elapse(6_ms);
  size_t rod = 0;
  for (const auto& o : b.tx()) rod += o.type() == wire::PdsType::rod_request ? 1 : 0;
  EXPECT_EQ(rod, 2u) << "resends keep the mode";
}

// [PDS-069, CMS-176, CMS-178, CMS-179] Requests travel in the class of their data and may be
// marked, all other packets in the control class.
TEST_F(AdmissionTest, ControlHasItsOwnClass) {
  Bench b(config_);
  b.client.post(flow(b, 9, 10), 1, 10);
  auto out = b.tx();
  EXPECT_EQ(out.at(0).dscp, 10);
  EXPECT_EQ(out[0].ecn, Ecn::ect0);
  b.own = out[0].as<wire::Request>().spdcid;
  b.rx_header(b.ack(out[0].as<wire::Request>().psn));
  b.pds->close_all(false, b.now);
  out = b.tx();
  ASSERT_EQ(out.at(0).type(), wire::PdsType::control);
  EXPECT_EQ(out[0].dscp, 46);
  EXPECT_EQ(out[0].ecn, Ecn::not_ect);
  b.from = address(8);
  b.rx(b.request(1000));
  out = b.tx();
  ASSERT_EQ(out.at(0).type(), wire::PdsType::ack);
  EXPECT_EQ(out[0].dscp, 46);
  EXPECT_EQ(out[0].ecn, Ecn::not_ect);
  wire::Request h = b.request(1000, false);
  h.dpdcid = Pdcid(4711);
  b.rx(h);
  out = b.tx();
  ASSERT_EQ(out.at(0).type(), wire::PdsType::nack);
  EXPECT_EQ(out[0].dscp, 46);
  EXPECT_EQ(out[0].ecn, Ecn::not_ect);
}

// [PDS-067, PDS-068] A packet that the batch has no room for is not pulled, takes no PSN and does
// not end its message.
TEST_F(AdmissionTest, FullBatchLeavesNoTrace) {
  config_.pdcs_per_key = 1;
  Bench b(config_, window_of(200, cms::Algorithm::fixed));
  b.client.post(flow(b), 1, 65 * 1024);
  b.client.post(flow(b), 2, 10);
  TxBatch batch;
  EXPECT_EQ(b.pds->transmit(batch, b.now), 64u);
  EXPECT_EQ(b.pds->transmit(batch, b.now), 0u);
  EXPECT_EQ(b.client.messages[1].pulled, 64u * 1024);
  EXPECT_EQ(b.client.started.pdc_of.count(2), 0u) << "the first message is not at its end";
  wire::Reader first({batch.packets()[0].header, batch.packets()[0].header_bytes});
  b.start = wire::Request::read(first).psn;
  batch.clear();
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +64 syn ar clear -65", "REQ psn +65 syn ar clear -66"}));
}

// [PDS-067, PDS-068] The same when CMS refuses.
TEST_F(AdmissionTest, ClosedWindowLeavesNoTrace) {
  config_.pdcs_per_key = 1;
  Bench b(config_, window_of(4, cms::Algorithm::fixed));
  EXPECT_EQ(b.open_initiator(5).size(), 4u);
  b.client.post(FlowId(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(1))), 2, 10);
  EXPECT_EQ(b.lines(), Lines{});
  EXPECT_EQ(b.client.messages[1].pulled, 4u * 1024);
  EXPECT_EQ(b.client.started.pdc_of.count(2), 0u);
  b.rx_header(b.ack(b.start + 1));
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +4 ar clear -3", "REQ psn +5 ar clear -4"}));
}

// [PDS-147] Resends wait for CMS like new packets, and go before them.
TEST_F(AdmissionTest, ResendsNeedPermissionAndGoFirst) {
  Bench b(config_, window_of(32, cms::Algorithm::aimd));
  EXPECT_EQ(b.open_initiator(64).size(), 32u);
  b.elapse(6_ms);
  const auto lines = b.lines();
  ASSERT_EQ(lines.size(), 8u) << "the window after a time-out";
  EXPECT_EQ(lines.front(), "REQ psn +0 syn retx ar clear -1");
  EXPECT_EQ(lines.back(), "REQ psn +7 syn retx ar clear -8");
  EXPECT_EQ(b.count(Count::retx_rto), 32u);
  wire::Ack of_resend = b.ack(b.start);
  of_resend.retx = true;
  b.rx_header(of_resend);
  EXPECT_EQ(b.lines(), (Lines{"REQ psn +8 retx ar clear -8", "REQ psn +9 retx ar clear -9"}))
      << "in the place of the one that arrived, and as the window doubles";
}

// [PDS-240] A packet leaves the window once, whatever and however often ACKs and NACKs report about
// it.
TEST_F(AdmissionTest, WindowIsReleasedOnce) {
  Bench b(config_, window_of(4, cms::Algorithm::fixed));
  EXPECT_EQ(b.open_initiator(20).size(), 4u);
  b.rx_header(b.nack(NackCode::trimmed, b.start));
  EXPECT_EQ(b.lines().size(), 1u) << "the resend takes the place";
  b.rx_header(arrived(b, -1, 1, 1));
  EXPECT_EQ(b.lines().size(), 1u) << "one arrived";
  b.rx_header(arrived(b, -1, 1, 1));
  EXPECT_EQ(b.lines(), Lines{}) << "said again";
  b.rx_header(b.nack(NackCode::no_resource, b.start + 2));
  EXPECT_EQ(b.lines().size(), 1u) << "one refused";
  b.rx_header(b.nack(NackCode::no_resource, b.start + 2));
  EXPECT_EQ(b.lines(), Lines{}) << "refused again";
  b.rx_header(b.ack(b.start + 5));
  EXPECT_EQ(b.lines().size(), 4u) << "all arrived: the whole window";
  b.rx_header(b.ack(b.start + 5));
  EXPECT_EQ(b.lines(), Lines{});
  b.rx_header(b.ack(b.start + 9));
  EXPECT_EQ(b.lines().size(), 4u);
}

// [PDS-141] The time of an answer counts when it is clear which transmission was answered. The
// sample shows in the time-out: 20 ms make SRTT 20, RTTVAR 10 and 80 ms in all.
TEST_F(AdmissionTest, RttSamplesAreUnambiguous) {
  config_.rto_init = 30_ms;
  config_.tail_loss = 8_s;
  const auto time_out_is_80ms = [](Bench& b) {
    b.client.post(FlowId(*b.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(1))), 2, 10);
    EXPECT_EQ(b.lines().size(), 1u);
    b.elapse(70_ms);
    const bool quiet = b.lines().empty();
    b.elapse(11_ms);
    b.lines();
    EXPECT_EQ(b.count(Count::retx_rto) > 0, true);
    return quiet;
  };
  Bench once(config_);
  once.open_initiator(1);
  once.elapse(20_ms);
  once.rx_header(once.ack(once.start));
  EXPECT_TRUE(time_out_is_80ms(once));

  Bench said(config_);  // the peer says that it answers a resend
  said.open_initiator(1);
  said.elapse(20_ms);
  wire::Ack a = said.ack(said.start);
  a.retx = true;
  said.rx_header(a);
  EXPECT_FALSE(time_out_is_80ms(said));

  Bench twice(config_);  // it was sent again twice, and this answers either
  twice.open_initiator(1);
  twice.elapse(31_ms);
  EXPECT_EQ(twice.lines().size(), 1u);
  twice.elapse(61_ms);
  EXPECT_EQ(twice.lines().size(), 1u);
  twice.elapse(20_ms);
  wire::Ack of_either = twice.ack(twice.start);
  of_either.retx = true;
  twice.rx_header(of_either);
  const uint64_t before = twice.count(Count::retx_rto);
  twice.client.post(FlowId(*twice.pds->flow(PeerId(1), TrafficClass(0), Mode::rud, JobId(1))), 2,
                    10);
  EXPECT_EQ(twice.lines().size(), 1u);
  twice.elapse(31_ms);
  EXPECT_EQ(twice.count(Count::retx_rto), before + 1) << "the first time-out is in force";
}

}  // namespace
}  // namespace uet::pds::test
